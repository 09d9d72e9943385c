"""A store of either kind, and what tests do with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from noodlings.ports import Changes
from noodlings.store.memory import MemoryStore
from noodlings.store.sql import SqlStore
from noodlings.values.memory import MemoryEntry
from tests.store.records import AGENT, an_entry

AnyStore = SqlStore | MemoryStore
Make = Callable[..., AnyStore]


def filled(store: AnyStore, many: int) -> AnyStore:
    """With the entries 1 to `many` in it."""
    store.commit(Changes(AGENT, added=tuple(an_entry(number) for number in range(1, many + 1))))
    return store


def ids(found: Iterable[MemoryEntry]) -> list[int]:
    """Which entries these are, in their order."""
    return [entry.id for entry in found]


def the_entry(store: AnyStore, number: int) -> MemoryEntry:
    """The `number`th entry as it is stored now."""
    return store.entries(AGENT, [number])[number]
