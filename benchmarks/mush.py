"""The MUSH port with a full room, on loopback: does every line arrive, in order, and in time?

    python benchmarks/mush.py [--quick] [--json]

A real server in a process of its own; 50 people at telnet clients stand in one room with two characters, and
each says a line every two seconds. In the second half one more types as fast as the network lets it. Then
every line that anybody heard is counted. All clients share one process, and the cores with the server.
"""

from __future__ import annotations

import asyncio
import json
import re
import resource
import socket
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from argon2.profiles import CHEAPEST

from noodlings.worlds.accounts import Accounts
from tests.api.serving import Server, served

PEOPLE, SECONDS, EVERY = 50, 60.0, 2.0
PASSWORD = "correct horse"
FLOODER = "Flooder"
BLOCK = 50
"""Lines that the flooder writes at once."""

_SAID = re.compile(r'(\S+) says?, "(\d+)\. ünï 🐕"')


@dataclass
class Person:
    """Somebody at a client.

    Attributes:
        heard: speaker → the numbers of their lines, as they came.
        waited: seconds until each own line was shown, with when it was typed.
    """

    name: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    heard: dict[str, list[int]] = field(default_factory=dict)
    waited: list[tuple[float, float]] = field(default_factory=list)
    typed: dict[int, float] = field(default_factory=dict)

    @classmethod
    async def comes(cls, port: int, name: str) -> Person:
        """Connect, and stand in the first room."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"connect {name} {PASSWORD}\r\n".encode())
        while b"Exits:" not in await reader.readline():
            pass
        return cls(name, reader, writer)

    def say(self, number: int) -> None:
        """One line."""
        self.typed[number] = time.perf_counter()
        self.writer.write(f"say {number}. ünï 🐕\r\n".encode())

    async def listen(self) -> None:
        """Note what is heard, for ever."""
        while received := await self.reader.readline():
            said = _SAID.match(received.decode())
            if said is None:
                continue
            speaker, number = said[1], int(said[2])
            if speaker == "You":
                now = time.perf_counter()
                self.waited.append((self.typed[number], now - self.typed[number]))
                speaker = self.name
            self.heard.setdefault(speaker, []).append(number)

    async def talk(self, began: float, offset: float, seconds: float) -> None:
        """A line every so often."""
        number = 0
        while (at := offset + number * EVERY) < seconds:
            await asyncio.sleep(max(began + at - time.perf_counter(), 0))
            self.say(number)
            number += 1

    async def flood(self, until: float) -> None:
        """Line after line, as fast as they are taken."""
        number = 0
        while (now := time.perf_counter()) < until:
            block = range(number, number + BLOCK)
            self.typed |= dict.fromkeys(block, now)
            self.writer.write("".join(f"say {one}. ünï 🐕\r\n" for one in block).encode())
            number += BLOCK
            await asyncio.sleep(0)  # the other clients are in this process, and are not to wait for us
            try:
                await asyncio.wait_for(self.writer.drain(), max(until - time.perf_counter(), 0.01))
            except TimeoutError:
                return


async def measure(port: int, server: Server, seconds: float) -> dict[str, object]:
    """Let everybody talk, and count."""
    people = [await Person.comes(port, f"Guest-{number}") for number in range(PEOPLE)]
    flooder = await Person.comes(port, FLOODER)
    everybody = [*people, flooder]
    listening = [asyncio.create_task(one.listen()) for one in everybody]
    began = time.perf_counter()
    half = began + seconds / 2

    async def flood_later() -> None:
        await asyncio.sleep(seconds / 2)
        await flooder.flood(began + seconds)

    await asyncio.gather(
        flood_later(),
        *(one.talk(began, EVERY * place / PEOPLE, seconds) for place, one in enumerate(people)),
    )
    flooded = len(people[0].heard.get(FLOODER, ()))
    await _all_heard(people)
    expected = {one.name: sorted(one.typed) for one in people}
    lost = sum(len(set(expected[who]) - set(one.heard.get(who, ()))) for one in people for who in expected)
    disordered = sum(
        one.heard.get(who, []) != sorted(one.heard.get(who, [])) for one in everybody for who in expected
    )
    calm = sorted(wait for one in people for at, wait in one.waited if at < half)
    beside = sorted(wait for one in people for at, wait in one.waited if at >= half)
    for task in listening:
        task.cancel()
    await asyncio.gather(*listening, return_exceptions=True)
    for one in everybody:
        one.writer.close()
    return {
        "people": PEOPLE,
        "seconds": seconds,
        "lines said": sum(map(len, expected.values())),
        "lines heard": sum(
            len(numbers) for one in people for who, numbers in one.heard.items() if who != FLOODER
        ),
        "lines lost": lost,
        "speakers heard out of order": disordered,
        "own line shown, p50 ms": _ms(calm, 50),
        "own line shown, p95 ms": _ms(calm, 95),
        "beside a flooder, p50 ms": _ms(beside, 50),
        "beside a flooder, p95 ms": _ms(beside, 95),
        "flooder typed, lines": len(flooder.typed),
        "flooder was heard, lines a second": round(flooded / (seconds / 2), 1),
        "server, MB": round(_resident(server.process.pid)),
    }


async def _all_heard(people: list[Person]) -> None:
    """Wait until everybody heard everything, or nothing new came for two seconds."""
    before = -1
    while (now := sum(len(numbers) for one in people for numbers in one.heard.values())) != before:
        before = now
        if all(len(one.heard.get(who.name, ())) == len(who.typed) for one in people for who in people):
            return
        await asyncio.sleep(2)


def _ms(waits: list[float], percent: int) -> float:
    return round(statistics.quantiles(waits, n=100)[percent - 1] * 1e3, 1)


def _resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def main() -> None:
    """Measure and print."""
    seconds = 10.0 if "--quick" in sys.argv else SECONDS
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port = bound.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="noodlings-mush-") as folder:
        accounts = Accounts(Path(folder), CHEAPEST)
        for name in (*(f"Guest-{number}" for number in range(PEOPLE)), FLOODER):
            accounts.create(name, PASSWORD)
        with served(
            Path(folder), NOODLINGS_MUSH__PORT=str(port), NOODLINGS_WORLD__IDLE_SECONDS="0"
        ) as server:
            figures = asyncio.run(measure(port, server, seconds))
    if "--json" in sys.argv:
        print(json.dumps(figures))
        return
    for name, figure in figures.items():
        print(f"{name:<36}{figure:>12,}")


if __name__ == "__main__":
    main()
