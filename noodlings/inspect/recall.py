"""Searching through everything an agent ever perceived, on behalf of one caller."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from noodlings.inspect.ask import search_for, searchable
from noodlings.inspect.look import Look, felt
from noodlings.inspect.recall_views import ArchiveView, FoundView, RecallView
from noodlings.inspect.rights import may_read
from noodlings.ports import Records
from noodlings.recall.emotion import DEFAULT_WEIGHT
from noodlings.recall.filters import EVERYTHING, Filters
from noodlings.text import clean
from noodlings.values.affect import Affect


class Status(StrEnum):
    """Where a memory is, the nearest to mind."""

    WORKING = "working"
    EPISODIC = "episodic"
    ARCHIVE = "archive"


@dataclass(frozen=True, slots=True)
class How:
    """How a question is asked; see `noodlings.recall.search.Searcher.search` for ranges.

    Attributes:
        filters: what may be found at all, beside what the caller may not read.
        status: only what is there; None for everywhere.
        mood: what is felt; None for no mood of its own.
        include_emotion: where no mood is given, it is the one that the agent is in.
        emotion_weight, candidate_multiplier, min_score: as in a search.
    """

    filters: Filters = EVERYTHING
    status: Status | None = None
    mood: Affect | None = None
    include_emotion: bool = False
    emotion_weight: float = DEFAULT_WEIGHT
    candidate_multiplier: int = 2
    min_score: float = 0.0


PLAINLY = How()


async def recall(look: Look, records: Records, query: str, limit: int, how: How) -> RecallView:
    """The best `limit` (1…1000) of what is found.

    Raises:
        UserError: a value is out of range, nothing is asked, or the memory is a plain list.
    """
    search = search_for(look)
    places = _places(look)
    mood = look.state(look.agent.mood).affect if how.include_emotion and how.mood is None else how.mood
    hits = await search(
        query,
        _within(how, places, look),
        limit,
        mood=mood,
        emotion_weight=how.emotion_weight,
        candidate_multiplier=how.candidate_multiplier,
        min_score=how.min_score,
    )
    entries = records.entries(look.agent_id, [hit.entry_id for hit in hits])
    return RecallView(
        agent=look.agent_id,
        name=look.name,
        query=clean(query),
        mood=None if mood is None else felt(mood),
        emotion_weight=how.emotion_weight,
        by_meaning=any("meaning" in hit.scores for hit in hits),
        memories=tuple(
            FoundView(
                score=hit.score,
                why=tuple(map(str, hit.why)),
                scores=dict(hit.scores),
                status=str(places.get(hit.entry_id, Status.ARCHIVE)),
                entry=look.entry(entries[hit.entry_id]),
            )
            for hit in hits
            if hit.entry_id in entries and may_read(look.caller, entries[hit.entry_id])
        ),
        archive=archive_state(look),
    )


def archive_state(look: Look) -> ArchiveView:
    """How far an agent's archive is. Raises `UserError` where memory is a plain list."""
    state = searchable(look).state()
    return ArchiveView(
        agent=look.agent_id,
        name=look.name,
        perceived=look.agent.memory.stats().perceived,
        entries=state.entries,
        loaded=state.loaded,
        model=state.model,
        embedded=state.embedded,
        pending=state.pending,
        parked=state.parked,
        reason=clean(state.reason) if look.caller.sees_all else "",
    )


def _places(look: Look) -> dict[int, Status]:
    """Where the entries are that are in mind."""
    memory = look.agent.memory
    places = {entry.id: Status.EPISODIC for entry in memory.retrieve_episodic(limit=None)}
    return places | {entry.id: Status.WORKING for entry in memory.retrieve_working()}


def _within(how: How, places: dict[int, Status], look: Look) -> Filters:
    """The filters, and the status as one of them."""
    filters = replace(how.filters, min_importance=look.least(how.filters.min_importance))
    if how.status is None:
        return filters
    if how.status is Status.ARCHIVE:
        return replace(filters, without=filters.without | places.keys())
    there = frozenset(number for number, place in places.items() if place is how.status)
    return replace(filters, among=there if filters.among is None else there & filters.among)
