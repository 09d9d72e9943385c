"""Causes and consequences: what a person says is the reason for something else that they told.

"I left because he lied about his debts" has an earlier line about these debts as its cause. "That's why I
quit rowing" follows from the line before it, and "because my back hurts" explains that.
"""

from __future__ import annotations

import re

from noodlings.reflection.contradictions import WHEN, LinesOfPerson, ReadLine, Shown, Span, lexical_stems
from noodlings.reflection.facts import sentences
from noodlings.values.memory import MemoryEntry

_BECAUSE = re.compile(
    r"\b(?:because of|due to|thanks to|on account of)\b(?P<thing>.+)"
    r"|\b(?:because|cos|coz|cuz|now that|(?<=, )since(?! (?:we|our|then|last)))\b(?P<cause>.+)"
    r"|^(?P<before>.+), so\b.+",
    re.I,
)
_THEREFORE = re.compile(
    r"(?:that(?:'s| is|’s) why|which is why|therefore|hence|as a result|because of (?:that|it|this))\b"
    r"|(?:and )?so,? (?:i|we|my|our|there|now i|now we)(?:'\w+)?\b(?! (?:mean|am like|guess|see)\b)",
    re.I,
)
_EXPLAINS = re.compile(r"(?:because|cos|coz|cuz|due to|it's because|that's because)\b", re.I)
SHARE = 0.5
"""Of the stems of a cause, those that the line which tells it has at least."""
ENOUGH = 2.0
"""How many rare stems these are; of a thing ("because of my wrist") as many as it has, if these are fewer."""


def causes(line: ReadLine, earlier: LinesOfPerson, before: MemoryEntry | None) -> list[Shown]:
    """What a line has to do with earlier lines of the same person; the source is the cause of the target.

    Args:
        before: what they told just before, in the same talk.
    """
    found = list[Shown]()
    for begins, ends, sentence in sentences(line.text):
        if sentence.endswith("?"):
            continue
        words = (begins, ends)
        if before is not None and not begins and _THEREFORE.match(sentence):
            found.append((before.id, line.entry_id, _last(before.user_text), words))
        elif before is not None and not begins and _EXPLAINS.match(sentence):
            found.append((line.entry_id, before.id, words, _last(before.user_text)))
        elif because := _BECAUSE.search(sentence):
            wanted = lexical_stems(because["thing"] or because["cause"] or because["before"]) - WHEN
            weight, told = earlier.most_alike(wanted)
            shared = frozenset[str]() if told is None else told.stems & wanted
            enough = min(ENOUGH, len(wanted)) if because["thing"] else ENOUGH
            if told is not None and weight >= enough and len(shared) >= SHARE * len(wanted):
                found.append((told.entry_id, line.entry_id, _telling(told.text, shared), words))
    return found


def _last(text: str) -> Span:
    """Where the last sentence of a text stands."""
    return max(((begins, ends) for begins, ends, _ in sentences(text)), default=(0, len(text)))


def _telling(text: str, wanted: frozenset[str]) -> Span:
    """Where the sentence stands that has most of these stems."""
    told = [
        (len(lexical_stems(words) & wanted), -begins, (begins, ends))
        for begins, ends, words in sentences(text)
    ]
    return max(told, default=(0, 0, (0, len(text))))[2]
