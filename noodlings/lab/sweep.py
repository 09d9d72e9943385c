"""A sweep: one scenario with many seeds, in as many processes as one likes.

Each seed is lived through by itself and the results come in the order of the seeds, so the number of
processes changes nothing but the time it takes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from noodlings.errors import UserError
from noodlings.lab.scenario import Scenario
from noodlings.lab.simulated_turns import Row
from noodlings.lab.simulation import Simulation
from noodlings.memory.likeness import DEFAULT_METRIC

_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def sweep(
    scenario: Scenario,
    ticks: int,
    seeds: Iterable[int],
    *,
    without: Iterable[str] = (),
    metric: str = DEFAULT_METRIC,
    embedding: str = "none",
    jobs: int = 1,
    config: Path | None = None,
) -> Iterator[list[Row]]:
    """The rows of each seed, in the order of the seeds, as soon as they are there.

    Args:
        scenario, without, metric, embedding, config: as in `Simulation`.
        jobs: processes, ≥ 1; with 1 it all happens in this one. A script that asks for more does so below
            `if __name__ == "__main__":`, as always where Python starts processes.

    Raises:
        UserError: as `Simulation` does, or a process died.
    """
    if jobs < 1:
        raise UserError(f"jobs is {jobs}: at least one process has to do it")
    one = partial(
        rows_of, scenario, ticks, without=tuple(without), metric=metric, embedding=embedding, config=config
    )
    seeds = list(seeds)
    if jobs == 1 or len(seeds) < 2:
        yield from map(one, seeds)
        return
    with ProcessPoolExecutor(min(jobs, len(seeds)), get_context("spawn")) as pool:
        try:
            with _one_thread_each():
                results = pool.map(one, seeds)
            yield from results
        except BrokenProcessPool:
            raise UserError(
                "a process of the sweep died; if that was at once, put the call below"
                ' `if __name__ == "__main__":`, or set jobs to 1'
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)


def rows_of(
    scenario: Scenario,
    ticks: int,
    seed: int,
    *,
    without: Iterable[str] = (),
    metric: str = DEFAULT_METRIC,
    embedding: str = "none",
    config: Path | None = None,
) -> list[Row]:
    """All turns of one seed as rows; arguments and errors as in `sweep`."""
    with Simulation(scenario, seed, without, metric, embedding, config) as simulation:
        ablated = str(simulation.ablation)
        return [turn.row(seed, ablated) for turn in simulation.run(ticks)]


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """For processes started in here: our arrays are small, and several that take all cores are slower."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    for name in _ONE_THREAD:
        os.environ.setdefault(name, "1")
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
