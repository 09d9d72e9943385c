"""What it costs to keep something for good: SqlStore beside SQLAlchemy Core and plain sqlite3, on one disk.

The ways take turns, one operation each a round, so that whatever else the machine does falls on all of them.
A ratio is the median beside plain sqlite3 writing the same entry at the same durability.

Run it with one thread, as noodlings does: OPENBLAS_NUM_THREADS=1 python benchmarks/store.py [--json]
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import NullPool, create_engine, event, insert

from noodlings.ports import AgentState, Changes
from noodlings.store.database import DATABASE_NAME, Durability
from noodlings.store.rows import entry_row
from noodlings.store.sql import SqlStore
from noodlings.store.tables import agents, entries, metadata
from noodlings.values.affect import Affect
from noodlings.values.memory import ImportanceParts, MemoryEntry
from noodlings.values.trace import RecalledTrace, Trace

AGENT = "servnak"
AFFECT = Affect(-0.4, 0.6, 0.2, 0.7, 0.0)
STATE = np.linspace(-1.0, 1.0, 40, dtype=np.float32)
Operation = Callable[[MemoryEntry, Changes], Any]
"""What is timed: given an entry, and the rest of its turn, made beforehand."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of one operation, and its median beside a yardstick's."""

    name: str
    p50: float
    p95: float
    ratio: float | None


def an_entry(number: int) -> MemoryEntry:
    """A line such as people say, with everything an agent puts beside it."""
    return MemoryEntry(
        id=number,
        timestamp=1.7e9 + number,
        step=number,
        user_id="user_caity",
        user_text=f"My dog died yesterday, and I keep looking for him in the garden ({number}).",
        affect=AFFECT,
        surprise=0.41,
        encoded_importance=0.62,
        parts=ImportanceParts(0.41, 0.7, 0.1, 1.0, 0.0, 0.0),
        phenomenal_state=STATE,
        place="garden",
        stability=3_600.0,
    )


def a_turn(number: int) -> Changes:
    """All that comes of a percept once it is answered; ten memories were in mind, and count as recalled."""
    seen = range(max(1, number - 10), number)
    answer = "I REMEMBER YOUR DOG. MY SENSORS ARE SORRY."
    trace = Trace(
        agent_id=AGENT,
        entry_id=number,
        timestamp=1.7e9 + number,
        affect=AFFECT,
        appraised_by="words",
        mood=AFFECT,
        surprise=0.41,
        importance=0.62,
        parts=ImportanceParts(0.41, 0.7),
        recalled=tuple(
            RecalledTrace(i, ("recent", "affect"), 0.8, {"recent": 0.8, "affect": 0.7}) for i in seen
        ),
        thought="He lost his dog.",
        response=answer,
        voice="offline",
        milliseconds={"appraise": 0.1, "recall": 0.2, "speak": 0.4},
    )
    recalled = (replace(an_entry(i), recall_count=number - i, last_recalled=1.7e9) for i in seen)
    return Changes(
        AGENT,
        updated=(replace(an_entry(number), response=answer), *recalled),
        episodic=(number,),
        evicted=(number - 200,) if number > 200 else (),
        state=AgentState(AGENT, {"mood": AFFECT.as_list(), "phenomenal": STATE.tolist()}),
        trace=trace,
    )


def prepare(connection: sqlite3.Connection, durability: Durability) -> None:
    """The pragmas of the store."""
    for pragma in (
        "journal_mode = WAL",
        f"synchronous = {durability}",
        "secure_delete = ON",
        "foreign_keys = ON",
    ):
        connection.execute(f"PRAGMA {pragma}")


def plain(connection: sqlite3.Connection) -> Operation:
    """The same row by hand."""
    names = entry_row(AGENT, an_entry(1)).keys()
    statement = f"INSERT INTO entries ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"

    def add(entry: MemoryEntry, turn: Changes) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(statement, entry_row(AGENT, entry))
        connection.execute("COMMIT")

    return add


def core(connection: sqlite3.Connection, resources: ExitStack) -> Operation:
    """The same row through SQLAlchemy Core and nothing else of ours."""
    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=NullPool)
    event.listen(engine, "begin", lambda wrapped: wrapped.exec_driver_sql("BEGIN IMMEDIATE"))
    held, statement = resources.enter_context(engine.connect()), insert(entries)

    def add(entry: MemoryEntry, turn: Changes) -> None:
        with held.begin():
            held.execute(statement, entry_row(AGENT, entry))

    return add


def a_file(folder: Path, durability: Durability, resources: ExitStack) -> sqlite3.Connection:
    """An empty database with our tables, and no store over it."""
    folder.mkdir()
    engine = create_engine(f"sqlite:///{folder / DATABASE_NAME}")
    metadata.create_all(engine)
    with engine.begin() as once:
        once.execute(insert(agents), {"agent_id": AGENT, "forgotten_id": 0})
    engine.dispose()
    connection = sqlite3.connect(folder / DATABASE_NAME, isolation_level=None)
    prepare(connection, durability)
    return resources.enter_context(closing(connection))


def measured(operations: dict[str, Operation], rounds: int, yardstick: str) -> list[Timing]:
    """Every operation once a round; a tenth of the rounds to warm up."""
    seconds: dict[str, list[float]] = {name: [] for name in operations}
    for number in range(1, rounds + rounds // 10 + 1):
        entry, turn = an_entry(number), a_turn(number)
        for name, operation in operations.items():
            start = time.perf_counter()
            operation(entry, turn)
            seconds[name].append(time.perf_counter() - start)
    median = {name: float(np.median(times[rounds // 10 :])) * 1e3 for name, times in seconds.items()}
    return [
        Timing(
            name,
            median[name],
            float(np.percentile(times[rounds // 10 :], 95)) * 1e3,
            median[name] / median[yardstick],
        )
        for name, times in seconds.items()
    ]


def writing(folder: Path, durability: Durability, rounds: int) -> list[Timing]:
    """One entry by each way, and the rest of a turn by ours."""
    with ExitStack() as resources:
        store = resources.enter_context(closing(SqlStore(folder / "store", durability)))
        operations: dict[str, Operation] = {
            "plain sqlite3, one entry": plain(a_file(folder / "plain", durability, resources)),
            "SQLAlchemy Core, one entry": core(a_file(folder / "core", durability, resources), resources),
            "SqlStore, one entry": lambda entry, turn: store.commit(Changes(AGENT, added=(entry,))),
            "SqlStore, the rest of its turn": lambda entry, turn: store.commit(turn),
        }
        return [
            replace(timing, name=f"{timing.name}, {durability.upper()}")
            for timing in measured(operations, rounds, "plain sqlite3, one entry")
        ]


def reading(folder: Path, archive: int, rounds: int) -> list[Timing]:
    """Load an agent, open the file, and forget, in a full archive with 200 episodic entries."""
    with closing(SqlStore(folder)) as store:
        for first in range(1, archive, 1_000):
            numbers = range(first, first + 1_000)
            gone = range(first - 200, first) if first > 1 else ()
            store.commit(
                Changes(
                    AGENT, tuple(map(an_entry, numbers)), episodic=tuple(numbers[-200:]), evicted=tuple(gone)
                )
            )
        load = timed("load an agent", [lambda: store.load(AGENT)] * rounds)
        some = range(1, archive, archive // 10)
        find = timed("ten entries by id", [lambda: store.entries(AGENT, some)] * rounds)
        forget = timed(
            "forget one entry, to the last byte",
            [lambda i=i: store.forget(AGENT, [i], by_user="x", timestamp=0.0) for i in (3, 5, 7)],  # type: ignore[misc]
        )
    opened = timed("open and close", [lambda: SqlStore(folder).close()] * 20)
    return [
        replace(timing, name=f"{timing.name}, {archive:,} kept") for timing in (opened, load, find, forget)
    ]


def timed(name: str, calls: Iterable[Callable[[], Any]]) -> Timing:
    """One call after the other."""
    times = []
    for call in calls:
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    return Timing(name, float(np.median(times)), float(np.percentile(times, 95)), None)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2_000, help="operations of each kind (default: 2000)")
    parser.add_argument(
        "--archive", type=int, default=100_000, help="entries to read among (default: 100000)"
    )
    parser.add_argument("--folder", type=Path, help="on the disk to measure (default: for temporary files)")
    parser.add_argument("--json", action="store_true", help="one line of JSON instead of the table")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        timings = [
            *writing(folder / "normal", "normal", arguments.rounds),
            *writing(folder / "full", "full", arguments.rounds),
            *reading(folder / "read", arguments.archive, 100),
        ]
    if arguments.json:
        print(json.dumps([{"name": t.name, "p50": t.p50, "p95": t.p95, "ratio": t.ratio} for t in timings]))
        return
    print(f"{'milliseconds':46}{'p50':>9}{'p95':>9}{'ratio':>8}")
    for t in timings:
        ratio = "" if t.ratio is None else f"{t.ratio:.1f}"
        print(f"{t.name:46}{t.p50:9.3f}{t.p95:9.3f}{ratio:>8}")


if __name__ == "__main__":
    main()
