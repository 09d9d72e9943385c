"""Which memory answers a question, if any does, as people marked it in talks.

`noodlings.voice.selection` chooses by rules; here that choice is reconsidered. Each memory in mind has a
score, and so has the case that none of them answers: a softmax of these. The weights stand in
`answer_selection.yaml` (`tools/answers/fit_selection.py`). They need to know how likely a model finds each
line to answer (`Why.ANSWER`); a choice of the rules that none read stays.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from noodlings.ports import Utterance
from noodlings.text import goes_on
from noodlings.values.memory import Recalled, Why
from noodlings.values.percept import SPOKEN
from noodlings.voice.nearness import asks_openly, from_speaker, overheard, told_words
from noodlings.voice.question import (
    AnswerType,
    answer_type,
    asks_when,
    asks_who_told,
    days_meant,
    may_answer,
    only_asks,
)
from noodlings.voice.reported_speech import ReportedSpeech, quotation
from noodlings.voice.selection import (
    BRIEF,
    LIKELY,
    OVER,
    OWN,
    TELLS_YOU,
    WHAT_I,
    WHETHER_TOLD,
    asks_as_it_is,
    in_force,
    in_words,
    in_words_that_answer,
    may_be_asked_for,
    may_be_meant,
    of_other_family,
    people_named,
    said_lately,
    stems_of_names,
    tells_little,
    tells_of_oneself,
    was_told,
)
from noodlings.voice.understanding import UnderstoodLine
from noodlings.voice.words import load_yaml, tokens, topic_stems

WEIGHTS = "answer_selection.yaml"
LEAST_LIKELY = 0.002
TELLS, SURE = 0.6, 0.7
"""How likely a memory answers to be told where the rules chose none, and to be told as sure."""
SILENT = 0.8
"""How likely it must be that none answers before what the rules chose is kept back."""
RATHER = 0.3
"""How much likelier than the choice of the rules another memory must be to be told instead."""
LATER = 6.0
"""How many later memories make one count as early."""


@dataclass(frozen=True, slots=True)
class Selected:
    """How likely each memory in mind answers a question.

    Attributes:
        memories: the likeliest first.
        likely: for each how likely it is what answers, 0…1; with `none` they sum to 1.
        none: how likely nothing in mind answers.
    """

    memories: tuple[Recalled, ...]
    likely: tuple[float, ...]
    none: float


@dataclass(frozen=True, slots=True)
class _Weights:
    memory: Mapping[str, float]
    none: Mapping[str, float]
    kinds: Mapping[str, float]


@lru_cache(maxsize=1)
def _weights() -> _Weights:
    return _Weights(**load_yaml(WEIGHTS))


def reconsidered(
    told: list[ReportedSpeech], understood: UnderstoodLine, utterance: Utterance, about_itself: bool
) -> list[ReportedSpeech]:
    """What answers a question: what the rules chose, unless people would clearly have marked another memory
    or none.

    Args:
        told: what the rules chose, the first one first.
        about_itself: it is heard as a question to the character about itself.
    """
    text = utterance.percept.text
    by_time = answer_type(text) is AnswerType.LATEST or days_meant(text) is not None
    if by_time or asks_who_told(text):
        return told
    read = {found.entry.id for found in in_force(utterance) if Why.ANSWER in found.scores}
    if not read or (told and told[0].entry.id not in read):
        return told
    selected = select_answer(understood, utterance, about_itself)
    if told and selected.none >= SILENT and not asks_openly(text):
        return []
    likely = {one.entry.id: how for one, how in zip(selected.memories, selected.likely, strict=True)}
    chosen = {one.entry.id for one in told}
    least = max(likely.get(number, 0.0) for number in chosen) + RATHER if told else TELLS
    # Asked how it is now, what was told before gives no better answer.
    since = told[0].entry.id if told and asks_as_it_is(text) else 0
    others = (
        one
        for one in selected.memories
        if one.entry.id > since and one.entry.id not in chosen and _may_be_told(one, understood, utterance)
    )
    best = next((one for one in others if likely[one.entry.id] >= least), None)
    if best is None:
        return told
    worded = _worded(best, understood, utterance, likely[best.entry.id] >= SURE)
    return worded if worded and not said_lately(worded[0], utterance.said[-1:]) else told


def _may_be_told(one: Recalled, understood: UnderstoodLine, utterance: Utterance) -> bool:
    """Whether a memory has what is asked for and is about whom it is asked, as far as words can tell."""
    entry, text = one.entry, utterance.percept.text
    told = entry.user_text
    return (
        one.scores.get(Why.ANSWER, 0.0) >= LIKELY
        and may_answer(told, text, near=True)
        and (not only_asks(told) or tells_of_oneself(told))
        and TELLS_YOU.search(told) is None
        and not of_other_family(told, text)
        and may_be_meant(entry, utterance, people_named(utterance), asks=True)
        and may_be_asked_for(one, understood, utterance)
    )


def _worded(
    best: Recalled, understood: UnderstoodLine, utterance: Utterance, sure: bool
) -> list[ReportedSpeech]:
    when = asks_when(utterance.percept.text)
    worded = in_words([best.entry], understood, utterance, when, whole=True)
    told = [replace(one, sure=sure) for one in worded]
    if told:
        return in_words_that_answer(told, best, utterance)
    spoken = best.answer and best.entry.kind in SPOKEN
    return [quotation(best.entry, best.answer, utterance, sure)] if spoken else []


def select_answer(understood: UnderstoodLine, utterance: Utterance, about_itself: bool) -> Selected:
    """Which of the lived memories in mind answers a question, by what a model read in them.

    Args:
        about_itself: it is heard as a question to the character about itself.
    """
    found = [one for one in in_force(utterance) if was_told(one.entry, utterance)]
    weights = _weights()
    none = features_of_question(understood, utterance, about_itself)
    none_score = _product(weights.none, none) + weights.kinds.get(understood.question.name.lower(), 0.0)
    scores = [_product(weights.memory, features) for features in features_of_memories(found, utterance)]
    most = max([none_score, *scores])
    total = sum(math.exp(score - most) for score in (none_score, *scores))
    likely = [math.exp(score - most) / total for score in scores]
    order = sorted(range(len(found)), key=lambda at: (-likely[at], -found[at].entry.id))
    return Selected(
        tuple(found[at] for at in order),
        tuple(likely[at] for at in order),
        math.exp(none_score - most) / total,
    )


def features_of_question(
    understood: UnderstoodLine, utterance: Utterance, about_itself: bool
) -> dict[str, float]:
    """What in a question tells whether it asks for something that was told."""
    text = utterance.percept.text
    words = tokens(text)
    return {
        "bias": 1.0,
        "about_itself": about_itself,
        "says_you": not {"you", "your", "yours", "u", "ya"}.isdisjoint(words),
        "says_own": OWN.search(text) is not None,
        "asks_of_own": WHAT_I.search(text) is not None,
        "most_alike": max((one.scores.get(Why.SEMANTIC, 0.0) for one in in_force(utterance)), default=0.0),
        "short": len(words) < BRIEF,
        "has_mark": text.rstrip().endswith("?"),
        "topic_words": len(topic_stems(words) - stems_of_names(utterance)) / 4.0,
        "asks_type": answer_type(text) is not None,
        "whether_told": WHETHER_TOLD.search(text) is not None,
        "who_told": asks_who_told(text),
        "as_it_is": asks_as_it_is(text),
        "as_it_was": OVER.search(text) is not None,
    }


def features_of_memories(found: Sequence[Recalled], utterance: Utterance) -> list[dict[str, float]]:
    """What in each memory tells whether it answers, beside the others."""
    text = utterance.percept.text
    wanted, kind = topic_stems(tokens(text)) - stems_of_names(utterance), answer_type(text)
    others = people_named(utterance) - {utterance.percept.user_id}
    own, now, before = OWN.search(text) is not None, asks_as_it_is(text), OVER.search(text) is not None
    odds = [_log_odds(one.scores.get(Why.ANSWER, 0.0)) for one in found]
    alike = [one.scores.get(Why.SEMANTIC, 0.0) for one in found]
    stems = [topic_stems(tokens(one.entry.user_text)) for one in found]
    all_odds = sum(map(math.exp, odds))
    made = []
    for at, one in enumerate(found):
        entry, told = one.entry, one.entry.user_text
        same = [
            i
            for i, other in enumerate(found)
            if i != at and other.entry.user_id == entry.user_id and odds[i] >= -2.0 and stems[i] & stems[at]
        ]
        after = sum(other.entry.id > entry.id for other in found) / LATER
        theirs = from_speaker(entry, utterance)
        tells_type = kind is not None and kind.told_by(told)
        made.append({
            "log_odds": odds[at],
            "likely": one.scores.get(Why.ANSWER, 0.0),
            "share": math.exp(odds[at]) / all_odds,
            "alike": alike[at],
            "less_alike": sum(other > alike[at] for other in alike) / 4.0,
            "covered": len(wanted & stems[at]) / max(len(wanted), 1),
            "importance": entry.importance,
            "from_speaker": theirs,
            "own_of_another": own and not theirs,
            "from_named": entry.user_id in others,
            "other_family": of_other_family(told, text),
            "overheard": overheard(entry, utterance),
            "tells_type": tells_type,
            "other_type": kind is not None and not tells_type,
            "asks": told.rstrip().endswith("?"),
            "only_asks": only_asks(told),
            "tells_little": tells_little(entry),
            "goes_on": goes_on(told),
            "words": told_words(entry),
            "just_told": Why.TOLD in one.why,
            "corrects": bool(one.supersedes),
            "told_later": any(found[i].entry.id < entry.id for i in same),
            "told_again": any(found[i].entry.id > entry.id for i in same),
            "told_before_others": after,
            "earlier_than_now": now * after,
            "earlier_as_it_was": before * after,
        })  # fmt: skip
    return made


def _log_odds(likely: float) -> float:
    held = min(max(likely, LEAST_LIKELY), 1.0 - LEAST_LIKELY)
    return math.log(held / (1.0 - held))


def _product(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    return sum(weight * features[name] for name, weight in weights.items())
