"""People in the rooms who come from another process, such as a MUD.

Each enters with the first command line and leaves after a long silence. What they hear waits for the next
answer; if it is too much, the oldest lines are dropped and the answer says how many.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from commands import registry
from commands.registry import CommandContext, Reply, render
from noodlings.errors import UserError
from noodlings.inspect.inspector import Inspector
from noodlings.values.caller import Caller

if TYPE_CHECKING:
    from noodlings.agent.society import Society
    from noodlings.worlds.beings import RoomLine
    from noodlings.worlds.rooms import World


SILENT_SECONDS = 1_800.0
"""How long somebody may send nothing before they leave."""
MOST = 500
"""The most people in the rooms at once."""
HEARD = 200
"""The most lines that wait for one of them."""


class Person:
    """Somebody in the rooms; `lost` counts the lines dropped since the last answer."""

    def __init__(self, caller: Caller, now: float) -> None:
        self.caller = caller
        self.seen_at = now
        self.lost = 0
        self._heard: deque[str] = deque()
        self._something = asyncio.Event()

    def hear(self, line: RoomLine) -> None:
        if len(self._heard) >= HEARD:
            self._heard.popleft()
            self.lost += 1
        self._heard.append(render(line.view(self.caller.user_id), width=10_000))
        self._something.set()

    async def heard(self, seconds: float) -> tuple[list[str], int]:
        """What was heard since the last call and how many lines were lost; waits if there is nothing."""
        if not self._heard and seconds > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._something.wait(), seconds)
        lines, lost = list(self._heard), self.lost
        self._heard.clear()
        self._something.clear()
        self.lost = 0
        return lines, lost


class PeopleOnline:
    """Everybody in the rooms from outside. Use within a running event loop; `now` is a monotonic clock."""

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

    async def run(self, caller: Caller, line: str, width: int, wait: float) -> tuple[Reply, list[str], int]:
        """Run a command line. Returns the reply, what was heard since the last one, and how much was lost.

        Raises:
            UserError: the name cannot be used, or the rooms are full.
        """
        person = self._enter(caller)
        person.seen_at = self._now()
        context = CommandContext(caller, self._society, self._inspector, self.world, width)
        reply = await registry.dispatch(line, context)
        # This person may have had to leave meanwhile, and another may be here under the same id.
        if reply.leave and self._people.get(caller.user_id) is person:
            self._leave(caller.user_id)
        lines, lost = await person.heard(0.0 if reply.leave or reply.error else wait)
        return reply, lines, lost

    async def ask(self, caller: Caller, line: str, width: int) -> Reply:
        """Run a command line of somebody who stays outside the rooms."""
        return await registry.dispatch(
            line, CommandContext(caller, self._society, self._inspector, None, width)
        )

    def _enter(self, caller: Caller) -> Person:
        person = self._people.get(caller.user_id)
        if person is not None:
            return person
        self._remove_silent()
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

    def _remove_silent(self) -> None:
        silent = [who for who, one in self._people.items() if self._now() - one.seen_at > SILENT_SECONDS]
        for user_id in silent:
            self._leave(user_id)
