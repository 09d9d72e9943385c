"""Strength: importance seen through time and use. Computed when asked, never stored back.

What is stored of an entry is its history: when it happened, when it was last truly recalled for a response,
and its stability. Looking at a memory changes none of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from noodlings.values.memory import MemoryEntry

DAY = 86_400.0

INITIAL_STABILITY = 7 * DAY
"""Seconds after which retention has fallen to 0.9."""

FLOOR = 0.6
"""What is left of an important memory however long ago it was: time makes it fainter, not trivial."""

GAIN = 3.0
"""Stability gained, in times itself, by recalling what had faded away altogether."""

Number = float | npt.NDArray[np.floating[Any]]


def retention(age: Number, stability: Number) -> Any:
    """How much of the freshness is left, 1 falling to 0.

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
    """The stability after a true recall, `age` seconds after the last one (or after it happened).

    The spacing effect (Cepeda et al. 2006): the more had faded, the more a recall consolidates. Recalling a
    hundred times in a minute does what recalling once does, which is next to nothing; all recalls together
    gain at most a third of the time that passed, so that a stability stays finite.
    """
    faded = 1.0 - float(retention(age, stability))
    return stability * (1.0 + GAIN * faded)


def strength_of(entry: MemoryEntry, now: float) -> float:
    """The strength of one entry at world time `now`, 0…1."""
    return float(strength(entry.importance, now - entry.fresh_at, entry.stability))
