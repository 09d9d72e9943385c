"""Is what was acknowledged kept, once and in order, whatever is done to a world? In the manner of Jepsen.

    python -m benchmarks.histories sqlite|postgresql [--nemesis NAME …] [--runs 100] [--seconds 20] [--jobs N]

In each run clients send percepts to a fresh world over REST while a nemesis disturbs it. Then everything is
put right, every character is spoken to once more, and a checker compares what was answered with what is kept.
The nemeses take turns. The folder of a run with a fault is kept, with its history. Ends with 1 where one was
found.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.histories.checker import Fault, check, read_export
from benchmarks.histories.clients import Client
from benchmarks.histories.cluster import (
    AGENTS,
    Cluster,
    Machines,
    OneProcess,
    Supervised,
    exported,
    may_mount,
)
from benchmarks.histories.history import NEMESIS, History
from benchmarks.histories.nemeses import (
    EVERYWHERE,
    OF_ONE,
    OF_SEVERAL,
    ON_DISK,
    Disturbance,
    disturb,
)
from benchmarks.histories.served import FAKETIME, Refused, run

CLIENTS = 6
AGAIN_SECONDS = 20.0
"""Once everything is right, every character answers within so many seconds."""
NEMESES = {"sqlite": EVERYWHERE | OF_ONE, "postgresql": EVERYWHERE | OF_SEVERAL}


@dataclass(frozen=True, slots=True)
class Run:
    """One run: all that decides what happens in it, beside the machine."""

    store: str
    nemesis: str
    seed: int
    number: int
    seconds: float
    kept: Path

    @property
    def name(self) -> str:
        return f"{self.store}-{self.nemesis}-{self.seed}-{self.number}"


@dataclass(slots=True)
class Found:
    """What a run came to, or several with one nemesis."""

    runs: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    disturbed: int = 0
    faults: list[Fault] = field(default_factory=list)

    def add(self, other: Found) -> None:
        """Count another one in."""
        self.runs += other.runs
        self.counts += other.counts
        self.disturbed += other.disturbed
        self.faults += other.faults


def carried_out(asked: Run) -> Found:
    """Do it in a folder of its own, which is kept where there is a fault.

    A run that could not be carried through has a fault, too, and the others go on.
    """
    folder = Path(tempfile.mkdtemp(prefix="history-"))
    try:
        found = asyncio.run(observed(asked, folder))
    except Exception:  # noqa: BLE001 -- it is reported with the rest
        found = Found(1, faults=[Fault("error", "", traceback.format_exc())])
    if found.faults:
        asked.kept.mkdir(parents=True, exist_ok=True)
        shutil.move(folder, asked.kept / asked.name)
    else:
        shutil.rmtree(folder)
    return found


async def observed(asked: Run, folder: Path) -> Found:
    """Start a cluster, talk to it and disturb it; what came of it."""
    chance = random.Random(f"{asked.seed}-{asked.number}")
    cluster = cluster_of(asked, folder)
    history = History(folder / "history.jsonl")
    given = Disturbance(cluster, history, chance, folder)
    clients = [
        Client(f"c{number}", AGENTS, cluster.addresses, history, random.Random(chance.random()))
        for number in range(CLIENTS)
    ]
    faults = given.faults
    try:
        await cluster.start()
        until = time.monotonic() + asked.seconds
        talks = [asyncio.create_task(client.talk(until)) for client in clients]
        await disturb(NEMESES[asked.store][asked.nemesis], given, asked.seconds)
        await asyncio.gather(*talks)
        last = Client("last", AGENTS, cluster.addresses, history, chance)
        faults += [
            Fault("error", agent, f"no answer {AGAIN_SECONDS:g} s after everything was right again")
            for agent in await last.last_word(AGAIN_SECONDS)
        ]
        if code := await cluster.stop():
            faults.append(Fault("error", "", f"it ended with {code}"))
        export = exported(cluster.data, cluster.environment)
        (folder / "export.jsonl").write_text(export, encoding="utf-8")
        faults += check(history.operations, read_export(export.splitlines()))
        told = run("check", "--data", cluster.data, environment=cluster.environment)
        if told.returncode:
            faults.append(Fault("damaged", "", f"check says: {told.stdout}{told.stderr}"))
    except Refused as error:
        faults.append(Fault("error", "", f"not started: {error}"))
    finally:
        history.close()
        cluster.close()
    counts: Counter[str] = Counter(
        operation.type for operation in history.operations if operation.process != NEMESIS
    )
    return Found(1, counts, given.count, faults)


def cluster_of(asked: Run, folder: Path) -> Cluster:
    """A cluster to which this nemesis can do what it does."""
    moved = asked.nemesis == "clock"
    if asked.store == "postgresql":
        if moved or asked.nemesis == "partition":
            return Machines(folder, clock=moved)
        return Supervised(folder)
    return OneProcess(folder, disk=asked.nemesis in ON_DISK, clock=moved)


def possible(store: str, say: Callable[[str], None]) -> list[str]:
    """The nemeses that work on this machine; why others do not is said."""
    missing = {} if may_mount() else dict.fromkeys(ON_DISK, "only root can mount a disk for it, on Linux")
    if FAKETIME is None:
        missing["clock"] = "libfaketime is not installed"
    nemeses = NEMESES[store]
    for name in sorted(missing.keys() & nemeses.keys()):
        say(f"left out: {name}, because {missing[name]}")
    return [name for name in nemeses if name not in missing]


def main(words: Sequence[str] | None = None) -> int:
    """Run, print, and keep what failed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.histories",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("store", choices=tuple(NEMESES))
    parser.add_argument("--nemesis", nargs="+", default=[], help="only these; by default all that there are")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--jobs", type=int, default=1, help="how many runs go on side by side")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--keep", type=Path, default=Path("histories-failed"), help="where to keep failed runs"
    )
    parser.add_argument("--json", action="store_true", help="one line of JSON")
    asked = parser.parse_args(words)
    say = partial(print, file=sys.stderr, flush=True)
    there = possible(asked.store, say)
    if unknown := sorted(set(asked.nemesis) - set(there)):
        parser.error(f"no such nemesis here: {', '.join(unknown)}; there are {', '.join(there)}")
    names = asked.nemesis or there
    runs = [
        Run(asked.store, names[number % len(names)], asked.seed, number, asked.seconds, asked.keep)
        for number in range(asked.runs)
    ]
    found = {name: Found() for name in names}
    with ProcessPoolExecutor(asked.jobs) as pool:
        under_way = {pool.submit(carried_out, one): one for one in runs}
        for number, done in enumerate(as_completed(under_way), 1):
            one, came_to = under_way[done], done.result()
            found[one.nemesis].add(came_to)
            say(f"{number}/{len(runs)} {one.name}, {came_to.counts['ok']} kept")
            for kind, times in Counter(fault.kind for fault in came_to.faults).items():
                first = next(fault for fault in came_to.faults if fault.kind == kind)
                say(f"{one.name}: {times} × {first}")
    if asked.json:
        print(json.dumps({name: row(of_nemesis) for name, of_nemesis in found.items()}))
    else:
        Console().print(table(f"histories over {asked.store}, {asked.seconds:g} s each", found))
    return int(any(of_nemesis.faults for of_nemesis in found.values()))


def row(one: Found) -> dict[str, int]:
    """What is told of the runs with one nemesis."""
    counts = one.counts
    return {
        "runs": one.runs,
        "sent": counts["invoke"],
        "kept": counts["ok"],
        "refused": counts["fail"],
        "unknown": counts["info"],
        "disturbed": one.disturbed,
        "faults": len(one.faults),
    }


def table(title: str, found: dict[str, Found]) -> Table:
    """For people."""
    rows = {name: row(one) for name, one in found.items()}
    every = Found()
    for one in found.values():
        every.add(one)
    rows["all"] = row(every)
    shown = Table("nemesis", title=title, title_justify="left")
    for heading in rows["all"]:
        shown.add_column(heading, justify="right")
    for name, numbers in rows.items():
        shown.add_row(
            name, *(f"{number:,}" for number in numbers.values()), end_section=name == list(found)[-1]
        )
    return shown


if __name__ == "__main__":
    sys.exit(main())
