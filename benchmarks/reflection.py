"""A day of 2,000 lines, read for facts in a long archive: how long it takes, and how it holds up the rest.

    OPENBLAS_NUM_THREADS=1 python benchmarks/reflection.py [ENTRIES]

The model is scripted and answers at once, so that what is measured is ours.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.ports import Allowance, Changes, ToldLines
from noodlings.text import clean
from noodlings.values.affect import Affect
from noodlings.values.fact import SPEAKER, FactKind, UnderstoodFact
from noodlings.values.memory import ImportanceParts, MemoryEntry

DAY = 2_000
WORDS = ("boat", "rain", "soup", "mill", "song", "horse", "clock", "bread", "stone", "feather", "letter")
PAUSE = 0.005


class Reader:
    """Understands one fact from each line."""

    calls = 0

    async def read(self, told: ToldLines, allowance: Allowance) -> tuple[UnderstoodFact, ...]:
        self.calls += 1
        await asyncio.sleep(0)
        return tuple(
            UnderstoodFact(line.id, SPEAKER, FactKind.EVENT, f"It was {line.id}.") for line in told.lines
        )


def lived(entries: int) -> Iterator[MemoryEntry]:
    """Idle lines of forty people, and then a day in which they tell of themselves."""
    idle, telling = ImportanceParts(), ImportanceParts(addressed=1.0, significance=0.5)
    for number in range(1, entries + DAY + 1):
        today = number > entries
        word = WORDS[number % len(WORDS)]
        yield MemoryEntry(
            number,
            1e9 + 60.0 * number,
            number,
            f"user_{number // 3 % 40}",
            clean(f"my {word} broke, and I cried {number}" if today else f"{word} {number}"),
            Affect(),
            0.0,
            0.5 if today else 0.1,
            telling if today else idle,
        )


async def main(entries: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.model_validate(
            {"store": {"path": folder}, "embedding": {"model": "none"}, "thought": {"ruminate": False}}
        )
        society = build(settings, clock=ManualClock(2e9))
        society.agents["phi"].keep()
        for some in batches(lived(entries), 1_000):
            society.store.commit(Changes("phi", added=some))
        society.close()
        society = build(settings, clock=ManualClock(2e9))
        agent, reader = society.agents["phi"], Reader()
        agent._services = replace(agent._services, fact_reader=reader)
        assert agent.archive is not None
        agent.archive.begin()
        await agent.archive.whole()
        held = list[float]()

        async def others() -> None:
            while True:
                began = time.perf_counter()
                await asyncio.sleep(PAUSE)
                held.append(time.perf_counter() - began - PAUSE)

        beside, began = asyncio.create_task(others()), time.perf_counter()
        while await agent.read_facts():
            pass
        took = time.perf_counter() - began
        beside.cancel()
        society.close()
    held.sort()
    p50, p95 = (1_000.0 * held[int(len(held) * share)] for share in (0.5, 0.95))
    print(f"{DAY:,} lines in an archive of {entries:,}: {took:.1f} s, {reader.calls} calls")
    print(f"other tasks waited {p50:.1f} ms (p50), {p95:.1f} ms (p95), {1_000.0 * held[-1]:.0f} ms at most")


def batches(found: Iterator[MemoryEntry], size: int) -> Iterator[tuple[MemoryEntry, ...]]:
    while some := tuple(islice(found, size)):
        yield some


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
