"""Linking: which entries a turn joins together.

What follows in the same talk is linked with what came before it, and what was answered with what came to
mind for the answer. A link points from the later entry to the earlier one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from noodlings.values.memory import Link, LinkType, MemoryEntry, Recalled
from noodlings.values.percept import Kind

TALK_SECONDS = 300.0
"""World time within which somebody who goes on in the same place goes on with the same talk."""
_EXCHANGED = frozenset({Kind.SAY, Kind.EMOTE, Kind.WHISPER})
"""What a talk is made of; coming, going and what merely happens is none."""


def followed(entry: MemoryEntry, in_mind: Sequence[MemoryEntry]) -> list[Link]:
    """The link to what this entry goes on from, if it goes on from anything.

    Strength falls from 1 (at once) to 0.5 (after `TALK_SECONDS`).

    Args:
        in_mind: the latest entries, oldest first; the entry itself may be among them.
    """
    for earlier in reversed(in_mind):
        if earlier.id < entry.id and _one_talk(earlier, entry):
            gap = entry.timestamp - earlier.timestamp
            if not 0.0 <= gap <= TALK_SECONDS:
                return []
            strength = 1.0 - gap / (2.0 * TALK_SECONDS)
            return [Link(entry.id, earlier.id, LinkType.FOLLOWED, strength, entry.timestamp)]
    return []


def recalled(entry: MemoryEntry, in_mind: Iterable[Recalled], truly: Collection[int]) -> list[Link]:
    """The links from an entry to what came to mind for its answer, each as strong as it was recalled.

    Args:
        in_mind: all that was there for the answer.
        truly: ids of what the answer came from.
    """
    return [
        Link(entry.id, found.entry.id, LinkType.RECALLED, min(max(found.score, 0.0), 1.0), entry.timestamp)
        for found in in_mind
        if found.entry.id in truly and found.entry.id != entry.id
    ]


def _one_talk(one: MemoryEntry, other: MemoryEntry) -> bool:
    who_and_where = one.user_id == other.user_id and one.place == other.place
    return who_and_where and one.kind in _EXCHANGED and other.kind in _EXCHANGED
