"""The links of one memory, and what an agent remembers about a question, as one caller may read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from noodlings.errors import UserError
from noodlings.inspect.recall import search
from noodlings.inspect.viewpoint import Viewpoint
from noodlings.inspect.views import EntryView, View, ViewOfAgent
from noodlings.recall.filters import Filters
from noodlings.recall.focus import FocusHit, reconstruct_context
from noodlings.recall.links import MAX_DEPTH, ReachedEntry, explore
from noodlings.recall.narrative import Narrator
from noodlings.text import clean
from noodlings.values.percept import INNER, NO_JOURNAL, Kind


@dataclass(frozen=True, slots=True)
class LinkedEntryView(View):
    """A memory that a link leads to.

    Attributes:
        via: the memory it was reached from, `depth` steps (1…3) away from the first.
        type: followed, recalled, by_hand, reflected, replaced, contradicts or causes; of commits reverts,
            fixes or touched_again; of facts understood or understood_with.
        outgoing: whether the link points from `via` to it.
        strength: of the link, 0…1.
        shown_by: the words of both memories that show it, those of the link's source first; "" where none do.
    """

    via: int
    depth: int
    type: str
    outgoing: bool
    strength: float
    entry: EntryView
    shown_by: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class LinksView(ViewOfAgent):
    """A memory and what its links lead to, the nearer ones first, then those on stronger links.

    Links of neighbours that the caller may not read are not followed. `hidden` counts them, but not for a
    player, who would learn when others speak of the same.
    """

    entry: EntryView
    linked: tuple[LinkedEntryView, ...]
    hidden: int


@dataclass(frozen=True, slots=True)
class FocusEntryView(View):
    """A memory of a reconstructed context.

    Attributes:
        score: 0…1, what the context is ranked by; `why` and `scores` say what it is made of.
        via, type, strength, depth: the memory and the link it was reached by, and in how many steps; None
            and 0 for what only the search found.
    """

    score: float
    why: tuple[str, ...]
    scores: dict[str, float]
    via: int | None
    type: str | None
    strength: float | None
    depth: int
    entry: EntryView


@dataclass(frozen=True, slots=True)
class FocusView(ViewOfAgent):
    """What an agent remembers about a question, as far as the caller may read it.

    Attributes:
        level: 0…5; it means that the search finds at most `limit` memories from the last `hours` of world
            time, and that links are followed for `depth` steps.
        memories: best first; the search found `searched` of them, and only links led to `linked` of them.
        context: the lines of the context, oldest to newest; `tokens` is an estimate of their cost.
    """

    query: str
    level: int
    limit: int
    hours: float
    depth: int
    memories: tuple[FocusEntryView, ...]
    searched: int
    linked: int
    context: tuple[str, ...]
    tokens: int


DEPTH = 2
"""How many steps along links are shown by default."""


def linked_with(viewpoint: Viewpoint, entry_id: int, depth: int = DEPTH) -> LinksView:
    """A memory and what its links lead to, within `depth` steps (1…3).

    Raises:
        UserError: depth is out of range.
        NotFound: as in `Viewpoint.memory`.
    """
    entry = viewpoint.memory(entry_id)
    if not 1 <= depth <= MAX_DEPTH:
        raise UserError(f"depth is {depth}: it must lie between 1 and {MAX_DEPTH}")
    explored = explore(viewpoint.store, viewpoint.agent_id, {entry_id: 1.0}, depth, viewpoint.may_read)
    texts = {one.entry.id: one.entry.user_text for one in explored.reached} | {entry_id: entry.user_text}
    return LinksView(
        *viewpoint.of_agent,
        entry=viewpoint.entry(entry),
        linked=tuple(_linked(viewpoint, reached, texts) for reached in explored.reached),
        hidden=explored.refused if viewpoint.caller.sees_all else 0,
    )


def _linked(viewpoint: Viewpoint, reached: ReachedEntry, texts: Mapping[int, str]) -> LinkedEntryView:
    link = reached.link
    begins, ends, target_begins, target_ends = link.quoted or (0, 0, 0, 0)
    return LinkedEntryView(
        via=reached.via,
        depth=reached.depth,
        type=reached.link.type.value,
        outgoing=reached.link.target == reached.entry.id,
        strength=reached.link.strength,
        entry=viewpoint.entry(reached.entry),
        shown_by=(texts[link.source][begins:ends], texts[link.target][target_begins:target_ends]),
    )


_NOT_ITS_OWN = Filters(kinds=frozenset(Kind) - INNER)
"""What `noodlings.inspect.viewpoint.may_read` asks for, beside the user."""


async def focus_on(viewpoint: Viewpoint, level: int, query: str, who: str | None = None) -> FocusView:
    """What an agent remembers about a question; with `who`, only of what this user said or did.

    Args:
        level: how far it goes back, 0…5, see `noodlings.recall.focus.LEVELS`.

    Raises:
        UserError: there is no such level, or nothing to look for; for `who`, as in `Viewpoint.user`.
    """
    query = clean(query)
    context = await reconstruct_context(
        query,
        viewpoint.caller.only_user if who is None else viewpoint.user(who),
        level,
        search=partial(search, viewpoint),
        memory=viewpoint.store,
        narrator=Narrator(viewpoint.agent_id, viewpoint.names, viewpoint.now),
        filters=Filters(kinds=NO_JOURNAL) if viewpoint.caller.sees_all else _NOT_ITS_OWN,
    )
    return FocusView(
        *viewpoint.of_agent,
        query=query,
        level=level,
        limit=context.level.limit,
        hours=context.level.hours,
        depth=context.level.depth,
        memories=tuple(_memory(viewpoint, brought) for brought in context.memories),
        searched=context.searched,
        linked=context.linked,
        context=tuple(context.text.splitlines()),
        tokens=context.tokens,
    )


def _memory(viewpoint: Viewpoint, brought: FocusHit) -> FocusEntryView:
    recalled, reached = brought.recalled, brought.reached
    return FocusEntryView(
        score=recalled.score,
        why=tuple(map(str, recalled.why)),
        scores=dict(recalled.scores),
        via=reached.via if reached else None,
        type=reached.link.type.value if reached else None,
        strength=reached.link.strength if reached else None,
        depth=reached.depth if reached else 0,
        entry=viewpoint.entry(recalled.entry),
    )
