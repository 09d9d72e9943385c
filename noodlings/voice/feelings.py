"""Which feeling colours what is said: of a mood, or of a percept that came with its affect."""

from __future__ import annotations

from noodlings.values.affect import Affect
from noodlings.values.wording import Feeling, Occasion

NOTICEABLE = 0.3
"""A feeling weaker than this (0…1) is calm."""

MOOD_LINES = {
    Feeling.JOY: Occasion.MOOD_JOY,
    Feeling.SORROW: Occasion.MOOD_SORROW,
    Feeling.FEAR: Occasion.MOOD_FEAR,
    Feeling.ANGER: Occasion.MOOD_ANGER,
    Feeling.BOREDOM: Occasion.MOOD_BOREDOM,
}


def strengths(affect: Affect) -> dict[Feeling, float]:
    """How much of each feeling there is, 0…1 each.

    Anger is what is left of an unpleasant agitation when fear and sorrow have taken theirs.
    """
    agitation = max(2.0 * affect.arousal - 1.0, 0.0)
    displeasure = max(-affect.valence, 0.0)
    return {
        Feeling.SORROW: affect.sorrow,
        Feeling.FEAR: affect.fear,
        Feeling.JOY: max(affect.valence, 0.0) * (1.0 - affect.sorrow),
        Feeling.ANGER: displeasure * (0.3 + 0.7 * agitation) * (1.0 - affect.fear) * (1.0 - affect.sorrow),
        Feeling.BOREDOM: affect.boredom,
    }


def feeling(affect: Affect) -> Feeling:
    """The strongest feeling, or calm where none is noticeable."""
    found = strengths(affect)
    strongest = max(found, key=lambda name: found[name])
    return strongest if found[strongest] >= NOTICEABLE else Feeling.CALM


_ADJECTIVES = {
    Feeling.JOY: "happy",
    Feeling.SORROW: "sad",
    Feeling.FEAR: "afraid",
    Feeling.ANGER: "angry",
    Feeling.BOREDOM: "bored",
}


def in_words(affect: Affect) -> str:
    """A mood for a prompt: "very sad, a little afraid, drowsy"."""
    felt = sorted(strengths(affect).items(), key=lambda item: -item[1])
    words = [f"{_degree(much)}{_ADJECTIVES[name]}" for name, much in felt if much >= NOTICEABLE / 2]
    if affect.arousal > 0.75:
        words.append("wide awake")
    elif affect.arousal < 0.25:
        words.append("drowsy")
    return ", ".join(words) or "calm"


def _degree(much: float) -> str:
    return "very " if much >= 0.7 else "a little " if much < 0.4 else ""
