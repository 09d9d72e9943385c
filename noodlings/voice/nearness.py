"""How well a memory fits a question or a remark."""

from __future__ import annotations

import math
import re

from noodlings.ports import Utterance
from noodlings.values.memory import TOUCHED, MemoryEntry, Recalled, Why
from noodlings.voice.question import answer_type
from noodlings.voice.words import tokens, topic_stems

NEAR_REMARK = -0.9
"""Nearness (see `nearness`) from which a remark brings back what mattered."""
NEAR_QUESTION, FITS, SURE = 0.52, 0.27, 0.7
"""Nearness from which a memory may answer a question, what of that must come from more than importance, and
from which it surely does."""
MATTERS_MORE = 0.6
"""What its importance adds to the nearness of a memory to a question: of two that may answer, the weightier
is told."""
READ, EVEN, LEAST_LIKELY = 0.12, 0.06, 0.02
"""The weight of the log odds that a memory answers a question, what it gains at even odds, and the least
probability that counts."""
TELLING = 11
"""Words of a line that is not short where one of several is chosen."""

_OPEN = re.compile(r"\b(?:about|remember|recall|any(?!ways?\b)\w*|should i|happened|wrong|come over)\b", re.I)
"""Words of a question that many things may answer."""
_ASKS_BESIDES = re.compile(
    r"\W{1,9}(?:(?:do|can) (?:you|u) (?:still )?(?:remember|recall)|if you (?:remember|recall))\W*$", re.I
)
"""What is asked besides, of anything: "what was he called, do you recall?"."""


def nearness(recalled: Recalled, utterance: Utterance, named: frozenset[str], asks: bool) -> float:
    """How well a memory fits a question or a remark: its meaning, shared words, importance, and who told it.

    Telling another type of answer than was asked for, or having been overheard where others were said to the
    character, counts against it. The weights are those of a softmax between the memories and none of them,
    fitted to the sets of `benchmarks/talk` that are for tuning; for remarks this is the log of the odds, and
    a memory of which no model can tell whether they touch on it counts as one on which they just do.

    Args:
        named: ids of those whose name is in the line.
        asks: it is a question.
    """
    entry, text = recalled.entry, utterance.percept.text
    meaning = recalled.scores.get(Why.SEMANTIC, 0.0)
    if not asks:
        theirs = 0.74 * from_speaker(entry, utterance) - 1.76 * overheard(entry, utterance)
        touched = 0.31 * _log_odds(recalled.scores.get(Why.TOUCHED, TOUCHED))
        return 0.83 * meaning + 1.4 * entry.importance + theirs + touched + 1.2 * told_words(entry) - 4.68
    wanted, kind = topic_stems(tokens(text)), answer_type(text)
    covered = len(wanted & topic_stems(tokens(entry.user_text))) / max(len(wanted), 1)
    theirs = 0.45 * (entry.user_id in named) + 0.1 * from_speaker(entry, utterance)
    other = 0.0 if kind is None else 0.15 if kind.told_by(entry.user_text) else 0.4
    near = (
        meaning
        + 0.2 * covered
        + MATTERS_MORE * entry.importance
        + theirs
        - other
        - 0.5 * overheard(entry, utterance)
    )
    return near + _answering(recalled, text)


def _log_odds(likely: float) -> float:
    return math.log(max(likely, LEAST_LIKELY) / max(1.0 - likely, LEAST_LIKELY))


def _answering(recalled: Recalled, question: str) -> float:
    """What a memory gains or loses by how likely it answers the question; 0 where no model could tell.

    An open question ("what about…?", "anything I should…?") is answered by whatever is on its matter, so no
    memory loses by it.
    """
    if (likely := recalled.scores.get(Why.ANSWER)) is None:
        return 0.0
    gain = READ * _log_odds(likely) + EVEN
    return max(gain, 0.0) if asks_openly(question) else gain


def asks_openly(question: str) -> bool:
    """Whether many things may answer a question: "anything I should…?"."""
    return _OPEN.search(_ASKS_BESIDES.sub("", question)) is not None


def overheard(entry: MemoryEntry, utterance: Utterance) -> bool:
    """Whether a line was only overheard where another one in mind was said to the character."""
    return not entry.parts.addressed and any(found.entry.parts.addressed for found in utterance.recalled)


def loss_of_the_short(entry: MemoryEntry) -> float:
    """What a short line loses of its nearness where one of several is chosen, 0 for `TELLING` words or more.

    Idle talk is short, and near to anything. Whether it is near enough, its length has no say in.
    """
    return 0.2 * (math.log(TELLING + 1) - told_words(entry))


def told_words(entry: MemoryEntry) -> float:
    """The logarithm of how many words a line has; beyond `TELLING` they count for nothing."""
    return math.log(min(len(tokens(entry.user_text)), TELLING) + 1)


def from_speaker(entry: MemoryEntry, utterance: Utterance) -> bool:
    return entry.user_id == utterance.percept.user_id
