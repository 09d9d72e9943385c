"""The links of one memory as one caller may follow them."""

from __future__ import annotations

from noodlings.errors import NotFound
from noodlings.inspect.link_views import LinkedEntryView, LinksView
from noodlings.inspect.look import Look
from noodlings.inspect.rights import may_read
from noodlings.recall.links import Linked, Reached, explore
from noodlings.values.memory import MemoryEntry

DEPTH = 2
"""Steps along links that are shown."""


def linked_with(look: Look, memory: Linked, entry_id: int) -> LinksView:
    """A memory and what its links lead to.

    Raises:
        NotFound: there is no such memory, or it is not the caller's to read: the same words, so that ids tell
            nobody anything.
    """
    entry = memory.entries(look.agent_id, [entry_id]).get(entry_id)
    if entry is None or not may_read(look.caller, entry):
        raise NotFound(f"{look.name} has no memory {entry_id} that you could read.")

    def may_see(other: MemoryEntry) -> bool:
        return may_read(look.caller, other)

    explored = explore(memory, look.agent_id, {entry_id: 1.0}, DEPTH, may_see)
    return LinksView(
        agent=look.agent_id,
        name=look.name,
        entry=look.entry(entry),
        linked=tuple(_linked(look, reached) for reached in explored.reached),
        hidden=explored.refused,
    )


def _linked(look: Look, reached: Reached) -> LinkedEntryView:
    return LinkedEntryView(
        via=reached.via,
        depth=reached.depth,
        type=reached.link.type.value,
        outgoing=reached.link.target == reached.entry.id,
        strength=reached.link.strength,
        entry=look.entry(reached.entry),
    )
