"""What it costs to keep something for good: SqlStore beside SQLAlchemy Core and plain sqlite3, on one disk.

The ways take turns, one operation each a round, so that whatever else the machine does falls on all of them.
A ratio is the median beside plain sqlite3 writing the same entry at the same durability.

Then two societies hear the same, one of them with everything encrypted, and an archive is loaded both ways.

Then two people talk, every other line with Phi, and it is counted what an entry takes on the disk with its
trace, links, vector and symbol, as it was written (without `noodlings compact`).

Run it with one thread, as noodlings does: OPENBLAS_NUM_THREADS=1 python benchmarks/store.py [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import NullPool, create_engine, event, insert

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings, StoreSettings
from noodlings.ingest.sources.talk import Recorded, read_transcript
from noodlings.ports import AgentState, Changes
from noodlings.store.cipher import UserKey
from noodlings.store.database import DATABASE_NAME, Durability
from noodlings.store.rows import entry_row
from noodlings.store.sql import SqlStore
from noodlings.store.tables import agents, entries, metadata
from noodlings.store.vault import Encryption
from noodlings.values.affect import Affect
from noodlings.values.memory import EntryVector, ImportanceParts, MemoryEntry, Order
from noodlings.values.percept import Percept
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

        def to_the_last_byte(number: int) -> None:
            store.forget(AGENT, [number], by_user="x", timestamp=0.0)
            store.erase()

        forgetting = [partial(to_the_last_byte, number) for number in (3, 5, 7)]
        forget = timed("forget one entry, to the last byte", forgetting)
    opened = timed("open and close", [lambda: SqlStore(folder).close()] * 20)
    return [
        replace(timing, name=f"{timing.name}, {archive:,} kept") for timing in (opened, load, find, forget)
    ]


ENCRYPTED = {"encrypt": "all", "key": UserKey(bytes(32)).text}


async def events(folder: Path, rounds: int) -> list[Timing]:
    """Whole events of two societies that differ in encryption alone, in turns; the ratio is that of pairs."""
    clocks = [ManualClock(), ManualClock()]
    ways = [{"path": str(folder / "plain")}, {"path": str(folder / "encrypted"), **ENCRYPTED}]
    societies = [
        build(Settings(store=way, embedding={"model": "none"}), clock=clock)  # type: ignore[arg-type]
        for way, clock in zip(ways, clocks, strict=True)
    ]
    took: list[list[float]] = [[], []]
    for number, (user_id, text) in enumerate(lines(rounds + rounds // 10)):
        # Who comes second finds the words in memory: so each is first in turn.
        for at in (0, 1) if number % 2 else (1, 0):
            clocks[at].advance(10.0)
            heard = Percept(user_id, text, clocks[at].now(), addressed=True)
            start = time.perf_counter()
            await societies[at].perceive("phi", heard)
            took[at].append((time.perf_counter() - start) * 1e3)
    for society in societies:
        society.close()
    kept = np.array(took)[:, rounds // 10 :]
    ratios = (1.0, float(np.median(kept[1] / kept[0])))
    return [
        Timing(
            f"an event and its answer, {name}", float(np.median(one)), float(np.percentile(one, 95)), ratio
        )
        for name, one, ratio in zip(("plain", "encrypted"), kept, ratios, strict=True)
    ]


def loading(folder: Path, archive: int) -> list[Timing]:
    """Everything that search looks at, with vectors, plain and encrypted; and turning encryption on."""
    chance, found = np.random.default_rng(0), []
    with closing(SqlStore(folder)) as store:
        for first in range(1, archive, 1_000):
            numbers = range(first, first + 1_000)
            made = chance.normal(size=(1_000, 384)).astype(np.float32)
            made /= np.linalg.norm(made, axis=1, keepdims=True)
            vectors = [EntryVector(number, "m", one) for number, one in zip(numbers, made, strict=True)]
            store.commit(Changes(AGENT, tuple(map(an_entry, numbers)), vectors=tuple(vectors)))
        found.append(timed("load all for the search, plain", [lambda: whole(store)] * 3))
    encryption = Encryption.of(StoreSettings(**ENCRYPTED))  # type: ignore[arg-type]
    found.append(timed("turn encryption on", [lambda: SqlStore(folder, encryption=encryption).close()]))
    with closing(SqlStore(folder, encryption=encryption)) as store:
        found.append(timed("load all for the search, encrypted", [lambda: whole(store)] * 3))
        found.append(timed("find characters in all, encrypted", [lambda: looked_for(store)] * 3))
    return [replace(timing, name=f"{timing.name}, {archive:,}") for timing in found]


def whole(store: SqlStore) -> None:
    """Read all columns of an archive, page by page."""
    after = -1
    while ids := store.columns(AGENT, "m", after).ids:
        after = ids[-1]


def looked_for(store: SqlStore) -> None:
    """What a page of memories with some characters in them asks."""
    store.in_order(AGENT, Order.WHEN, True, containing="garden (77")


SUBJECTS = ("my brother", "the old lighthouse", "our neighbour", "the well in the garden", "my first horse")
DEEDS = ("was lost in the storm", "makes me happy", "frightens me at night", "is what I think of most")
ASIDES = (
    "I never told anybody about that.",
    "What would you do in my place?",
    "It has been raining ever since, and nobody knows what to do.",
    "Do you remember what I said about the harbour?",
)


def lines(number: int) -> list[tuple[str, str]]:
    """Who says what, of the length of what people write to each other."""
    chance = random.Random(18)
    told = ((chance.choice(SUBJECTS), chance.choice(DEEDS), chance.choice(ASIDES)) for _ in range(number))
    return [
        (f"user_{chance.choice(('ann', 'bob'))}", f"{who.capitalize()} {deed} since day {at}. {aside}")
        for at, (who, deed, aside) in enumerate(told)
    ]


def transcript(path: Path, number: int) -> list[tuple[str, str]]:
    """The first lines of recorded talk, as `noodlings replay` reads it."""
    recorded = (line for line in read_transcript(path) if isinstance(line, Recorded))
    return [(line.record.who, line.record.text) for line in islice(recorded, number)]


async def lived(folder: Path, said: Sequence[tuple[str, str]]) -> None:
    """Let Phi hear all of it and answer some, with everything that follows in the background."""
    clock = ManualClock()
    society = build(Settings(store={"path": str(folder)}), clock=clock)  # type: ignore[arg-type]
    present = frozenset(user_id for user_id, _ in said)
    try:
        for at, (user_id, text) in enumerate(said):
            clock.set(clock.now() + 10.0)
            heard = Percept(user_id, text, clock.now(), addressed=at % 2 == 0, present=present)
            await society.perceive("phi", heard)
        await society.rest(60.0)
    finally:
        society.close()


def sizes(folder: Path) -> dict[str, float]:
    """Bytes an entry by table, each with its indexes; empty where this SQLite cannot tell."""
    with closing(sqlite3.connect(folder / DATABASE_NAME)) as database:
        (count,) = database.execute("SELECT count(*) FROM entries").fetchone()
        try:
            found = database.execute(
                "SELECT tbl_name, sum(pgsize) FROM dbstat JOIN sqlite_schema USING (name)"
                " GROUP BY tbl_name ORDER BY 2 DESC"
            ).fetchall()
        except sqlite3.OperationalError:  # built without dbstat
            found = []
    total = (folder / DATABASE_NAME).stat().st_size
    return {"all": total / count, **{name: size / count for name, size in found}}


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
    parser.add_argument("--talk", type=int, default=1_500, help="lines that Phi hears (default: 1500)")
    parser.add_argument("--lines", type=Path, help="recorded talk to take them from (see noodlings replay)")
    parser.add_argument("--folder", type=Path, help="on the disk to measure (default: for temporary files)")
    parser.add_argument("--json", action="store_true", help="one line of JSON instead of the table")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        timings = [
            *writing(folder / "normal", "normal", arguments.rounds),
            *writing(folder / "full", "full", arguments.rounds),
            *reading(folder / "read", arguments.archive, 100),
            *asyncio.run(events(folder / "events", arguments.rounds)),
            *loading(folder / "load", arguments.archive),
        ]
        said = transcript(arguments.lines, arguments.talk) if arguments.lines else lines(arguments.talk)
        asyncio.run(lived(folder / "talk", said))
        taken = sizes(folder / "talk")
    if arguments.json:
        told = [{"name": t.name, "p50": t.p50, "p95": t.p95, "ratio": t.ratio} for t in timings]
        told += [{"name": f"bytes an entry, {name}", "bytes": size} for name, size in taken.items()]
        print(json.dumps(told))
        return
    print(f"{'milliseconds':46}{'p50':>9}{'p95':>9}{'ratio':>8}")
    for t in timings:
        ratio = "" if t.ratio is None else f"{t.ratio:.2f}"
        print(f"{t.name:46}{t.p50:9.3f}{t.p95:9.3f}{ratio:>8}")
    print()
    print(f"{f'bytes an entry, {len(said):,} lines':46}{'bytes':>9}")
    if "traces" in taken:
        print(f"{'all, traces aside':46}{taken['all'] - taken['traces']:9.0f}")
    for name, size in taken.items():
        print(f"{name:46}{size:9.0f}")


if __name__ == "__main__":
    main()
