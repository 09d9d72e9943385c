"""Percepts a second over REST: 100 to 10,000 characters, SQLite with one worker and PostgreSQL with several.

Everybody has a small life behind them, one that was lived once and is copied. So many connections send one
percept after another, each to anybody, and wait for each answer. What is said is heard and felt and kept, and
nobody answers it; words alone tell what it means, there are no embeddings. So the first percept of each
character in a cell also wakes them from the disk. Clients, workers and database share one machine.

    OPENBLAS_NUM_THREADS=1 python benchmarks/scale.py [--quick] [--json] [--store NAME …]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path

from sqlalchemy import create_engine, inspect, text

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.histories.clients import LINES
from benchmarks.histories.cluster import free_port
from benchmarks.histories.database import Database, url_at
from benchmarks.histories.served import Served, environment, workers_of
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.values.percept import Percept

AGENTS = (100, 1_000, 10_000)
STORES = {"SQLite": (1,), "PostgreSQL": (1, 2, 4)}
CONNECTIONS = 16
WARM_SECONDS, SECONDS = 5.0, 20.0
LIVED = 20
"""Percepts in everybody's life."""
COPIED = ("agents", "entries", "links", "symbols", "traces")


@dataclass(frozen=True, slots=True)
class Cell:
    """What was measured of so many characters over one store.

    Attributes:
        rate: percepts a second.
        p50, p95, p99: of one percept, in milliseconds.
        memory: MiB of all workers at the end; what they share counts once.
    """

    store: str
    workers: int
    agents: int
    rate: float
    p50: float
    p95: float
    p99: float
    memory: float


def who(number: int) -> str:
    """The id of a character."""
    return f"villager_{number}"


def fill(folder: Path, url: str, agents: int) -> None:
    """Let one live, and copy that to so many."""
    store = {"url": url} if url else {"path": str(folder)}
    settings = Settings(store=store, embedding={"model": "none"}, notes={"enabled": False})
    clock = ManualClock(time.time() - 86_400.0)

    async def live() -> None:
        for number in range(LIVED):
            clock.advance(300.0)
            said = Percept("user_caity", LINES[number % len(LINES)], clock.now(), addressed=number % 2 > 0)
            await society.perceive("phi", said)

    with closing(build(settings, clock=clock)) as society:
        asyncio.run(live())
    engine = create_engine(url or f"sqlite:///{folder / 'noodlings.db'}")
    with engine.begin() as connection:
        for table in COPIED:
            names = [column["name"] for column in inspect(connection).get_columns(table)]
            rest = ", ".join(name for name in names if name not in ("agent_id", "row_id"))
            copied = f"SELECT :id, {rest} FROM {table} WHERE agent_id = 'phi'"
            copy = text(f"INSERT INTO {table} (agent_id, {rest}) {copied}")
            connection.execute(copy, [{"id": who(number)} for number in range(agents)])
    engine.dispose()


class Connection:
    """One connection that sends one request after another: little beside the server, on the same machine."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def open(self) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)

    async def post(self, path: str, body: bytes) -> None:
        """Raises `RuntimeError` for any answer but 200."""
        assert self._reader is not None
        assert self._writer is not None
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nContent-Type: application/json\r\n"
        self._writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
        length = next(int(line[16:]) for line in lines if line.startswith("content-length: "))
        answer = await self._reader.readexactly(length)
        if lines[0].split()[1] != "200":
            raise RuntimeError(f"{path} was answered {lines[0]}: {answer[:300].decode()}")

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


async def speak(connection: Connection, name: str, agents: int, begins: float, ends: float) -> list[float]:
    """Send percepts until the end; how long each took that was sent after the beginning, in seconds."""
    took, chance = list[float](), random.Random(name)
    await connection.open()
    for number in count():
        sent = time.monotonic()
        if sent >= ends:
            break
        words = f"{LINES[number % len(LINES)]} ({name}-{number})"
        said = {"user_id": f"user_{name}", "text": words, "addressed": False, "depth": 9}
        to = who(chance.randrange(agents))
        await connection.post(f"/api/agents/{to}/perceive", json.dumps(said).encode())
        if sent >= begins:
            took.append(time.monotonic() - sent)
    connection.close()
    return took


async def measured(store: str, workers: int, agents: int, served: Served, port: int, seconds: float) -> Cell:
    """Serve and speak."""
    await served.start()
    try:
        begins = time.monotonic() + WARM_SECONDS
        speaking = (
            speak(Connection(port), f"c{number}", agents, begins, begins + seconds)
            for number in range(CONNECTIONS)
        )
        took = [one for of_connection in await asyncio.gather(*speaking) for one in of_connection]
        pids = workers_of(served.pid) if workers > 1 else [served.pid]
        memory = sum(map(proportional, pids))
    finally:
        await served.stop()
    cut = [1e3 * value for value in statistics.quantiles(took, n=100)]
    return Cell(store, workers, agents, len(took) / seconds, cut[49], cut[94], cut[98], memory)


def proportional(pid: int) -> float:
    """MiB of a process; what it shares with others counts in parts (Linux)."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1_024


@contextmanager
def store_of(store: str, folder: Path) -> Iterator[str]:
    """The URL of a new database, or "" for SQLite."""
    if store == "SQLite":
        yield ""
        return
    database = Database(folder / "postgres")
    try:
        yield url_at(database.folder)
    finally:
        database.close()


def cells(stores: Sequence[str], sizes: Sequence[int], seconds: float) -> Iterator[Cell]:
    """One after the other; the workers of one database follow each other, the fewest first."""
    for agents in sizes:
        for store in stores:
            with tempfile.TemporaryDirectory(prefix="scale-") as name, store_of(store, Path(name)) as url:
                data = Path(name, "data")
                data.mkdir()
                fill(data, url, agents)
                set_to = {"NOODLINGS_STORE__URL": url} if url else {}
                here = environment(NOODLINGS_API__REQUESTS_PER_SECOND="100000", **set_to)
                here["NOODLINGS_LOG__LEVEL"] = "warning"
                for workers in STORES[store]:
                    port = free_port()
                    more = ("--workers", str(workers)) if url else ()
                    served = Served(data, port, Path(name, "serve.log"), here, more=more)
                    yield asyncio.run(measured(store, workers, agents, served, port, seconds))


def table(measured: Sequence[Cell]) -> str:
    """In Markdown, as in docs/scale.md."""
    lines = [
        "| store | workers | characters | percepts/s | p50 ms | p95 ms | p99 ms | memory MiB |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for one in measured:
        times = " | ".join(f"{value:,.1f}" for value in (one.p50, one.p95, one.p99))
        of = f"{one.store} | {one.workers} | {one.agents:,}"
        lines.append(f"| {of} | {one.rate:,.0f} | {times} | {one.memory:,.0f} |")
    return "\n".join(lines)


def main() -> None:
    """Measure and print; each cell as it comes on standard error."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--json", action="store_true", help="one line of JSON")
    parser.add_argument("--quick", action="store_true", help="100 characters, a few seconds")
    parser.add_argument("--store", nargs="+", choices=tuple(STORES), default=list(STORES))
    asked = parser.parse_args()
    found = list[Cell]()
    sizes, seconds = (AGENTS[:1], 3.0) if asked.quick else (AGENTS, SECONDS)
    for cell in cells(asked.store, sizes, seconds):
        found.append(cell)
        print(cell, file=sys.stderr)
    if asked.json:
        print(json.dumps([asdict(cell) for cell in found]))
    else:
        print(table(found))


if __name__ == "__main__":
    main()
