"""What an agent remembers: its streams, its feelings about them, links, and what it said because of them."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated

from fastapi import Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from api import examples
from api.answers import by_importance, documented, latest_first, paged, route, shown, tagged
from api.parts import AgentName, EntryId, Living, Looking, Reader, topic_router
from noodlings.errors import NotFound, UserError
from noodlings.inspect import questions
from noodlings.inspect.browse import Page
from noodlings.inspect.links import DEPTH
from noodlings.inspect.viewpoint import require_all_history
from noodlings.inspect.views import EntriesView
from noodlings.recall.links import MAX_DEPTH
from noodlings.values.affect import AXES, Affect
from noodlings.values.memory import Order

Limit = Annotated[int, Query(ge=1, le=questions.ALL, description="So many at most.", examples=[20])]
Offset = Annotated[int, Query(ge=0, le=1_000_000, examples=[0])]
Cursor = Annotated[
    str, Query(max_length=200, description="From the Link header of the page before.", examples=[""])
]
Who = Annotated[
    str,
    Query(
        max_length=80,
        alias="user_id",
        description="Only of this user: an id, a name, or me.",
        examples=["user_caity"],
    ),
]
Share = Annotated[float, Query(ge=0, le=1, examples=[0.5])]

router = topic_router("/api", tags=["memory"])


@router.get(**route(questions.STATS, examples.STATS, tagged=True))
async def stats(request: Request, agent: AgentName, caller: Reader, inspector: Looking) -> Response:
    """How full its memory is; figures without content are open to everybody."""
    return tagged(request, inspector.stats(caller, agent))


@router.get(**route(questions.WORKING, examples.WORKING, tagged=True))
async def working(
    request: Request,
    agent: AgentName,
    caller: Reader,
    inspector: Looking,
    limit: Limit = 20,
    cursor: Cursor = "",
) -> Response:
    """The latest, oldest first; pages go back from the latest."""
    return paged(
        request,
        lambda most, offset: inspector.working(caller, agent, most, offset),
        latest_first,
        limit,
        cursor,
    )


@router.get(**route(questions.EPISODIC, examples.EPISODIC, tagged=True))
async def episodic(
    request: Request,
    agent: AgentName,
    caller: Reader,
    inspector: Looking,
    min_importance: Share = 0.0,
    user_id: Who = "",
    limit: Limit = 20,
    cursor: Cursor = "",
) -> Response:
    """What mattered enough to be kept, the most important first."""

    def page(most: int | None, offset: int) -> EntriesView:
        return inspector.episodic(caller, agent, most, offset, min_importance, user_id or None)

    return paged(request, page, by_importance, limit, cursor)


@router.get(**route(questions.IMPORTANT, examples.IMPORTANT, tagged=True))
async def important(
    request: Request,
    agent: AgentName,
    caller: Reader,
    inspector: Looking,
    limit: Limit = 10,
    cursor: Cursor = "",
) -> Response:
    """What matters most of all that is in mind."""
    return paged(
        request,
        lambda most, offset: inspector.important(caller, agent, most, offset),
        by_importance,
        limit,
        cursor,
    )


@router.get(**route(questions.BY_USER, examples.BY_USER, tagged=True))
async def by_user(
    request: Request,
    agent: AgentName,
    caller: Reader,
    inspector: Looking,
    user_id: Who = "me",
    limit: Limit = 10,
    cursor: Cursor = "",
) -> Response:
    """What is in mind of one user, oldest first; pages go back from the latest."""
    return paged(
        request,
        lambda most, offset: inspector.by_user(caller, agent, user_id, most, offset),
        latest_first,
        limit,
        cursor,
    )


@router.get(**route(questions.BROWSE, examples.EPISODIC))
async def browse(
    agent: AgentName,
    caller: Reader,
    inspector: Looking,
    order: Annotated[Order, Query(description="What they are sorted by.", examples=["when"])] = (
        Order.IMPORTANCE
    ),
    falling: Annotated[bool, Query(description="The most, the latest, or Z first.", examples=[True])] = True,
    containing: Annotated[str, Query(max_length=200, examples=["dog"])] = "",
    everything: Annotated[
        bool, Query(description="All that was ever perceived, not episodic memory alone.", examples=[False])
    ] = False,
    limit: Limit = 20,
    offset: Annotated[int, Query(ge=0, le=1_000_000_000, examples=[0])] = 0,
) -> Response:
    """Leaf through memories, sorted by any column, narrowed by a few words."""
    page = Page(order, falling, containing, everything, limit, offset)
    return shown(await inspector.browse(caller, agent, page))


@router.get(**route(questions.SYMBOLS, examples.SYMBOLS))
async def symbols(
    agent: AgentName,
    caller: Reader,
    inspector: Looking,
    similar: Annotated[
        bool,
        Query(description="What its feeling of now brings back, the most alike first.", examples=[False]),
    ] = False,
    limit: Limit = 20,
    offset: Offset = 0,
) -> Response:
    """Its subconscious: what intense moments became, the latest first."""
    return shown(inspector.symbols(caller, agent, limit, offset, similar))


@router.get(**route(questions.AFFECT_GROUPS, examples.GROUPS))
async def affect_groups(agent: AgentName, caller: Reader, inspector: Looking, limit: Limit = 3) -> Response:
    """What is in mind by the sort of feeling; of each sort the most important."""
    return shown(inspector.affect_groups(caller, agent, limit))


@router.get(**route(questions.ALIKE, examples.ALIKE))
async def by_affect(
    agent: AgentName,
    caller: Reader,
    inspector: Looking,
    current_affect: Annotated[
        list[Annotated[str, Query(max_length=200)]] | None,
        Query(
            max_length=len(AXES),
            description="Valence −1…1, arousal, fear, sorrow, boredom 0…1: as [0.5,0.7,0,0,0] or repeated. "
            "Without it, what the agent feels now.",
            examples=[["[0.5,0.7,0,0,0]"]],
        ),
    ] = None,
    limit: Limit = 5,
    min_similarity: Annotated[
        float | None,
        Query(ge=0, le=1, description="As in the settings where it is left out.", examples=[0.7]),
    ] = None,
) -> Response:
    """What felt like an affect, the most alike first."""
    affect = _affect(current_affect) if current_affect else None
    return shown(inspector.affect_alike(caller, agent, affect, limit, min_similarity))


@router.get(**route(questions.FLOW, examples.FLOW))
async def last_retrieval(agent: AgentName, caller: Reader, inspector: Looking) -> Response:
    """What the last answer was made of; for a player, the last answer to this player."""
    return shown(inspector.last_retrieval(caller, agent))


@router.get(**route(questions.LINKS, examples.LINKS))
async def links(
    agent: AgentName,
    entry: EntryId,
    caller: Reader,
    inspector: Looking,
    depth: Annotated[
        int, Query(ge=1, le=MAX_DEPTH, description="So many steps along links.", examples=[2])
    ] = DEPTH,
) -> Response:
    """A memory, and those that links lead to from there, so many steps each way."""
    return shown(inspector.links(caller, agent, entry, depth))


class NoteView(BaseModel):
    """The note of a memory, as it stands in its file."""

    agent: str
    id: int
    markdown: str


@router.get("/agents/{agent}/memory/entries/{entry}/note", responses=documented(NoteView, examples.NOTE))
async def note(
    agent: AgentName, entry: EntryId, caller: Reader, inspector: Looking, society: Living
) -> Response:
    """The Markdown note of a memory. It names others too, so it is for those who may read everything."""
    require_all_history(caller)
    seen = inspector.links(caller, agent, entry).entry
    agent_id = society.find(agent).id
    markdown = await asyncio.to_thread(society.note, agent_id, seen.id)
    if markdown is None:
        raise NotFound(f"There is no note of memory {seen.id}; notes.enabled in the settings writes them.")
    return JSONResponse({"agent": agent_id, "id": seen.id, "markdown": markdown})


def _affect(given: list[str]) -> Affect:
    """Five numbers, in one bracket or one by one; out of range is refused, not bent."""
    if len(given) == 1 and given[0].lstrip().startswith("["):
        try:
            numbers = json.loads(given[0])
        except ValueError:
            numbers = None
    else:
        numbers = given
    try:
        five = [_number(one) for one in numbers]
    except (TypeError, ValueError, OverflowError):
        five = []
    if len(five) == len(AXES):
        return Affect(*five)
    raise UserError(f"current_affect is five numbers, {', '.join(AXES)}, such as [0.5,0.7,0,0,0]")


def _number(given: object) -> float:
    if isinstance(given, bool):
        raise TypeError(given)
    return float(given)  # type: ignore[arg-type]
