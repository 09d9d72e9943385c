"""Importance, decided once when a percept is encoded, and strength, which is importance over time.

The importance at encoding is kept for good. A later change (by a response, or by hand) is a separate override
on the entry, so that both can always be seen.

Strength is computed when asked and never stored. It comes from what is stored of an entry: when it happened,
when it was last recalled for a response, and its stability. Reading a memory changes none of them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from noodlings.values.memory import ImportanceParts, ImportanceWeights, MemoryEntry

DAY = 86_400.0

INITIAL_STABILITY = 7 * DAY
"""Seconds after which retention has fallen to 0.9."""

FLOOR = 0.6
"""What is left of an important memory however long ago it was: time makes it fainter, not trivial."""

GAIN = 3.0
"""Stability gained, in times itself, by recalling what had faded away altogether."""

Number = float | npt.NDArray[np.floating[Any]]


def retention(age: Number, stability: Number) -> Any:
    """How much of the freshness is left, falling from 1 to 0.

    The power law of forgetting in the form of FSRS (Ye, Su and Cao 2022): (1 + age / 9·stability)⁻¹, which
    is 0.9 when `age` equals `stability`. A moment in the future counts as now.

    Args:
        age: world seconds since it happened or was last recalled.
        stability: seconds, > 0.
    """
    return 1.0 / (1.0 + np.maximum(age, 0.0) / (9.0 * np.asarray(stability)))


def strength(importance: Number, age: Number, stability: Number) -> Any:
    """How strongly a memory stands now, 0…1: importance · (floor + (1 − floor) · retention)."""
    return importance * (FLOOR + (1.0 - FLOOR) * retention(age, stability))


def reinforced(stability: float, age: float) -> float:
    """The stability after a recall for a response, `age` seconds after the last one (or after it happened).

    The spacing effect (Cepeda et al. 2006): the more had faded, the more a recall consolidates. Recalling a
    hundred times in a minute does what recalling once does, which is next to nothing; all recalls together
    gain at most a third of the time that passed, so that a stability stays finite.
    """
    faded = 1.0 - float(retention(age, stability))
    return stability * (1.0 + GAIN * faded)


def strength_of(entry: MemoryEntry, now: float) -> float:
    """The strength of one entry at world time `now`, 0…1."""
    return float(strength(entry.importance, now - entry.fresh_at, entry.stability))


DEFAULT_WEIGHTS = ImportanceWeights()

INTENSITY_POWER = 1.5
SIGNIFICANCE_POWER = 1.3
TRIFLE = 0.5
"""What is left of a feeling about something that does not matter at all."""
REPEATED = 0.5
"""What is left of a line each time it was said before."""


def about_something(intensity: float, significance: float) -> float:
    """A feeling as far as it is about something significant, 0…1: strong words about trifles are cheap."""
    return intensity * (TRIFLE + (1.0 - TRIFLE) * significance)


def importance(parts: ImportanceParts, weights: ImportanceWeights = DEFAULT_WEIGHTS) -> float:
    """How much a moment matters, 0…1.

        importance = 1 − Π over k of (1 − weight_k · part_k),
        with intensity to the power of 1.5 and significance to the power of 1.3

    A noisy-or (Pearl 1988, Probabilistic Reasoning in Intelligent Systems, section 4.3.2): each component
    independently closes a part of the gap to 1. So one strong component is enough, several add up without
    passing 1, none can cancel another, and a weight is the importance of a moment that has this component
    alone, at its fullest. A weighted mean, by contrast, calls a death unimportant because nobody had answered
    yet. The powers are ours: mild feelings are in every line, and matter less than their share of a grief.

    Args:
        weights: `memory.importance` in the settings.
    """
    return 1.0 - (
        (1.0 - weights.surprise * parts.surprise)
        * (1.0 - weights.intensity * math.pow(parts.intensity, INTENSITY_POWER))
        * (1.0 - weights.salience * parts.salience)
        * (1.0 - weights.addressed * parts.addressed)
        * (1.0 - weights.answered * parts.answered)
        * (1.0 - weights.remember * parts.remember)
        * (1.0 - weights.significance * math.pow(parts.significance, SIGNIFICANCE_POWER))
    )
