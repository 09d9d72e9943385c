"""What changed in an agent's memory since the last time somebody asked: what a store has to keep."""

from __future__ import annotations

from dataclasses import dataclass

from noodlings.values.memory import MemoryEntry


@dataclass(frozen=True, slots=True)
class MemoryChanges:
    """New entries, entries with a new history, and ids that came to or left episodic memory."""

    added: tuple[MemoryEntry, ...] = ()
    updated: tuple[MemoryEntry, ...] = ()
    episodic: tuple[int, ...] = ()
    evicted: tuple[int, ...] = ()


class Journal:
    """Collects changes until they are drained. An entry added and then changed is added in its last form."""

    def __init__(self) -> None:
        self._added: dict[int, MemoryEntry] = {}
        self._updated: dict[int, MemoryEntry] = {}
        self._episodic: dict[int, bool] = {}

    def added(self, entry: MemoryEntry) -> None:
        """A percept was encoded."""
        self._added[entry.id] = entry

    def updated(self, entry: MemoryEntry) -> None:
        """An entry has a new value."""
        pending = self._added if entry.id in self._added else self._updated
        pending[entry.id] = entry

    def membership(self, entry_id: int, episodic: bool) -> None:
        """An entry came to episodic memory, or left it."""
        self._episodic[entry_id] = episodic

    def forgotten(self, entry_id: int) -> None:
        """An entry is gone: nothing of it is to be written any more."""
        self._added.pop(entry_id, None)
        self._updated.pop(entry_id, None)
        self._episodic.pop(entry_id, None)

    def drain(self) -> MemoryChanges:
        """Everything since the last drain; the journal is empty afterwards."""
        changes = MemoryChanges(
            tuple(self._added.values()),
            tuple(self._updated.values()),
            tuple(i for i, member in self._episodic.items() if member),
            tuple(i for i, member in self._episodic.items() if not member),
        )
        self._added, self._updated, self._episodic = {}, {}, {}
        return changes
