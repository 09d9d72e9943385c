"""Mood: the slow feeling that events push and time pulls back to who one is.

The model is Gebhard's (2005, "ALMA: a layered model of affect"): a feeling pulls the mood towards itself, and
pushes it further where the mood has already gone beyond; left alone, the mood returns to a default that the
personality gives (Mehrabian 1996, "Analysis of the big-five personality factors in terms of the PAD
temperament model"). Two things differ: mood has our five axes in place of his three, and it returns by
half-lives, so that it does not matter how often one looks.

One event never takes the mood more than `PUSH` of the way, so it flips nobody.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from noodlings.errors import UserError
from noodlings.values.affect import REST, Affect
from noodlings.values.persona import Persona

HALF_LIFE_SECONDS = 600.0
"""World time in which half of what moved the mood has worn off. ALMA returns within twenty minutes."""

PUSH = 0.25
"""How much of the way to the strongest feeling one event takes the mood, 0…1."""
TEMPERAMENT = 0.3
"""How far an extreme personality shifts the mood it returns to, on axes of length 1."""

VERSION = 1


@dataclass(frozen=True, slots=True)
class Mood:
    """A mood as it was when it was last pushed. A value: a push gives a new one.

    Attributes:
        current: the mood at `at`, world time in seconds.
        baseline: where it returns to.
        moodiness: how far feelings move it, 0 (never) … 1.
    """

    current: Affect
    at: float
    baseline: Affect
    moodiness: float = 1.0

    def __post_init__(self) -> None:
        if not math.isfinite(self.at):
            raise UserError(f"the time of a mood must be finite seconds, not {self.at!r}")

    @classmethod
    def of(cls, persona: Persona, now: float) -> Mood:
        """The mood of somebody to whom nothing has happened yet."""
        baseline = baseline_of(persona)
        return cls(baseline, now, baseline, persona.moodiness)

    def at_time(self, now: float) -> Affect:
        """The mood at a world time: what is beyond the baseline halves with every half-life.

        A time before the last push gives the mood of that push; a time that is not finite raises `UserError`.
        """
        if not math.isfinite(now):
            raise UserError(f"the time of a mood must be finite seconds, not {now!r}")
        gone = 1.0 - 0.5 ** (max(now - self.at, 0.0) / HALF_LIFE_SECONDS)
        current = self.current.array()
        return Affect.of(current + gone * (self.baseline.array() - current))

    def pushed(self, affect: Affect, now: float) -> Mood:
        """The mood after something was felt. The stronger it was, the further the mood goes."""
        mood, rest, feeling = self.at_time(now).array(), np.array(REST), affect.array()
        reach = PUSH * self.moodiness * affect.intensity
        towards = feeling - mood
        if _has_gone_beyond(mood - rest, feeling - rest):
            towards = (feeling - rest) * np.clip(1.0 - np.abs(mood - rest), 0.0, 1.0)
        return replace(self, current=Affect.of(mood + reach * towards), at=now)

    def corrected(self, was: Mood, instead: Mood) -> Mood:
        """The mood as if an earlier push had led to `instead`, where it led to `was`.

        The difference of the two has halved with the half-life since. What was felt meanwhile stays.
        """
        left = 0.5 ** (max(self.at - was.at, 0.0) / HALF_LIFE_SECONDS)
        difference = instead.current.array() - was.current.array()
        return replace(self, current=Affect.of(self.current.array() + left * difference))

    def as_dict(self) -> dict[str, Any]:
        """What a restart needs, JSON-compatible; baseline and moodiness belong to the persona."""
        return {"version": VERSION, "current": self.current.as_list(), "at": self.at}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], baseline: Affect, moodiness: float) -> Mood:
        """The mood that `as_dict` was taken from, exactly. Raises `UserError` for anything else."""
        if data.get("version") != VERSION or not isinstance(data.get("at"), int | float):
            raise UserError(f"not a stored mood of version {VERSION}")
        try:
            return cls(Affect.of(data.get("current")), float(data["at"]), baseline, moodiness)
        except OverflowError:
            raise UserError("the time of a stored mood is too large a number") from None


def baseline_of(persona: Persona) -> Affect:
    """Where a persona's mood returns to: its own `baseline`, shifted by its temperament.

    Mehrabian gives pleasure, arousability and dominance from five traits. His fifth is emotional *stability*,
    the opposite of neuroticism: a neurotic is less pleased and more aroused. Where pleasure and dominance are
    low and arousal high there is anxiety (his octant), which here has an axis of its own.
    """
    openness, conscientiousness, extraversion, agreeableness, stability = (
        2.0 * value - 1.0
        for value in (
            persona.personality["openness"],
            persona.personality["conscientiousness"],
            persona.personality["extraversion"],
            persona.personality["agreeableness"],
            1.0 - persona.personality["neuroticism"],
        )
    )
    pleasure = 0.21 * extraversion + 0.59 * agreeableness + 0.19 * stability
    arousal = 0.15 * openness + 0.30 * agreeableness - 0.57 * stability
    dominance = 0.25 * openness + 0.17 * conscientiousness + 0.60 * extraversion - 0.32 * agreeableness
    anxiety = max(0.0, (arousal - pleasure - dominance) / 3.0)
    # Arousal runs over an axis of half the length of the others.
    shift = np.array([pleasure, arousal / 2.0, anxiety, 0.0, 0.0])
    return Affect.of(persona.baseline.array() + TEMPERAMENT * shift)


def _has_gone_beyond(mood: npt.NDArray[np.float64], feeling: npt.NDArray[np.float64]) -> bool:
    """Whether a mood lies further out than a feeling, in the direction of that feeling; both from rest."""
    return float(mood @ feeling) > float(feeling @ feeling) > 0.0
