"""What affect and state an agent expects next, how it learns from errors, and how surprised it is.

The forecast is linear in the state, the affect and a constant, over layers that never change (an echo state
network: Jaeger 2001). Only this readout learns, online and separately for each agent: down the normalised
gradient of its last error (NLMS: Nagumo and Noda 1967), and drawn a little towards the readout it was born
with, so that it stays bounded however long an agent lives.

Surprise is how far the percept is from the forecast, on a scale that is the agent's own. An error is counted
in nats: how unlikely the affect was plus how unlikely the meaning was. It is compared with the errors this
agent made lately: a usual one surprises it a little, twice the usual much, and nothing exceeds 1. A new agent
borrows what is usual, and no agent gets so used to stillness that a nuance would startle it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from noodlings.mind.phenomenal import Parameters, felt

Numbers = npt.NDArray[np.float64]
Learner = Callable[[Parameters, Numbers, Numbers, Numbers], Numbers]

LEARNING_RATE = 0.5
"""How much of the last error a step corrects, 0…1."""
FORGETTING = 0.003
"""How strongly the readout is drawn back to the one an agent was born with, 0…1."""


def expect(xp: Any, parameters: Parameters, readout: Any, state: Any, affect: Any) -> Any:
    """The affect that is expected next, after `affect` has led to `state`.

    Args:
        xp, parameters: as in `noodlings.mind.phenomenal.step`.
        readout: (46, 5), one agent's or shared by all; or (n, 46, 5), each of n agents its own.
        state: (40,) or (n, 40). affect: (5,) or (n, 5).

    Returns:
        Shape (5,) or (n, 5), within the range of its axes.
    """
    heard = _read(readout, features(xp, parameters, state, affect))
    return parameters.rest + xp.clip(heard, parameters.floor, 1.0) / parameters.scale


def learn(xp: Any, parameters: Parameters, readout: Any, seen: Any, came: Any) -> Any:
    """The readout after one lesson.

    Args:
        readout: (46, 5) or (n, 46, 5), as before the lesson.
        seen: `features` that the forecast was read from, (46,) or (n, 46).
        came: the affect that came instead of the forecast, (5,) or (n, 5).
    """
    return readout - LEARNING_RATE * gradient(xp, parameters, readout, seen, felt(parameters, came))


def learner(xp: Any) -> Learner:
    """`learn` by the gradient of `xp`, with numpy arrays in and out (mlx counts in float32)."""
    if xp is np:
        return partial(learn, np)
    own = cache(partial(Parameters.on, xp=xp))

    def lesson(parameters: Parameters, readout: Numbers, seen: Numbers, came: Numbers) -> Numbers:
        given = (xp.array(array.astype(np.float32)) for array in (readout, seen, came))
        return np.asarray(learn(xp, own(parameters), *given), dtype=np.float64)

    return lesson


def features(xp: Any, parameters: Parameters, state: Any, affect: Any) -> Any:
    """What a forecast is read from: state, what is felt, and a constant; (46,) or (n, 46)."""
    return xp.concatenate([state, felt(parameters, affect), xp.ones_like(state[..., :1])], axis=-1)


def loss(parameters: Parameters, readout: Any, seen: Any, heard: Any) -> Any:
    """Half the squared error, by the power of the features, and half the squared drift; over all agents."""
    wrong = _read(readout, seen) - heard
    drift = readout - parameters.readout
    error = (wrong * wrong).sum(axis=-1) / (seen * seen).sum(axis=-1)
    return 0.5 * (error.sum() + FORGETTING * (drift * drift).sum())


def gradient(xp: Any, parameters: Parameters, readout: Any, seen: Any, heard: Any) -> Any:
    """The gradient of `loss` in the readout: mlx derives it, numpy has it written out."""
    if xp is not np:
        return xp.grad(lambda weights: loss(parameters, weights, seen, heard))(readout)
    wrong = (_read(readout, seen) - heard) / (seen * seen).sum(axis=-1, keepdims=True)
    return seen[..., :, None] * wrong[..., None, :] + FORGETTING * (readout - parameters.readout)


def _read(readout: Any, seen: Any) -> Any:
    return (seen[..., None, :] @ readout)[..., 0, :]


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
"""The usual error of a new agent, in nats: whatever comes is new, and moves it little."""
BORROWED_WEIGHT = 24
"""How many errors of its own weigh as much as the borrowed one."""
LEAST_USUAL = 2.0
"""The least usual error, in nats."""
USUAL_SURPRISE = 0.17
"""How surprising a usual error is, 0…1."""
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
    """The usual error, in nats, from the latest (n ≤ `HISTORY`): the median, mixed with the borrowed one
    while there are few."""
    own = median(errors.tolist()) * len(errors) if len(errors) else 0.0
    return max((BORROWED_WEIGHT * BORROWED + own) / (BORROWED_WEIGHT + len(errors)), LEAST_USUAL)


def calibrated(error: float, usual_error: float) -> float:
    """An error (nats, ≥ 0) as surprise: 0 for none, `USUAL_SURPRISE` for the usual one, much for twice it;
    one minus a Weibull survival function."""
    return -math.expm1(math.log1p(-USUAL_SURPRISE) * (error / usual_error) ** SHARPNESS)
