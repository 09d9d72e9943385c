"""Searching everything an agent ever perceived, on behalf of one caller.

A caller who may not read everything finds what they themselves told the agent, as if nobody else had ever
said a word to it; a search for one user guarantees this (`noodlings.recall.search`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from noodlings.agent.archive import AgentArchive
from noodlings.agent.memory_question import only_asks, subject
from noodlings.agent.recollection import SPARE, is_faint, is_relevant
from noodlings.errors import UserError
from noodlings.inspect.viewpoint import Viewpoint, felt, readable_by
from noodlings.inspect.views import EntryView, FeltView, View, ViewOfAgent
from noodlings.recall.filters import EVERYTHING, Filters
from noodlings.recall.search import MAX_LIMIT, Hit
from noodlings.text import clean
from noodlings.values.affect import Affect
from noodlings.values.percept import NO_JOURNAL


@dataclass(frozen=True, slots=True)
class ArchiveView(ViewOfAgent):
    """How far the archive of an agent is: figures without content, so everybody may see them.

    Attributes:
        perceived: how many entries there are; `entries` of them can be found by their words so far, and all
            of them once the archive is `loaded`.
        model: the embedding model, "" for none.
        embedded: how many can be found by their meaning; `pending` ones will be embedded, and `parked` ones
            failed every time.
        reason: why embedding failed last, or ""; "" too for a caller who does not see everything.
    """

    perceived: int
    entries: int
    loaded: bool
    model: str
    embedded: int
    pending: int
    parked: int
    reason: str


@dataclass(frozen=True, slots=True)
class FoundView(View):
    """A memory that was found.

    Attributes:
        score: 0…1, how well it fits.
        why: what found it, the strongest first: semantic, lexical (it shares words with the question),
            next_to (the lines around it do), date; last, affect for mood.
        scores: each component, 0…1: meaning (of the line among those around it), words (in the line
            itself), next_to (what words in the lines around it add), length (how much is said), mood (what
            mood added), and if the question has them, speaker, date and time.
        status: working, episodic or archive; the nearest to mind of the places where it is.
    """

    score: float
    why: tuple[str, ...]
    scores: dict[str, float]
    status: str
    entry: EntryView


@dataclass(frozen=True, slots=True)
class RecallView(ViewOfAgent):
    """What an agent's archive holds on a question, as far as the caller may read it.

    Attributes:
        mood: in which mood it was searched, or None; `emotion_weight` is how much that counted.
        memories: best first, but what only asks comes after what may answer.
        by_meaning: whether meaning was compared, or words alone.
    """

    query: str
    mood: FeltView | None
    emotion_weight: float
    by_meaning: bool
    memories: tuple[FoundView, ...]
    archive: ArchiveView


LOADING_SECONDS = 0.05
"""How long a search waits for an archive that is not loaded yet, before it uses what there is."""
PATIENT_SECONDS = 0.95
"""How much longer it waits if nothing was found: loading begins with the oldest entries, and most questions
are about the latest."""


async def search(
    viewpoint: Viewpoint, query: str, filters: Filters, limit: int, **options: Any
) -> Sequence[Hit]:
    """Search the whole archive for what this caller may read; the best hits come first. A journal is only
    searched where that kind is asked for.

    Args:
        options: as in `noodlings.recall.search.Searcher.search`.

    Raises:
        UserError: the memory is a plain list, or there is nothing to look for.
        StoreError: the archive cannot be read.
    """
    caller, archive = viewpoint.caller, searchable(viewpoint)
    filters = replace(filters, kinds=filters.kinds or NO_JOURNAL)
    await archive.within(LOADING_SECONDS)
    options |= {"limit": limit, "asker": caller.user_id, "patient": True, "now": viewpoint.now}
    loaded, asked = archive.loaded, (subject(query), readable_by(caller, filters))
    hits = await archive.search(*asked, **options)
    if hits or loaded:
        return hits
    await archive.within(PATIENT_SECONDS)
    return await archive.search(*asked, **options)


def searchable(viewpoint: Viewpoint) -> AgentArchive:
    """The archive of the agent. Raises `UserError` where its memory is a plain list."""
    if viewpoint.agent.archive is None:
        raise UserError(
            f"{viewpoint.name}'s memory is a plain list, which cannot be searched; "
            "set memory.use_hierarchical to true"
        )
    return viewpoint.agent.archive


class Status(StrEnum):
    """Where a memory is; of several places, the nearest to mind."""

    WORKING = "working"
    EPISODIC = "episodic"
    ARCHIVE = "archive"


@dataclass(frozen=True, slots=True)
class RecallOptions:
    """How a question is asked; see `noodlings.recall.search.Searcher.search` for the rest.

    Attributes:
        filters: what may be found; what the caller may not read is left out anyway.
        status: only what is there; None for everywhere.
        include_emotion: if no mood is given, use the mood that the agent is in.
        emotion_weight, candidate_multiplier: None for what the settings say.
    """

    filters: Filters = EVERYTHING
    status: Status | None = None
    mood: Affect | None = None
    include_emotion: bool = False
    emotion_weight: float | None = None
    candidate_multiplier: int | None = None
    min_score: float = 0.0


PLAINLY = RecallOptions()


async def recalled_for(
    viewpoint: Viewpoint, query: str, limit: int = 10, who: str | None = None, how: RecallOptions = PLAINLY
) -> RecallView:
    """The best `limit` (1…1000) of all an agent ever perceived; with `who`, only what this user said or did.

    A player's own memories are found as if there were no others. Where the archive is still being loaded,
    what there is of it is searched, and the view says so.

    Raises `UserError` for a value that is out of range.
    """
    if who is not None:
        how = replace(how, filters=replace(how.filters, user=viewpoint.user(who)))
    settings = searchable(viewpoint).retrieval
    weight, multiplier = how.emotion_weight, how.candidate_multiplier
    weight = settings.emotion_weight if weight is None else weight
    multiplier = settings.candidate_multiplier if multiplier is None else multiplier
    places = _places(viewpoint)
    mood = how.mood
    if mood is None and how.include_emotion:
        mood = viewpoint.state(viewpoint.agent.mood).affect
    # With a mood, no more may compete than the multiplier says.
    spare = SPARE if mood is None and 1 <= limit <= MAX_LIMIT - SPARE else 0
    hits = await search(
        viewpoint,
        query,
        _within(how, places, viewpoint),
        limit + spare,
        mood=mood,
        emotion_weight=weight,
        candidate_multiplier=multiplier,
        min_score=how.min_score,
    )
    await viewpoint.pause()
    entries = viewpoint.readable([hit.entry_id for hit in hits if _has_to_do(hit)])
    found = [hit for hit in hits if hit.entry_id in entries]
    found.sort(key=lambda hit: only_asks(entries[hit.entry_id].user_text))
    return RecallView(
        *viewpoint.of_agent,
        query=clean(query),
        mood=None if mood is None else felt(mood),
        emotion_weight=weight,
        by_meaning=any("meaning" in hit.scores for hit in hits),
        memories=tuple(
            FoundView(
                score=hit.score,
                why=tuple(map(str, hit.why)),
                scores=dict(hit.scores),
                status=str(places.get(hit.entry_id, Status.ARCHIVE)),
                entry=viewpoint.entry(entries[hit.entry_id]),
            )
            for hit in found[:limit]
        ),
        archive=archive_state(viewpoint),
    )


def _has_to_do(hit: Hit) -> bool:
    """Whether a hit has to do with the question, as in talk; what only may has no place in a window."""
    return is_relevant(hit) and not hit.only_near and (not is_faint(hit) or hit.scores.get("date", 0.0) > 0.0)


def archive_state(viewpoint: Viewpoint) -> ArchiveView:
    """How far an agent's archive is loaded and embedded. Everybody may see it.

    Raises `UserError` where its memory is a plain list.
    """
    state = searchable(viewpoint).state()
    reason = clean(state.reason) if viewpoint.caller.sees_all else ""
    perceived = viewpoint.agent.memory.stats().perceived
    figures = asdict(replace(state, reason=reason))
    return ArchiveView(agent=viewpoint.agent_id, name=viewpoint.name, perceived=perceived, **figures)


def _places(viewpoint: Viewpoint) -> dict[int, Status]:
    memory = viewpoint.agent.memory
    places = {entry.id: Status.EPISODIC for entry in memory.retrieve_episodic(limit=None)}
    return places | {entry.id: Status.WORKING for entry in memory.retrieve_working()}


def _within(how: RecallOptions, places: dict[int, Status], viewpoint: Viewpoint) -> Filters:
    """The filters, and the status as one of them."""
    filters = replace(how.filters, min_importance=viewpoint.least(how.filters.min_importance))
    if how.status is None:
        return filters
    if how.status is Status.ARCHIVE:
        return replace(filters, without=filters.without | places.keys())
    there = frozenset(number for number, place in places.items() if place is how.status)
    return replace(filters, among=there if filters.among is None else there & filters.among)
