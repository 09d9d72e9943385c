"""How long the mind takes: a step, a forecast, a lesson, a whole percept; one agent and many, numpy and mlx.

Run it with one thread, as noodlings does: OPENBLAS_NUM_THREADS=1 python benchmarks/mind.py [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from noodlings.mind.meaning import word_vector
from noodlings.mind.mind import Mind
from noodlings.mind.phenomenal import FEATURES, STATE_SIZE, shipped, step
from noodlings.mind.predictor import expect, learn
from noodlings.values.affect import Affect

AGENTS = (1, 100, 1_000, 10_000)
TEXT = "I have been reading a book about maps, do you know it?"


def microseconds(run: Callable[[], Any], seconds: float = 0.4) -> float:
    """Median time of a call, over as many calls as fit."""
    run()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return float(np.median(times)) * 1e6


def kernels(xp: Any, agents: int) -> dict[str, Callable[[], Any]]:
    """The three pure functions over a batch, as calls that have finished when they return."""
    random = np.random.default_rng(agents)
    shape = () if agents == 1 else (agents,)
    dtype = np.float64 if xp is np else np.float32
    state, affect, seen = (
        xp.array(random.uniform(-1.0, 1.0, (*shape, size)).astype(dtype))
        for size in (STATE_SIZE, 5, FEATURES)
    )
    parameters = shipped().on(xp)
    readout = xp.array(np.broadcast_to(shipped().readout, (*shape, FEATURES, 5)).astype(dtype))
    done = (lambda result: result) if xp is np else xp.eval
    return {
        "step": lambda: done(step(xp, parameters, state, affect)),
        "forecast": lambda: done(step(xp, parameters, state, expect(xp, parameters, readout, state, affect))),
        "learn": lambda: done(learn(xp, parameters, readout, seen, affect)),
    }


def timed(backends: dict[str, Any], agents: int) -> dict[str, dict[str, float]]:
    """Microseconds by function and backend."""
    runs = {backend: kernels(xp, agents) for backend, xp in backends.items()}
    return {
        name: {backend: microseconds(run[name]) for backend, run in runs.items()}
        for name in ("step", "forecast", "learn")
    }


def importable() -> dict[str, Any]:
    """numpy, and mlx where it can be imported."""
    found: dict[str, Any] = {"numpy": np}
    try:
        import mlx.core as mlx
    except ImportError:
        print("mlx cannot be imported here: numpy alone", file=sys.stderr)
    else:
        found["mlx"] = mlx
    return found


def percepts() -> dict[str, float]:
    """Microseconds of everything that a mind does with one percept, and of keeping it."""
    mind, random = Mind(), np.random.default_rng(0)
    vectors = random.normal(size=(64, 384))
    feelings = [Affect.of(row) for row in random.uniform(0.0, 0.5, size=(64, 5))]
    turn = 0

    def perceive() -> None:
        nonlocal turn
        turn += 1
        mind.perceive(feelings[turn % 64], vectors[turn % 64], 20.0 * turn)

    return {
        "perceive": microseconds(perceive),
        "word_vector": microseconds(lambda: word_vector(TEXT)),
        "state to JSON": microseconds(lambda: json.dumps(mind.state_dict())),
        "JSON bytes": float(len(json.dumps(mind.state_dict()))),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    backends = importable()
    batches = {agents: timed(backends, agents) for agents in AGENTS}
    alone = percepts()
    if as_json:
        print(json.dumps({"batches_us": batches, "percept_us": alone}))
        return
    print(f"{'agents':>8} {'what':<9} {'numpy µs':>10} {'mlx µs':>10} {'numpy/mlx':>10}")
    for agents, rows in batches.items():
        for name, times in rows.items():
            mlx = times.get("mlx")
            told = f"{mlx:>10.0f} {times['numpy'] / mlx:>10.2f}" if mlx else ""
            print(f"{agents:>8} {name:<9} {times['numpy']:>10.0f} {told}")
    print()
    for name, value in alone.items():
        print(f"{name:<14} {value:>10.0f}{'' if 'bytes' in name else ' µs'}")


if __name__ == "__main__":
    main()
