"""Training of a network with one hidden layer and a direct way past it, in numpy alone.

Adam with decoupled weight decay (Loshchilov and Hutter, 2019), a step that falls along a cosine, dropout on
the inputs and the hidden units, and a weight for every single target, so that a row may leave some out.

In the same way it is learnt what to look for among the tokens of a text (`queries`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]

EPOCHS, BATCH = 40, 128
STEP, FIRST_MOMENT, SECOND_MOMENT, TINY = 2e-3, 0.9, 0.999, 1e-8
DECAYED = (0, 2, 4)
"""Matrices are drawn to zero, biases are not."""
QUERIES, QUERY_EPOCHS = 4, 10
LOUDER = np.float32(2.0)
"""Brings what is seen to about the size of the standardised inputs."""
TOGETHER = 512
"""Texts that are looked at together."""


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
    rows = len(inputs)
    parameters = _start(inputs.shape[1], targets.shape[1], shape, random)
    adam = _Adam(parameters, shape.decay, EPOCHS * (rows // BATCH))
    for _ in range(EPOCHS):
        order = random.permutation(rows)
        for begin in range(0, rows - BATCH + 1, BATCH):
            batch = order[begin : begin + BATCH]
            x = _dropped(inputs[batch], shape.drop_inputs, random)
            slopes, _ = _slopes(parameters, x, targets[batch], weights[batch], shape.drop_hidden, random)
            adam.step(slopes)
    return parameters


def queries(
    states: Sequence[Array], inputs: Array, targets: Array, weights: Array, shape: Shape, seed: int
) -> Array:
    """What to look for among the tokens of a text: `QUERIES` vectors, shape (width, queries).

    They are learnt as part of a network whose inputs are `inputs` and what they see; the network is dropped.

    Args:
        states: of each of n texts the states of its tokens, (tokens, width).
        inputs, targets, weights: as in `train`.
    """
    random = np.random.default_rng(seed)
    rows, width = len(inputs), states[0].shape[1]
    parameters = _start(inputs.shape[1] + QUERIES * width, targets.shape[1], shape, random)
    parameters.append((random.normal(size=(width, QUERIES)) * 0.02).astype(np.float32))
    adam = _Adam(parameters, shape.decay, QUERY_EPOCHS * (rows // BATCH))
    for _ in range(QUERY_EPOCHS):
        order = random.permutation(rows)
        for begin in range(0, rows - BATCH + 1, BATCH):
            batch = order[begin : begin + BATCH]
            look = _Look([states[i] for i in batch], parameters[-1])
            x = np.concatenate([inputs[batch], LOUDER * look.seen.reshape(len(batch), -1)], axis=1)
            kept = _dropped(np.ones_like(x), shape.drop_inputs, random)
            slopes, inward = _slopes(
                parameters[:-1], x * kept, targets[batch], weights[batch], shape.drop_hidden, random
            )
            toward = LOUDER * (kept * inward)[:, inputs.shape[1] :]
            adam.step([*slopes, look.slope(toward.reshape(look.seen.shape))])
    return parameters[-1]


def seen(states: Sequence[Array], queries: Array) -> Array:
    """What queries see in texts, (n, queries · width): each a mean of the tokens, weighed by a softmax."""
    parts = [_Look(states[i : i + TOGETHER], queries).seen for i in range(0, len(states), TOGETHER)]
    return np.concatenate(parts).reshape(len(states), -1)


class _Look:
    """What queries see in some texts, and how that changes with them."""

    def __init__(self, states: Sequence[Array], queries: Array) -> None:
        lengths = np.array([len(tokens) for tokens in states])
        self._tokens = np.concatenate(states).astype(np.float32)
        self._starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        self._text = np.repeat(np.arange(len(states)), lengths)
        scores = self._tokens @ queries
        raised = np.exp(scores - np.maximum.reduceat(scores, self._starts)[self._text])
        self._shares = raised / self._summed(raised)[self._text]
        columns = [self._summed(share[:, None] * self._tokens) for share in self._shares.T]
        self.seen: Array = np.stack(columns, axis=1)  # (texts, queries, width)

    def slope(self, toward: Array) -> Array:
        """The gradient of the queries, from that of what they see, (texts, queries, width)."""
        gains = [np.einsum("td,td->t", self._tokens, of_one[self._text]) for of_one in toward.swapaxes(0, 1)]
        gained = np.stack(gains, axis=1)
        usual = self._summed(self._shares * gained)[self._text]
        return np.asarray(self._tokens.T @ (self._shares * (gained - usual)))

    def _summed(self, of_tokens: Array) -> Array:
        return np.add.reduceat(of_tokens, self._starts)


def _start(width: int, outputs: int, shape: Shape, random: np.random.Generator) -> list[Array]:
    first = random.normal(size=(width, shape.units)) * np.sqrt(2 / width)
    second = random.normal(size=(shape.units, outputs)) * 0.5 / np.sqrt(shape.units)
    start = (first, np.zeros(shape.units), second, np.zeros(outputs), np.zeros((width, outputs)))
    return [array.astype(np.float32) for array in start]


class _Adam:
    """Changes parameters, where they are, against their gradients."""

    def __init__(self, parameters: list[Array], decay: float, steps: int) -> None:
        self._parameters, self._decay, self._steps = parameters, decay, steps
        self._means = [np.zeros_like(p) for p in parameters]
        self._squares = [np.zeros_like(p) for p in parameters]
        self._now = 0

    def step(self, slopes: list[Array]) -> None:
        """One step along the cosine."""
        self._now += 1
        means, squares = self._means, self._squares
        step = STEP * 0.5 * (1 + np.cos(np.pi * self._now / self._steps))
        for i, slope in enumerate(slopes):
            means[i] += (1 - FIRST_MOMENT) * (slope - means[i])
            squares[i] += (1 - SECOND_MOMENT) * (slope * slope - squares[i])
            change = means[i] / (1 - FIRST_MOMENT**self._now)
            change /= np.sqrt(squares[i] / (1 - SECOND_MOMENT**self._now)) + TINY
            if i in DECAYED:
                change += self._decay * self._parameters[i]
            self._parameters[i] -= (step * change).astype(np.float32)


def _dropped(x: Array, share: float, random: np.random.Generator) -> Array:
    """Some numbers set to 0 and the others enlarged, so that the sum stays the same on average."""
    kept = random.random(x.shape, dtype=np.float32) > share
    return np.asarray(x * kept / np.float32(1 - share))


def _slopes(
    parameters: list[Array], x: Array, y: Array, weight: Array, drop: float, random: np.random.Generator
) -> tuple[list[Array], Array]:
    """The gradient of the mean weighted squared error: in the order of the parameters, and of the inputs."""
    hidden, hidden_bias, output, bias, skip = parameters
    before = x @ hidden + hidden_bias
    gate = _dropped((before > 0).astype(np.float32), drop, random)
    after = before * gate
    error = 2 * weight * (after @ output + x @ skip + bias - y) / np.float32(len(x))
    inward = (error @ output.T) * gate
    slopes = [x.T @ inward, inward.sum(0), after.T @ error, error.sum(0), x.T @ error]
    return slopes, inward @ hidden.T + error @ skip.T


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
