"""Many characters in one process: memory, start, silent listeners, and a turn among few and among many.

Everybody has a small life behind them, one that was lived once and is copied. They stand in rooms of twenty;
a line is heard by a whole room, and words alone tell what it means. Turns among 100 and among all alternate,
so that whatever else the machine does falls on both. Turns and listeners are measured in the time of a
processor, for the same reason; where it has time for nothing else, that is the time of the clock.

Run it with one thread, as noodlings does: OPENBLAS_NUM_THREADS=1 python benchmarks/many.py [--quick] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from measured import Measured, resident, table
from rich.console import Console

from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.inspect.inspector import Inspector
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Percept

ROOM, FEW = 20, 100
BEGINS = 1.7e9
ADMIN = Caller("user_admin", "admin", Role.ADMIN)
LINES = (
    "my sister Ruth paints boats down at the harbour",
    "the lamp over the pier went out again last night",
    "I am afraid of the storm that comes from the north",
    "do you remember what my sister paints?",
    "three boats never came back, and nobody speaks of it",
    "I am so glad, I got the job at the mill!",
    "my old dog died yesterday",
    "good morning, how are you?",
)


def opened(folder: Path) -> Society:
    """The society of a folder, without notes and vectors; nobody thinks of their own accord."""
    settings = Settings(
        store={"path": str(folder)},
        embedding={"model": "none"},
        notes={"enabled": False},
        thought={"ruminate": False},
    )
    return build(settings, clock=ManualClock(BEGINS + 86_400.0))


def fill(folder: Path, count: int) -> None:
    """Let one live for 20 lines, and copy that to so many."""
    settings = Settings(store={"path": str(folder)}, embedding={"model": "none"}, notes={"enabled": False})
    clock = ManualClock(BEGINS)
    with closing(build(settings, clock=clock)) as society:

        async def live() -> None:
            for number in range(20):
                clock.advance(300.0)
                await society.perceive("phi", line(LINES[number % len(LINES)], clock.now(), number % 2 > 0))

        asyncio.run(live())
    with closing(sqlite3.connect(folder / "noodlings.db")) as database:
        ids = [(who(number),) for number in range(count)]
        for table in ("agents", "entries", "links", "symbols", "traces"):
            names = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            rest = ", ".join(name for name in names if name not in ("agent_id", "row_id"))
            database.executemany(
                f"INSERT INTO {table} (agent_id, {rest}) SELECT ?, {rest} FROM {table}"
                " WHERE agent_id = 'phi'",
                ids,
            )
        database.commit()


def who(number: int) -> str:
    """The id of one of many."""
    return f"villager_{number}"


def line(text: str, now: float, addressed: bool = False) -> Percept:
    """Said by a player, or by a character that asks nobody for an answer."""
    speaker = "user_caity" if addressed else "user_bo"
    return Percept(
        speaker, text, now, addressed=addressed, depth=int(not addressed), present=frozenset({speaker})
    )


async def listening(society: Society, ids: Sequence[str], chance: random.Random) -> float:
    """Percepts in a second of a processor, where each room of these hears a line of its own."""
    began = time.process_time()
    for first in range(0, len(ids), ROOM):
        society.clock.advance(1.0)  # type: ignore[attr-defined]
        words = " ".join(chance.sample(" ".join(LINES).split(), 9))
        heard = line(words, society.clock.now())
        traces = await asyncio.gather(*(society.perceive(one, heard) for one in ids[first : first + ROOM]))
        assert not any(trace.response for trace in traces)
    return len(ids) / (time.process_time() - began)


async def turn(society: Society, agent_id: str, text: str) -> float:
    """Milliseconds of a processor for one answered line."""
    society.clock.advance(60.0)  # type: ignore[attr-defined]
    began = time.process_time()
    trace = await society.perceive(agent_id, line(text, society.clock.now(), addressed=True))
    assert trace.response
    return 1e3 * (time.process_time() - began)


async def measured(folder: Path, few: Path, count: int) -> list[Measured]:
    """The whole table."""
    chance, base, began = random.Random(7), resident(), time.process_time()
    with closing(opened(folder)) as many, closing(opened(few)) as hundred:
        start = time.process_time() - began
        gc.collect()
        gc.freeze()  # as `serve` does
        everybody, near = [who(number) for number in range(count)], [who(number) for number in range(FEW)]
        with_few, with_many = list[float](), list[float]()
        waking = await listening(many, everybody, chance)
        after_all = resident()
        here = everybody[: min(count, 500)]
        await listening(many, here, chance)
        awake = max([await listening(many, here, chance) for _ in range(3)])
        for _ in range(3):
            for one in near:
                said = chance.choice(LINES)
                with_few.append(await turn(hundred, one, said))
                with_many.append(await turn(many, one, said))
        asleep = [await turn(many, one, LINES[3]) for one in everybody[-FEW:]]
        inspector, began = Inspector(many), time.process_time()
        listed = await inspector.agents(ADMIN)
        listing = time.process_time() - began
        among_few, among_all = (statistics.median(taken[FEW:]) for taken in (with_few, with_many))
        ratio, after = among_all / among_few, resident()
        return [
            Measured("start (with that of 100 more)", count, "s", start),
            Measured("resident before", count, "MiB", base),
            Measured(
                "resident after all were spoken to", count, "MiB", after_all,
                must="≤ 2,048", holds=after_all <= 2_048,
            ),
            Measured(
                "resident at the end", count, "MiB", after, must="≤ 2,048", holds=after <= 2_048
            ),
            Measured(
                "percepts of listeners in memory", count, "/s", awake, must="≥ 1,000", holds=awake >= 1_000
            ),
            Measured("percepts of listeners, all in turn", count, "/s", waking),
            Measured("a turn among 100", FEW, "ms", among_few),
            Measured("a turn among all", count, "ms", among_all),
            Measured("a turn, beside one among 100", count, "", ratio, must="≤ 1.2", holds=ratio <= 1.2),
            Measured("first turn of one who was asleep", count, "ms", statistics.median(asleep)),
            Measured(f"a list of {len(listed.agents):,}", count, "ms", 1e3 * listing),
        ]  # fmt: skip


def main() -> None:
    """Fill two folders, measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--json", action="store_true", help="one line of JSON")
    parser.add_argument("--quick", action="store_true", help="1,000 agents")
    parser.add_argument("--agents", type=int, default=10_000)
    asked = parser.parse_args()
    count = 1_000 if asked.quick else asked.agents
    with tempfile.TemporaryDirectory() as folder:
        many, few = Path(folder, "many"), Path(folder, "few")
        fill(many, count)
        fill(few, FEW)
        rows = asyncio.run(measured(many, few, count))
    if asked.json:
        print(json.dumps([asdict(row) for row in rows]))
        return
    Console().print(table("many characters", rows))


if __name__ == "__main__":
    main()
