"""The people in the rooms who come from another process, such as a MUD.

Each comes in with the first command line and leaves after a silence. What they hear meanwhile waits for the
next answer. When it is too much, the oldest lines are lost and the answer says so.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from commands import registry
from commands.registry import CommandContext, Reply
from noodlings.drawing.screen import render
from noodlings.errors import UserError
from noodlings.inspect.inspector import Inspector
from noodlings.values.caller import Caller

if TYPE_CHECKING:
    from noodlings.agent.society import Society
    from noodlings.worlds.beings import RoomLine
    from noodlings.worlds.rooms import World


SILENT_SECONDS = 1_800.0
"""Whoever sends nothing for so long has left."""
MOST = 500
"""People who are in the rooms at once."""
HEARD = 200
"""Lines that wait for one of them."""


class Person:
    """Somebody in the rooms.

    Attributes:
        lost: how many lines were lost since the last answer.
    """

    def __init__(self, caller: Caller, now: float) -> None:
        self.caller = caller
        self.seen_at = now
        self.lost = 0
        self._heard: deque[str] = deque()
        self._something = asyncio.Event()

    def hear(self, line: RoomLine) -> None:
        """A line as this person sees it."""
        if len(self._heard) >= HEARD:
            self._heard.popleft()
            self.lost += 1
        self._heard.append(render(line.view(self.caller.user_id), width=10_000))
        self._something.set()

    async def heard(self, seconds: float) -> tuple[list[str], int]:
        """What was heard since the last time and how much was lost; if nothing, it is waited for so long."""
        if not self._heard and seconds > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._something.wait(), seconds)
        lines, lost = list(self._heard), self.lost
        self._heard.clear()
        self._something.clear()
        self.lost = 0
        return lines, lost


class PeopleOnline:
    """Everybody who is in the rooms from outside. Use within a running event loop.

    Args:
        society, inspector: what commands work with.
        world: the rooms.
        now: seconds that only ever rise.
    """

    def __init__(
        self,
        society: Society,
        inspector: Inspector,
        world: World,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.world = world
        self._society, self._inspector = society, inspector
        self._now = now
        self._people: dict[str, Person] = {}

    async def run(self, caller: Caller, line: str, wait: float) -> tuple[Reply, list[str], int]:
        """One command line of somebody: the reply, what was heard since the last one, and how much was lost.

        Raises:
            UserError: the name will not do, or the rooms are full.
        """
        person = self._enter(caller)
        person.seen_at = self._now()
        context = CommandContext(caller, self._society, self._inspector, self.world)
        reply = await registry.dispatch(line, context)
        # Who had to give way meanwhile has left, and somebody else may be here by that id.
        if reply.leave and self._people.get(caller.user_id) is person:
            self._leave(caller.user_id)
        lines, lost = await person.heard(0.0 if reply.leave or reply.error else wait)
        return reply, lines, lost

    async def ask(self, caller: Caller, line: str) -> Reply:
        """One command line of somebody who is not in the rooms, and does not come into them for it."""
        return await registry.dispatch(line, CommandContext(caller, self._society, self._inspector))

    def _enter(self, caller: Caller) -> Person:
        person = self._people.get(caller.user_id)
        if person is not None:
            return person
        self._let_silent_ones_go()
        if len(self._people) >= MOST:
            raise UserError("The rooms are full; try again when somebody has left.")
        person = Person(caller, self._now())
        self.world.enter(
            caller.user_id, caller.name, person.hear, give_way=lambda: self._leave(caller.user_id)
        )
        self._society.introduce(caller.user_id, caller.name)
        self._people[caller.user_id] = person
        return person

    def _leave(self, user_id: str) -> None:
        del self._people[user_id]
        self.world.leave(user_id)

    def _let_silent_ones_go(self) -> None:
        silent = [who for who, one in self._people.items() if self._now() - one.seen_at > SILENT_SECONDS]
        for user_id in silent:
            self._leave(user_id)
