"""What changed in an agent's memory since the last commit: what a store has to keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from noodlings.ports import AgentState, Changes
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.memory import EntryVector, Link, MemoryEntry, Symbol
from noodlings.values.trace import Trace


class ChangeJournal:
    """Collects changes until they are committed. What is added and then changed is added in its last form."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Drop everything that was pending, once it is committed and before anything else can change."""
        self._added: dict[int, MemoryEntry] = {}
        self._updated: dict[int, MemoryEntry] = {}
        self._episodic: dict[int, bool] = {}
        self._links: list[Link] = []
        self._unlinked: list[Link] = []
        self._vectors: dict[int, EntryVector] = {}
        self._symbols: dict[int, Symbol] = {}
        self._faded: list[int] = []
        self._sealed: dict[int, MemoryEntry] = {}
        self._taken: list[IngestedRecord] = []

    def added(self, entry: MemoryEntry) -> None:
        self._added[entry.id] = entry

    def sealed(self, entry: MemoryEntry) -> None:
        """The words of a percept that was encoded without them, for the store alone."""
        self._sealed[entry.id] = entry

    def with_words(self, changes: Changes) -> Changes:
        """The changes with the words of sealed entries, as the store needs them."""
        if not self._sealed:
            return changes
        added = (
            replace(entry, user_text=sealed.user_text, place=sealed.place, extra=sealed.extra)
            if (sealed := self._sealed.get(entry.id))
            else entry
            for entry in changes.added
        )
        return replace(changes, added=tuple(added))

    def embedded(self, vector: EntryVector) -> None:
        self._vectors[vector.entry_id] = vector

    def updated(self, entry: MemoryEntry) -> None:
        pending = self._added if entry.id in self._added else self._updated
        pending[entry.id] = entry

    def pending(self, stored: Mapping[int, MemoryEntry]) -> dict[int, MemoryEntry]:
        """Stored entries by id as they will be once all is committed."""
        return {number: self._updated.get(number, entry) for number, entry in stored.items()}

    def membership(self, entry_id: int, episodic: bool) -> None:
        """An entry entered episodic memory, or left it."""
        self._episodic[entry_id] = episodic

    def linked(self, links: Iterable[Link]) -> None:
        self._links += links

    def unlinked(self, links: Iterable[Link]) -> None:
        self._unlinked += links

    def symbolised(self, symbol: Symbol) -> None:
        self._symbols[symbol.id] = symbol

    def faded(self, symbol_id: int) -> None:
        """A symbol left the subconscious; it may not be written yet."""
        self._faded.append(symbol_id)

    def taken(self, record: IngestedRecord) -> None:
        """A record of a source became a memory, or waits."""
        self._taken.append(record)

    def forgotten(self, entry_id: int) -> None:
        """An entry is gone: nothing of it may be written any more."""
        for pending in (self._added, self._sealed, self._updated, self._episodic, self._vectors):
            pending.pop(entry_id, None)
        self._links = [link for link in self._links if entry_id not in (link.source, link.target)]
        made_of_it = {symbol.id for symbol in self._symbols.values() if symbol.entry_id == entry_id}
        self._symbols = {key: symbol for key, symbol in self._symbols.items() if key not in made_of_it}
        self._faded = [symbol_id for symbol_id in self._faded if symbol_id not in made_of_it]

    def changes(
        self, agent_id: str = "", state: AgentState | None = None, trace: Trace | None = None
    ) -> Changes:
        """Everything since the last `clear`. A failed commit loses nothing of it."""
        return Changes(
            agent_id,
            added=tuple(self._added.values()),
            updated=tuple(self._updated.values()),
            episodic=tuple(i for i, member in self._episodic.items() if member),
            evicted=tuple(i for i, member in self._episodic.items() if not member),
            state=state,
            trace=trace,
            unlinked=tuple(self._unlinked),
            links=tuple(self._links),
            vectors=tuple(self._vectors.values()),
            symbols=tuple(self._symbols.values()),
            faded=tuple(self._faded),
            taken=tuple(self._taken),
        )
