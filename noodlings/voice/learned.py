"""Which of what was read, or is known of the world, answers a question.

It is told in the words of its source, and only where it is clearly what is asked for. Questions about what
somebody told are not answered with it.
"""

from __future__ import annotations

import re

from noodlings.ports import Utterance
from noodlings.values.memory import Recalled, Why
from noodlings.values.percept import LEARNED
from noodlings.voice.question import QuestionKind
from noodlings.voice.reported_speech import ReportedSpeech, report
from noodlings.voice.understanding import UnderstoodLine

CLOSE = 0.1
"""What speaks for two answers may differ by so much for both to be told."""

_ABOUT_LORE = frozenset(
    {
        QuestionKind.MEMORY,
        QuestionKind.UNKNOWN,
        QuestionKind.YES_OR_NO,
        QuestionKind.ADVICE,
        QuestionKind.REQUEST,
        QuestionKind.PERSONAL,
    }
)
_OF_ONESELF = re.compile(
    r"\b(?:my|mine|ours?)\b|\b(?:did|have|had|didn['’]t|haven['’]t) (?:i|we)\b"
    r"|\b(?:i|we) (?:told|said|mentioned)\b",
    re.IGNORECASE,
)


def learned(understood: UnderstoodLine, utterance: Utterance) -> list[ReportedSpeech]:
    """What answers a question out of what was read or is known, best first, at most two."""
    if understood.question not in _ABOUT_LORE or _OF_ONESELF.search(utterance.percept.text):
        return []
    found = [one for one in utterance.recalled if one.entry.kind in LEARNED]
    found.sort(key=lambda one: (-evidence(one), one.entry.id))
    near = [one.entry for one in found[:2] if evidence(one) >= evidence(found[0]) - CLOSE]
    worded = (report(entry, utterance, understood.stems) for entry in near)
    return [told for told in worded if told is not None]


def evidence(found: Recalled) -> float:
    """How well an entry answers, by its meaning and the words it shares with the question."""
    return found.scores.get(Why.SEMANTIC, 0.0) + 0.3 * found.scores.get(Why.LEXICAL, 0.0)
