"""Which of the recalled memories belongs to what was just said, and is put into words.

A memory fits when it shares a rare word with the line; of those that fit, the more important one goes first.
A mere mention brings back only what mattered, and not what was just repeated.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from noodlings.ports import Utterance
from noodlings.text import goes_on
from noodlings.values.memory import NEWS, TOUCHED, MemoryEntry, Recalled, Why, in_same_talk, written_by
from noodlings.values.percept import NOT_LIVED, SPOKEN, Kind, Percept
from noodlings.values.wording import DialogueAct
from noodlings.voice.nearness import (
    FITS,
    MATTERS_MORE,
    NEAR_QUESTION,
    NEAR_REMARK,
    SURE,
    from_speaker,
    loss_of_the_short,
    nearness,
)
from noodlings.voice.question import (
    AnswerType,
    QuestionKind,
    answer_type,
    asks_memory,
    asks_source,
    asks_when,
    asks_who_told,
    days_meant,
    may_answer,
    only_asks,
)
from noodlings.voice.reported_speech import LONGEST_ANSWER, ReportedSpeech, quotation, report, with_sources
from noodlings.voice.statement import find_topic
from noodlings.voice.understanding import UnderstoodLine, understand
from noodlings.voice.words import (
    DAY,
    HOUR,
    bare_words,
    bases,
    shown,
    stem,
    third_of,
    tokens,
    topic_stems,
    without_names,
    words_for,
)

MATTERS = 0.25
"""Importance from which a mention with two shared words brings a memory back."""
WEIGHTY = 0.4
"""Importance from which one word does, and from which a greeting may bring it up."""
ANSWERS_BY_MEANING = 0.5
"""Semantic score from which a memory answers without a shared word."""
COVERED = 0.5
"""Share of a question's topic words that an answer must have, when no memory was asked for."""
LEAST_MEANING = 0.12
"""Semantic score below which nothing is near."""
LEAST_MEANING_SHORT = 0.33
"""The same for a short line: "up or down?" is about nothing."""
NOUN_MEANT = 0.45
"""Semantic score from which a line answers "which ship?" though it calls it a schooner."""
DOUBTFUL, LIKELY, AGAIN, SURELY, ALMOST_SURELY = 0.05, 0.2, 0.4, 0.7, 0.9
"""How likely a memory answers a question: below which it is told only if it is near, from which it is told
though it is not alike, from which it is told though the answer before told it, or somebody has only just
said it ("my sister moved to Lisbon", "where does she live?"), and from which it is told where nobody asked
for one, or though it calls what is asked for something else ("what sort of fish?", "a mackerel"), and from
which what one told of oneself is told to a question that seems to be about somebody else."""
BARELY, FAR_LESS = 0.03, 0.15
"""How likely what was told last of a matter answers how it is now, at least: by itself, and as a share of how
likely what was told before does."""
MOSTLY, NEARLY = 0.5, 0.6
"""The share of the words that answer which are told, for a report to hold the answer; and of the words of a
short line, for it to hold the line."""
FEW_ASKING, GOES_ON, GOES_ON_SURELY = 9, 0.22, 0.8
"""A question that goes on with what was just told has fewer words, and with the lines before it is as near in
meaning to that, or surely answered by it."""
ANSWERS = 0.15
"""Importance below which a line answers nothing."""
REMARK_LINES = 12
"""Latest lines that must not have told what a remark brings back."""
CLEARLY = 0.4
"""Difference of nearness within which the latest memory of one matter is told."""
AS_SURELY = 0.2
"""Difference of the probabilities to answer within which two memories answer about as surely."""
TELLS_MORE = 0.3
"""How far a line is worth keeping, 0…1, from which it goes on with what was told in the same talk."""
BRIEF = 5
"""A question of fewer words is short, and a remark of fewer words brings nothing back."""
BRIEF_REMARK = 7
"""A remark of fewer words is short."""
SAME_SHARE = 0.7
"""Share of common words from which two lines say the same."""
LATELY = 3
"""Latest lines that must not have told it, when nobody asked."""

SHORT_MEMORY = 12
"""Words of a memory so short that any part may be its topic."""
NEWS_WORDS = 3
"""A line of fewer words tells nothing."""
JUST_SAID = 300.0
"""Seconds before a line counts as a memory."""
IN_ONE_BREATH = 120.0
"""Seconds between two lines that belong together."""

TELLS_YOU = re.compile(r"\byou (?:told|asked) \w+", re.IGNORECASE)
"""A line that tells the hearer what they said; later nobody knows who "you" is."""
RETELLS = re.compile(r"(?<!had )\b(?:told|asked) (?:me|[A-Z]\w+) \w|\bsaid “", re.IGNORECASE)
"""A line that reports what somebody said."""
_QUOTED = re.compile(r"“([^“”]{8,})”")
WHETHER_TOLD = re.compile(
    r"\b(?:did|have|had|didn['’]?t|haven['’]?t) i (?:ever |already )?(?:mention|tell|say|told|said)", re.I
)
_ALSO_CALLED = {
    "mum": "mother", "mom": "mother", "dad": "father", "auntie": "aunt", "grandpa": "grandfather",
    "grandad": "grandfather", **dict.fromkeys(("grandma", "gran", "granny"), "grandmother"),
}  # fmt: skip
_INTRODUCES = re.compile(r"^(?:my name is|call me|i'?m) \w+\W*$", re.I)
_ABOUT = re.compile(r"\babout\b", re.I)
"""A question about a matter is answered by whatever is on it."""
OVER = re.compile(r"\b(?:did|was|were|used to|first|before)\b", re.I)
_AS_IT_IS = re.compile(
    r"\b(?:now|still|these days|nowadays|at the moment|currently|latest|how(?:['’]?s| is| are))\b", re.I
)
_AS_IT_WAS = re.compile(r"\b(?:was|were|used to|first|before)\b", re.I)
"""How a question asks for the present state of something, and how it asks for an earlier one."""
_NOW = re.compile(r"\b(?:now|these days|nowadays|at the moment|currently|any ?more)\W*$", re.I)
_I_ALONE = re.compile(r"(?:i(?:['’](?:m|ve|d|ll))?|im|ive)\b", re.I)
_THIRD = re.compile(r"\b(?:he|him|his|she|her|hers|they|them|their)\b", re.I)
_YOU_KNOW = re.compile(
    r"\byou(?:['’](?:ll|ve|d)| will| can| have| of all people)? (?:know|understand|imagine|guess|remember"
    r"|recall|not forgotten|never forget|heard|will know)\b(?! what i mean)",
    re.I,
)
"""An appeal to what the hearer was told: "you'll know why"."""
WHAT_I = re.compile(
    r"\b(?:what|who|where|when|which|why|how|whose)\b(?:(?!\b(?:yo)?u\b)[^?]){0,90}\b(?:i|my|we|our)\b"
    r"|\b(?:remember|recall|recollect|remind|know)\b[^?]{0,90}\b(?:my|our)\b"
    r"|\bif you were me\b|\bin my (?:place|shoes)\b",
    re.I,
)
"""What is asked about the speaker's own, though the listener be asked: "do you know my name?"."""
OWN = re.compile(r"\b(?:my|mine|i|me|our|we|i'm|i've)\b", re.I)


@dataclass(frozen=True, slots=True)
class _Candidate:
    entry: MemoryEntry
    shared: frozenset[str]
    score: float


def answers(understood: UnderstoodLine, utterance: Utterance) -> list[ReportedSpeech]:
    """The memories that answer a question, best first, at most two."""
    percept = utterance.percept
    asked, kind = understood.question is QuestionKind.MEMORY, answer_type(percept.text)
    chosen = _chosen(understood, utterance, kind)
    if (days := days_meant(percept.text)) is not None:
        chosen = [entry for entry in chosen if _day(percept.timestamp) - _day(entry.timestamp) == days]
    worded = in_words(chosen, understood, utterance, asks_when(percept.text))
    few = 1 if kind is AnswerType.LATEST else 2
    return list(islice((report for report in worded if asked or not report.quoted), few))


def _chosen(understood: UnderstoodLine, utterance: Utterance, kind: AnswerType | None) -> list[MemoryEntry]:
    """What may answer a question, in the order of telling."""
    percept = utterance.percept
    about, asked = people_named(utterance), understood.question is QuestionKind.MEMORY
    wanted = understood.stems - stems_of_names(utterance)
    if about:
        wanted -= topic_stems(sorted(words_for("condition")))
    theirs = about or frozenset({percept.user_id})
    if kind is AnswerType.LATEST:
        return sorted(_told_by_people(utterance, theirs), key=lambda entry: (-entry.timestamp, -entry.id))
    if not wanted and (asked or about):
        found = _told_by_people(utterance, theirs)
        if verbs := _verbs(tokens(percept.text)):
            return [entry for entry in found if verbs & _verbs(tokens(entry.user_text))]
        # Where somebody's place or age is asked for, their other news are no answer.
        open_question = bool(about) or asks_memory(percept.text)
        return found if open_question and kind in (None, AnswerType.STATE, AnswerType.NAME) else []
    own = bool(OWN.search(percept.text))
    fitting = [
        candidate
        for candidate in _fitting(wanted, utterance, by_meaning=asked, kind=kind)
        if (
            candidate.entry.user_id in about if about else not own or from_speaker(candidate.entry, utterance)
        )
        and not of_other_family(candidate.entry.user_text, percept.text)
        and (asked or len(candidate.shared) >= COVERED * len(wanted))
    ]
    return _newest_first(_of_one_thing(fitting, kind, utterance), percept.text)


def _of_one_thing(
    fitting: list[_Candidate], kind: AnswerType | None, utterance: Utterance
) -> list[MemoryEntry]:
    """The best of them, and what tells the same of the same thing."""
    if not fitting:
        return []
    best, *others = fitting
    if kind is AnswerType.STATE or _NOW.search(utterance.percept.text):
        likely = {found.entry.id: found.scores.get(Why.ANSWER, 1.0) for found in in_force(utterance)}
        alike = [c for c in others if c.shared >= best.shared and c.shared and likely[c.entry.id] >= BARELY]
        newest = max([best, *alike], key=lambda c: (c.entry.timestamp, c.entry.id)).entry
        return [newest, *_went_on(newest, utterance)]
    if kind is None:
        same = [c for c in others if c.shared >= best.shared and (not c.shared or _is_about(c))]
        return [c.entry for c in (best, *same)]
    if two := _in_one_breath(best.entry, kind, utterance):
        return two
    if not kind.told_by(best.entry.user_text):
        asks_who = tokens(utterance.percept.text)[0].startswith("who")
        return [best.entry] if asks_who else []
    return [c.entry for c in (best, *(c for c in others if c.shared and kind.told_by(c.entry.user_text)))]


def _is_about(candidate: _Candidate) -> bool:
    """Whether what is shared is the topic of a memory, rather than something in it."""
    text = candidate.entry.user_text
    return len(tokens(text)) <= SHORT_MEMORY or bool(candidate.shared & topic_stems(tokens(find_topic(text))))


def _in_one_breath(entry: MemoryEntry, kind: AnswerType, utterance: Utterance) -> list[MemoryEntry]:
    """Two lines of which only the second answers, and only the first says of whom.

    "I got a dog." "His name is Rex."
    """
    theirs = [found.entry for found in in_force(utterance) if found.entry.user_id == entry.user_id]
    tells = kind.told_by(entry.user_text)
    if tells and not goes_on(entry.user_text):
        return []
    for other in theirs:
        first, second = (other, entry) if tells else (entry, other)
        near = 0.0 < second.timestamp - first.timestamp <= IN_ONE_BREATH
        if (
            near
            and goes_on(second.user_text)
            and not goes_on(first.user_text)
            and kind.told_by(second.user_text)
        ):
            return [first, second] if _can_be_told(first, utterance) else [second]
    return []


def _went_on(entry: MemoryEntry, utterance: Utterance) -> list[MemoryEntry]:
    """The last line that went on from one: "my husband lost his job", "he has a new one"."""
    after = [
        found.entry
        for found in in_force(utterance)
        if found.entry.user_id == entry.user_id
        and 0.0 < found.entry.timestamp - entry.timestamp <= IN_ONE_BREATH
        and _goes_on(found.entry)
        and _can_be_told(found.entry, utterance)
    ]
    return after and [max(after, key=lambda entry: entry.id)]


def _newest_first(entries: list[MemoryEntry], question: str) -> list[MemoryEntry]:
    """Of two that tell of one thing at different times, the newer one first."""
    two = entries[:2]
    changed = len(two) == 2 and two[1].timestamp - two[0].timestamp > HOUR
    return [*reversed(two), *entries[2:]] if changed and not OVER.search(question) else entries


def _day(seconds: float) -> int:
    return int(seconds // DAY)


def _verbs(words: list[str]) -> frozenset[str]:
    """The verbs of a line without a topic, as in "what do I hate?"."""
    found = {word if word in bases() else third_of(word) for word in words}
    return frozenset(map(stem, found - words_for("idle_verbs") - {""}))


def reminders(understood: UnderstoodLine, utterance: Utterance) -> list[ReportedSpeech]:
    """At most one memory that mattered and that a statement brings back.

    One shared word is enough only where one of the two lines is about it.
    """
    names = stems_of_names(utterance)
    wanted = understood.stems - names
    topic = topic_stems(tokens(understood.topic))
    recent = (
        just_said(utterance)
        | _gone_on_from(utterance)
        | {one.entry.id for one in utterance.recalled if Why.NAME in one.why}
    )
    # News is met by itself, unless a model finds that it touches on something.
    if utterance.reading is not None and utterance.reading.significance >= NEWS:
        recent |= {
            found.entry.id for found in utterance.recalled if found.scores.get(Why.TOUCHED, 1.0) < TOUCHED
        }
    chosen = []
    for candidate in _fitting(wanted, utterance):
        entry, shared = candidate.entry, candidate.shared
        if entry.id in recent or entry.user_id in utterance.characters:
            continue
        theirs = topic_stems(tokens(find_topic(entry.user_text)))
        central = shared & (topic | theirs)
        weighty = entry.importance >= WEIGHTY or entry.pinned
        again = _same_words(entry.user_text, utterance.percept.text)
        about = weighty and central and _is_about(candidate)
        comes_back = about or (entry.importance >= MATTERS and len(shared) > 1)
        if comes_back and not again and (from_speaker(entry, utterance) or len(shared) > 1):
            chosen.append(entry)
    return _first_fresh(chosen, understood, utterance, utterance.said[-LATELY:])


def _first_fresh(
    entries: list[MemoryEntry], understood: UnderstoodLine, utterance: Utterance, lately: Sequence[str]
) -> list[ReportedSpeech]:
    """The first memory that is told without a quotation and was not told in these lines."""
    worded = in_words(entries, understood, utterance)
    fresh = (report for report in worded if not report.quoted and not said_lately(report, lately))
    return list(islice(fresh, 1))


def known(understood: UnderstoodLine, utterance: Utterance) -> list[ReportedSpeech]:
    """The memories for a question: by its words, unless another memory is nearer."""
    if asks_who_told(utterance.percept.text):
        asked = asks_source(without_names(utterance.percept.text, utterance.persona))
        told = _told_last(understood, utterance) if asked else _known(understood, utterance)
        return [with_sources(one, utterance) for one in told]
    told = _known(understood, utterance)
    return _latest(told, understood, utterance) if told and asks_as_it_is(utterance.percept.text) else told


def asks_as_it_is(question: str) -> bool:
    """Whether a question asks for the present state of something."""
    return _AS_IT_IS.search(question) is not None and _AS_IT_WAS.search(question) is None


def _latest(
    told: list[ReportedSpeech], understood: UnderstoodLine, utterance: Utterance
) -> list[ReportedSpeech]:
    """What the same person told last of what is asked about, where it may answer, in place of what they told
    before: "how is my father now?"."""
    before, in_mind = told[0].entry, {found.entry.id: found for found in in_force(utterance)}
    likely = {number: found.scores.get(Why.ANSWER, 0.0) for number, found in in_mind.items()}
    least = max(BARELY, FAR_LESS * likely.get(before.id, 0.0))
    since = max(one.entry.id for one in told)
    later = [
        found.entry
        for number, found in in_mind.items()
        if number > since
        and found.entry.user_id == before.user_id
        and found.entry.importance >= MATTERS
        and likely[number] >= least
        and (shares_topic(found.entry, understood) or _goes_further(found, before))
        and _can_be_told(found.entry, utterance, near=True)
    ]
    last = sorted(later, key=lambda entry: entry.id)[-1:]
    return [*in_words(last, understood, utterance, whole=True)] or told


def likeliest_answer(utterance: Utterance) -> float | None:
    """How likely a model finds a memory to answer, at most; None where it read none."""
    return max(
        (found.scores[Why.ANSWER] for found in in_force(utterance) if Why.ANSWER in found.scores),
        default=None,
    )


def shares_topic(entry: MemoryEntry, understood: UnderstoodLine) -> bool:
    """Whether a line and a memory have a topic word in common."""
    return not understood.stems.isdisjoint(topic_stems(tokens(entry.user_text)))


def _gone_on_with(utterance: Utterance) -> list[ReportedSpeech]:
    """The words of what was told last that answer a short question which goes on with it: "which one?"."""
    if len(tokens(utterance.percept.text)) >= FEW_ASKING:
        return []
    read = [found for found in in_force(utterance) if found.answer]
    best = max(read, key=lambda found: (found.scores[Why.ANSWER], found.entry.id), default=None)
    if best is None or Why.TOLD not in best.why:
        return []
    alike = best.scores.get(Why.SEMANTIC, 0.0) >= GOES_ON or best.scores[Why.ANSWER] >= GOES_ON_SURELY
    if best.scores[Why.ANSWER] < AGAIN or not alike:
        return []
    if not OVER.search(utterance.percept.text):
        later = (one for one in read if _goes_further(one, best.entry))
        best = max(later, key=lambda one: one.entry.id, default=best)
    return [quotation(best.entry, best.answer, utterance, sure=True)]


def _goes_further(later: Recalled, entry: MemoryEntry) -> bool:
    """Whether the same person told later of one of the same things, and what answers by itself."""
    one = later.entry
    return (
        later.scores.get(Why.ANSWER, 0.0) >= AGAIN
        and one.id > entry.id
        and one.user_id == entry.user_id
        and not goes_on(one.user_text)
        and not topic_stems(tokens(one.user_text)).isdisjoint(topic_stems(tokens(entry.user_text)))
    )


def _known(understood: UnderstoodLine, utterance: Utterance) -> list[ReportedSpeech]:
    if told := _gone_on_with(utterance):
        return told
    by_words, by_meaning = answers(understood, utterance), nearest(understood, utterance)
    asked = utterance.percept.text
    in_mind, named = {found.entry.id: found for found in in_force(utterance)}, people_named(utterance)
    if answer_type(asked) is AnswerType.LATEST:
        return by_words  # what was last is no matter of likeness
    if by_words and by_meaning and days_meant(asked) is None and not OVER.search(asked):
        further = _goes_further(in_mind[by_meaning[0].entry.id], by_words[0].entry)
        by_words = [] if further else by_words
    answers_better = by_meaning and _is_answered(by_meaning[0], in_mind)
    if by_words and _NOW.search(asked) and (_is_answered(by_words[0], in_mind) or not answers_better):
        return by_words
    if by_words and not understood.stems and (likeliest_answer(utterance) or 0.0) < SURELY:
        return by_words  # "what am I?" is about nothing that could be like it
    first = in_mind[by_words[0].entry.id].scores if by_words else {}
    unread = Why.LEXICAL in first and Why.SEMANTIC not in first  # it may be secret, or new
    if unread or not any(found.scores.get(Why.SEMANTIC) for found in in_mind.values()):
        return by_words
    near = {number: nearness(found, utterance, named, True) for number, found in in_mind.items()}
    surely = by_meaning and in_mind[by_meaning[0].entry.id].scores.get(Why.ANSWER, 0.0) >= SURELY
    if surely and first.get(Why.ANSWER, 1.0) < LIKELY:
        by_words = []
    told = max(by_words, by_meaning, key=lambda found: near[found[0].entry.id] if found else -math.inf)
    most = near[told[0].entry.id] if told else 0.0
    if most < NEAR_QUESTION:
        return []
    told = [replace(one, sure=most >= SURE) for one in told]
    best = in_mind[told[0].entry.id]
    if Why.ANSWER in best.scores and most - MATTERS_MORE * best.entry.importance < FITS:
        return []
    again = Why.TOLD in best.why and not asks_who_told(asked)
    least = AGAIN if again else DOUBTFUL if most < SURE else 0.0
    if best.scores.get(Why.ANSWER, 1.0) < least and not _ABOUT.search(asked):
        return []
    return in_words_that_answer(told, best, utterance)


def in_words_that_answer(
    told: list[ReportedSpeech], best: Recalled, utterance: Utterance
) -> list[ReportedSpeech]:
    """What is told, or a quotation of the first where a report leaves out what answers."""
    likely, text = best.scores.get(Why.ANSWER, 0.0) >= LIKELY, best.entry.user_text
    # Turned, "I owe her a goat" would be "they owe her a goat", which may be anybody's.
    turned = (
        best.entry.kind in SPOKEN
        and not told[0].quoted
        and not from_speaker(best.entry, utterance)
        and OWN.search(text) is not None
    )
    if likely and (turned or not _tells(told[0], best.answer, MOSTLY)):
        return [quotation(best.entry, best.answer, utterance, told[0].sure)]
    short = not likely and len(told) == 1 and len(text) <= LONGEST_ANSWER
    if short and (turned or told[0].quoted or not _tells(told[0], text, NEARLY)):
        return [quotation(best.entry, text, utterance, told[0].sure)]
    return told


def _is_answered(told: ReportedSpeech, in_mind: dict[int, Recalled]) -> bool:
    """Whether a model finds that a memory may answer."""
    return in_mind[told.entry.id].scores.get(Why.ANSWER, 0.0) >= LIKELY


def _tells(told: ReportedSpeech, words: str, share: float) -> bool:
    """Whether a report holds this share of some words."""
    wanted = topic_stems(tokens(words))
    held = wanted & topic_stems(tokens(told.clause))
    return told.entry.kind not in SPOKEN or len(held) >= share * len(wanted)


def _told_last(understood: UnderstoodLine, utterance: Utterance) -> list[ReportedSpeech]:
    """What its last line told, to be told again with its source; at most one."""
    last = utterance.said[-1:]
    # Told later, "last night" is "the night before", so not every word of a quotation is the same.
    quoted = [set(tokens(quote)) for line in last for quote in _QUOTED.findall(line)]
    worded = in_words([found.entry for found in in_force(utterance)], understood, utterance)
    told = (
        report
        for report in worded
        if said_lately(report, last)
        or any(len(quote & {*tokens(report.entry.user_text)}) >= SAME_SHARE * len(quote) for quote in quoted)
    )
    return list(islice(told, 1))


def nearest(understood: UnderstoodLine, utterance: Utterance) -> list[ReportedSpeech]:
    """The memory nearest in meaning to a question or a remark; at most one.

    A question does not get what was told a moment ago. A remark brings back only what mattered, and not what
    was told in the last dozen lines; of the same talk only what is on its topic, unless it appeals to what
    the hearer knows; never who the speaker is.
    """
    asks = understood.question is not QuestionKind.NONE
    line = without_names(utterance.percept.text, utterance.persona)
    words = len(tokens(line))
    if not asks and words < BRIEF:
        return []
    whether = asks and WHETHER_TOLD.search(line) is not None
    few, least, matters = (BRIEF, NEAR_QUESTION, ANSWERS) if asks else (BRIEF_REMARK, NEAR_REMARK, WEIGHTY)
    alike = LEAST_MEANING_SHORT if words < few else LEAST_MEANING
    named = people_named(utterance)
    found = [
        (nearness(recalled, utterance, named, asks), recalled.entry)
        for recalled in in_force(utterance)
        if (
            (meaning := recalled.scores.get(Why.SEMANTIC, 0.0)) >= alike
            or recalled.scores.get(Why.ANSWER if asks else Why.TOUCHED, 0.0) >= (LIKELY if asks else TOUCHED)
        )
        and (not whether or recalled.scores.get(Why.ANSWER, 0.0) >= LIKELY)
        and (recalled.entry.importance >= matters or recalled.entry.pinned)
        and _can_be_told(
            recalled.entry,
            utterance,
            meaning >= NOUN_MEANT or recalled.scores.get(Why.ANSWER, 0.0) >= SURELY,
        )
        and (
            recalled.scores.get(Why.ANSWER, 0.0) >= AGAIN
            or not (Why.RECENT in recalled.why or tells_little(recalled.entry))
        )
        and not _same_words(recalled.entry.user_text, line)
        and (goes_on(recalled.entry.user_text) or not of_other_family(recalled.entry.user_text, line))
        and may_be_meant(recalled.entry, utterance, named, asks)
        and (may_be_asked_for(recalled, understood, utterance) if asks else Why.NAME not in recalled.why)
    ]
    if not found:
        return []
    loss = loss_of_the_short if asks else lambda entry: 0.0
    most, best = min(found, key=lambda pair: (loss(pair[1]) - pair[0], pair[1].id))
    likely = {one.entry.id: one.scores.get(Why.ANSWER, 0.0) for one in in_force(utterance)}
    if asks and likely[best.id] < LIKELY:
        # However near it is and however much it matters, what does not answer gives way to what surely does.
        surely = [(near, entry) for near, entry in found if likely[entry.id] >= SURELY]
        most, best = max(surely, key=lambda pair: (likely[pair[1].id], pair[1].id), default=(most, best))
    if most < least or not (asks or _may_be_brought_up(best, understood, utterance, named)):
        return []
    if not OVER.search(line):
        further = {one.entry.id for one in in_force(utterance) if asks and _goes_further(one, best)}
        # However much nearer the former is, a later one that is near answers about as surely.
        as_surely = {number for number in further if likely[number] >= likely[best.id] - AS_SURELY}
        enough = max(most - CLEARLY, least)
        near = [
            entry
            for how_near, entry in found
            if how_near >= (min(enough, SURE) if entry.id in as_surely else enough)
        ]
        same = (one for one in near if one is best or one.id in further or _of_same_matter(one, best))
        best = max(same, key=lambda entry: entry.id)
    # Asked for more than what was told just now, it tells what surely answers as well.
    others = [entry for _, entry in found if asks and entry is not best and likely[entry.id] >= SURELY]
    others.sort(key=lambda entry: (-likely[entry.id], -entry.id))
    worded = in_words([best, *others], understood, utterance, asks_when(line), whole=True)
    lately = utterance.said[-1:] if asks else utterance.said[-REMARK_LINES:]
    return list(islice((report for report in worded if not said_lately(report, lately)), 1))


def _may_be_brought_up(
    entry: MemoryEntry, understood: UnderstoodLine, utterance: Utterance, named: frozenset[str]
) -> bool:
    """Whether a remark brings back what it is nearest to: in one talk, where everything is near, only what is
    on its topic, or told by somebody named; or what it appeals to."""
    return bool(
        entry.user_id in named
        or _YOU_KNOW.search(without_names(utterance.percept.text, utterance.persona))
        or not _of_this_talk(entry, utterance)
        or (_of_one_topic(entry, understood) and entry.id not in _gone_on_from(utterance))
    )


def _gone_on_from(utterance: Utterance) -> frozenset[int]:
    """Ids of what was told in this talk, if the line tells more of it.

    Whoever says that the treatment now starts on the sixteenth need not hear that they said the ninth. "She
    would have liked this" tells nothing more.
    """
    reading = utterance.reading
    if reading is None or reading.significance < TELLS_MORE:
        return frozenset()
    return frozenset(found.entry.id for found in utterance.recalled if _of_this_talk(found.entry, utterance))


def _of_this_talk(entry: MemoryEntry, utterance: Utterance) -> bool:
    latest = max((found.entry.id for found in utterance.recalled), default=entry.id)
    return in_same_talk(entry, latest, utterance.percept.timestamp)


def _of_one_topic(entry: MemoryEntry, understood: UnderstoodLine) -> bool:
    """Whether a word in common is what one of them is about."""
    topics = topic_stems(tokens(understood.topic)) | topic_stems(tokens(find_topic(entry.user_text)))
    return not (understood.stems & topic_stems(tokens(entry.user_text))).isdisjoint(topics)


def may_be_asked_for(recalled: Recalled, understood: UnderstoodLine, utterance: Utterance) -> bool:
    """Whether what one told of oneself may be what one asks for, without a topic in common.

    "What is the best thing about living here?" does not ask for "I'm from a tiny town in Ohio".
    """
    entry = recalled.entry
    who_one_is = Why.NAME in recalled.why and not _THIRD.search(entry.user_text)
    if (
        understood.question is not QuestionKind.UNKNOWN
        or not from_speaker(entry, utterance)
        or not (who_one_is or tells_of_oneself(entry.user_text))
        or OWN.search(utterance.percept.text)
        or recalled.scores.get(Why.ANSWER, 0.0) >= ALMOST_SURELY
    ):
        return True
    return shares_topic(entry, understood)


def may_be_meant(entry: MemoryEntry, utterance: Utterance, named: frozenset[str], asks: bool) -> bool:
    """Whether somebody's words may be told where only the meaning fits.

    Other characters' words are told only where they are named, else characters would repeat each other's
    small talk. A question that names somebody is about what they told, or what tells of them.
    """
    if entry.user_id in utterance.characters and not (asks and entry.user_id in named):
        return False
    others = named - {utterance.percept.user_id} if asks else frozenset()
    said = set(tokens(entry.user_text))
    return (
        not others
        or entry.user_id in others
        or any(said.issuperset(tokens(shown(user, utterance))) for user in others)
    )


def of_other_family(text: str, line: str) -> bool:
    """Whether a question is about a relative, and a memory about another or only about who told it.

    "My husband" is not "my wife Anna", and "I have a job" is no answer to "what is my father's job?".
    """
    asked, told = (
        {_ALSO_CALLED.get(word, word) for word in bare_words(one) if word in words_for("family")}
        for one in (line, text)
    )
    return bool(asked) and not asked & told and (bool(told) or tells_of_oneself(text))


def tells_of_oneself(text: str) -> bool:
    return _I_ALONE.match(text) is not None and not _THIRD.search(text)


def _of_same_matter(entry: MemoryEntry, other: MemoryEntry) -> bool:
    """Whether the same person told both of the same things."""
    both = (topic_stems(tokens(told.user_text)) for told in (entry, other))
    return entry.user_id == other.user_id and len(next(both) & next(both)) >= 2


def _same_words(one: str, other: str) -> bool:
    first, second = set(tokens(one)), set(tokens(other))
    return len(first & second) >= SAME_SHARE * len(first | second)


def due_memory(utterance: Utterance) -> list[ReportedSpeech]:
    """What a returning person said would happen, when its time has come."""
    due = [found.entry for found in in_force(utterance) if Why.DUE in found.why]
    return list(islice(in_words(due, UnderstoodLine(DialogueAct.GREETING), utterance), 1))


def greeting_memory(utterance: Utterance) -> list[ReportedSpeech]:
    """The most important thing that a returning person told, if it is not fresh."""
    old = [
        entry
        for entry in _told_by_people(utterance, frozenset({utterance.percept.user_id}))
        if entry.importance >= WEIGHTY
        and utterance.percept.timestamp - entry.timestamp >= HOUR
        and not _goes_on(entry)
    ]
    return _first_fresh(old, UnderstoodLine(DialogueAct.GREETING), utterance, utterance.said)


def _fitting(
    wanted: frozenset[str], utterance: Utterance, by_meaning: bool = False, kind: AnswerType | None = None
) -> list[_Candidate]:
    """Memories that share topic words with the line (or mean the same), best first.

    Those that tell the type of answer asked for go before the others.
    """
    spoken = [
        r
        for r in in_force(utterance)
        if (r.entry.importance >= ANSWERS or r.entry.pinned) and _can_be_told(r.entry, utterance)
    ]
    stems = {r.entry.id: topic_stems(tokens(r.entry.user_text)) for r in spoken}
    frequency = Counter(stem for found in stems.values() for stem in found)
    candidates = []
    for recalled in spoken:
        entry = recalled.entry
        shared = wanted & stems[entry.id]
        meant = recalled.scores.get(Why.SEMANTIC, 0.0) if by_meaning else 0.0
        tells = kind is not None and kind.told_by(entry.user_text)
        if not shared and (meant < ANSWERS_BY_MEANING or not (tells or kind is None)):
            continue
        rarity = sum(1.0 / frequency[stem] for stem in shared)
        mine = 0.5 if from_speaker(entry, utterance) else 0.0
        candidates.append(_Candidate(entry, shared, rarity + entry.importance + mine + meant + tells))
    return sorted(candidates, key=lambda c: (-c.score, c.entry.id))


def _told_by_people(utterance: Utterance, people: frozenset[str]) -> list[MemoryEntry]:
    """What these people said or did, the most important first; last what makes no sense by itself."""
    entries = [r.entry for r in in_force(utterance) if _can_be_told(r.entry, utterance)]
    theirs = [e for e in entries if e.user_id in people and not tells_little(e)]
    return sorted(theirs, key=lambda entry: (_goes_on(entry), -entry.importance, entry.id))


def _goes_on(entry: MemoryEntry) -> bool:
    return entry.kind is not Kind.EMOTE and goes_on(entry.user_text)


def tells_little(entry: MemoryEntry) -> bool:
    """Whether it tells nothing: two words, a name, a request, or words beside a question."""
    text = entry.user_text
    words = tokens(text)
    return not written_by(entry) and (
        len(words) < NEWS_WORDS
        or (only_asks(text) and not text.rstrip().endswith("?"))
        or _INTRODUCES.match(text) is not None
        or (bool(words) and words[0] in words_for("imperative"))
    )


def said_lately(report: ReportedSpeech, lines: Sequence[str]) -> bool:
    return any(report.clause.casefold() in line.casefold() for line in lines)


def in_force(utterance: Utterance) -> list[Recalled]:
    """The lived memories in mind, where a correction stands for what it corrects."""
    found = {one.entry.id: one for one in utterance.recalled if one.entry.kind not in NOT_LIVED}
    for old in [recalled for recalled in found.values() if recalled.superseded_by is not None]:
        new = found.get(old.superseded_by or 0)
        if new is not None:
            both = old.scores.keys() | new.scores.keys()
            scores = {why: max(one.scores.get(why, 0.0) for one in (old, new)) for why in both}
            found[new.entry.id] = replace(new, scores=scores)
        del found[old.entry.id]
    return [one for one in found.values() if one.why != (Why.NAME,)]


def just_said(utterance: Utterance) -> frozenset[int]:
    """Ids of what was said a moment ago and need not be recalled, except for a grief."""
    now = utterance.percept.timestamp
    return frozenset(
        found.entry.id
        for found in utterance.recalled
        if Why.RECENT in found.why
        and now - found.entry.timestamp < JUST_SAID
        and not is_heavy_memory(found.entry, utterance)
    )


def is_heavy_memory(entry: MemoryEntry, utterance: Utterance) -> bool:
    said_then = Percept(entry.user_id, entry.user_text, entry.timestamp, entry.kind)
    return understand(said_then, utterance.persona).heavy


def corrects(utterance: Utterance) -> bool:
    """Whether what is answered corrects something that is in mind."""
    in_mind = {recalled.entry.id for recalled in utterance.recalled}
    later = {recalled.superseded_by for recalled in utterance.recalled} - {None}
    return not later <= in_mind


def was_told(entry: MemoryEntry, utterance: Utterance) -> bool:
    """Whether a memory tells something that others said or did, or that was read."""
    own = entry.user_id in utterance.persona.own_ids
    return not own and entry.kind not in (Kind.THOUGHT, Kind.ARRIVE, Kind.LEAVE)


def _can_be_told(entry: MemoryEntry, utterance: Utterance, near: bool = False) -> bool:
    """Not its own lines, nothing that was only a question, and nothing without what is asked for."""
    if not was_told(entry, utterance):
        return False
    if written_by(entry):
        return True
    return (
        not TELLS_YOU.search(entry.user_text)
        and not only_asks(entry.user_text)
        and may_answer(entry.user_text, utterance.percept.text, near)
    )


def in_words(
    entries: list[MemoryEntry],
    understood: UnderstoodLine,
    utterance: Utterance,
    when: bool = False,
    whole: bool = False,
) -> Iterator[ReportedSpeech]:
    """The memories in words, one by one, no clause twice."""
    clauses: set[str] = set()
    alike = {recalled.entry.id: recalled.phrases for recalled in utterance.recalled}
    for entry in entries:
        made = report(entry, utterance, understood.stems, when, whole, alike.get(entry.id, ()))
        if made and made.clause.casefold() not in clauses:
            clauses.add(made.clause.casefold())
            yield made


def names_others(utterance: Utterance) -> bool:
    """Whether the line names somebody other than the one who hears it."""
    words = set(tokens(utterance.percept.text))
    own = utterance.persona.called
    return bool(people_named(utterance)) and not any(words >= set(tokens(name)) for name in own)


def people_named(utterance: Utterance) -> frozenset[str]:
    """Ids of those whose name is in the line."""
    words = set(bare_words(utterance.percept.text))
    everybody = {r.entry.user_id for r in utterance.recalled} | set(utterance.names)
    named = frozenset(u for u in everybody if words >= set(tokens(shown(u, utterance))) != set())
    return named.difference(utterance.persona.own_ids)


def stems_of_names(utterance: Utterance) -> frozenset[str]:
    """Stems of the names in the line, which are no topic."""
    names = [*utterance.persona.called, *(shown(u, utterance) for u in people_named(utterance))]
    return topic_stems(tokens(" ".join(names)))
