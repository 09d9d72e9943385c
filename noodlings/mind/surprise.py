"""Surprise: how far what came is from what was forecast, on a scale that is the agent's own.

The error is in nats: how unlikely the affect was, and how unlikely the meaning (Shannon surprisal, Itti and
Baldi 2009 for its use here). It is set against the errors the agent lately made: what is usual for it
surprises it a little, twice the usual much, and nothing exceeds 1. A new agent borrows what is usual.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

AXIS_WEIGHTS = np.array([1.0, 1.0, 1.0, 1.0, 0.5])
"""How much a unit of each affect axis counts in an error; boredom is a weak feeling."""

AFFECT_SPREAD = 0.2
"""The distance from a forecast affect that is worth one nat: how far ordinary talk strays from it."""

HISTORY = 64
"""How many of its errors an agent remembers."""

PRIOR_ERROR = 4.0
"""The usual error of talk that goes from one thing to another, in nats: what a new agent takes for usual."""

PRIOR_WEIGHT = 16.0
"""How many own errors weigh as much as the borrowed ones."""

LEAST_USUAL = 2.0
"""However dull its life, an agent never takes less for usual: else a mere nuance would startle it."""

SHARPNESS = 2.0
"""How fast surprise grows beyond the usual."""

USUAL_SURPRISE = 0.3
"""How surprising the usual is."""


def affect_error(expected: npt.NDArray[np.float64], came: npt.NDArray[np.float64]) -> float:
    """Nats for an affect, (5,), that came instead of the expected one: a Laplace law of their distance."""
    return float(np.linalg.norm((came - expected) * AXIS_WEIGHTS)) / AFFECT_SPREAD


def meaning_error(likelihood: float) -> float:
    """Nats for a meaning that was so likely, in 0…1 and above 0."""
    return -math.log(likelihood)


def usual(errors: npt.NDArray[np.float64]) -> float:
    """The usual error, in nats: the median of the agent's own (at most `HISTORY`) and the borrowed one."""
    own = float(np.median(errors)) if len(errors) else 0.0
    mixed = (PRIOR_WEIGHT * PRIOR_ERROR + len(errors) * own) / (PRIOR_WEIGHT + len(errors))
    return max(mixed, LEAST_USUAL)


def calibrated(error: float, usual_error: float) -> float:
    """An error in nats (≥ 0) as surprise: 0 for none, `USUAL_SURPRISE` for the usual, towards 1 beyond it."""
    rate = -math.log1p(-USUAL_SURPRISE)
    return -math.expm1(-rate * (error / usual_error) ** SHARPNESS)
