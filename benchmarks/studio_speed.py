"""How quickly the studio answers over a file of 100,000 memories: first paint, scrolling, sorting, filtering.

The frame and the figures are those of a new process, from its start until they are drawn: the screen with
everything but the memories, and the agents with the talk of one. The rest is from a key until what it
asks for is drawn, at 120 × 40; the last row while a question about everything, the first one, is looked for.
The time of a processor that this took, in the process of the screen and in the one that reads, stands beside
each, because a busy machine makes everything late (Linux alone tells it).

Run it with one thread, as noodlings does: OPENBLAS_NUM_THREADS=1 python benchmarks/studio_speed.py [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from textual import events

from noodlings.host.studio import process_source
from noodlings.inspect import questions
from noodlings.ports import AgentState, Changes
from noodlings.store.sql import SqlStore
from noodlings.values.affect import Affect
from noodlings.values.memory import ImportanceParts, MemoryEntry
from studio.app import Studio
from studio.panes.episodic import Episodic
from studio.process import ProcessSource

AGENT = "servnak"
SYLLABLES = ("ka", "lo", "mi", "ra", "ten", "sol", "var", "ith", "ou", "ber", "nas", "dul", "pre", "fy")
WORDS = [f"{one}{two}{three}" for one in SYLLABLES for two in SYLLABLES for three in ("", *SYLLABLES)]
"""Some 3,000, of which the first ones are said often and the last ones hardly ever."""

START = """
import sys
from noodlings.host.studio import process_source
source = process_source(None, store={"path": sys.argv[1]})

import asyncio, glob, json, time
from studio.app import Studio
from studio.widgets.marks import Drawing
source.connect()

def now():
    tasks = [open(task).read().split() for task in glob.glob(f"/proc/{source.pid}/task/*/schedstat")]
    return time.time() - float(sys.argv[2]), time.process_time() + sum(int(task[0]) for task in tasks) / 1e9

async def measure():
    app = Studio(source, "servnak")
    async with app.run_test(size=(120, 40)):
        frame = now()
        figures = app.query_one("#why-text", Drawing)
        while figures._draw is None:
            await asyncio.sleep(0.005)
        print(json.dumps([frame, now()]))

asyncio.run(measure())
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table, in milliseconds; `target` is what must hold, None for no target of its own."""

    what: str
    p50: float
    worst: float
    processor: float
    target: float | None


def first_paint(folder: Path, rounds: int) -> list[Row]:
    """A process anew each round."""
    frames, figures = [], []
    for _ in range(rounds):
        done = subprocess.run(
            [sys.executable, "-c", START, str(folder), repr(time.time())],
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        frame, figure = json.loads(done.stdout)
        frames.append(frame)
        figures.append(figure)
    return [row("first paint: the frame", frames, 1_000.0), row("first paint: the figures", figures, 1_000.0)]


async def keys(folder: Path, rounds: int) -> list[Row]:
    """One process, everything that was ever perceived in sight."""
    source = process_source(None, store={"path": str(folder)})
    source.connect()
    app = Studio(source, AGENT)
    async with app.run_test(size=(120, 40)) as pilot:
        pane = app.query_one(Episodic)

        def place() -> object:
            return pane.table.cursor

        def question() -> object:
            return pane._version

        async def timed(name: str, changed: Callable[[], object]) -> tuple[float, float]:
            """From a key until something is another, and drawn."""
            before, wall, spent = changed(), time.perf_counter(), processor(source)
            app.post_message(events.Key(name, name if len(name) == 1 else None))
            while changed() == before or pane._outdated or pane.table._missing():  # noqa: ASYNC110
                await asyncio.sleep(0.003)  # to look costs time, and an event would, too
            drawn = asyncio.Event()
            app.call_after_refresh(drawn.set)
            await drawn.wait()
            return time.perf_counter() - wall, processor(source) - spent

        await pilot.press("4")
        await pilot.pause()
        await timed("e", question)
        scrolled, jumped, typed, narrowed = [], [], [], []
        for _ in range(rounds):
            scrolled += [await timed("pagedown", place) for _ in range(12)]
            jumped += [await timed(name, place) for name in ("end", "home")]
        await pilot.press("slash")
        for word in ("kalomi", "rasol", "bernas")[:rounds]:
            typed += [await timed(letter, question) for letter in word]
            narrowed += [await timed("backspace", question) for _ in word]
        await pilot.press("escape")
        sorted_by = [await timed("s", question) for _ in range(4)]
        await pilot.press("home")
        searching = asyncio.create_task(source.ask(questions.RECALL, AGENT, query="kalomi", limit=10))
        meanwhile = [await timed("pagedown", place) for _ in range(12)]
        searching.cancel()
        assert not (await source.ask(questions.ARCHIVE, AGENT)).loaded
    return [
        row("a page further", scrolled, 100.0),
        row("to the end, and back to the beginning", jumped, 100.0),
        row("a letter more in the filter", typed, 100.0),
        row("a letter less", narrowed, 100.0),
        row("sorted by another column, the first time", sorted_by, None),
        row("a page further, while memories are loaded", meanwhile, 100.0),
    ]


def processor(source: ProcessSource) -> float:
    """Seconds of a processor so far: ours, and those of the process that reads."""
    tasks = Path(f"/proc/{source.pid}/task").glob("*/schedstat")
    return time.process_time() + sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def row(what: str, times: list[tuple[float, float]], target: float | None) -> Row:
    """Seconds of wall and processor as a row."""
    walls = [1e3 * wall for wall, _ in times]
    return Row(
        what, statistics.median(walls), max(walls), 1e3 * statistics.median(p for _, p in times), target
    )


def main() -> None:
    """Fill a folder, measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--json", action="store_true", help="one line of JSON")
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=Path, help="a folder filled before, or to be filled and kept")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = asked.data or Path(folder)
        if not (data / "noodlings.db").is_file():
            data.mkdir(parents=True, exist_ok=True)
            fill(data, asked.memories)
        rows = [*first_paint(data, asked.rounds), *asyncio.run(keys(data, asked.rounds))]
    if asked.json:
        print(json.dumps([asdict(one) for one in rows]))
        return
    print(f"{'':<42}{'p50 ms':>8}{'worst':>8}{'processor':>11}{'target':>8}")
    for one in rows:
        target = "" if one.target is None else f"{one.target:,.0f}"
        print(f"{one.what:<42}{one.p50:>8,.0f}{one.worst:>8,.0f}{one.processor:>11,.0f}{target:>8}")


def fill(folder: Path, count: int) -> None:
    """Keep `count` memories of one agent, the last 200 of them in episodic memory."""
    chance = random.Random(5)
    store = SqlStore(folder)
    for start in range(1, count + 1, 5_000):
        ids = range(start, min(start + 5_000, count + 1))
        store.commit(
            Changes(
                AGENT,
                added=tuple(_entry(number, chance) for number in ids),
                episodic=tuple(number for number in ids if number > count - 200),
                state=AgentState(AGENT),
            )
        )
    store.close()


def _entry(number: int, chance: random.Random) -> MemoryEntry:
    importance = chance.betavariate(2, 4)
    said = [int(chance.paretovariate(0.6)) for _ in range(chance.randint(6, 24))]
    text = " ".join(WORDS[min(rank, len(WORDS)) - 1] for rank in said)
    return MemoryEntry(
        id=number,
        timestamp=1.7e9 + 60.0 * number,
        step=number,
        user_id=chance.choice(("user_caity", "user_bram", "user_ines")),
        user_text=f"The {text} ({number}).",
        affect=Affect(
            chance.uniform(-1, 1), chance.random(), chance.random() ** 3, chance.random() ** 3, 0.1
        ),
        surprise=chance.random(),
        encoded_importance=importance,
        parts=ImportanceParts(surprise=importance, intensity=importance / 2),
        response="I see." if chance.random() < 0.4 else None,
        stability=86_400.0,
    )


if __name__ == "__main__":
    main()
