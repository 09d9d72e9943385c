"""Telling an agent something: what somebody said or did, and what happened in a game."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Request, Response
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from api import examples
from api.answers import documented, shown
from api.authentication import MAX_ID
from api.parts import AgentName, Held, OnBehalfOf, parts_of
from noodlings.agent.events import game_event
from noodlings.errors import UserError
from noodlings.inspect.why import WhyView
from noodlings.text import MAX_LINE, clean
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import PRIVATE, Kind, Percept

MAX_KEY = 200
MOST_DEPTH = 100
CUT_OFF = "cut off"
UNANSWERED = "an answer: this turn was cut off in its midst; to be answered, send it again with another key"

router = APIRouter(prefix="/agents/{agent}", tags=["perceive"])

User = Annotated[str, Field(max_length=MAX_ID, description="Who; may be left out by whoever is somebody.")]
Key = Annotated[str, Field(max_length=MAX_KEY, description="The same as the header Idempotency-Key.")]
KeyHeader = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        max_length=MAX_KEY,
        description="However often something is sent with the same key, it is perceived once.",
        examples=["5f0c7c1e"],
    ),
]


class Said(BaseModel):
    """What somebody said or did.

    `present` are whoever else hears it and the answer: what others told in confidence is not said before
    them. With nobody else present it is told in confidence itself.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"user_id": "user_caity", "text": "My dog died yesterday", "kind": "say"}]
        },
    )

    user_id: User = ""
    name: str = Field("", max_length=MAX_ID, description="How the user is called from now on.")
    text: str = Field(min_length=1, max_length=MAX_LINE)
    kind: Literal["say", "emote", "whisper", "arrive", "leave"] = "say"
    addressed: bool = Field(
        True, strict=True, description="It was meant for this agent; else it may keep silent."
    )
    present: tuple[Annotated[str, Field(min_length=1, max_length=MAX_ID)], ...] = Field((), max_length=100)
    place: str = Field("", max_length=MAX_ID, description="Where it happened.")
    tags: tuple[Annotated[str, Field(min_length=1, max_length=MAX_ID)], ...] = Field((), max_length=20)
    depth: int = Field(
        0,
        ge=0,
        le=MOST_DEPTH,
        strict=True,
        description="How many replies of characters led to it: 0 for what a person says, 1 for a reply to "
        "that. From 1 on it is answered only when addressed, and where it has gone round enough not at all.",
    )
    idempotency_key: Key = ""


Fact = StrictStr | StrictBool | StrictInt | StrictFloat | None


class Event(BaseModel):
    """What happened in a game: a name of game_events.yaml, or any other, and its facts."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"event": "health_critical", "data": {"hp": 3, "biome": "swamp"}}]},
    )

    event: str = Field(min_length=1, max_length=60)
    data: dict[str, Fact] = Field({}, max_length=50)
    user_id: Annotated[str, Field(max_length=MAX_ID, description="Who tells it.")] = "game"
    idempotency_key: Key = ""


@router.post("/perceive", responses=documented(WhyView, examples.WHY))
async def perceive(
    request: Request,
    agent: AgentName,
    said: Said,
    held: Held,
    user: OnBehalfOf,
    key: KeyHeader = "",
) -> Response:
    """Let an agent perceive what somebody said or did. Answers with the whole turn, when it is finished.

    `turn.response` is what it says, null for silence. For a world, and for a player about itself.
    """
    caller = held.actor(_one(said.user_id, user, "user_id"), said.name)
    society = parts_of(request).society
    if said.name and held.role is not Role.PLAYER:  # else one player could be called like another
        parts_of(request).authenticator.require_own_name(caller)
        society.introduce(caller.user_id, clean(said.name) or caller.name)
    here = society.find(agent)
    kind = Kind(said.kind)
    percept = Percept(
        user_id=caller.user_id,
        text=_spoken(said.text),
        timestamp=society.clock.now(),
        kind=kind,
        addressed=said.addressed,
        present=frozenset({caller.user_id, *(map(clean, said.present) if kind not in PRIVATE else ())}),
        place=clean(said.place),
        depth=said.depth,
        data={"tags": [clean(tag) for tag in said.tags]} if said.tags else {},
    )
    return await _turn(request, caller, here.id, percept, _one(said.idempotency_key, key, "idempotency_key"))


@router.post("/events", responses=documented(WhyView, examples.WHY))
async def event(
    request: Request, agent: AgentName, event: Event, held: Held, user: OnBehalfOf, key: KeyHeader = ""
) -> Response:
    """Let something of a game happen to an agent, as a game server would tell it. For a world or an admin."""
    held.require(Role.ADMIN, Role.WORLD, to="let a game's event happen")
    caller = held.actor(user or event.user_id)
    society = parts_of(request).society
    here = society.find(agent)
    percept = game_event(event.event, event.data, society.clock.now(), caller.user_id, here.rules)
    return await _turn(request, caller, here.id, percept, _one(event.idempotency_key, key, "idempotency_key"))


async def _turn(request: Request, caller: Caller, agent_id: str, percept: Percept, key: str) -> Response:
    request.state.caller = caller
    parts = parts_of(request)
    entry_id, retried, cut_off = await parts.turns.perceive(agent_id, percept, key, request.state.held.key)
    request.state.turn = f"{agent_id}/{entry_id}"
    view = parts.inspector.turn(caller, agent_id, entry_id)
    if cut_off and view.turn is not None:
        view = replace(view, turn=replace(view.turn, decision=CUT_OFF, degraded=(UNANSWERED,)))
    answer = shown(view)
    if retried:
        answer.headers["Idempotency-Replayed"] = "true"
    return answer


def _spoken(text: str) -> str:
    heard = clean(text)
    if not heard:
        raise UserError("There is nothing to hear in that.")
    return heard


def _one(in_body: str, in_header: str, name: str) -> Any:
    """What was given in either place. Raises `UserError` where the two differ."""
    given = {clean(in_body), clean(in_header)} - {""}
    if len(given) > 1:
        raise UserError(f"{name} says something else than the header")
    return given.pop() if given else ""
