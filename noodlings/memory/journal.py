"""What changed in an agent's memory since the last time somebody asked: what a store has to keep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from noodlings.values.memory import Link, MemoryEntry
from noodlings.values.vector import EntryVector


@dataclass(frozen=True, slots=True)
class MemoryChanges:
    """New entries with their vectors, a new history, ids that came to or left episodic memory, new links."""

    added: tuple[MemoryEntry, ...] = ()
    updated: tuple[MemoryEntry, ...] = ()
    episodic: tuple[int, ...] = ()
    evicted: tuple[int, ...] = ()
    links: tuple[Link, ...] = ()
    vectors: tuple[EntryVector, ...] = ()


class Journal:
    """Collects changes until they are drained. An entry added and then changed is added in its last form."""

    def __init__(self) -> None:
        self._added: dict[int, MemoryEntry] = {}
        self._updated: dict[int, MemoryEntry] = {}
        self._episodic: dict[int, bool] = {}
        self._links: list[Link] = []
        self._vectors: dict[int, EntryVector] = {}

    def added(self, entry: MemoryEntry) -> None:
        """A percept was encoded."""
        self._added[entry.id] = entry

    def embedded(self, vector: EntryVector) -> None:
        """A percept was embedded."""
        self._vectors[vector.entry_id] = vector

    def updated(self, entry: MemoryEntry) -> None:
        """An entry has a new value."""
        pending = self._added if entry.id in self._added else self._updated
        pending[entry.id] = entry

    def membership(self, entry_id: int, episodic: bool) -> None:
        """An entry came to episodic memory, or left it."""
        self._episodic[entry_id] = episodic

    def linked(self, links: Iterable[Link]) -> None:
        """Entries belong together."""
        self._links += links

    def forgotten(self, entry_id: int) -> None:
        """An entry is gone: nothing of it is to be written any more."""
        self._added.pop(entry_id, None)
        self._updated.pop(entry_id, None)
        self._episodic.pop(entry_id, None)
        self._vectors.pop(entry_id, None)
        self._links = [link for link in self._links if entry_id not in (link.source, link.target)]

    def drain(self) -> MemoryChanges:
        """Everything since the last drain; the journal is empty afterwards."""
        changes = MemoryChanges(
            tuple(self._added.values()),
            tuple(self._updated.values()),
            tuple(i for i, member in self._episodic.items() if member),
            tuple(i for i, member in self._episodic.items() if not member),
            tuple(self._links),
            tuple(self._vectors.values()),
        )
        self._added, self._updated, self._episodic, self._links, self._vectors = {}, {}, {}, [], {}
        return changes
