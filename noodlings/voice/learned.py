"""Which of what was read, or is known of the world, answers a question.

It is told in the words of its source, and only where it is clearly what is asked for. A question about what
somebody told is answered by that alone.
"""

from __future__ import annotations

import re

from noodlings.ports import Utterance
from noodlings.values.memory import Recalled, Why
from noodlings.values.percept import LEARNED
from noodlings.voice.question import QuestionKind
from noodlings.voice.reported_speech import ReportedSpeech, report
from noodlings.voice.understanding import UnderstoodLine

ANSWERS = 0.35
"""Evidence (see `evidence`) from which something answers a question."""

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
    r"\b(?:my|mine|our|ours)\b|\b(?:i|we) (?:\w+ )?(?:tell|told|say|said|mention|mentioned|ask|asked)\b",
    re.IGNORECASE,
)


def learned(understood: UnderstoodLine, utterance: Utterance) -> list[ReportedSpeech]:
    """What answers a question out of what was read or is known; at most one."""
    asked = utterance.percept.text
    if understood.question not in _ABOUT_LORE or _OF_ONESELF.search(asked):
        return []
    found = [one for one in utterance.recalled if one.entry.kind in LEARNED and evidence(one) >= ANSWERS]
    best = max(found, key=lambda one: (one.score, -one.entry.id), default=None)
    made = None if best is None else report(best.entry, utterance, understood.stems)
    return [] if made is None else [made]


def evidence(found: Recalled) -> float:
    """How much speaks for it, 0…1.3: what it means, and the words it shares with the question."""
    return found.scores.get(Why.SEMANTIC, 0.0) + 0.3 * found.scores.get(Why.LEXICAL, 0.0)
