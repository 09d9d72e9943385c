"""A sweep: one scenario with many seeds, in any number of processes, and the table written from it.

Each seed runs by itself and the results come in the order of the seeds, so the number of processes changes
only the time it takes. The table is a CSV or Parquet file, written whole or not at all. Parquet is an extra
(`parquet`) because pyarrow is about as large as everything else together.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from noodlings.errors import UserError
from noodlings.files import atomic_write, in_words
from noodlings.lab.scenario import Scenario
from noodlings.lab.simulation import COLUMNS, Row, Simulation
from noodlings.memory.likeness import DEFAULT_METRIC

Write = Callable[[Sequence[Row]], None]


@contextmanager
def written_table(path: str | Path) -> Iterator[Write]:
    """Opens a table, .csv or .parquet; yields a function that appends rows.

    The same rows in the same portions give the same bytes (of Parquet, with the same pyarrow).

    Raises:
        UserError: another ending, Parquet without pyarrow, or the file cannot be written.
    """
    path = Path(path)
    kinds = {".csv": _csv, ".parquet": _parquet}
    kind = kinds.get(path.suffix.lower())
    if kind is None:
        raise UserError(f"{path} must end in {' or '.join(kinds)}")
    with in_words(path, "written"), atomic_write(path) as aside, kind(aside) as write:
        yield write


@contextmanager
def _csv(path: Path) -> Iterator[Write]:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        yield writer.writerows


@contextmanager
def _parquet(path: Path) -> Iterator[Write]:
    try:
        pa: Any = import_module("pyarrow")
        pq: Any = import_module("pyarrow.parquet")
    except ImportError:
        raise UserError(
            "Parquet needs pyarrow: run pip install '.[parquet]' in the noodlings folder, or write .csv"
        ) from None
    types: dict[type, Any] = {int: pa.int64(), float: pa.float64(), str: pa.string()}
    schema = pa.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    with pq.ParquetWriter(path, schema) as writer:
        yield lambda rows: writer.write_table(pa.Table.from_pylist(list(rows), schema))


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
        jobs: processes, ≥ 1; 1 means this process. A script that asks for more must do so below
            `if __name__ == "__main__":`, as always where Python starts processes.

    Raises:
        UserError: as `Simulation` does, or a process died.
    """
    if jobs < 1:
        raise UserError(f"jobs is {jobs}: at least one process is needed")
    options = {"without": tuple(without), "metric": metric, "embedding": embedding, "config": config}
    one = partial(_rows_of, scenario, ticks, options)
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


def _rows_of(scenario: Scenario, ticks: int, options: dict[str, Any], seed: int) -> list[Row]:
    with Simulation(scenario, seed, **options) as simulation:
        ablated = str(simulation.ablation)
        return [turn.row(seed, ablated) for turn in simulation.run(ticks)]


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Gives one thread to each process that starts in here: with small arrays, more threads are slower."""
    unset = [name for name in _ONE_THREAD if name not in os.environ]
    os.environ.update(dict.fromkeys(unset, "1"))
    try:
        yield
    finally:
        for name in unset:
            del os.environ[name]
