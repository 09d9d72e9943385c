"""What somebody tells of their own feeling, by the words of a line or by what was felt on hearing it.

The rule it keeps: what is denied, laughed off or said of a thing waits for no comfort; and what only the
hearer felt counts where the words are plain.
"""

from __future__ import annotations

import re

from noodlings.values.percept import Percept
from noodlings.values.wording import Feeling, Occasion
from noodlings.voice.feelings import feeling
from noodlings.voice.lexicon import phrases_for, words_for

STRONG = 0.6
"""Intensity (0…1) from which what was felt on hearing a line says what it is."""
HARD = -0.5
"""Valence below which a line tells of something sad, whatever else is felt about it."""

_FELT = (  # the order is the one in which they are answered
    ("despair", Occasion.DESPAIR),
    ("grief", Occasion.GRIEF),
    ("afraid", Occasion.AFRAID),
    ("sad", Occasion.SAD),
    ("angry", Occasion.ANGRY),
    ("glad", Occasion.GLAD),
    ("tired", Occasion.TIRED),
    ("bored", Occasion.BORED),
)
_BY_AFFECT = {
    Feeling.SORROW: Occasion.SAD,
    Feeling.FEAR: Occasion.AFRAID,
    Feeling.JOY: Occasion.GLAD,
    Feeling.ANGER: Occasion.ANGRY,
    Feeling.BOREDOM: Occasion.BORED,
}
_DARK = frozenset({Occasion.GRIEF, Occasion.SAD, Occasion.AFRAID, Occasion.ANGRY})
_OWN = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|i'm|i've|i'd|i'll|we're|we've)\b")
# Who can still say it did not die of it: so people talk in games.
_DIED_IN_PLAY = re.compile(
    r"\b(?:i|we) (?:just |almost |nearly )?(?:died|got killed|was killed)\b|\bkilled (?:me|us)\b"
)
_LIKING = re.compile(
    r"^i (?:really |just |also |still )*(?:hate|love|like|adore|enjoy|loathe|prefer|can't stand) "
    r"(?!you\b|me\b|my\b|myself\b)"
)
_HAPPY_TEARS = re.compile(
    r"\bcr(?:y|ied|ying) (?:with|of|from|for) (?:joy|laughter|happiness|laughing)\b"
    r"|\btears of joy\b|\bhappy tears\b"
)
_WAS = re.compile(r"\b(?:was|were|used to|had)\b")


def told_feeling(words: list[str], line: str, percept: Percept | None = None) -> Occasion | None:
    """The feeling a line tells of, where it is not denied and not about a thing that cannot die.

    Args:
        line: the words with single spaces.
        percept: to take what was felt about it where the words do not tell; None to take the words alone.
    """
    if _HAPPY_TEARS.search(line):
        return Occasion.GLAD
    unlike = (
        {Occasion.GRIEF} if words_for("lifeless").intersection(words) or _DIED_IN_PLAY.search(line) else set()
    )
    if words_for("laughing").intersection(words):
        unlike |= _DARK
    for name, occasion in _FELT:
        if occasion not in unlike and _names(words, line, name):
            return occasion
    return by_affect(percept, line) if percept else None


def by_affect(percept: Percept, line: str) -> Occasion | None:
    """What the feeling that came with a percept makes of its line; None where it is no strong one.

    Somebody's gladness is taken for theirs alone when they speak of themselves, and of now.
    """
    affect = percept.affect
    if affect is None or affect.intensity < STRONG or _LIKING.match(line):
        return None
    found = _BY_AFFECT.get(feeling(affect)) or (Occasion.SAD if affect.valence < HARD else None)
    if found in _DARK and words_for("laughing").intersection(line.split()):
        return None
    if found is Occasion.GLAD and (not _OWN.search(line) or _WAS.search(line)):
        return None
    return found


def of_oneself(line: str) -> bool:
    """Whether whoever says it speaks of themselves."""
    return _OWN.search(line) is not None


def _names(words: list[str], line: str, name: str) -> bool:
    if any(phrase in f" {line} " for phrase in phrases_for(f"{name}_phrases")):
        return True
    denied = words_for("negations")
    return any(
        word in words_for(name) and not denied.intersection(words[max(at - 3, 0) : at])
        for at, word in enumerate(words)
    )
