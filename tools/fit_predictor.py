"""Make `noodlings/mind/parameters.npz`: the weights every mind is born with.

    python tools/fit_predictor.py

The recurrent layers are derived, not trained: random orthogonal matrices, scaled so that each layer is stable
and the slow one provably moves less than the fast one. Only the readout is fitted, by ridge regression, on
synthetic streams of affect made here: talk that strays around a drifting mood, shocks that fade, repetition,
alternation. No text and nobody's data is used.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from noodlings.mind.phenomenal import FAST, FEATURES, MEDIUM, SLOW, STATE_SIZE, Parameters, felt, step
from noodlings.mind.predictor import expect, features

Array = npt.NDArray[np.float64]

SEED = 20_251
STREAMS, LENGTH, WARM_UP = 2_000, 120, 10
RIDGE = 30.0
TARGET = Path(__file__).parents[1] / "noodlings" / "mind" / "parameters.npz"

LOW = np.array([-1.0, 0.0, 0.0, 0.0, 0.0])
REST = np.array([0.0, 0.5, 0.0, 0.0, 0.0])
SCALE = np.array([1.0, 2.0, 1.0, 1.0, 1.0])


def orthogonal(random: np.random.Generator, rows: int, columns: int) -> Array:
    """A random matrix with orthonormal rows or columns, whichever are fewer: no direction is favoured."""
    square, triangle = np.linalg.qr(random.normal(size=(max(rows, columns), min(rows, columns))))
    square = square * np.sign(np.diag(triangle))
    return square if rows >= columns else square.T


def layers(random: np.random.Generator) -> Parameters:
    """Layers whose paces are about 2, 7 and 25 percepts; the bound of travel stands in `phenomenal`."""
    return Parameters(
        rest=REST,
        scale=SCALE,
        floor=(LOW - REST) * SCALE,
        leak_fast=np.float64(0.5),
        leak_medium=np.float64(0.15),
        leak_slow=np.float64(0.04),
        into_fast=1.2 * orthogonal(random, 5, 16),
        within_fast=0.4 * orthogonal(random, 16, 16),
        into_medium=0.6 * orthogonal(random, 16, 16),
        within_medium=0.4 * orthogonal(random, 16, 16),
        into_slow=0.7 * orthogonal(random, 16, 8),
        readout=np.zeros((FEATURES, 5)),
    )


def talk(random: np.random.Generator, count: int, length: int) -> Array:
    """Affects that stray around a mood, which drifts and sometimes jumps. Shape (count, length, 5)."""
    mood = random.normal(0.0, [0.2, 0.06, 0.05, 0.05, 0.1], size=(count, 5))
    spread = random.uniform(0.3, 1.2, size=(count, 1)) * [0.3, 0.1, 0.08, 0.08, 0.1]
    stream = np.empty((count, length, 5))
    for moment in range(length):
        jump = random.random((count, 1)) < 0.02
        mood = np.where(jump, random.normal(0.0, [0.4, 0.15, 0.2, 0.2, 0.2], size=(count, 5)), 0.97 * mood)
        stream[:, moment] = REST + mood + spread * random.normal(size=(count, 5))
    return np.clip(stream, LOW, 1.0)


def shocks(random: np.random.Generator, count: int, length: int) -> Array:
    """Calm, then now and again a strong feeling that fades over some percepts."""
    fading = random.uniform(0.4, 0.9, size=(count, 1))
    feeling = np.zeros((count, 5))
    stream = np.empty((count, length, 5))
    for moment in range(length):
        struck = random.random((count, 1)) < 0.04
        bad = random.uniform(0.2, 1.0, size=(count, 1)) * [-1.0, 0.3, 1.0, 1.0, 0.0]
        bad[:, 2:4] *= random.dirichlet([0.5, 0.5], size=count)
        good = random.uniform(0.2, 0.9, size=(count, 1)) * [1.0, 0.3, 0.0, 0.0, 0.0]
        feeling = np.where(struck, np.where(random.random((count, 1)) < 0.5, bad, good), fading * feeling)
        stream[:, moment] = REST + feeling + random.normal(0.0, 0.04, size=(count, 5))
    return np.clip(stream, LOW, 1.0)


def patterns(random: np.random.Generator, count: int, length: int) -> Array:
    """One, two or three affects in turn, again and again."""
    parts = np.clip(REST + random.normal(0.0, [0.4, 0.15, 0.2, 0.2, 0.2], size=(count, 3, 5)), LOW, 1.0)
    period = random.integers(1, 4, size=count)
    turn = np.arange(length)[None, :] % period[:, None]
    stream = np.take_along_axis(parts, turn[:, :, None], axis=1)
    return np.clip(stream + random.normal(0.0, 0.02, size=stream.shape), LOW, 1.0)


def streams(random: np.random.Generator, count: int) -> Array:
    """(count, LENGTH, 5): half talk, a quarter shocks, a quarter patterns."""
    quarter = count // 4
    return np.concatenate(
        [
            talk(random, count - 2 * quarter, LENGTH),
            shocks(random, quarter, LENGTH),
            patterns(random, quarter, LENGTH),
        ]
    )


def run(parameters: Parameters, affects: Array) -> tuple[Array, Array]:
    """Features (moments, streams, 46) that each forecast is read from, and the affect (…, 5) that came."""
    state = np.zeros((len(affects), STATE_SIZE))
    seen = []
    for moment in range(affects.shape[1] - 1):
        state = step(np, parameters, state, affects[:, moment])
        seen.append(features(np, parameters, state, affects[:, moment]))
    return np.array(seen[WARM_UP:]), affects[:, WARM_UP + 1 :].swapaxes(0, 1)


def fit(parameters: Parameters, affects: Array) -> Array:
    """The readout, (46, 5), by ridge regression."""
    seen, came = run(parameters, affects)
    rows, heard = seen.reshape(-1, FEATURES), felt(parameters, came).reshape(-1, 5)
    return np.linalg.solve(rows.T @ rows + RIDGE * np.eye(FEATURES), rows.T @ heard)


def report(parameters: Parameters, affects: Array) -> dict[str, float]:
    """Mean distance between what came and: the forecast, the affect before, the mean of the stream."""
    seen, came = run(parameters, affects)
    expected = expect(np, parameters, parameters.readout, seen[..., :STATE_SIZE].reshape(-1, STATE_SIZE),
                      (seen[..., STATE_SIZE:-1] / SCALE + REST).reshape(-1, 5))  # fmt: skip
    before = affects[:, WARM_UP:-1].swapaxes(0, 1)
    mean = affects.mean(axis=1)[None]
    return {
        "forecast": round(float(np.linalg.norm(expected.reshape(came.shape) - came, axis=-1).mean()), 4),
        "same as before": round(float(np.linalg.norm(before - came, axis=-1).mean()), 4),
        "mean of the stream": round(float(np.linalg.norm(mean - came, axis=-1).mean()), 4),
    }


def pace(parameters: Parameters, affects: Array) -> dict[str, float]:
    """How far each layer moves in a step, root mean square a unit."""
    seen, _ = run(parameters, affects)
    moves = np.diff(seen, axis=0)
    named = {"fast": FAST, "medium": MEDIUM, "slow": SLOW}
    return {name: round(float(np.sqrt((moves[..., part] ** 2).mean())), 4) for name, part in named.items()}


def born() -> tuple[Parameters, np.random.Generator]:
    """The parameters, and the generator as it is after them."""
    random = np.random.Generator(np.random.PCG64(SEED))
    derived = layers(random)
    return replace(derived, readout=fit(derived, streams(random, STREAMS))), random


def main() -> None:
    parameters, random = born()
    unseen = streams(random, STREAMS // 4)
    provenance = {
        "made by": "tools/fit_predictor.py",
        "seed": SEED,
        "layers": "random orthogonal matrices, scaled; not trained",
        "readout": f"ridge regression ({RIDGE:g}) on {STREAMS} synthetic streams of {LENGTH} affects",
        "data": "none but what the script makes; licence of noodlings (MIT)",
        "distance on unseen synthetic streams": report(parameters, unseen),
        "movement": pace(parameters, unseen),
    }
    arrays = {name: np.asarray(getattr(parameters, name)) for name in Parameters.__slots__}
    np.savez_compressed(TARGET, provenance=np.array(json.dumps(provenance)), **arrays)
    print(json.dumps(provenance, indent=2))


if __name__ == "__main__":
    main()
