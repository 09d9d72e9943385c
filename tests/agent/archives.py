"""Archives of Phi to look into."""

from __future__ import annotations

from collections.abc import Callable

from noodlings.agent.archive import AgentArchive
from noodlings.ports import Changes
from noodlings.store.memory import MemoryStore
from noodlings.store.sql import SqlStore
from noodlings.values.memory import MemoryEntry
from tests.store.records import AGENT, an_entry

Make = Callable[..., AgentArchive]


def said(number: int, text: str, **changes: object) -> MemoryEntry:
    """The `number`th thing that user_caity said, in a talk of its own."""
    return an_entry(number, text, **({"timestamp": number * 7_200.0} | changes))


def commit(store: MemoryStore | SqlStore, *entries: MemoryEntry, **changes: object) -> Changes:
    """New entries, stored."""
    made = Changes(AGENT, added=entries, **changes)  # type: ignore[arg-type]
    store.commit(made)
    return made


def filled(store: MemoryStore | SqlStore, many: int) -> None:
    """Store "line 1", "line 2", …"""
    commit(store, *(said(number, f"line {number}") for number in range(1, many + 1)))


def wake(archive: AgentArchive) -> AgentArchive:
    """With everything loaded."""
    while not archive.loaded:
        archive.load_some()
    return archive


async def found(archive: AgentArchive, query: str) -> list[int]:
    """Ids of what is found, best first."""
    return [hit.entry_id for hit in await archive.search(query)]


def counts(archive: AgentArchive) -> tuple[int, int, int]:
    """How many are embedded, pending, parked."""
    state = archive.state()
    return state.embedded, state.pending, state.parked
