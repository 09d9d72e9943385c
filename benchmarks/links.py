"""What links cost: keeping one with its turn, reading those of an entry, and following them from five.

Made-up memories of three people in one archive: every line follows the one before it of the same person,
every second one recalled two earlier ones, and one memory was recalled by every tenth line.

Run it with one thread, as noodlings does:
OPENBLAS_NUM_THREADS=1 python benchmarks/links.py [--entries 100000] [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from noodlings.ports import Changes
from noodlings.recall.filters import Filters
from noodlings.recall.links import READ, explore
from noodlings.store.sql import SqlStore
from noodlings.values.affect import Affect
from noodlings.values.memory import ImportanceParts, Link, LinkType, MemoryEntry

AGENT = "servnak"
AT_ONCE = 5_000
ROUNDS = 200
HUB = 1
PEOPLE = ("user_caity", "user_bob", "user_eve")


def main() -> None:
    """Print the table, or one line of JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, closing(SqlStore(Path(folder))) as store:
        fill(store, arguments.entries)
        measured = dict(measure(store, arguments.entries))
    if arguments.json:
        print(json.dumps({"entries": arguments.entries, "milliseconds": measured}))
        return
    print(f"| milliseconds, {arguments.entries:,} entries | p50 | p95 |\n|---|---|---|")
    for name, (p50, p95) in measured.items():
        print(f"| {name} | {p50:.3f} | {p95:.3f} |")


def an_entry(number: int) -> MemoryEntry:
    """A line of one of three people."""
    return MemoryEntry(
        id=number,
        timestamp=1.7e9 + 60.0 * number,
        step=number,
        user_id=PEOPLE[number % len(PEOPLE)],
        user_text=f"My dog died yesterday, and I keep looking for him in the garden ({number}).",
        affect=Affect(-0.4, 0.6, 0.2, 0.7, 0.0),
        surprise=0.41,
        encoded_importance=0.62,
        parts=ImportanceParts(0.41, 0.7, 0.1, 1.0, 0.0, 0.0),
        phenomenal_state=np.linspace(-1.0, 1.0, 40, dtype=np.float32),
        place="garden",
        stability=3_600.0,
    )


def links_of(number: int, chance: random.Random) -> Iterator[Link]:
    """What the turn of an entry links."""
    targets = []
    if number > len(PEOPLE):
        yield Link(number, number - len(PEOPLE), LinkType.FOLLOWED, 0.9, 0.0)
    if number % 2 == 0 and number > 2:
        targets += chance.sample(range(1, number), 2)
    if number % 10 == 0 and HUB not in targets:
        targets.append(HUB)
    for target in targets:
        yield Link(number, target, LinkType.RECALLED, chance.random(), 0.0)


def fill(store: SqlStore, many: int) -> None:
    """Keep entries and their links."""
    chance = random.Random(1)
    for start in range(1, many + 1, AT_ONCE):
        numbers = range(start, min(start + AT_ONCE, many + 1))
        links = tuple(link for number in numbers for link in links_of(number, chance))
        store.commit(Changes(AGENT, added=tuple(map(an_entry, numbers)), links=links))


def measure(store: SqlStore, many: int) -> Iterator[tuple[str, tuple[float, float]]]:
    """What is timed, and its p50 and p95 in milliseconds."""
    chance = random.Random(2)

    def some(count: int) -> list[int]:
        return chance.sample(range(2, many + 1), count)

    def everything(entry: MemoryEntry) -> bool:
        return True

    numbers = iter(range(many + 1, many + 10 * ROUNDS))

    def add(*ends: int) -> None:
        entry = an_entry(next(numbers))
        links = tuple(Link(entry.id, end, LinkType.FOLLOWED, 0.5, 0.0) for end in ends)
        store.commit(Changes(AGENT, added=(entry,), links=links))

    alone, linked = taking_turns(add, lambda: add(*some(1)))
    yield "add an entry", alone
    yield "add an entry with a link", linked
    for count in (1, 20, 100):
        yield f"links of {count} entries", timed(lambda count=count: store.links_of(AGENT, some(count)))
    yield (
        f"{READ} links of what every tenth line recalled",
        timed(lambda: store.links_of(AGENT, [HUB], READ), 20),
    )
    one_user = replace(Filters(), user=PEOPLE[0])
    for depth in (1, 2, 3):
        yield (
            f"follow links from five, {depth} steps",
            timed(lambda depth=depth: explore(store, AGENT, dict.fromkeys(some(5), 1.0), depth, everything)),
        )
    own = [number for number in range(2, many) if number % len(PEOPLE) == 0]
    yield (
        "the same in what one of the three said",
        timed(lambda: explore(store, AGENT, dict.fromkeys(chance.sample(own, 5), 1.0), 3, one_user.admits)),
    )
    yield (
        "3 steps from what every tenth line recalled",
        timed(lambda: explore(store, AGENT, {HUB: 1.0}, 3, everything), 20),
    )


def taking_turns(*operations: Callable[[], Any]) -> list[tuple[float, float]]:
    """Each once a round, so that whatever else the machine does falls on all of them."""
    taken: list[list[float]] = [[] for _ in operations]
    for _ in range(ROUNDS):
        for times, operation in zip(taken, operations, strict=True):
            began = time.perf_counter()
            operation()
            times.append(1e3 * (time.perf_counter() - began))
    return [(float(np.percentile(times, 50)), float(np.percentile(times, 95))) for times in taken]


def timed(operation: Callable[[], Any], rounds: int = ROUNDS) -> tuple[float, float]:
    """p50 and p95 in milliseconds."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        operation()
        times.append(1e3 * (time.perf_counter() - began))
    return float(np.percentile(times, 50)), float(np.percentile(times, 95))


if __name__ == "__main__":
    main()
