"""Follows links from memories that were found to those that belong with them, in both directions.

A memory that may not be seen is neither brought nor passed through, so that nothing behind it gives it away.
Of the links of one memory the strongest are followed, counted among those that may be seen. The same links
lead to the same memories in whatever order a store gives them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from noodlings.errors import UserError
from noodlings.ports import Repository
from noodlings.values.memory import Link, MemoryEntry

MAX_DEPTH = 3
FAN_OUT = 4
"""How many links of one memory are followed at each step."""
READ = 64
"""How many links of one memory are read; more only if most of what they lead to may not be seen."""
FADE = 0.8
"""What is left of a score at each step, beside the strength of the link."""

MaySee = Callable[[MemoryEntry], bool]
Way = tuple[int, Link]
"""A neighbour, and the strongest link that leads there."""


@dataclass(frozen=True, slots=True)
class ReachedEntry:
    """An entry that a link led to.

    Attributes:
        link: the one that led there; of several the one that gives the best score.
        depth: how many steps it is away, 1…3.
        score: of the entry at the other end, times the strength of the link, times `FADE`; 0…1.
    """

    entry: MemoryEntry
    link: Link
    depth: int
    score: float

    @property
    def via(self) -> int:
        """The entry at the other end of the link."""
        return self.link.source if self.link.target == self.entry.id else self.link.target


@dataclass(frozen=True, slots=True)
class Exploration:
    """What links led to: nearer entries first, then the better score, then the earlier entry.

    `refused` counts the neighbours that were read and may not be seen.
    """

    reached: tuple[ReachedEntry, ...] = ()
    refused: int = 0


def explore(
    memory: Repository,
    agent_id: str,
    starts: Mapping[int, float],
    depth: int,
    may_see: MaySee,
) -> Exploration:
    """Everything within `depth` steps of some entries, breadth-first, each entry once.

    It makes one query for links at each step, and one for entries; more only if most of what is linked may
    not be seen.

    Args:
        starts: ids, each with its score, 0…1. They are not brought again.
        depth: 0 (nothing)…3.

    Raises:
        UserError: depth is out of range.
    """
    if not 0 <= depth <= MAX_DEPTH:
        raise UserError(f"depth is {depth}: it must lie between 0 and {MAX_DEPTH}")
    frontier = dict(starts)
    known = set(starts)
    refused: set[int] = set()
    reached: list[ReachedEntry] = []

    def load(entry_ids: list[int]) -> Mapping[int, MemoryEntry]:
        return memory.entries(agent_id, entry_ids)

    for step in range(1, depth + 1):
        ways: dict[int, list[Way]] = {}
        looked: dict[int, MemoryEntry | None] = {}
        more, most = sorted(frontier), READ
        while more:
            links = memory.links_of(agent_id, more, most)
            ways |= _ways(more, links, known | refused)
            _look({here: ways[here] for here in more if here in ways}, looked, load, may_see)
            # If all that was read of these is hidden, weaker links must be read.
            more = [
                here
                for here in more
                if sum(here in (link.source, link.target) for link in links) >= most
                and len(_strongest(ways.get(here, ()), looked)) < FAN_OUT
            ]
            most *= 4
        refused |= {entry_id for entry_id, entry in looked.items() if entry is None}
        found: dict[int, ReachedEntry] = {}
        for here, leading in ways.items():
            for entry, link in _strongest(leading, looked):
                new = ReachedEntry(entry, link, step, frontier[here] * link.strength * FADE)
                old = found.get(entry.id)
                if old is None or (-new.score, new.via) < (-old.score, old.via):
                    found[entry.id] = new
        level = sorted(found.values(), key=lambda one: (-one.score, one.entry.id))
        reached += level
        frontier = {one.entry.id: one.score for one in level}
        known |= frontier.keys()
    return Exploration(tuple(reached), len(refused))


def _ways(here: Collection[int], links: Sequence[Link], closed: Collection[int]) -> dict[int, list[Way]]:
    """By entry, where its links lead, the strongest first; without those in `closed`."""
    ways: dict[int, dict[int, Link]] = {}
    for link in sorted(links, key=lambda link: (-link.strength, link.type, link.source, link.target)):
        for start, end in ((link.source, link.target), (link.target, link.source)):
            if start in here and end not in closed:
                ways.setdefault(start, {}).setdefault(end, link)
    return {start: list(ends.items()) for start, ends in ways.items()}


def _look(
    ways: Mapping[int, Sequence[Way]],
    looked: dict[int, MemoryEntry | None],
    load: Callable[[list[int]], Mapping[int, MemoryEntry]],
    may_see: MaySee,
) -> None:
    """Add neighbours to `looked`, by id; None for those that may not be seen or are gone.

    Of each entry as many are read as it takes to have `FAN_OUT` that may be seen: an entry that was recalled
    ten thousand times is not read with all that recalled it.
    """
    most = max(map(len, ways.values()), default=0)
    before, portion = 0, max(2 * FAN_OUT, len(looked))
    while before < most:
        wanted = {
            end
            for leading in ways.values()
            if sum(looked[end] is not None for end, _ in leading[:before] if end in looked) < FAN_OUT
            for end, _ in leading[:portion]
        }
        if missing := sorted(wanted - looked.keys()):
            there = load(missing)
            for end in missing:
                entry = there.get(end)
                looked[end] = entry if entry is not None and may_see(entry) else None
        before, portion = portion, 4 * portion


def _strongest(
    leading: Sequence[Way], looked: Mapping[int, MemoryEntry | None]
) -> list[tuple[MemoryEntry, Link]]:
    seen = [(entry, link) for end, link in leading if (entry := looked.get(end)) is not None]
    return seen[:FAN_OUT]
