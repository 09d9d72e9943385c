"""Training of a network with one hidden layer and a direct way past it, in numpy alone.

Adam with decoupled weight decay (Loshchilov and Hutter, 2019), a step that falls along a cosine, dropout on
the inputs and the hidden units, and a weight for every single target, so that a row may leave some out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]

EPOCHS, BATCH = 40, 128
STEP, FIRST_MOMENT, SECOND_MOMENT, TINY = 2e-3, 0.9, 0.999, 1e-8
DECAYED = (0, 2, 4)
"""Matrices are drawn to zero, biases are not."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a network is and how strongly it is held back."""

    units: int
    members: int
    decay: float
    drop_inputs: float
    drop_hidden: float


def train(inputs: Array, targets: Array, weights: Array, shape: Shape, seed: int) -> list[Array]:
    """One member.

    Args:
        inputs: (n, d). targets, weights: (n, k); the loss is Σ weight · (output − target)².

    Returns:
        hidden (d, units), hidden bias (units,), output (units, k), bias (k,), skip (d, k).
    """
    random = np.random.default_rng(seed)
    rows, width, outputs = len(inputs), inputs.shape[1], targets.shape[1]
    first = random.normal(size=(width, shape.units)) * np.sqrt(2 / width)
    second = random.normal(size=(shape.units, outputs)) * 0.5 / np.sqrt(shape.units)
    start = (first, np.zeros(shape.units), second, np.zeros(outputs), np.zeros((width, outputs)))
    parameters = [array.astype(np.float32) for array in start]
    means = [np.zeros_like(p) for p in parameters]
    squares = [np.zeros_like(p) for p in parameters]
    steps = EPOCHS * (rows // BATCH)
    now = 0
    for _ in range(EPOCHS):
        order = random.permutation(rows)
        for begin in range(0, rows - BATCH + 1, BATCH):
            now += 1
            batch = order[begin : begin + BATCH]
            x = _dropped(inputs[batch], shape.drop_inputs, random)
            slopes = _slopes(parameters, x, targets[batch], weights[batch], shape.drop_hidden, random)
            step = STEP * 0.5 * (1 + np.cos(np.pi * now / steps))
            for i, slope in enumerate(slopes):
                means[i] += (1 - FIRST_MOMENT) * (slope - means[i])
                squares[i] += (1 - SECOND_MOMENT) * (slope * slope - squares[i])
                change = means[i] / (1 - FIRST_MOMENT**now)
                change /= np.sqrt(squares[i] / (1 - SECOND_MOMENT**now)) + TINY
                if i in DECAYED:
                    change += shape.decay * parameters[i]
                parameters[i] -= (step * change).astype(np.float32)
    return parameters


def _dropped(x: Array, share: float, random: np.random.Generator) -> Array:
    """Some numbers set to 0 and the others enlarged, so that the sum stays the same on average."""
    kept = random.random(x.shape, dtype=np.float32) > share
    return np.asarray(x * kept / np.float32(1 - share))


def _slopes(
    parameters: list[Array], x: Array, y: Array, weight: Array, drop: float, random: np.random.Generator
) -> list[Array]:
    """The gradient of the mean weighted squared error, in the order of the parameters."""
    hidden, hidden_bias, output, bias, skip = parameters
    before = x @ hidden + hidden_bias
    gate = _dropped((before > 0).astype(np.float32), drop, random)
    after = before * gate
    error = 2 * weight * (after @ output + x @ skip + bias - y) / np.float32(len(x))
    inward = (error @ output.T) * gate
    return [x.T @ inward, inward.sum(0), after.T @ error, error.sum(0), x.T @ error]


def folded(members: list[list[Array]]) -> list[Array]:
    """The average of several members as one wider network."""
    hidden, hidden_bias, output, bias, skip = zip(*members, strict=True)
    count = len(members)
    return [
        np.concatenate(hidden, axis=1),
        np.concatenate(hidden_bias),
        np.concatenate(output) / count,
        sum(bias) / count,
        sum(skip) / count,
    ]
