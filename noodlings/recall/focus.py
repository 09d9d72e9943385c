"""Focus: how far an agent goes back for one question, from a glance (0) to everything it can find (5).

It searches a span of world time, follows the links of the best hits, filters and ranks both, and makes a
block of context with a report of what came from where.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from noodlings.errors import UserError
from noodlings.memory.context import recalled_for
from noodlings.ports import Repository
from noodlings.recall.filters import EVERYTHING, Filters
from noodlings.recall.links import ReachedEntry, explore
from noodlings.recall.narrative import Narrator, block, token_count
from noodlings.recall.search import Hit
from noodlings.values.memory import LinkType, Recalled, Why

HOUR = 3_600.0
BEST = 5
"""How many of the best hits have their links followed."""
FLOOR = 0.15
"""The least score of a memory that has to do with a question; a third of it by words alone.

Chosen by every third case of benchmarks/talk at level 5, with 25 idle lines in a row at most: in the search
what was needed scores .16 and more, the median of the rest .10. With the floor a context holds 45 of 46
memories that were needed in place of 46, and 9 memories in place of 27; by words alone 20 in place of 23, and
9 in place of 16.
"""


@dataclass(frozen=True, slots=True)
class FocusLevel:
    """How much is looked for.

    Attributes:
        limit: how many memories the search brings at most; links bring at most as many more.
        hours: how far back, in world time.
        depth: steps along links, 0…3.
    """

    limit: int
    hours: float
    depth: int


LEVELS = (
    FocusLevel(limit=2, hours=1, depth=0),
    FocusLevel(limit=5, hours=4, depth=1),
    FocusLevel(limit=8, hours=12, depth=1),
    FocusLevel(limit=10, hours=24, depth=2),
    FocusLevel(limit=15, hours=72, depth=3),
    FocusLevel(limit=20, hours=168, depth=3),
)
DEFAULT_LEVEL = 3

Search = Callable[[str, Filters, int], Awaitable[Sequence[Hit]]]
"""Query, filters, limit → hits, best first. Raises `UserError` for a query that asks for nothing."""


@dataclass(frozen=True, slots=True)
class FocusHit:
    """A memory of a context, and where it came from.

    Attributes:
        recalled: the memory and why it came; if both the search and links found it, it has both reasons and
            the score of the search.
        reached: how links led there, or None.
    """

    recalled: Recalled
    reached: ReachedEntry | None = None

    @property
    def searched(self) -> bool:
        """Whether the search itself found it."""
        return self.recalled.why[:1] != (Why.LINKED,)


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """A context as it was put together.

    Attributes:
        memories: best first, of equal ones the earlier first; each once.
        text: all of them told, a line each, oldest to newest.
        tokens: about what the text costs in a prompt.
    """

    level: FocusLevel
    memories: tuple[FocusHit, ...]
    text: str
    tokens: int

    @property
    def searched(self) -> int:
        """How many memories the search found."""
        return sum(hit.searched for hit in self.memories)

    @property
    def linked(self) -> int:
        """How many memories were only found by links."""
        return len(self.memories) - self.searched


async def reconstruct_context(
    query: str,
    user: str | None,
    focus_level: int = DEFAULT_LEVEL,
    *,
    search: Search,
    memory: Repository,
    narrator: Narrator,
    filters: Filters = EVERYTHING,
) -> Reconstruction:
    """What an agent remembers about a question: what reaches `FLOOR`, or was linked with that by hand.

    Args:
        user: only what this user said or did; None for anybody's.
        focus_level: 0…5, see `LEVELS`.
        search: searches the agent's archive.
        memory: where its entries and links are.
        narrator: who remembers, and when; hours count back from there.
        filters: what else must hold, besides the user and the span of time.

    Raises:
        UserError: there is no such level, or nothing to look for.
    """
    level = level_of(focus_level)
    filters = replace(filters, user=user, since=narrator.now - level.hours * HOUR)
    hits = await search(query, filters, level.limit)
    by_meaning = any("meaning" in hit.scores for hit in hits)
    floor = FLOOR if by_meaning else FLOOR / 3
    # An entry that was found by the lines around it alone comes by links, if it belongs with them.
    relevant = [hit for hit in hits if hit.score >= floor and not hit.only_near]
    found = _as_stored(relevant, filters, memory, narrator.agent_id)
    starts = {hit.entry.id: hit.score for hit in found[:BEST]}
    reached = [
        one
        for one in explore(memory, narrator.agent_id, starts, level.depth, filters.admits).reached
        if one.score >= floor or one.link.type is LinkType.BY_HAND
    ]
    memories = _merged(found, reached, level.limit)
    text = block((brought.recalled.entry for brought in memories), narrator)
    return Reconstruction(level, tuple(memories), text, token_count(text))


def level_of(number: int) -> FocusLevel:
    """The focus level of this number. Raises `UserError` when there is none."""
    if not 0 <= number < len(LEVELS):
        raise UserError(f"there is no focus level {number}; use 0 to {len(LEVELS) - 1}")
    return LEVELS[number]


def _as_stored(hits: Sequence[Hit], filters: Filters, memory: Repository, agent_id: str) -> list[Recalled]:
    """The hits as they are stored now: an index may lag behind what was forgotten or changed."""
    entries = memory.entries(agent_id, [hit.entry_id for hit in hits])
    return [
        Recalled(entry, hit.why, hit.score, hit.scores)
        for hit in hits
        if (entry := entries.get(hit.entry_id)) is not None and filters.admits(entry)
    ]


def _merged(found: Sequence[Recalled], reached: Sequence[ReachedEntry], limit: int) -> list[FocusHit]:
    """Both, each entry once, best first; of those that were only found by links, the best `limit`."""
    by_links = {one.entry.id: one for one in reached}
    memories = [_searched(hit, by_links.pop(hit.entry.id, None)) for hit in found]
    linked = sorted(by_links.values(), key=lambda one: (-one.score, one.entry.id))
    memories += [FocusHit(recalled_for(Why.LINKED, one.entry, one.score), one) for one in linked[:limit]]
    return sorted(memories, key=lambda brought: (-brought.recalled.score, brought.recalled.entry.id))


def _searched(hit: Recalled, reached: ReachedEntry | None) -> FocusHit:
    if reached is not None:
        scores = hit.scores | {Why.LINKED.value: reached.score}
        hit = replace(hit, why=(*hit.why, Why.LINKED), scores=scores)
    return FocusHit(hit, reached)
