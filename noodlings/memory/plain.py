"""PlainMemory: the list that agents had before, in which nothing is kept because it matters.

`memory.use_hierarchical: false` selects it: everything perceived goes into one list of 500, the oldest
entries leave first, and a context is the last 10. Importance is computed, so that one can see what is lost,
but it keeps nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from noodlings.errors import UserError
from noodlings.memory.change_journal import ChangeJournal
from noodlings.memory.context import DEFAULT_BUDGET, ContextBudget
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.values.audience import Audience, Tier
from noodlings.values.memory import MemoryEntry, Recalled
from noodlings.values.percept import Percept

CAPACITY = 500
CONTEXT = 10


class PlainMemory(HierarchicalMemory):
    """The last 500 percepts, of which the last 10 come to mind."""

    hierarchical = False

    def __init__(self, journal: ChangeJournal | None = None, logged_below: Tier = Tier.SECRET) -> None:
        super().__init__(
            CAPACITY, symbol_capacity=0, journal=journal, logged_below=logged_below, hindsight=False
        )
        self._episodic.capacity = 0  # so nothing becomes episodic

    def complete(self, entry: MemoryEntry, response: str, audience: Audience | None = None) -> MemoryEntry:
        """Add the response to an entry, whose importance stays as it was."""
        return self._revise(entry, response=response, audience=audience or entry.audience)

    def reinforce(self, recalled: Iterable[int | MemoryEntry], now: float | None = None) -> None:
        """Does nothing: a list does not record recalls."""

    def pin(self, entry: MemoryEntry, pinned: bool = True) -> MemoryEntry:
        self.require_room()
        return entry

    def require_room(self) -> None:
        raise UserError("a plain list cannot pin memories; set memory.use_hierarchical to true")

    def set_importance(self, entry: MemoryEntry, value: float | None) -> MemoryEntry:
        raise UserError("a plain list keeps no importance; set memory.use_hierarchical to true")

    def revert(self, entry: MemoryEntry, before: Mapping[str, Any], **also: Any) -> MemoryEntry:
        raise UserError("a plain list keeps neither pins nor importance; set memory.use_hierarchical to true")

    def restore(
        self,
        working: Iterable[MemoryEntry],
        episodic: Iterable[MemoryEntry],
        perceived: int,
        consolidated: int,
        last_id: int,
    ) -> None:
        super().restore(working, (), perceived, 0, last_id)

    def context(
        self,
        user_id: str | None,
        current_affect: Any,
        budget: ContextBudget = DEFAULT_BUDGET,
        *,
        also: Sequence[Recalled] = (),
        present: frozenset[str] | None = None,
        without: Collection[int] = (),
        min_similarity: float = 0.7,
    ) -> list[Recalled]:
        """The last 10 that `present` may learn of, oldest to newest, whatever the slots say."""
        limits = ContextBudget(CONTEXT, 0, 0, max_tokens=budget.max_tokens)
        return super().context(user_id, None, limits, present=present, without=without)

    def _said_before(self, percept: Percept) -> int:
        return 0
