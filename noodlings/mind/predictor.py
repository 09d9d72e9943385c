"""The forecast: what affect, and what state, an agent expects next; and how it learns from being wrong.

The forecast is linear in the state, what is felt and a constant, over layers that never change (an echo state
network: Jaeger 2001). Only this readout learns: online, each agent's own, down the normalised gradient of its
last error (NLMS: Nagumo and Noda 1967), and drawn a little towards the readout it was born with, so that it
stays bounded however long an agent lives.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from noodlings.mind.parameters import Parameters
from noodlings.mind.phenomenal import felt, step

Numbers = npt.NDArray[np.float64]
Learner = Callable[[Parameters, Numbers, Numbers, Numbers], Numbers]

LEARNING_RATE = 0.5
"""How much of the last error a step takes back, 0…1."""

FORGETTING = 0.003
"""How strongly the readout is drawn back to the one an agent was born with, 0…1."""


def forecast(xp: Any, parameters: Parameters, readout: Any, state: Any, affect: Any) -> tuple[Any, Any]:
    """What is expected next, after `affect` has led to `state`.

    Args:
        xp, parameters: as in `noodlings.mind.phenomenal.step`.
        readout: (46, 5), one agent's or shared by all; or (n, 46, 5), each of n agents its own.
        state: (40,) or (n, 40). affect: (5,) or (n, 5).

    Returns:
        The affect, (5,) or (n, 5), within the range of its axes; and the state it would lead to.
    """
    expected = expect(xp, parameters, readout, state, affect)
    return expected, step(xp, parameters, state, expected)


def expect(xp: Any, parameters: Parameters, readout: Any, state: Any, affect: Any) -> Any:
    """The affect of `forecast` alone."""
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
