"""Whole command lines, as typed in the world, for a MUD in another process."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field

from api import examples
from api.answers import documented
from api.authentication import MAX_ID
from api.parts import Held, OnBehalfOf, parts_of, topic_router
from commands import registry
from noodlings.errors import UserError
from noodlings.text import MAX_LINE

router = topic_router("/api", tags=["commands"])

MOST_WAIT = 20.0


class TypedCommand(BaseModel):
    """A line as typed; an empty line only collects what has been heard."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"user_id": "user_caity", "line": "say hello, servnak", "wait": 5}]},
    )

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


@router.post("/commands", responses=documented(CommandReply, examples.ANSWERED))
async def run(request: Request, typed: TypedCommand, held: Held, user: OnBehalfOf) -> CommandReply:
    """Run a command line as a user, who enters the rooms with the first line and leaves with `quit`.

    Characters answer in their own time: `wait` waits for the first thing heard, and an empty line collects
    more. A world with rooms of its own sends `"rooms": false`.
    """
    if user and typed.user_id and user != typed.user_id:
        raise UserError("user_id and the header Noodlings-User name different users; send only one")
    caller = held.actor(typed.user_id or user, typed.name)
    held.reader(typed.user_id or user)  # what is typed may read, and no character types
    request.state.caller = caller
    parts = parts_of(request)
    people = parts.people
    request.state.what = registry.name_of(typed.line, people.world if typed.rooms else None, caller.user_id)
    if typed.rooms:
        parts.authenticator.require_own_name(caller)
        reply, heard, lost = await people.run(caller, typed.line, typed.wait)
    else:
        reply, heard, lost = await people.ask(caller, typed.line), [], 0
    return CommandReply(
        data=reply.data,
        text=reply.render(typed.width),
        error=reply.error,
        leave=reply.leave,
        heard=heard,
        lost=lost,
    )
