"""The characters: who they are, what they feel and remember, and why they said something."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from api.answers import route, shown
from api.authentication import MAX_ID
from api.memory import Limit, Offset, Share, Who, numbers
from api.parts import Asking, EntryId, InspectorPart, Reader, topic_router
from noodlings.clock import LATEST
from noodlings.errors import UserError
from noodlings.inspect import questions
from noodlings.inspect.inspector import Inspector
from noodlings.inspect.recall import RecallOptions, Status
from noodlings.recall.filters import Filters
from noodlings.values.affect import AXES, Affect
from noodlings.values.percept import Kind

CURRENT = "current"

router = topic_router("/api")

Asked = Annotated[
    str, Query(alias="query", min_length=1, max_length=1_000, examples=["what did I say about my dog"])
]
Moment = Annotated[
    float | None,
    Query(ge=0, le=LATEST, description="World time: seconds since 1970-01-01 UTC.", examples=[1_700_000_000]),
]


@router.get(**route(questions.AGENTS, "agents"))
async def agents(caller: Reader, inspector: InspectorPart) -> Response:
    """List all characters, sorted by name."""
    return shown(await inspector.agents(caller))


@router.get(**route(questions.AGENT, "agents"))
async def agent(ask: Asking) -> Response:
    """Who the character is and how it feels. Open to everybody."""
    return shown(ask(Inspector.agent))


@router.get(**route(questions.MOOD, "agents"))
async def mood(ask: Asking) -> Response:
    """Its mood, the mood it settles back to, and what a game left; all but the last are open to all."""
    return shown(ask(Inspector.mood))


@router.get(**route(questions.OBSERVE, "agents"))
async def state(ask: Asking) -> Response:
    """Its state of mind in 40 numbers, and what it expects, was surprised by and wants. Open to everybody."""
    return shown(ask(Inspector.observe))


@router.get(**route(questions.WHY, "turns"))
async def why(
    ask: Asking,
    back: Annotated[int, Query(ge=1, le=1_000, examples=[1])] = 1,
    silent: Annotated[bool, Query(examples=[False])] = False,
) -> Response:
    """Why it said what it said. A player sees only its own turns with the character."""
    return shown(ask(Inspector.why, back, silent))


@router.get(**route(questions.TURN, "turns"))
async def turn(ask: Asking, entry: EntryId) -> Response:
    """The turn that a memory comes from."""
    return shown(ask(Inspector.turn, entry))


@router.get(**route(questions.PROMPT, "turns"))
async def prompt(ask: Asking, entry: EntryId) -> Response:
    """The prompts sent to models in that turn, word for word. For callers who may read everything.

    Only the last 20 turns are available, and only until the server stops or a memory is forgotten.
    """
    return shown(ask(Inspector.prompt, entry))


@router.get(**route(questions.TRANSISTORS, "turns"))
async def transistors(ask: Asking) -> Response:
    """The transistors that colour its words, each with its gain and its latest effect."""
    return shown(ask(Inspector.transistors))


@router.get(**route(questions.PEOPLE, "recall"))
async def people(
    ask: Asking,
    person: Annotated[str | None, Query(min_length=1, max_length=MAX_ID, examples=["caity"])] = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> Response:
    """What it knows about people, with the memories each fact comes from; of one person, or how two stand to
    each other ("Ann and Bob")."""
    return shown(await ask.at_length(Inspector.people, person, limit, offset))


@router.get(**route(questions.PROFILE, "recall"))
async def profile(ask: Asking, limit: Limit = 20, offset: Offset = 0) -> Response:
    """What it makes of people, the strongest relationship first. A player sees only its own."""
    return shown(await ask.at_length(Inspector.profile, limit, offset))


@router.get(**route(questions.JOURNAL, "recall"))
async def journal(
    ask: Asking,
    day: Annotated[str | None, Query(min_length=1, max_length=20, examples=["2026-11-23"])] = None,
    limit: Limit = 7,
    offset: Offset = 0,
) -> Response:
    """What happened to it, day by day, latest first, with the memories behind each sentence."""
    return shown(await ask.at_length(Inspector.journal, day, limit, offset))


@router.get(**route(questions.CHRONICLE, "recall"))
async def chronicle(ask: Asking, query: Asked, limit: Limit = 5) -> Response:
    """The commits it read that answer a question, best first. See `noodlings chronicle`."""
    return shown(await ask(Inspector.chronicle, query, limit))


@router.get(**route(questions.FOCUS, "recall"))
async def focus(
    ask: Asking, query: Asked, level: Annotated[int, Query(ge=0, le=5, examples=[4])] = 3, user_id: Who = ""
) -> Response:
    """What it remembers about something, as one block of text for a prompt."""
    return shown(await ask(Inspector.focus, level, query, user_id or None))


@router.get(**route(questions.ARCHIVE, "recall"))
async def archive(ask: Asking) -> Response:
    """How much of its archive is loaded and embedded. Open to everybody."""
    return shown(ask(Inspector.archive))


@router.get(**route(questions.RECALL, "recall"))
async def recall(
    ask: Asking,
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
    return shown(await ask(Inspector.recall, query, limit, user_id or None, how))


def _mood(given: str) -> Affect | None:
    if given in ("", CURRENT):
        return None
    if len(felt := numbers(given)) not in (2, len(AXES)):
        raise UserError(f"mood should be current, or two numbers (-0.8,0.9), or five: {', '.join(AXES)}")
    return Affect(*felt)
