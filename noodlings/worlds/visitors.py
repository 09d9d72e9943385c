"""Visits of players over a wire, whatever its protocol: they log in, type, hear, and leave.

A visit knows no commands; it is given a dispatch function. A player who types too fast must wait, without
holding up others; one who is idle for too long, or does not read, is disconnected.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache

from rich.console import RenderableType
from rich.text import Text

from noodlings.connections import Rate
from noodlings.drawing.screen import Screen
from noodlings.errors import NoodlingsError, UserError, told
from noodlings.text import clean
from noodlings.values.caller import Caller
from noodlings.worlds.accounts import Account
from noodlings.worlds.beings import RoomLine
from noodlings.worlds.login_guard import LoginGuard, Timer
from noodlings.worlds.places import Room
from noodlings.worlds.rooms import Scrollback, World
from noodlings.worlds.script import Dispatch
from noodlings.worlds.wire import PlayerWire

log = logging.getLogger(__name__)

MOST = 500
"""Visits at once, of players who are logging in or in the world."""
MOST_FROM_ONE_ADDRESS = 100
DOOR_SECONDS = 120.0
"""How long somebody who is logging in may be idle."""
MOST_DOOR_SECONDS = 900.0
"""How long logging in may take in all."""
AT_ONCE = 20
"""Lines that may come at once, after a pause."""

NO_WEB = "This is telnet, not HTTP; see docs/mush.md for how to connect."
_OF_A_BROWSER = re.compile(r"\S+ \S+ HTTP/\d|(host|origin):", re.IGNORECASE)
"""The first line of a browser: any web page could make it send something to this machine."""
CHANGED = "Your account was changed or removed; please connect again."
NO_ROOM = "The world is full; try again later."

HOW = """connect NAME PASSWORD    log in
create NAME PASSWORD     create an account and log in
quit                     leave
Leave out the password to be asked for it; it is then not shown while you type."""


@dataclass(frozen=True, slots=True)
class VisitSettings:
    """What all visits share.

    Attributes:
        connect: makes the dispatch function of a visit.
        introduce: called with everybody who comes in.
        greeting: the first thing a visitor sees.
        idle_seconds: a player who types nothing for so long is disconnected.
        lines_per_second: how fast one may type for long.
    """

    world: World
    scrollback: Scrollback
    login_guard: LoginGuard
    connect: Callable[[Caller], Dispatch]
    introduce: Callable[[Caller], None]
    greeting: Callable[[], RenderableType]
    timer: Timer
    idle_seconds: float
    lines_per_second: float


class Visitors:
    """All visits. Use within a running event loop."""

    def __init__(self, settings: VisitSettings) -> None:
        self._settings = settings
        self._visits: dict[_Visit, None] = {}  # the earliest first
        self._here: dict[str, _Visit] = {}
        self._addresses: Counter[str] = Counter()
        self._closing = False

    async def receive(self, wire: PlayerWire) -> None:
        """One visit from beginning to end; nothing is raised."""
        address = wire.address
        if self._closing or not self._has_room(address):
            wire.send(NO_ROOM)
            await wire.close()
            return
        visit = _Visit(wire, self._settings, self)
        self._visits[visit] = None
        self._addresses[address] += 1
        try:
            await visit.run()
        except Exception:
            log.exception("a visit from %s broke", address)
            wire.send("Something went wrong; the log has the details. Please connect again.")
        finally:
            del self._visits[visit]
            self._addresses[address] -= 1
            if not self._addresses[address]:
                del self._addresses[address]
            await wire.close()

    def _has_room(self, address: str) -> bool:
        """Whether one more may come from there; if need be, the one longest at the login makes room."""
        crowded = self._addresses[address] >= MOST_FROM_ONE_ADDRESS
        if len(self._visits) < MOST and not crowded:
            return True
        for visit in self._visits:
            if visit.at_the_door and (not crowded or visit.address == address):
                visit.make_room()
                return True
        return False

    @asynccontextmanager
    async def place_of(self, user_id: str, visit: _Visit) -> AsyncIterator[None]:
        """The one place of a user; an earlier visit, whose connection may be dead, ends."""
        while (before := self._here.get(user_id)) is not None:
            await before.end("You have connected again from elsewhere.")
        self._here[user_id] = visit
        try:
            yield
        finally:
            del self._here[user_id]

    async def close(self) -> None:
        """Tell and disconnect everybody; nobody new comes in."""
        self._closing = True
        await asyncio.gather(
            *(visit.end("The world is shutting down. Everything is kept.") for visit in self._visits)
        )


class _Visit:
    """One visit; it is `at_the_door` until the player is logged in, or must make room."""

    def __init__(self, wire: PlayerWire, settings: VisitSettings, visitors: Visitors) -> None:
        self._wire, self._settings, self._visitors = wire, settings, visitors
        self.address, self.at_the_door = wire.address, True
        self._screen = Screen(terminal=False, write=wire.send, columns=lambda: wire.columns)
        self._typing_rate = Rate(settings.lines_per_second, AT_ONCE, settings.timer.now())
        self._work = asyncio.create_task(self._stay(), name=f"visit from {wire.address}")

    async def run(self) -> None:
        try:
            await self._work
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # the port ends, and not this visit alone
                raise

    async def end(self, why: str) -> None:
        """End it from outside, and wait until nothing of it is left in the world."""
        self._cancel(why)
        await asyncio.wait((self._work,))

    def make_room(self) -> None:
        """End it for a newcomer, who may know a password."""
        self.at_the_door = False
        self._cancel("Too many people are logging in, and you have waited longest; please connect again.")

    def _cancel(self, why: str) -> None:
        self._show(Text(why, style="dim"))
        self._work.cancel()

    async def _stay(self) -> None:
        self._show(self._settings.greeting())
        self._show(Text(HOW))
        account = await self._at_the_door()
        if account is None:
            return
        self.at_the_door = False
        if not self._wire.enter():
            self._show(Text(NO_ROOM))
            return
        async with self._visitors.place_of(account.caller.user_id, self):
            await self._in_the_world(account)

    async def _at_the_door(self) -> Account | None:
        """Log somebody in; None when they leave."""
        until = self._settings.timer.now() + MOST_DOOR_SECONDS
        while (line := await self._next(min(DOOR_SECONDS, until - self._settings.timer.now()))) is not None:
            if _OF_A_BROWSER.match(line):
                self._show(Text(NO_WEB))
                return None
            word, _, rest = clean(line).partition(" ")
            name, _, password = rest.strip().partition(" ")
            word = word.casefold()
            try:
                if word in ("quit", "exit", "@quit"):
                    return None
                if word not in ("connect", "create") or not name:
                    self._show(Text(HOW) if word else "")
                    continue
                password = password.strip() or await self._asked_for(new=word == "create")
                if word == "connect":
                    return await self._settings.login_guard.connect(self._wire.address, name, password)
                return await self._settings.login_guard.create(self._wire.address, name, password)
            except UserError as error:
                self._show(Text(str(error), style="yellow"))
            except NoodlingsError as error:  # its text is only for the owner of the machine
                log.error("nobody can come in: %s", error)
                self._show(Text("Nobody can log in at the moment; the log has the details.", style="yellow"))
        return None

    async def _asked_for(self, new: bool) -> str:
        """A password that is typed hidden, a new one twice. Raises `UserError` if the two differ."""
        password = await self._secret("Password:")
        if new and await self._secret("Once more:") != password:
            raise UserError("Those two passwords are different.")
        return password or ""

    async def _secret(self, question: str) -> str | None:
        self._wire.hide(True)
        self._show(Text(question))
        try:
            line = await self._next(DOOR_SECONDS)
        finally:
            self._wire.hide(False)
        return None if line is None else clean(line)

    async def _in_the_world(self, account: Account) -> None:
        world, caller = self._settings.world, account.caller
        user_id = caller.user_id
        been_here = world.has_been(user_id)
        try:
            if not self._settings.login_guard.accounts.holds(account):  # since the password was checked
                raise UserError(CHANGED)
            world.enter(user_id, caller.name, lambda line: self._hear(line, user_id))
        except NoodlingsError as error:
            if not isinstance(error, UserError):
                log.error("%s cannot come in: %s", user_id, error)
            self._show(Text(told(error), style="yellow"))
            return
        try:
            self._settings.introduce(caller)
            dispatch = self._settings.connect(caller)
            self._show((await dispatch("look")).view)
            if been_here:
                self._show_again(world.room_of(user_id), user_id)
            await self._follow(account, dispatch)
        finally:
            world.leave(user_id)

    def _show_again(self, room: Room, user_id: str) -> None:
        lines = self._settings.scrollback.of(room, user_id)
        if lines:
            self._show(Text("Recently:", style="dim"))
            for line in lines:
                self._hear(line, user_id)

    async def _follow(self, account: Account, dispatch: Dispatch) -> None:
        while (line := await self._next(self._settings.idle_seconds)) is not None:
            if not self._settings.login_guard.accounts.holds(account):
                self._show(Text(CHANGED, style="yellow"))
                return
            answer = await dispatch(line)
            self._show(answer.view)
            if answer.leave:
                return

    async def _next(self, seconds: float) -> str | None:
        """The next line, at a human pace; None if the player is gone, or idle for so long."""
        timer = self._settings.timer
        reading = asyncio.ensure_future(self._wire.read_line())
        waiting = asyncio.ensure_future(timer.sleep(seconds))
        try:
            await asyncio.wait((reading, waiting), return_when=asyncio.FIRST_COMPLETED)
            silent = not reading.done()
        finally:
            reading.cancel()
            waiting.cancel()
            await asyncio.gather(reading, waiting, return_exceptions=True)
        if silent:
            self._show(Text("You were idle for too long; please connect again.", style="dim"))
            return None
        line = reading.result()
        too_fast = self._typing_rate.wait(timer.now())
        if too_fast > 0:
            await timer.sleep(too_fast)
        return line

    def _hear(self, line: RoomLine, user_id: str) -> None:
        viewer = user_id if user_id in (line.actor, line.target) else ""
        self._wire.send(_seen(line, viewer, self._wire.columns, self._wire.colour))

    def _show(self, view: RenderableType) -> None:
        self._screen.colour = self._wire.colour
        self._screen.show(view)


@lru_cache(maxsize=64)
def _seen(line: RoomLine, viewer: str, columns: int, colour: bool) -> str:
    """A line as rendered text; it is cached because rendering is slow, and a full room sees the same line."""
    screen = Screen(terminal=False, columns=lambda: columns)
    screen.colour = colour
    return screen.text(line.view(viewer))
