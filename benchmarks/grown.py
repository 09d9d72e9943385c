"""A character with a long past: its first turn after a start, a question while it loads, and its later turns.

Times are those of the processor, as the machine may be busy with something else. The past is kept without
vectors: how long a search takes with them says `benchmarks/recall.py`.

Run it with one thread, as noodlings does:
OPENBLAS_NUM_THREADS=1 python benchmarks/grown.py [--quick] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from measured import Measured, table
from recall import made_up
from rich.console import Console

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.inspect.inspector import Inspector
from noodlings.ports import Changes
from noodlings.store.sql import SqlStore
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Percept

ADMIN = Caller("user_admin", "admin", Role.ADMIN)
TALK = (
    "hello there", "the boat came in late", "what did I say about the boat?", "my sister got married",
    "I am scared of the storm", "nice weather today", "do you remember my sister?", "see you later",
)  # fmt: skip


def fill(folder: Path, count: int) -> None:
    """Let Phi remember so many lines, two hundred of them as episodic."""
    settings = Settings(store={"path": str(folder)}, embedding={"model": "none"}, notes={"enabled": False})
    with closing(build(settings, clock=ManualClock(1.6e9))) as society:
        asyncio.run(society.perceive("phi", Percept("user_person1", "hello", 1.6e9)))
    entries = [replace(one, stability=86_400.0) for one in made_up(np.random.default_rng(18), count, 2)]
    with closing(SqlStore(folder)) as store:
        for first in range(0, count, 1_000):
            some = tuple(entries[first : first + 1_000])
            kept = frozenset(entry.id for entry in some if entry.id > count - 200)
            store.commit(Changes("phi", added=some, episodic=kept))


async def lived(folder: Path, count: int, rounds: int) -> list[Measured]:
    """All rows."""
    settings = Settings(store={"path": str(folder)}, embedding={"model": "none"}, notes={"enabled": False})
    clock = ManualClock(1.9e9)

    async def turn(number: int) -> tuple[float, float]:
        """Milliseconds of a whole turn, and of all but the search in it."""
        clock.advance(30.0)
        text = f"{TALK[number % len(TALK)]} {number % 97}"
        began = time.process_time()
        percept = Percept(f"user_person{number % 7}", text, clock.now(), addressed=True)
        trace = await society.perceive("phi", percept)
        whole = 1e3 * (time.process_time() - began)
        return whole, whole - trace.milliseconds["recall"]

    with closing(build(settings, clock=clock)) as society:
        began = time.process_time()
        agent = society.find("phi")
        first = 1e3 * (time.process_time() - began) + (await turn(0))[0]
        assert agent.archive is not None
        inspector = Inspector(society)
        taken = []
        while not agent.archive.loaded:
            began = time.process_time()
            await inspector.recall(ADMIN, "phi", "word2x word3x word5x", 10)
            taken.append(1e3 * (time.process_time() - began))
        for number in range(50):
            await turn(number)
        turns = np.array([await turn(number) for number in range(rounds)])
    whole, beside = np.percentile(turns, [50, 95], axis=0).T.tolist()
    return [
            Measured("first turn after a start", count, "ms", first, must="≤ 100 ms", holds=first <= 100.0),
            Measured(
                "/recall while the past is loaded", count, "ms", float(np.median(taken)), max(taken),
                must="≤ 100 ms", holds=max(taken) <= 100.0,
            ),
            Measured("an answered event", count, "ms", whole[0], whole[1]),
            Measured(
                "an answered event, search aside", count, "ms", beside[0], beside[1],
                must="p95 ≤ 8 ms", holds=beside[1] <= 8.0,
            ),
    ]  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="10,000 entries")
    parser.add_argument("--json", action="store_true", help="one line of JSON instead of the table")
    arguments = parser.parse_args()
    count, rounds = (10_000, 100) if arguments.quick else (100_000, 400)
    with tempfile.TemporaryDirectory() as name:
        fill(Path(name), count)
        rows = asyncio.run(lived(Path(name), count, rounds))
    if arguments.json:
        print(json.dumps([asdict(one) for one in rows], ensure_ascii=False))
    else:
        Console().print(table("a long past", rows))


if __name__ == "__main__":
    main()
