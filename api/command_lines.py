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
    """A line as typed; an empty one only hears what there is to hear."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"user_id": "user_caity", "line": "say hello, servnak", "wait": 5}]},
    )

    user_id: str = Field("", max_length=MAX_ID, description="Who types; the user of a player's token.")
    name: str = Field("", max_length=30, description="How the user is called in the rooms.")
    line: str = Field(max_length=MAX_LINE * 4)
    rooms: bool = Field(
        True,
        strict=True,
        description="Come into the rooms of this server. Without, whoever types stays outside: nobody there "
        "learns of it, nothing is heard, and what works in rooms alone is refused.",
    )
    width: int = Field(80, ge=20, le=400, strict=True, description="Columns of the answer's text.")
    wait: float = Field(
        0,
        ge=0,
        le=MOST_WAIT,
        allow_inf_nan=False,
        strict=True,
        description="Seconds to wait for something to be heard.",
    )


class CommandReply(BaseModel):
    """What a command answered, and what others said or did meanwhile."""

    data: dict[str, Any] = Field(description="The same that the command prints with --json.")
    text: str = Field(description="What a person sees.")
    error: bool = Field(description="It was refused; the text says why.")
    leave: bool = Field(description="The user has left the rooms.")
    heard: list[str] = Field(description="What was heard since the last answer, oldest first.")
    lost: int = Field(description="How many lines were lost because nobody asked for them.")


@router.post("/commands", responses=documented(CommandReply, examples.ANSWERED))
async def run(request: Request, typed: TypedCommand, held: Held, user: OnBehalfOf) -> CommandReply:
    """Run a command line as a user, who comes into the rooms with the first one and leaves with `quit`.

    What characters answer is heard in their own time: with `wait` the answer waits for the first of it, and
    an empty line asks for more. A world that has rooms of its own says `"rooms": false`, and asks only.
    """
    if user and typed.user_id and user != typed.user_id:
        raise UserError("user_id says something else than the header")
    caller = held.actor(typed.user_id or user, typed.name)
    held.reader(typed.user_id or user)  # what is typed may read, and no character types
    request.state.caller = caller
    parts = parts_of(request)
    people = parts.people
    request.state.what = registry.name_of(typed.line, people.world if typed.rooms else None, caller.user_id)
    if typed.rooms:
        parts.authenticator.require_own_name(caller)
        reply, heard, lost = await people.run(caller, typed.line, typed.width, typed.wait)
    else:
        reply, heard, lost = await people.ask(caller, typed.line, typed.width), [], 0
    return CommandReply(
        data=reply.data,
        text=reply.render(typed.width),
        error=reply.error,
        leave=reply.leave,
        heard=heard,
        lost=lost,
    )
