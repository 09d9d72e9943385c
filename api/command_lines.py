"""Command lines as typed in the world, for a MUD in another process, and the people who type them.

Each of them enters with the first line and leaves after a long silence. What they hear waits for the next
answer; if it is too much, the oldest lines are dropped and the answer says how many.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fastapi import Request
from pydantic import BaseModel, Field

from api.answers import body_like, documented
from api.authentication import MAX_ID
from api.parts import Held, OnBehalfOf, only_one, parts_of, topic_router
from commands import registry
from commands.registry import CommandContext, Reply
from noodlings.drawing.screen import render
from noodlings.errors import StoreError, UserError
from noodlings.inspect.inspector import Inspector
from noodlings.text import MAX_LINE
from noodlings.values.caller import Caller

if TYPE_CHECKING:
    from noodlings.agent.society import Society
    from noodlings.worlds.beings import RoomLine
    from noodlings.worlds.rooms import World

router = topic_router("/api", tags=["commands"])

MOST_WAIT = 20.0
SILENT_SECONDS = 1_800.0
"""How long somebody may send nothing before they leave."""
LOOK_SECONDS = 60.0
"""How often it is looked who has sent nothing for so long, while anybody is here."""
MOST = 500
"""The most people in the rooms at once."""
HEARD = 200
"""The most lines that wait for one of them."""


class TypedCommand(BaseModel):
    """A line as typed; an empty line only collects what has been heard."""

    model_config = body_like(user_id="user_caity", line="say hello, servnak", wait=5)

    user_id: str = Field("", max_length=MAX_ID, description="Who is typing. Not needed with a player token.")
    name: str = Field("", max_length=30, description="The name others see in the rooms.")
    line: str = Field(max_length=MAX_LINE * 4)
    rooms: bool = Field(
        True,
        strict=True,
        description="Enter the rooms of this server. If false, the user stays outside: nobody there notices, "
        "nothing is heard, and commands that only work in rooms are refused.",
    )
    width: int = Field(80, ge=20, le=400, strict=True, description="The width of the text, in columns.")
    wait: float = Field(
        0,
        ge=0,
        le=MOST_WAIT,
        allow_inf_nan=False,
        strict=True,
        description="How many seconds to wait for something to be heard.",
    )


class CommandReply(BaseModel):
    """The answer to a command, and what others said or did in the meantime."""

    data: dict[str, Any] = Field(description="The answer as data, as the command prints it with --json.")
    text: str = Field(description="The answer as text.")
    error: bool = Field(description="Whether it was refused; the text says why.")
    leave: bool = Field(description="Whether the user has left the rooms.")
    heard: list[str] = Field(description="What was heard since the last answer, oldest first.")
    lost: int = Field(description="How many lines were dropped because nobody collected them.")


@router.post("/commands", responses=documented(CommandReply))
async def run(request: Request, typed: TypedCommand, held: Held, user: OnBehalfOf) -> CommandReply:
    """Run a command line as a user, who enters the rooms with the first line and leaves with `quit`.

    Characters answer in their own time: `wait` waits for the first thing heard, and an empty line collects
    more. A world with rooms of its own sends `"rooms": false`.
    """
    user = only_one(typed.user_id, user, "user_id")
    caller = held.actor(user, typed.name)
    held.reader(user)  # commands read memories, which a character may not
    request.state.caller = caller
    parts = parts_of(request)
    people, turn = parts.people, parts.society.readers.turn
    await turn(caller.user_id)  # else everybody would wait for all commands that were sent at once
    request.state.what = registry.name_of(typed.line, people.world if typed.rooms else None, caller.user_id)
    if typed.rooms:
        parts.authenticator.require_own_name(caller)
        reply, heard, lost = await people.run(caller, typed.line, typed.wait)
    else:
        context = CommandContext(caller, parts.society, parts.inspector, None)
        reply, heard, lost = await registry.dispatch(typed.line, context), [], 0
    await turn(caller.user_id)  # to draw a long answer takes as long as to find it
    return CommandReply(
        data=reply.data,
        text=reply.render(typed.width),
        error=reply.error,
        leave=reply.leave,
        heard=heard,
        lost=lost,
    )


class Person:
    """Somebody in the rooms; `lost` counts the lines dropped since the last answer."""

    def __init__(self, caller: Caller, now: float) -> None:
        self.caller = caller
        self.seen_at = now
        self.lost = 0
        self._heard = deque[str](maxlen=HEARD)
        self._something = asyncio.Event()

    def hear(self, line: RoomLine) -> None:
        self.lost += len(self._heard) == HEARD
        self._heard.append(render(line.view(self.caller.user_id), width=10_000))
        self._something.set()

    async def heard(self, seconds: float) -> tuple[list[str], int]:
        """What was heard since the last call and how many lines were lost; waits if there is nothing."""
        if not self._heard and seconds > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._something.wait()
        lines, lost = list(self._heard), self.lost
        self.forget()
        return lines, lost

    def forget(self) -> None:
        self._heard.clear()
        self._something.clear()
        self.lost = 0


class PeopleOnline:
    """Everybody in the rooms from outside. Use within a running event loop."""

    def __init__(self, society: Society, inspector: Inspector, world: World) -> None:
        self.world = world
        self._society, self._inspector = society, inspector
        self._now = time.monotonic
        self._people: dict[str, Person] = {}
        self._looking: asyncio.TimerHandle | None = None

    async def run(self, caller: Caller, line: str, wait: float) -> tuple[Reply, list[str], int]:
        """Run a command line. Returns the reply, what was heard since the last one, and how much was lost.

        Raises:
            UserError: the name cannot be used, or the rooms are full.
        """
        person = self._enter(caller)
        person.seen_at = self._now()
        context = CommandContext(caller, self._society, self._inspector, self.world)
        reply = await registry.dispatch(line, context)
        # This person may have had to leave meanwhile, and another may be here under the same id.
        if reply.leave and self._people.get(caller.user_id) is person:
            self._leave(caller.user_id)
        lines, lost = await person.heard(0.0 if reply.leave or reply.error else wait)
        return reply, lines, lost

    def forget_lines(self) -> None:
        """Forget what waits to be heard."""
        for person in self._people.values():
            person.forget()

    def _enter(self, caller: Caller) -> Person:
        person = self._people.get(caller.user_id)
        if person is not None and self.world.has(caller.user_id):
            return person
        self._remove_silent()
        if len(self._people) >= MOST:
            raise UserError("The rooms are full; try again when somebody has left.")
        person = Person(caller, self._now())
        self.world.enter(
            caller.user_id, caller.name, person.hear, give_way=lambda: self._leave(caller.user_id)
        )
        self._people[caller.user_id] = person
        if self._looking is None:
            self._look_later()
        try:
            self._society.introduce(caller.user_id, caller.name)
        except StoreError:
            self._leave(caller.user_id)
            raise
        return person

    def _leave(self, user_id: str) -> None:
        del self._people[user_id]
        self.world.leave(user_id)

    def _look_later(self) -> None:
        self._looking = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        """Let the silent leave, also where nobody else comes in, and look again while anybody is here."""
        self._looking = None
        try:
            self._remove_silent()
        finally:
            if self._people:
                self._look_later()

    def _remove_silent(self) -> None:
        silent = [who for who, one in self._people.items() if self._now() - one.seen_at > SILENT_SECONDS]
        for user_id in silent:
            self._leave(user_id)
