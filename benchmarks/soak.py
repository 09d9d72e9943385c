"""A long evening: does a server that is spoken to for an hour, and killed in the midst of it, stay as it was?

    python benchmarks/soak.py [--minutes 60] [--quick] [--json]

Twenty players talk with ten characters over REST, with the talk of `benchmarks/talk`; now and then they ask
what is remembered, and somebody looks on at the live stream. Half-way the server is killed and started again,
and whoever was not answered asks again under the same key. In the end

- all that was answered is kept, once, with that answer;
- both halves are gone through again without a server (the second from what the kill left behind): the same
  entries, feelings, answers and symbols must come of it, and the same must be in mind;
- memory and latencies of the second server's first and last quarter are compared.

Characters know words alone: what is embedded in the background comes to mind a moment sooner or later, and
then no two lives are the same. Ends with 1 where something does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import zip_longest
from pathlib import Path

import yaml
from httpx2 import AsyncClient, HTTPError
from measured import Measured, resident, table
from rich.console import Console
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.store.transfer import snapshot
from noodlings.text import clean
from noodlings.values.percept import Kind, Percept

HERE = Path(__file__).parent
PLAYERS = 20
PACE = 20.0
"""Seconds between two lines of one player, on average; a look at what is remembered comes with a tenth."""
WALKS_AWAY, ASKS, OVERHEARD = 0.1, 0.1, 0.2
"""How often a player turns to somebody else, asks what is remembered, and is overheard."""
READY_SECONDS = 60.0
SHOWN = 10
MOST_GROWTH, MOST_SLOWER = 0.05, 1.25
NAMES = ("Bremer", "Isolde", "Corvin", "Mathilde", "Oswin", "Pernille", "Ruarc", "Sunniva", "Tamsin", "Ulric")


Place = tuple[str, int]
"""A character, and the number of a memory of its own."""


@dataclass(frozen=True, slots=True)
class Line:
    """What a player says."""

    agent: str
    user: str
    text: str
    addressed: bool
    present: tuple[str, ...]
    key: str


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of it: the entry that it became, what was said, when (monotonic), after how many seconds."""

    line: Line
    entry: int
    response: str | None
    cut_off: bool
    retried: bool
    at: float
    took: float

    @property
    def place(self) -> Place:
        """Where it is kept."""
        return self.line.agent, self.entry


@dataclass(slots=True)
class Evening:
    """All that was seen.

    Attributes:
        answered: lines with their answers.
        asked: seconds that questions took; turns: of the live stream; restarted: monotonic.
        resident: monotonic → MiB.
    """

    answered: list[Answered] = field(default_factory=list)
    asked: list[float] = field(default_factory=list)
    turns: int = 0
    resident: list[tuple[float, float]] = field(default_factory=list)
    restarted: float = 0.0


def settings(folder: Path) -> Settings:
    """Words alone, no notes; everything else as it comes."""
    return Settings(store={"path": str(folder)}, embedding={"model": "none"}, notes={"enabled": False})


def agent(number: int) -> str:
    """The id of a character."""
    return NAMES[number % len(NAMES)].casefold()


def settle(folder: Path) -> None:
    """Ten characters of no particular kind, each with drives of its own."""
    recipes = folder / "recipes"
    recipes.mkdir(parents=True)
    for name in NAMES:
        recipe = {
            "name": name,
            "species": "villager",
            "description": f"{name} lives by the harbour.",
            "identity": f"You are {name}, who lives by the harbour.",
        }
        (recipes / f"{name.casefold()}.yaml").write_text(yaml.safe_dump(recipe), encoding="utf-8")


def conversations() -> list[list[str]]:
    """What players say: the lines of each case, in order."""
    cases = yaml.safe_load((HERE / "talk" / "cases.yaml").read_text(encoding="utf-8"))
    said = [[step.get("say") or step.get("ask") for step in case["steps"]] for case in cases]
    return [[text for text in texts if text] for texts in said]


class Server:
    """`noodlings serve` on a folder, as a process of its own."""

    def __init__(self, folder: Path, port: int, log: Path) -> None:
        environment = os.environ | {
            "NOODLINGS_EMBEDDING__MODEL": "none",
            "NOODLINGS_NOTES__ENABLED": "false",
            "PYTHONPATH": str(HERE.parent),
        }
        words = (sys.executable, "-m", "noodlings", "serve", "--port", str(port), "--data", str(folder))
        self.url = f"http://127.0.0.1:{port}"
        with log.open("ab") as written:
            self.process = subprocess.Popen(words, stdout=written, stderr=written, env=environment)

    async def ready(self, client: AsyncClient) -> None:
        """Wait until it answers. Raises SystemExit where it ends instead, or takes for ever."""
        latest = time.monotonic() + READY_SECONDS
        while time.monotonic() < latest and self.process.poll() is None:
            with suppress(HTTPError):
                if (await client.get("/ready")).status_code == 200:
                    return
            await asyncio.sleep(0.05)
        raise SystemExit("the server did not start")

    def end(self, by: signal.Signals) -> None:
        """End it, and wait for that."""
        self.process.send_signal(by)
        self.process.wait(READY_SECONDS)


async def player(
    client: AsyncClient, number: int, talks: list[list[str]], until: float, pace: float, evening: Evening
) -> None:
    """Somebody who talks with one character and now and then goes to another, until a moment comes."""
    chance, here, sent = random.Random(number), number, 0
    while True:
        for text in chance.choice(talks):
            await asyncio.sleep(chance.expovariate(1.0 / pace))
            if time.monotonic() > until:
                return
            here += chance.random() < WALKS_AWAY
            sent += 1
            near = (f"user_{(number + 1) % PLAYERS}",) if chance.random() < OVERHEARD else ()
            addressed = chance.random() > OVERHEARD
            line = Line(agent(here), f"user_{number}", text, addressed, near, f"{number}-{sent}")
            evening.answered.append(await say(client, line))
            if chance.random() < ASKS:
                evening.asked.append(await ask(client, agent(here), text))


async def say(client: AsyncClient, line: Line) -> Answered:
    """Say it until it was heard: again under the same key, while there is no server."""
    body = {
        "user_id": line.user, "text": line.text, "addressed": line.addressed,
        "present": line.present, "idempotency_key": line.key,
    }  # fmt: skip
    tries = 0
    while True:
        began = time.monotonic()
        try:
            answer = await client.post(f"/api/agents/{line.agent}/perceive", json=body)
        except HTTPError:
            tries += 1
            await asyncio.sleep(0.2)
            continue
        answer.raise_for_status()
        turn, at = answer.json()["turn"], time.monotonic()
        cut_off = turn["decision"] == "cut off"
        return Answered(line, turn["percept"]["id"], turn["response"], cut_off, tries > 0, at, at - began)


async def ask(client: AsyncClient, name: str, text: str) -> float:
    """Seconds that a look into a memory takes."""
    while True:
        began = time.monotonic()
        try:
            answer = await client.get(f"/api/agents/{name}/recall", params={"query": text[:200]})
        except HTTPError:
            await asyncio.sleep(0.2)
            continue
        answer.raise_for_status()
        return time.monotonic() - began


async def look_on(url: str, evening: Evening) -> None:
    """Look on at everybody, and come back when there is a server again."""
    while True:
        with suppress(OSError, WebSocketException):
            async with connect(f"{url.replace('http', 'ws', 1)}/api/live", max_size=None) as stream:
                async for message in stream:
                    evening.turns += json.loads(message)["type"] == "turn"
        await asyncio.sleep(0.2)


async def watch(server: Server, evening: Evening) -> None:
    """Note every five seconds how much memory the server takes."""
    while True:
        evening.resident.append((time.monotonic(), resident(server.process.pid)))
        await asyncio.sleep(5.0)


async def live(folder: Path, left_behind: Path, minutes: float, pace: float, console: Console) -> Evening:
    """The whole evening; what the kill leaves behind is copied to `left_behind`."""
    evening, talks, log = Evening(), conversations(), folder.with_name("serve.log")
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port = bound.getsockname()[1]
    server = Server(folder, port, log)
    async with AsyncClient(base_url=server.url, timeout=30.0) as client, asyncio.TaskGroup() as looking:
        await server.ready(client)
        began = time.monotonic()
        half, whole = began + 30.0 * minutes, began + 60.0 * minutes
        on = looking.create_task(look_on(server.url, evening))
        watching = looking.create_task(watch(server, evening))
        players = [
            looking.create_task(player(client, number, talks, whole, pace, evening))
            for number in range(PLAYERS)
        ]
        try:
            await asyncio.sleep(half - time.monotonic())
            watching.cancel()
            server.end(signal.SIGKILL)
            console.log(f"killed after {len(evening.answered):,} lines")
            shutil.copytree(folder, left_behind)
            server = Server(folder, port, log)
            await server.ready(client)
            evening.restarted = time.monotonic()
            watching = looking.create_task(watch(server, evening))
            await asyncio.wait(players)
        finally:
            watching.cancel()
            on.cancel()
            server.end(signal.SIGTERM)
    return evening


def lost(folder: Path, answered: Sequence[Answered]) -> list[str]:
    """What was answered and is not kept once, as it was; and what is kept and was never answered."""
    with snapshot(folder) as kept:
        there = {(name, one.entry.id): one.entry for name in kept.agents() for one in kept.entries(name)}
    seen, found = set[Place](), list[str]()
    for one in answered:
        entry = there.get(one.place)
        if one.place in seen or entry is None or entry.user_text != clean(one.line.text):
            found.append(f"{one.line.key} is not kept once: {one.line.text}")
        elif entry.response != one.response:
            found.append(f"{one.line.key} was answered {one.response!r}, and {entry.response!r} is kept")
        seen.add(one.place)
    said = {place for place, entry in there.items() if entry.kind is not Kind.THOUGHT}
    return found + [f"{name} {number} is nobody's" for name, number in sorted(said - seen)]


async def relive(folder: Path, original: Path, lines: dict[Place, Line], known: set[Place]) -> None:
    """Let the characters of a folder perceive, at the same moments, what those of another perceived beyond
    what is known."""
    clock = ManualClock(0.0)
    with snapshot(original) as kept:
        then = sorted(
            (one.entry.timestamp, place)
            for name in kept.agents()
            for one in kept.entries(name)
            if (place := (name, one.entry.id)) in lines and place not in known
        )
    with closing(build(settings(folder), clock=clock)) as society:
        for moment, place in then:
            line = lines[place]
            clock.set(moment)
            present = frozenset({line.user, *line.present})
            said = Percept(line.user, clean(line.text), moment, addressed=line.addressed, present=present)
            await society.perceive(line.agent, said)
        await society.rest(READY_SECONDS)


def lives(folder: Path) -> dict[str, list[str]]:
    """All that is kept of each character, but for keys of clients and how long things took."""
    with snapshot(folder) as kept:
        return {
            name: [
                repr(kept.agent(name)),
                *(repr(replace(one, entry=replace(one.entry, extra={}))) for one in kept.entries(name)),
                *(repr(replace(one, milliseconds={})) for one in kept.traces(name)),
                *map(repr, kept.links(name)),
                *map(repr, kept.symbols(name)),
            ]
            for name in kept.agents()
        }


def differences(ours: Path, theirs: Path, without: set[str]) -> list[str]:
    """What two folders keep otherwise, of all characters but some."""
    here, there = lives(ours), lives(theirs)
    return [
        f"{name}:\n  {one}\n  {other}"
        for name in sorted(here.keys() | there.keys() - without)
        for one, other in zip_longest(there.get(name, []), here.get(name, []))
        if one != other
    ]


def ratios(evening: Evening) -> tuple[float, float, float, float]:
    """Memory and median answer of the second server: its first quarter, and its last."""
    began, ended = evening.restarted, evening.answered[-1].at
    quarter = (ended - began) / 4
    early, late = (began, began + quarter), (ended - quarter, ended + 1.0)

    def median(timed: Iterable[tuple[float, float]], within: tuple[float, float]) -> float:
        return statistics.median(value for at, value in timed if within[0] <= at < within[1])

    took = [(one.at, one.took) for one in evening.answered if not one.retried]
    # After a minute: until then a server still loads what it uses first.
    settled = [(at, size) for at, size in evening.resident if at > began + min(60.0, quarter / 2)]
    return median(settled, early), median(settled, late), median(took, early), median(took, late)


async def measured(
    folder: Path, minutes: float, pace: float, console: Console
) -> tuple[list[Measured], list[str]]:
    """The table, and whatever is wrong, line by line."""
    lived, left_behind, relived = folder / "lived", folder / "left-behind", folder / "relived"
    for one in (lived, relived):
        settle(one)
    evening = await live(lived, left_behind, minutes, pace, console)
    console.log("going through it again")
    answered = evening.answered
    lines = {one.place: one.line for one in answered}
    with snapshot(left_behind) as kept:
        known = {(name, one.entry.id) for name in kept.agents() for one in kept.entries(name)}
    cut_off = {one.line.agent for one in answered if one.cut_off}
    gone = lost(lived, answered)
    await relive(relived, left_behind, lines, set())
    first = differences(relived, left_behind, cut_off)
    await relive(left_behind, lived, lines, known)
    second = differences(left_behind, lived, set())
    before, after, quick, slow = ratios(evening)
    took = [1e3 * one.took for one in answered if not one.retried]
    asked = [1e3 * seconds for seconds in evening.asked]
    rows = [
        Measured("an answered line over REST", len(took), "ms", statistics.median(took), percentile(took)),
        Measured("a look into a memory", len(asked), "ms", statistics.median(asked), percentile(asked)),
        Measured("turns on the live stream", evening.turns, "", evening.turns / len(answered)),
        Measured("memory, first quarter after the kill", 0, "MiB", before),
        Measured(
            "memory, last quarter", 0, "MiB", after, beside={"first": before},
            must="< 5% more", holds=after < before * (1 + MOST_GROWTH),
        ),
        Measured(
            "an answer, last quarter", 0, "ms", 1e3 * slow, beside={"first": 1e3 * quick},
            must="flat", holds=slow <= MOST_SLOWER * quick,
        ),
        Measured("lost, doubled or altered", len(answered), "", len(gone), must="0", holds=not gone),
        Measured(
            f"first half, gone through again by {len(NAMES) - len(cut_off)}", len(known), "otherwise",
            len(first), must="0", holds=not first,
        ),
        Measured(
            "second half, gone through again", len(lines) - len(known), "otherwise",
            len(second), must="0", holds=not second,
        ),
    ]  # fmt: skip
    return rows, [*gone, *first, *second]


def percentile(values: Sequence[float]) -> float:
    """The 95th."""
    return statistics.quantiles(values, n=20)[-1]


def main() -> int:
    """Live, go through it again, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--quick", action="store_true", help="two minutes, in which everybody says more")
    parser.add_argument("--json", action="store_true", help="one line of JSON")
    asked = parser.parse_args()
    console = Console(stderr=True)
    minutes, pace = (2.0, 2.0) if asked.quick else (asked.minutes, PACE)
    with tempfile.TemporaryDirectory() as folder:
        rows, wrong = asyncio.run(measured(Path(folder), minutes, pace, console))
    for line in wrong[:SHOWN]:
        console.print(line, markup=False)
    if asked.json:
        print(json.dumps([asdict(row) for row in rows]))
    else:
        Console().print(table("a long evening", rows))
    return int(any(row.holds is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
