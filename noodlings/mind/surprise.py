"""Surprise: how far what came is from what was forecast, on a scale that is the agent's own.

An error is counted in nats: how unlikely the affect was, and how unlikely the meaning, added up. It is set
against the errors this agent lately made. What is usual surprises it a little, twice the usual much, and
nothing exceeds 1. A new agent borrows what is usual, and no agent gets so used to stillness that a nuance
would startle it.
"""

from __future__ import annotations

import math
from statistics import median

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

AXIS_WEIGHTS = np.array([0.75, 1.0, 1.25, 1.25, 0.5])
"""How much a unit of each axis counts in the distance of two affects: pleasantness comes and goes in any
talk, fear and sorrow do not, and boredom is a weak feeling."""

STRAYING = 0.3
"""How far an affect strays from its forecast in ordinary talk; further is an event."""

STRAYING_NATS = 2.0
"""How fast nats grow beyond that, for each `STRAYING`."""

HISTORY = 64
"""How many of its errors an agent remembers."""

BORROWED = 4.0
"""What a new agent takes for usual, in nats: that whatever comes is new, and moves it little."""

BORROWED_WEIGHT = 24
"""How many errors of its own weigh as much as the borrowed one."""

LEAST_USUAL = 2.0
"""What is usual in the stillest of lives, in nats."""

USUAL_SURPRISE = 0.17
"""How surprising the usual is, 0…1."""

SHARPNESS = 3.0
"""Power by which surprise grows with the error."""


def affect_error(expected: Numbers, came: Numbers) -> float:
    """Nats, ≥ 0, for an affect that came instead of the expected one, (5,) each.

    A hyperbolic law of their distance (Barndorff-Nielsen 1977; the pseudo-Huber loss): small strays cost next
    to nothing, large ones in proportion.
    """
    distance = float(np.linalg.norm((came - expected) * AXIS_WEIGHTS))
    return STRAYING_NATS * (math.hypot(1.0, distance / STRAYING) - 1.0)


def meaning_error(likelihood: float) -> float:
    """Nats, ≥ 0, for a meaning that was so likely (above 0, at most 1): Shannon's surprisal."""
    return abs(math.log(likelihood))


def usual(errors: Numbers) -> float:
    """The usual error, in nats, of an agent that lately made these (n ≤ `HISTORY`): the median, mixed with
    the borrowed one while there are few."""
    own = median(errors.tolist()) * len(errors) if len(errors) else 0.0
    return max((BORROWED_WEIGHT * BORROWED + own) / (BORROWED_WEIGHT + len(errors)), LEAST_USUAL)


def calibrated(error: float, usual_error: float) -> float:
    """An error (nats, ≥ 0) as surprise: 0 for none, `USUAL_SURPRISE` for the usual one, much for twice it.

    One minus a Weibull survival function, so that it is smooth, rises all the way and stays within 0…1.
    """
    return -math.expm1(math.log1p(-USUAL_SURPRISE) * (error / usual_error) ** SHARPNESS)
