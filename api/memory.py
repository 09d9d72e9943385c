"""What an agent remembers: memory streams, feelings, links, and the memories behind its last answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from fastapi import Query, Response

from api.answers import by_importance, documented, latest_first, paged, route, shown, tagged
from api.parts import Asking, EntryId, SocietyPart, topic_router
from noodlings.errors import NotFound, UserError
from noodlings.inspect import questions
from noodlings.inspect.browse import Page
from noodlings.inspect.inspector import Inspector
from noodlings.inspect.links import DEPTH
from noodlings.inspect.viewpoint import require_all_history
from noodlings.inspect.views import View
from noodlings.recall.links import MAX_DEPTH
from noodlings.values.affect import AXES, Affect
from noodlings.values.memory import Order

Limit = Annotated[int, Query(ge=1, le=questions.ALL, description="At most this many results.", examples=[20])]
Offset = Annotated[int, Query(ge=0, le=1_000_000, examples=[0])]
Cursor = Annotated[
    str, Query(max_length=200, description="From the Link header of the previous page.", examples=[""])
]
Who = Annotated[
    str,
    Query(
        max_length=80,
        alias="user_id",
        description="Only what this user said or did: an id, a name, or me.",
        examples=["user_caity"],
    ),
]
Share = Annotated[float, Query(ge=0, le=1, examples=[0.5])]

router = topic_router("/api", tags=["memory"])


@router.get(**route(questions.STATS, tagged=True))
async def stats(ask: Asking) -> Response:
    """How full its memory is: figures without content, open to everybody."""
    return tagged(ask.request, ask(Inspector.stats))


@router.get(**route(questions.WORKING, tagged=True))
async def working(ask: Asking, limit: Limit = 20, cursor: Cursor = "") -> Response:
    """Its latest memories, oldest first. Further pages go back in time."""
    return paged(ask.request, partial(ask, Inspector.working), latest_first, limit, cursor)


@router.get(**route(questions.EPISODIC, tagged=True))
async def episodic(
    ask: Asking, min_importance: Share = 0.0, user_id: Who = "", limit: Limit = 20, cursor: Cursor = ""
) -> Response:
    """The memories that mattered enough to keep, most important first."""
    page = partial(ask, Inspector.episodic, min_importance=min_importance, who=user_id or None)
    return paged(ask.request, page, by_importance, limit, cursor)


@router.get(**route(questions.IMPORTANT, tagged=True))
async def important(ask: Asking, limit: Limit = 10, cursor: Cursor = "") -> Response:
    """The most important memories it has in mind."""
    return paged(ask.request, partial(ask, Inspector.important), by_importance, limit, cursor)


@router.get(**route(questions.BY_USER, tagged=True))
async def by_user(ask: Asking, user_id: Who = "me", limit: Limit = 10, cursor: Cursor = "") -> Response:
    """The memories of one user it has in mind, oldest first. Further pages go back in time."""
    return paged(ask.request, partial(ask, Inspector.by_user, user_id), latest_first, limit, cursor)


@router.get(**route(questions.BROWSE))
async def browse(
    ask: Asking,
    order: Annotated[Order, Query(examples=["when"])] = Order.IMPORTANCE,
    falling: Annotated[bool, Query(examples=[True])] = True,
    containing: Annotated[str, Query(max_length=200, examples=["dog"])] = "",
    everything: Annotated[bool, Query(examples=[False])] = False,
    limit: Limit = 20,
    offset: Annotated[int, Query(ge=0, le=1_000_000_000, examples=[0])] = 0,
) -> Response:
    """Page through memories, sorted by any column, optionally only those containing some words."""
    page = Page(order, falling, containing, everything, limit, offset)
    return shown(await ask(Inspector.browse, page))


@router.get(**route(questions.SYMBOLS))
async def symbols(
    ask: Asking,
    similar: Annotated[bool, Query(examples=[False])] = False,
    limit: Limit = 20,
    offset: Offset = 0,
) -> Response:
    """Its subconscious: the images that intense moments turned into, latest first."""
    return shown(ask(Inspector.symbols, limit, offset, similar))


@router.get(**route(questions.AFFECT_GROUPS))
async def affect_groups(ask: Asking, limit: Limit = 3) -> Response:
    """The memories in mind grouped by kind of feeling, the most important of each."""
    return shown(ask(Inspector.affect_groups, limit))


@router.get(**route(questions.ALIKE))
async def by_affect(
    ask: Asking,
    current_affect: Annotated[
        list[Annotated[str, Query(max_length=200)]] | None,
        Query(max_length=len(AXES), examples=[["[0.5,0.7,0,0,0]"]]),
    ] = None,
    limit: Limit = 5,
    min_similarity: Annotated[float | None, Query(ge=0, le=1, examples=[0.7])] = None,
) -> Response:
    """The memories that felt like a given feeling, most similar first."""
    five = numbers(",".join(current_affect or ()))
    if current_affect and len(five) != len(AXES):
        raise UserError(f"current_affect should be five numbers ({', '.join(AXES)}), such as [0.5,0.7,0,0,0]")
    return shown(ask(Inspector.affect_alike, Affect(*five) if five else None, limit, min_similarity))


@router.get(**route(questions.FLOW))
async def last_retrieval(ask: Asking) -> Response:
    """The memories behind its last answer; for a player, its last answer to that player."""
    return shown(ask(Inspector.last_retrieval))


@router.get(**route(questions.LINKS))
async def links(
    ask: Asking, entry: EntryId, depth: Annotated[int, Query(ge=1, le=MAX_DEPTH, examples=[2])] = DEPTH
) -> Response:
    """A memory and those linked to it, in either direction, up to depth steps away."""
    return shown(ask(Inspector.links, entry, depth))


@dataclass(frozen=True, slots=True)
class NoteView(View):
    """The note of a memory, as written in its file."""

    agent: str
    id: int
    markdown: str


@router.get("/agents/{agent}/memory/entries/{entry}/note", responses=documented(NoteView))
async def note(ask: Asking, entry: EntryId, society: SocietyPart) -> Response:
    """The Markdown note of a memory. It names others, so it is only for callers who may read everything."""
    require_all_history(ask.caller)
    agent_id = ask(Inspector.links, entry).agent
    markdown = await asyncio.to_thread(society.note, agent_id, entry)
    if markdown is None:
        raise NotFound(f"Memory {entry} has no note; notes are written with notes.enabled: true.")
    return shown(NoteView(agent=agent_id, id=entry, markdown=markdown))


def numbers(given: str) -> list[float]:
    """Numbers with commas between them, in brackets or not; none if anything else is there."""
    try:
        return [float(number) for number in given.removeprefix("[").removesuffix("]").split(",")]
    except ValueError:
        return []
