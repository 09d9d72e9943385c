"""A day of 2,000 lines in a long archive: how long it takes to read it for facts, and to go over it at night
without a model, and how that holds up the rest.

    OPENBLAS_NUM_THREADS=1 python benchmarks/reflection.py [ENTRIES]

The model is scripted and answers at once, so that what is measured is ours.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from itertools import islice

from noodlings.agent.agent import Agent
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.ports import Allowance, Changes, ToldLines
from noodlings.text import clean
from noodlings.values.affect import Affect
from noodlings.values.fact import SPEAKER, FactKind, UnderstoodFact
from noodlings.values.memory import ImportanceParts, MemoryEntry
from noodlings.values.percept import Percept

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
            clean(told(number, word) if today else f"{word} {number}"),
            Affect(),
            0.0,
            0.5 if today else 0.1,
            telling if today else idle,
        )


def told(number: int, word: str) -> str:
    """A line of the day: some have a reason, and some deny what was told."""
    ways = (
        f"my {word} broke, and I cried {number}",
        f"I have a {word} called {number}",
        f"I don't have a {word} any more",
        f"I stayed at home because my {word} broke again",
    )
    return ways[number % len(ways)]


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
        agent._facts.services = replace(agent._services, fact_reader=reader)
        assert agent.archive is not None
        agent.archive.begin()
        await agent.archive.whole()
        heard = iter(range(10**9))

        async def hear() -> None:
            said = Percept("user_0", f"rain {next(heard)}", society.clock.now())
            await agent.perceive(said)

        print(f"{DAY:,} lines in an archive of {entries:,}")
        for _ in range(100):
            await hear()
        await measured("nothing else", asyncio.sleep(2.0), hear)
        await measured("facts, read by a scripted model", read_all(agent), hear)
        agent._core.related = entries
        await measured("the night after", agent.reflect(), hear)
        print(agent.night)
        agent._core.related = 0
        await measured("a first night over all", agent.reflect(), hear)
        print(agent.night)
        society.close()


async def read_all(agent: Agent) -> None:
    while await agent.read_facts():
        pass


async def measured(what: str, work: Awaitable[object], hear: Callable[[], Awaitable[None]]) -> None:
    """Print how long some work takes, and how long others wait and are listened to meanwhile."""
    held, took = list[float](), list[float]()

    async def others() -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(PAUSE)
            held.append(time.perf_counter() - began - PAUSE)

    async def percepts() -> None:
        while True:
            began = time.perf_counter()
            await hear()
            took.append(time.perf_counter() - began)
            await asyncio.sleep(20 * PAUSE)

    beside = [asyncio.create_task(others()), asyncio.create_task(percepts())]
    began, used = time.perf_counter(), time.process_time()
    await work
    seconds, core = time.perf_counter() - began, time.process_time() - used
    for task in beside:
        task.cancel()
    await asyncio.gather(*beside, return_exceptions=True)
    print(f"{what}: {seconds:.1f} s, {core:.1f} s of one core")
    for name, waits in (("other tasks wait", sorted(held)), ("percepts take", sorted(took))):
        p50, p95 = (1_000.0 * waits[int(len(waits) * share)] for share in (0.5, 0.95))
        print(f"  {name} {p50:.1f} ms (p50), {p95:.1f} ms (p95), {1_000.0 * waits[-1]:.0f} ms at most")


def batches(found: Iterator[MemoryEntry], size: int) -> Iterator[tuple[MemoryEntry, ...]]:
    while some := tuple(islice(found, size)):
        yield some


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
