"""PlainMemory: the list that agents had before, with the same interface as `HierarchicalMemory`.

`memory.use_hierarchical: false` selects it: everything perceived goes into one list of 500, the oldest
entries leave first, and a context is the last 10. Importance is computed, so that one can see what is lost,
but it keeps nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from noodlings.errors import UserError
from noodlings.memory.agent_memory import AgentMemory
from noodlings.memory.change_journal import ChangeJournal
from noodlings.memory.context import ContextBudget, assemble, recent
from noodlings.memory.importance import DEFAULT_WEIGHTS
from noodlings.values.audience import Audience, may_learn
from noodlings.values.memory import ImportanceWeights, MemoryEntry, MemoryStats, Recalled

CAPACITY = 500
CONTEXT = 10


class PlainMemory(AgentMemory):
    """The last 500 percepts, of which the last 10 come to mind."""

    hierarchical = False

    def __init__(
        self, weights: ImportanceWeights = DEFAULT_WEIGHTS, journal: ChangeJournal | None = None
    ) -> None:
        super().__init__(weights, journal)
        self._entries: dict[int, MemoryEntry] = {}

    def complete(self, entry: MemoryEntry, response: str, audience: Audience | None = None) -> MemoryEntry:
        """Add the response to an entry; see `HierarchicalMemory.complete`."""
        return self._revise(replace(entry, response=response, audience=audience or entry.audience))

    def reinforce(self, recalled: Iterable[int | MemoryEntry], now: float | None = None) -> None:
        """Does nothing: a list does not record recalls."""

    def pin(self, entry: MemoryEntry, pinned: bool = True) -> MemoryEntry:
        raise UserError("a plain list cannot pin memories; set memory.use_hierarchical to true")

    def confine(self, entry: MemoryEntry, confined: bool) -> MemoryEntry:
        """Confine an entry to those who witnessed it, or open it to anybody again."""
        return self._revise(replace(entry, audience=entry.audience.closed(confined)))

    def set_importance(self, entry: MemoryEntry, value: float | None) -> MemoryEntry:
        raise UserError("a plain list keeps no importance; set memory.use_hierarchical to true")

    def revert(self, entry: MemoryEntry, before: Mapping[str, Any], **also: Any) -> MemoryEntry:
        raise UserError("a plain list keeps neither pins nor importance; set memory.use_hierarchical to true")

    def forget(self, entry_ids: Iterable[int]) -> None:
        """Take entries out of the list and the journal; ids that are not here are ignored."""
        for entry_id in entry_ids:
            self._entries.pop(entry_id, None)
            self._note_forgotten(entry_id)

    def restore(
        self,
        working: Iterable[MemoryEntry],
        episodic: Iterable[MemoryEntry],
        perceived: int,
        consolidated: int,
        last_id: int,
    ) -> None:
        """Replace everything with the latest entries that were stored of an agent."""
        latest = sorted(working, key=lambda entry: entry.id)[-CAPACITY:]
        self._entries = {entry.id: entry for entry in latest}
        self._perceived, self._last_id = perceived, last_id
        self._resume(latest)

    def find(self, entry_id: int) -> MemoryEntry | None:
        return self._entries.get(entry_id)

    def is_episodic(self, entry_id: int) -> bool:
        return False

    def retrieve_working(self, last_n: int | None = None) -> list[MemoryEntry]:
        """The list, oldest first, or its last `last_n` (0 gives none)."""
        if last_n is not None and last_n < 0:
            raise UserError(f"last_n is {last_n}: it must be at least 0")
        entries = list(self._entries.values())
        return entries if last_n is None else entries[max(len(entries) - last_n, 0) :]

    def retrieve_episodic(self, *filters: Any, **named_filters: Any) -> list[MemoryEntry]:
        """Always empty."""
        return []

    def retrieve_by_affect_similarity(
        self, current_affect: Any, *limits: Any, **named_limits: Any
    ) -> list[MemoryEntry]:
        """Always empty."""
        return []

    def recall_by_affect(self, current_affect: Any, *limits: Any, **named_limits: Any) -> list[Recalled]:
        """Always empty."""
        return []

    def context(
        self,
        user_id: str | None,
        current_affect: Any,
        budget: ContextBudget = ContextBudget(CONTEXT, 0, 0),  # noqa: B008 -- frozen
        *,
        also: Sequence[Recalled] = (),
        present: frozenset[str] | None = None,
        without: Collection[int] = (),
        min_similarity: float = 0.7,
    ) -> list[Recalled]:
        """The last 10 that `present` may learn of, oldest to newest, whatever the slots say."""
        known = (
            entry
            for entry in reversed(self._entries.values())
            if entry.id not in without and (present is None or may_learn(present, entry.audience))
        )
        limits = ContextBudget(CONTEXT, 0, 0, max_tokens=budget.max_tokens)
        return assemble(recent(islice(known, CONTEXT)), (), limits)

    def stats(self) -> MemoryStats:
        return MemoryStats(
            hierarchical=False,
            working=len(self._entries),
            working_capacity=CAPACITY,
            episodic=0,
            episodic_capacity=0,
            symbols=0,
            symbol_capacity=0,
            perceived=self._perceived,
            consolidated=0,
            consolidation_rate=0.0,
            average_importance=0.0,
            pinned=0,
        )

    def _admit(self, entry: MemoryEntry) -> None:
        if entry.source:
            return
        self._entries[entry.id] = entry
        if len(self._entries) > CAPACITY:
            del self._entries[next(iter(self._entries))]

    def _revise(self, entry: MemoryEntry) -> MemoryEntry:
        if entry.id in self._entries:
            self._entries[entry.id] = entry
        self._note_revised(entry)
        return entry
