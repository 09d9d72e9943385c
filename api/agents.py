"""The characters: who they are, what they feel and remember, and why they said something."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from api.answers import route, shown
from api.authentication import MAX_ID
from api.memory import Limit, Offset, Share, Who
from api.parts import AgentName, EntryId, Looking, Reader, topic_router
from noodlings.errors import UserError
from noodlings.inspect import questions
from noodlings.inspect.recall import RecallOptions, Status
from noodlings.recall.filters import Filters
from noodlings.values.affect import AXES, Affect
from noodlings.values.percept import Kind

CURRENT = "current"
LATEST = 253_402_300_799
"""The last second of the year 9999."""

router = topic_router("/api")

Asked = Annotated[
    str, Query(alias="query", min_length=1, max_length=1_000, examples=["what did I say about my dog"])
]
Moment = Annotated[
    float | None,
    Query(ge=0, le=LATEST, description="World time: seconds since 1970-01-01 UTC.", examples=[1_700_000_000]),
]


@router.get(**route(questions.AGENTS, "agents"))
async def agents(caller: Reader, inspector: Looking) -> Response:
    """List all characters, sorted by name."""
    return shown(inspector.agents(caller))


@router.get(**route(questions.AGENT, "agents"))
async def agent(agent: AgentName, caller: Reader, inspector: Looking) -> Response:
    """Who the character is and how it feels. Open to everybody."""
    return shown(inspector.agent(caller, agent))


@router.get(**route(questions.MOOD, "agents"))
async def mood(agent: AgentName, caller: Reader, inspector: Looking) -> Response:
    """Its mood, the mood it settles back to, and what a game left; all but the last are open to all."""
    return shown(inspector.mood(caller, agent))


@router.get(**route(questions.OBSERVE, "agents"))
async def state(agent: AgentName, caller: Reader, inspector: Looking) -> Response:
    """Its state of mind in 40 numbers, and what it expects, was surprised by and wants. Open to everybody."""
    return shown(inspector.observe(caller, agent))


@router.get(**route(questions.WHY, "turns"))
async def why(
    agent: AgentName,
    caller: Reader,
    inspector: Looking,
    back: Annotated[int, Query(ge=1, le=1_000, examples=[1])] = 1,
    silent: Annotated[bool, Query(examples=[False])] = False,
) -> Response:
    """Why it said what it said. A player sees only its own turns with the character."""
    return shown(inspector.why(caller, agent, back, silent))


@router.get(**route(questions.TURN, "turns"))
async def turn(agent: AgentName, entry: EntryId, caller: Reader, inspector: Looking) -> Response:
    """The turn that a memory comes from."""
    return shown(inspector.turn(caller, agent, entry))


@router.get(**route(questions.PROMPT, "turns"))
async def prompt(agent: AgentName, entry: EntryId, caller: Reader, inspector: Looking) -> Response:
    """The prompts sent to models in that turn, word for word. For callers who may read everything.

    Only the last 20 turns are available, and only until the server stops or a memory is forgotten.
    """
    return shown(inspector.prompt(caller, agent, entry))


@router.get(**route(questions.TRANSISTORS, "turns"))
async def transistors(agent: AgentName, caller: Reader, inspector: Looking) -> Response:
    """The transistors that colour its words, each with its gain and its latest effect."""
    return shown(inspector.transistors(caller, agent))


@router.get(**route(questions.PEOPLE, "recall"))
async def people(
    agent: AgentName,
    caller: Reader,
    inspector: Looking,
    person: Annotated[str | None, Query(min_length=1, max_length=MAX_ID, examples=["caity"])] = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> Response:
    """What it knows about people, with the memories each fact comes from; of one person, or how two stand to
    each other ("Ann and Bob")."""
    return shown(await inspector.people(caller, agent, person, limit, offset))


@router.get(**route(questions.PROFILE, "recall"))
async def profile(
    agent: AgentName, caller: Reader, inspector: Looking, limit: Limit = 20, offset: Offset = 0
) -> Response:
    """What it makes of people, the strongest relationship first. A player sees only its own."""
    return shown(await inspector.profile(caller, agent, limit, offset))


@router.get(**route(questions.JOURNAL, "recall"))
async def journal(
    agent: AgentName,
    caller: Reader,
    inspector: Looking,
    day: Annotated[str | None, Query(min_length=1, max_length=20, examples=["2026-11-23"])] = None,
    limit: Limit = 7,
    offset: Offset = 0,
) -> Response:
    """What happened to it, day by day, latest first, with the memories behind each sentence."""
    return shown(await inspector.journal(caller, agent, day, limit, offset))


@router.get(**route(questions.CHRONICLE, "recall"))
async def chronicle(
    agent: AgentName, caller: Reader, inspector: Looking, query: Asked, limit: Limit = 5
) -> Response:
    """The commits it read that answer a question, best first. See `noodlings chronicle`."""
    return shown(await inspector.chronicle(caller, agent, query, limit))


@router.get(**route(questions.FOCUS, "recall"))
async def focus(
    agent: AgentName,
    caller: Reader,
    inspector: Looking,
    query: Asked,
    level: Annotated[int, Query(ge=0, le=5, examples=[4])] = 3,
    user_id: Who = "",
) -> Response:
    """What it remembers about something, as one block of text for a prompt."""
    return shown(await inspector.focus(caller, agent, level, query, user_id or None))


@router.get(**route(questions.ARCHIVE, "recall"))
async def archive(agent: AgentName, caller: Reader, inspector: Looking) -> Response:
    """How much of its archive is loaded and embedded. Open to everybody."""
    return shown(inspector.archive(caller, agent))


@router.get(**route(questions.RECALL, "recall"))
async def recall(
    agent: AgentName,
    caller: Reader,
    inspector: Looking,
    query: Asked,
    limit: Limit = 10,
    user_id: Who = "",
    since: Moment = None,
    until: Moment = None,
    kind: Annotated[Kind | None, Query(examples=["say"])] = None,
    feeling: Annotated[str, Query(max_length=40, examples=["sorrow"])] = "",
    tag: Annotated[str, Query(max_length=80, examples=["quest"])] = "",
    min_importance: Share = 0.0,
    status: Annotated[Status | None, Query(examples=["archive"])] = None,
    min_score: Share = 0.0,
    mood: Annotated[str, Query(max_length=60, examples=["current"])] = "",
    emotion_weight: Annotated[float | None, Query(ge=0, le=1, examples=[0.3])] = None,
    candidate_multiplier: Annotated[int | None, Query(ge=1, le=5, examples=[2])] = None,
) -> Response:
    """Search everything it ever perceived, by words and by meaning, best first."""
    how = RecallOptions(
        filters=Filters(
            since=since,
            until=until,
            kinds=frozenset() if kind is None else frozenset({kind}),
            min_importance=min_importance,
            feeling=feeling.lower() or None,
            tags=frozenset({tag} - {""}),
        ),
        status=status,
        mood=_mood(mood),
        include_emotion=mood == CURRENT,
        emotion_weight=emotion_weight,
        candidate_multiplier=candidate_multiplier,
        min_score=min_score,
    )
    return shown(await inspector.recall(caller, agent, query, limit, user_id or None, how))


def _mood(given: str) -> Affect | None:
    if given in ("", CURRENT):
        return None
    try:
        numbers = [float(number) for number in given.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, len(AXES)):
        raise UserError(f"mood should be current, or two numbers (-0.8,0.9), or five: {', '.join(AXES)}")
    return Affect(*numbers)
