"""Which entries a turn links.

An entry is linked with the one it follows in the same talk, and with what came to mind for its answer. A link
points from the later entry to the earlier one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from noodlings.reflection.relations import TALK_SECONDS
from noodlings.values.memory import Link, LinkType, MemoryEntry, Recalled, Why
from noodlings.values.percept import SAID


def followed(entry: MemoryEntry, latest: Callable[[int | None], Sequence[MemoryEntry]]) -> list[Link]:
    """The link to the entry that this one follows, if there is one.

    Its strength falls from 1 (at once) to 0.5 (after `TALK_SECONDS`).

    Args:
        latest: the last n entries (None for all in mind), oldest first, with the entry itself.
    """
    for earlier in (one for last_n in (2, None) for one in reversed(latest(last_n))):
        if earlier.id < entry.id and _one_talk(earlier, entry):
            gap = entry.timestamp - earlier.timestamp
            if not 0.0 <= gap <= TALK_SECONDS:
                return []
            strength = 1.0 - gap / (2.0 * TALK_SECONDS)
            return [Link(entry.id, earlier.id, LinkType.FOLLOWED, strength, entry.timestamp)]
    return []


LEAST_STRENGTH = 0.5
"""Least strength of a link to what was recalled."""


def recalled(entry: MemoryEntry, truly: Iterable[Recalled]) -> list[Link]:
    """The links from an entry to what its answer came from; recency does not make them stronger."""
    return [
        Link(entry.id, found.entry.id, LinkType.RECALLED, _strength(found), entry.timestamp)
        for found in truly
        if found.entry.id != entry.id
    ]


def _strength(found: Recalled) -> float:
    called = max((score for why, score in found.scores.items() if why != Why.RECENT), default=0.0)
    return LEAST_STRENGTH + (1.0 - LEAST_STRENGTH) * min(max(called, 0.0), 1.0)


def _one_talk(one: MemoryEntry, other: MemoryEntry) -> bool:
    who_and_where = one.user_id == other.user_id and one.place == other.place
    return who_and_where and one.kind in SAID and other.kind in SAID
