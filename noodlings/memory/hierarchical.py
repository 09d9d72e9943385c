"""HierarchicalMemory: working memory holds the latest, episodic memory holds what matters.

Usable alone: no event loop, no disk, no model. The rules it keeps:

- an importance is computed once and never changes; only an override may be put beside it;
- an entry becomes episodic when its importance passes the threshold; when there is no room, the weakest
  leaves (by strength at that moment), never the oldest as such, and never one that is pinned or was asked
  to be remembered;
- world time is the latest timestamp seen, unless a reader brings its own;
- leaving a stream is not deletion, and reading changes nothing.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from noodlings.config import ImportanceWeights
from noodlings.errors import UserError
from noodlings.memory.context import Budget, assemble
from noodlings.memory.encode import EVERYBODY, read_affect, unit
from noodlings.memory.episodic import EpisodicMemory
from noodlings.memory.importance import DEFAULT_WEIGHTS, importance
from noodlings.memory.journal import Journal
from noodlings.memory.likeness import DEFAULT_METRIC, METRICS
from noodlings.memory.recorder import Recorder
from noodlings.memory.stream import Stream
from noodlings.memory.strength import reinforced
from noodlings.text import shorten
from noodlings.values.affect import Affect
from noodlings.values.memory import MemoryEntry, MemoryStats, Recalled, Why

log = logging.getLogger(__name__)

DEFAULT_BUDGET = Budget()


class HierarchicalMemory(Recorder):
    """The conscious memory of one agent.

    Args:
        working_capacity: how many of the latest entries are in mind, ≥ 1.
        episodic_capacity: how many that matter are in mind, ≥ 1.
        surprise_threshold: an importance above this makes an entry episodic, 0…1. (The name is the one
            under which hosts know it; what it is compared with is the importance.)
        metric: how likeness of feeling is measured, see `noodlings.memory.likeness.METRICS`.
        weights: of the components of importance.
        symbol_capacity: how many symbols the agent's subconscious may hold; only shown in the statistics.
        journal: collects what a store has to keep; without one nothing is collected.
    """

    hierarchical = True

    def __init__(
        self,
        working_capacity: int = 20,
        episodic_capacity: int = 200,
        surprise_threshold: float = 0.3,
        *,
        metric: str = DEFAULT_METRIC,
        weights: ImportanceWeights = DEFAULT_WEIGHTS,
        symbol_capacity: int = 100,
        journal: Journal | None = None,
    ) -> None:
        for name, value in (("working_capacity", working_capacity), ("episodic_capacity", episodic_capacity)):
            if value < 1:
                raise UserError(f"{name} is {value}: it must be at least 1")
        if metric not in METRICS:
            raise UserError(f"there is no metric {metric}; there are {', '.join(METRICS)}")
        super().__init__(weights, journal)
        self.symbol_capacity = symbol_capacity
        self._working = Stream(working_capacity, METRICS[metric])
        self._episodic = EpisodicMemory(
            episodic_capacity, METRICS[metric], unit(surprise_threshold, "surprise_threshold")
        )
        self._consolidated = 0

    # -- writing

    def complete(self, entry: MemoryEntry, response: str) -> MemoryEntry:
        """Put the response beside an entry. Its importance may rise by that, once; it may become episodic.

        `entry` may have left both streams in the meantime; the new value is returned and journalled anyway.
        """
        answered = importance(replace(entry.parts, answered=1.0), self.weights)
        rises = entry.override is None and answered > entry.encoded_importance
        return self._revise(
            entry,
            response=response,
            override=answered if rises else entry.override,
            override_by="response" if rises else entry.override_by,
        )

    def reinforce(self, entry_ids: Iterable[int], now: float | None = None) -> None:
        """Entries were truly recalled for a response: they fade more slowly from now on."""
        moment = self._moment(now)
        for entry_id in entry_ids:
            entry = self.find(entry_id)
            if entry is not None:
                self._revise(
                    entry,
                    recall_count=entry.recall_count + 1,
                    last_recalled=moment,
                    stability=reinforced(entry.stability, moment - entry.fresh_at),
                )

    def pin(self, entry: MemoryEntry, pinned: bool = True) -> MemoryEntry:
        """Hold an entry in episodic memory, or let it go again. Raises `UserError` when all room is held."""
        if pinned and entry.id not in self._episodic and self._episodic.all_held:
            raise UserError(
                f"all {self._episodic.capacity} places of episodic memory are pinned; unpin something first"
            )
        return self._revise(entry, pinned=pinned)

    def set_importance(self, entry: MemoryEntry, value: float | None) -> MemoryEntry:
        """Set an importance by hand (0…1), or take that back with None. The value at encoding stays."""
        if value is None:
            return self._revise(entry, override=None, override_by="")
        return self._revise(entry, override=unit(value, "importance"), override_by="hand")

    def revert(self, entry: MemoryEntry, before: MemoryEntry) -> MemoryEntry:
        """Give an entry the pin and the override that it had before."""
        return self._revise(
            entry, pinned=before.pinned, override=before.override, override_by=before.override_by
        )

    def redact(self, entry: MemoryEntry) -> MemoryEntry:
        """Take the response off an entry, because it quoted what was forgotten."""
        return self._revise(entry, response=None)

    def set_working(self, entry_ids: Iterable[int]) -> None:
        """Let working memory hold just these of the entries in mind; nothing is forgotten by that."""
        kept = [entry for entry_id in entry_ids if (entry := self.find(entry_id)) is not None]
        self._working.clear()
        for entry in kept[-self._working.capacity :]:
            self._working.put(entry)

    def forget(self, entry_ids: Iterable[int]) -> None:
        """Take entries out of both streams and out of the journal; ids that are not here are ignored."""
        for entry_id in entry_ids:
            for stream in (self._working, self._episodic):
                if entry_id in stream:
                    stream.drop(entry_id)
            self._forget_journalled(entry_id)

    def restore(
        self,
        working: Iterable[MemoryEntry],
        episodic: Iterable[MemoryEntry],
        perceived: int,
        consolidated: int,
        last_id: int,
    ) -> None:
        """Take up where a stored agent left off. Replaces everything; journals nothing."""
        self._working.clear()
        self._episodic.clear()
        for entry in sorted(working, key=lambda kept: kept.id)[-self._working.capacity :]:
            self._working.put(entry)
        # A capacity may have been lowered since; the strongest stay.
        held = sorted(episodic, key=lambda kept: (kept.pinned, kept.importance, kept.id), reverse=True)
        for entry in held[: self._episodic.capacity]:
            self._episodic.put(entry)
        self._perceived, self._consolidated, self._last_id = perceived, consolidated, last_id
        self._now = max((kept.timestamp for kept in (*working, *episodic)), default=-math.inf)

    # -- reading

    def find(self, entry_id: int) -> MemoryEntry | None:
        """The entry with this id, from either stream, or None."""
        return self._working.get(entry_id) or self._episodic.get(entry_id)

    def is_episodic(self, entry_id: int) -> bool:
        """Whether an entry is in episodic memory now."""
        return entry_id in self._episodic

    def retrieve_working(self, last_n: int | None = None) -> list[MemoryEntry]:
        """The latest entries, oldest first: all of working memory, or the last `last_n` (0 gives none)."""
        if last_n is not None and last_n < 0:
            raise UserError(f"last_n is {last_n}: it must be at least 0")
        return self._working.entries(self._working.newest(last_n))

    def retrieve_episodic(
        self, user_id: str | None = None, min_importance: float = 0.0, limit: int | None = 10
    ) -> list[MemoryEntry]:
        """Episodic entries, most important first (equal ones: newer first).

        Args:
            user_id: only what this user said or did.
            min_importance: only entries at least this important, 0…1.
            limit: at most so many; None for all.
        """
        return self._episodic.important(limit, min_importance, user_id)

    def recall_by_affect(
        self, current_affect: Any, top_k: int = 5, min_similarity: float = 0.7
    ) -> list[Recalled]:
        """Episodic entries that felt like `current_affect`, most alike first, with the likeness as score."""
        return self._episodic.recall_alike(Affect.of(current_affect), top_k, min_similarity)

    def context(
        self,
        user_id: str | None,
        current_affect: Any,
        budget: Budget = DEFAULT_BUDGET,
        *,
        also: Sequence[Recalled] = (),
        present: frozenset[str] = EVERYBODY,
        without: Collection[int] = (),
        min_similarity: float = 0.7,
    ) -> list[Recalled]:
        """What to have in mind when answering, oldest to newest, each with its why.

        Args:
            user_id: whose important entries to bring; None for anybody's.
            current_affect: what is felt now, as in `add`; None leaves the affect slots empty.
            budget: slots, entries and tokens.
            also: entries recalled by other means (words, meaning, links).
            present: who will hear the answer; nothing private that one of them lacks is brought.
            without: ids to leave out, such as the entry that is being answered.
            min_similarity: how alike a feeling must be.
        """
        recent = [
            Recalled(entry, (Why.RECENT,), 1.0 / (1 + back), {Why.RECENT.value: 1.0 / (1 + back)})
            for back, entry in enumerate(reversed(self.retrieve_working()))
            if entry.id not in without and entry.known_to(present)
        ]
        taken = [found.entry.id for found in recent[: budget.working]]
        allowed = self._episodic.allowed(present, [*without, *taken])
        important = self._episodic.recall_important(budget.episodic, user_id, allowed)
        felt = read_affect(current_affect)
        alike = (
            []
            if felt is None
            else self._episodic.recall_alike(felt, budget.affect_similar, min_similarity, allowed)
        )
        brought = [found for found in also if found.entry.id not in without and found.entry.known_to(present)]
        context = assemble(recent, (brought, important, alike), budget)
        for found in context:
            log.info(
                "retrieved: %s: %s (importance %.2f, %s)",
                found.entry.user_id, shorten(found.entry.user_text, 50), found.entry.importance, found.why[0],
            )  # fmt: skip
        return context

    def get_context_for_response(
        self,
        user_id: str | None,
        current_affect: Any,
        working_n: int = 5,
        episodic_n: int = 3,
        affect_similar_n: int = 2,
        total_size: int | None = None,
    ) -> list[MemoryEntry]:
        """The entries of `context`, for hosts that cut and print them: oldest to newest, no doubles.

        With `total_size` there are exactly that many, as far as memory has them.
        """
        budget = Budget(working_n, episodic_n, affect_similar_n, total_size)
        return [found.entry for found in self.context(user_id, current_affect, budget)]

    def stats(self) -> MemoryStats:
        """How full the memory is. The subconscious adds its symbols."""
        importances = self._episodic.importances()
        return MemoryStats(
            hierarchical=True,
            working=len(self._working),
            working_capacity=self._working.capacity,
            episodic=len(self._episodic),
            episodic_capacity=self._episodic.capacity,
            symbols=0,
            symbol_capacity=self.symbol_capacity,
            perceived=self._perceived,
            consolidated=self._consolidated,
            consolidation_rate=self._consolidated / self._perceived if self._perceived else 0.0,
            average_importance=float(importances.mean()) if len(importances) else 0.0,
            pinned=int(self._episodic.pinned.sum()),
        )

    # -- inside

    def _revise(self, entry: MemoryEntry, **changes: Any) -> MemoryEntry:
        """A new value of an entry, wherever it is held; consolidated when it now matters enough."""
        revised = replace(entry, **changes)
        for stream in (self._working, self._episodic):
            if entry.id in stream:
                stream.put(revised)
        if self._journal is not None:
            self._journal.updated(revised)
        self._consolidate(revised)
        return revised

    def _admit(self, entry: MemoryEntry) -> None:
        if self._working.full:
            self._working.drop(int(self._working.ids.min()))
        self._working.put(entry)
        log.info(
            "added to working: %s: %s (importance %.2f, salience %.2f)",
            entry.user_id,
            shorten(entry.user_text, 50),
            entry.importance,
            entry.identity_salience,
        )
        self._consolidate(entry)

    def _consolidate(self, entry: MemoryEntry) -> None:
        """Into episodic memory, if it matters enough; out of it the weakest, if there is no room."""
        stream = self._episodic
        if entry.id in stream or not stream.admits(entry):
            return
        if stream.full:
            leaver = stream.leaver(entry, self._now)
            if leaver == entry.id:
                return
            stream.drop(leaver)
            self._note_membership(leaver, False)
        stream.put(entry)
        self._consolidated += 1
        self._note_membership(entry.id, True)
        log.info("consolidated to episodic: %s (total %d)", shorten(entry.user_text, 50), len(stream))

    def _note_membership(self, entry_id: int, episodic: bool) -> None:
        if self._journal is not None:
            self._journal.membership(entry_id, episodic)
