"""Telling a character what somebody said or did, or what happened in a game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Any, Literal

from fastapi import Header, Request, Response
from pydantic import (
    BaseModel,
    Discriminator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    Tag,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from api.answers import body_like, documented, shown
from api.authentication import MAX_ID, checked_id
from api.parts import AgentName, Held, OnBehalfOf, only_one, parts_of, topic_router
from noodlings.affect.game_rules import NamedAffect, Signed, Unit
from noodlings.agent.events import checked_facts, game_event
from noodlings.errors import Forbidden, UserError
from noodlings.inspect.why import WhyView
from noodlings.lookalikes import looks, mixes_alphabets
from noodlings.text import MAX_LINE, clean, shorten
from noodlings.values.action import OfferedAction, require_offer
from noodlings.values.affect import Affect
from noodlings.values.audience import Tier
from noodlings.values.caller import Caller, Role
from noodlings.values.circumstances import CIRCUMSTANCES, NOTHING, Circumstances, require_circumstances
from noodlings.values.memory import FROM
from noodlings.values.percept import PRIVATE, Kind, Percept
from noodlings.values.persona import Persona

MAX_KEY = 200
CUT_OFF = "an answer: this turn was cut off; to get one, send it again with another key"

router = topic_router("/api/agents/{agent}", tags=["perceive"])

User = Annotated[str, Field(max_length=MAX_ID, description="Who did it. Required only with a world token.")]
Key = Annotated[str, Field(max_length=MAX_KEY, description="The same as the header Idempotency-Key.")]
KeyHeader = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        max_length=MAX_KEY,
        description="A key of your own; requests repeated with the same key count only once.",
        examples=["5f0c7c1e"],
    ),
]

Fact = StrictStr | StrictBool | StrictInt | StrictFloat | None
Facts = Annotated[dict[str, Fact], Field(max_length=50)]
GivenAffect = Annotated[
    Annotated[NamedAffect, Tag("named")] | Annotated[tuple[Signed, Unit, Unit, Unit, Unit], Tag("numbers")],
    Discriminator(lambda given: "numbers" if isinstance(given, list | tuple) else "named"),
]


def _offered(given: Any, read: ValidatorFunctionWrapHandler) -> Any:
    """The offered actions. Raises `ValueError` if they do not fit together."""
    try:
        offered = read(given)
        require_offer(offered)
    except UserError as error:
        raise ValueError(str(error)) from None
    return offered


def _circumstances(given: Any) -> Circumstances:
    """The circumstances. Raises `ValueError` if they do not fit."""
    try:
        return require_circumstances(given)
    except UserError as error:
        raise ValueError(str(error).removeprefix(f"{CIRCUMSTANCES}: ")) from None


GivenCircumstances = Annotated[
    Circumstances,
    WrapValidator(lambda given, _: _circumstances(given)),  # the schema is that of the type
    Field(
        description="When and where it happened, apart from when and where it is told; what others felt, "
        "what was inferred, its goals and its task, and its id in its source. World or admin only.",
        examples=[{"when": {"begins": 1772409600}, "where": "the mill", "task": "the harvest"}],
    ),
]


class Said(BaseModel):
    """What somebody said or did.

    `present` names the others who hear it and the answer; the character will not repeat before them what it
    was told in confidence. With nobody else present, this line itself is in confidence.
    """

    model_config = body_like(user_id="user_caity", text="My dog died yesterday", kind="say")

    user_id: User = ""
    name: str = Field("", max_length=MAX_ID, description="What to call this user from now on.")
    text: str = Field(min_length=1, max_length=MAX_LINE)
    kind: Literal["say", "emote", "whisper", "arrive", "leave"] = "say"
    addressed: bool = Field(
        True, strict=True, description="Whether it was said to this character; if not, it may stay silent."
    )
    present: tuple[Annotated[str, Field(min_length=1, max_length=MAX_ID)], ...] = Field((), max_length=100)
    place: str = Field("", max_length=MAX_ID, description="Where it happened.")
    things: tuple[Annotated[str, Field(min_length=1, max_length=MAX_ID)], ...] = Field(
        (), max_length=50, description="What can be seen there, by name.", examples=[["pond", "pear tree"]]
    )
    tags: tuple[Annotated[str, Field(min_length=1, max_length=MAX_ID)], ...] = Field((), max_length=20)
    depth: int = Field(
        0,
        ge=0,
        le=100,
        strict=True,
        description="How many replies by characters led up to it: 0 for what a person says, 1 for a reply to "
        "that. From 1 on it is answered only when addressed, and after a few rounds not at all.",
    )
    affect: GivenAffect | None = Field(
        None,
        description="What the character feels about it, by name or as five numbers: valence (−1…1), arousal, "
        "fear, sorrow, boredom (0…1). Default: judged from the text. World or admin only.",
        examples=[{"valence": -0.7, "arousal": 0.6, "sorrow": 0.9}, [-0.7, 0.6, 0.0, 0.9, 0.0]],
    )
    identity_salience: Unit = Field(
        0.0, description="How closely it touches who the character is, at least. World or admin only."
    )
    data: Facts = Field(
        {},
        description="Other facts to keep with it, by name. World or admin only.",
        examples=[{"task": "the harvest", "weather": "rain"}],
    )
    circumstances: GivenCircumstances = NOTHING
    actions: Annotated[tuple[OfferedAction, ...], WrapValidator(_offered)] = Field(
        (),
        description="What the character may do besides answering; `turn.action` is its choice, or null. "
        "World or admin only.",
        examples=[[{"name": "follow", "description": "walk with whoever asks", "words": ["come along"]}]],
    )
    tier: int = Field(
        0,
        ge=0,
        le=3,
        strict=True,
        description="How far it is kept from others, at least: 0 open, 1 only for who hears it, 2 secret "
        "(on this machine alone, encrypted), 3 sealed (kept, and nothing made of it). 2 and 3 need a key.",
    )
    idempotency_key: Key = ""


class Event(BaseModel):
    """A game event, from game_events.yaml or any other, with its facts."""

    model_config = body_like(event="health_critical", data={"hp": 3, "biome": "swamp"})

    event: str = Field(min_length=1, max_length=60)
    data: Facts = {}
    circumstances: GivenCircumstances = NOTHING
    user_id: Annotated[str, Field(max_length=MAX_ID, description="Who reports it.")] = "game"
    idempotency_key: Key = ""


@router.post("/perceive", responses=documented(WhyView))
async def perceive(
    request: Request,
    agent: AgentName,
    said: Said,
    held: Held,
    user: OnBehalfOf,
    key: KeyHeader = "",
) -> Response:
    """Let a character perceive what somebody said or did. Answers with the whole turn, once it is finished.

    `turn.response` is what it says, null for silence. A player token may only speak for its own user.
    """
    if said.affect is not None or said.identity_salience or said.data or said.circumstances != NOTHING:
        held.require(Role.ADMIN, Role.WORLD, to="set affect, identity_salience, data or circumstances")
    if said.actions:
        held.require(Role.ADMIN, Role.WORLD, to="offer actions")
    caller = held.actor(only_one(said.user_id, user, "user_id"), said.name)
    society = parts_of(request).society
    # A player could take the name of another, so its name is not read.
    if held.role is not Role.PLAYER and (said.name or caller.user_id not in society.names()):
        _require_no_character(society.personas, caller)
        if any(map(mixes_alphabets, caller.name.split())):
            raise UserError(f"{shorten(caller.name, 30)} mixes letters of different alphabets in a word")
        parts_of(request).authenticator.require_own_name(caller)
        if said.name:
            society.introduce(caller.user_id, caller.name)
    here = society.find(agent)
    kind = Kind(said.kind)
    percept = Percept(
        user_id=caller.user_id,
        text=_spoken(said.text),
        timestamp=society.clock.now(),
        kind=kind,
        addressed=said.addressed,
        present=frozenset({caller.user_id, *(map(checked_id, said.present) if kind not in PRIVATE else ())}),
        place=clean(said.place),
        things=said.things,
        affect=_affect(said.affect),
        identity_salience=said.identity_salience,
        depth=said.depth,
        data=checked_facts(said.data) | _tags(said.tags) | said.circumstances.as_data(),
        actions=said.actions,
        tier=Tier(said.tier),
    )
    return await _turn(request, caller, here.id, percept, said.idempotency_key, key)


@router.post("/events", responses=documented(WhyView))
async def event(
    request: Request, agent: AgentName, event: Event, held: Held, user: OnBehalfOf, key: KeyHeader = ""
) -> Response:
    """Report a game event to a character, as a game server would. World or admin only."""
    held.require(Role.ADMIN, Role.WORLD, to="report game events")
    caller = held.actor(user or event.user_id)
    society = parts_of(request).society
    here = society.find(agent)
    now, given = society.clock.now(), event.circumstances
    percept = game_event(event.event, event.data, now, caller.user_id, here.rules, given)
    return await _turn(request, caller, here.id, percept, event.idempotency_key, key)


def _require_no_character(personas: Mapping[str, Persona], caller: Caller) -> None:
    """Raise `Forbidden` if the caller's name looks like a character's: who spoke would be mistaken."""
    characters = personas.values()
    names = (name for one in characters for name in (*one.own_ids, one.name, *one.aliases))
    if caller.user_id not in personas and looks(caller.name) & _all_looks(tuple(names)):
        raise Forbidden(
            f"{shorten(caller.name, 30)} is a character here, or much like one; choose another name"
        )


@lru_cache(maxsize=1)
def _all_looks(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset[str]().union(*map(looks, names))


async def _turn(
    request: Request, caller: Caller, agent_id: str, percept: Percept, in_body: str, in_header: str
) -> Response:
    key = only_one(clean(in_body), clean(in_header), "idempotency_key", "Idempotency-Key")
    request.state.caller = caller
    parts, held = parts_of(request), request.state.held
    entry_id, retried, cut_off = await parts.turns.perceive(agent_id, held.sent(percept), key, held.key)
    request.state.turn = f"{agent_id}/{entry_id}"
    view = parts.inspector.turn(caller, agent_id, entry_id)
    if cut_off and view.turn is not None:
        view = replace(view, turn=replace(view.turn, decision="cut off", degraded=(CUT_OFF,)))
    answer = shown(view)
    if retried:
        answer.headers["Idempotency-Replayed"] = "true"
    return answer


def _affect(given: GivenAffect | None) -> Affect | None:
    if given is None:
        return None
    return given.affect() if isinstance(given, NamedAffect) else Affect(*given)


def _tags(given: Sequence[str]) -> dict[str, list[str]]:
    """The tags to store. Raises `UserError` for one that says from whom something came."""
    tags: list[str] = [clean(tag) for tag in given]
    if forged := [tag for tag in tags if tag.startswith(FROM)]:
        raise UserError(f"a tag must not begin with {FROM}, as {shorten(forged[0], 40)} does; choose another")
    return {"tags": tags} if tags else {}


def _spoken(text: str) -> str:
    if not (spoken := clean(text)):
        raise UserError("The text is empty once control characters are removed; send some words.")
    return spoken
