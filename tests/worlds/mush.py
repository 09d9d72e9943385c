"""A world that people come into over the wire, with scripted minds, and clients for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from argon2.profiles import CHEAPEST
from rich.console import RenderableType
from rich.rule import Rule
from rich.text import Text

from noodlings.clock import ManualClock
from noodlings.connections import Connections
from noodlings.errors import UserError
from noodlings.values.caller import Caller
from noodlings.worlds.accounts import Accounts
from noodlings.worlds.login_guard import LoginGuard, Timer
from noodlings.worlds.places import load_places
from noodlings.worlds.rooms import Scrollback, World
from noodlings.worlds.script import Dispatch
from noodlings.worlds.telnet import telnet_port
from noodlings.worlds.visitors import Visitors, VisitSettings
from tests.fakes import HandTimer, ScriptedMinds, make_persona

PASSWORD = "correct horse"
PATIENCE = 20.0
"""Seconds after which a test that waits has failed."""


@dataclass
class Answer:
    """What a scripted command answers."""

    view: RenderableType = ""
    leave: bool = False


class Mush:
    """A world with a character, a door, and three commands: say, whisper, quit; others show who is here."""

    def __init__(self, folder: Path, timer: Timer, *, idle_seconds: float = 600, lines_per_second: float = 5):
        self.accounts = Accounts(folder, cost=CHEAPEST)
        self.minds = ScriptedMinds()
        self.scrollback = Scrollback()
        self.world = World(
            load_places(),
            [make_persona("Phi", home="workshop")],
            self.minds.perceive,
            self.minds.idle,
            ManualClock(1_000.0),
            shown=self.scrollback.note,
        )
        self.introduced: list[Caller] = []
        self.visitors = Visitors(
            VisitSettings(
                world=self.world,
                scrollback=self.scrollback,
                login_guard=LoginGuard(self.accounts, lambda name: name.casefold() == "phi", timer),
                connect=self._connect,
                introduce=self.introduced.append,
                greeting=lambda: Text("Welcome"),
                timer=timer,
                idle_seconds=idle_seconds,
                lines_per_second=lines_per_second,
            )
        )

    def here(self) -> list[str]:
        """Names of the people in the rooms, by name."""
        return sorted(being.name for being, _ in self.world.who() if being.persona is None)

    def _connect(self, caller: Caller) -> Dispatch:
        async def dispatch(line: str) -> Answer:
            word, _, rest = line.partition(" ")
            try:
                if word == "say":
                    return Answer(self.world.say(caller.user_id, rest).view(caller.user_id))
                if word == "whisper":
                    to, _, text = rest.partition(" ")
                    return Answer(self.world.whisper(caller.user_id, to, text).view(caller.user_id))
            except UserError as error:
                return Answer(Text(str(error)))
            if word == "wide":
                return Answer(Rule(characters="x", style="none"))
            if word == "break":
                raise RuntimeError("broken on purpose")
            return Answer(Text(f"Here: {', '.join(self.here())}"), word == "quit")

        return dispatch


@dataclass
class FakeWire:
    """A wire that a test types into; what was sent stands in `sent`."""

    address: str = "203.0.113.1"
    columns: int = 80
    colour: bool = False
    sent: list[str] = field(default_factory=list)
    hidden: list[bool] = field(default_factory=list)
    closed: bool = False
    room: bool = True
    _typed: asyncio.Queue[str | None] = field(default_factory=asyncio.Queue)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def type(self, *lines: str | None) -> None:
        """Type lines; None hangs up."""
        for line in lines:
            self._typed.put_nowait(line)

    async def read_line(self) -> str | None:
        """As in `PlayerWire`."""
        return await self._typed.get()

    def send(self, text: str) -> None:
        """As in `PlayerWire`."""
        self.sent.append(text)
        self._changed.set()

    def hide(self, hidden: bool) -> None:
        """As in `PlayerWire`."""
        self.hidden.append(hidden)

    def enter(self) -> bool:
        """As in `PlayerWire`."""
        return self.room

    async def close(self) -> None:
        """As in `PlayerWire`."""
        self.closed = True

    async def sees(self, wanted: str, count: int = 1) -> None:
        """Wait until it was sent so often."""
        async with asyncio.timeout(PATIENCE):
            while sum(wanted in text for text in self.sent) < count:
                self._changed.clear()
                await self._changed.wait()


class Client:
    """A telnet client of the plainest sort: bytes out, lines in."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, line: str) -> None:
        """Type a line."""
        self.writer.write(f"{line}\r\n".encode())

    async def sees(self, wanted: str) -> str:
        """The next line with this in it."""
        async with asyncio.timeout(PATIENCE):
            while True:
                received = await self.reader.readline()
                assert received, f"hung up before {wanted!r}"
                line = received.decode("utf-8", "replace").rstrip("\r\n")
                if wanted in line:
                    return line

    async def hangs_up(self) -> bytes:
        """Whatever comes until the other side ends it."""
        async with asyncio.timeout(PATIENCE):
            return await self.reader.read()


@asynccontextmanager
async def telnet(mush: Mush) -> AsyncIterator[int]:
    """The world on a port of this machine."""
    connections = Connections(4_096)
    async with telnet_port("127.0.0.1", 0, mush.visitors.receive, connections) as (_, port):
        try:
            yield port
        finally:
            await mush.visitors.close()
            await mush.world.settle()
            await mush.world.close()


@asynccontextmanager
async def client(port: int, name: str = "") -> AsyncIterator[Client]:
    """A client; with a name (of an account with `PASSWORD`) in the world already."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    made = Client(reader, writer)
    try:
        await made.sees("Leave out the password")
        if name:
            made.send(f"connect {name} {PASSWORD}")
            await made.sees("Here:")
        yield made
    finally:
        writer.close()


__all__ = ["PASSWORD", "Client", "FakeWire", "HandTimer", "Mush", "client", "telnet"]
