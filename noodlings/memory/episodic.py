"""Episodic memory, and the two streams that an agent has in mind.

The latest entries pass through working memory. An entry becomes episodic when it matters enough, at once or
later. When there is no room, the entry that is weakest at that moment leaves: not the oldest, and never one
that is pinned or that somebody asked to have remembered. Entries that leave are not deleted.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import numpy as np

from noodlings.logs import quoted
from noodlings.memory.change_journal import ChangeJournal
from noodlings.memory.importance import retention, strength_of
from noodlings.memory.likeness import Metric
from noodlings.memory.stream import HELD, STABILITY, Floats, Mask, Rows, Stream
from noodlings.values.affect import Affect, builder
from noodlings.values.audience import Tier
from noodlings.values.memory import MemoryEntry, Recalled, Why
from noodlings.values.percept import NOT_LIVED

_build_recalled = builder(Recalled)
_WEAKEST = 128
"""How many of the weakest entries are cached, so that not all are compared whenever one must leave."""


class EpisodicMemory(Stream):
    """A stream from which the weakest leaves.

    Args:
        threshold: an importance above it lets an entry in, 0…1.
        hindsight: whether what is important is recalled by its weight in hindsight.
    """

    def __init__(self, capacity: int, metric: Metric, threshold: float, hindsight: bool = True) -> None:
        super().__init__(capacity, metric)
        self.threshold, self.hindsight = threshold, hindsight
        # The weakest when all were last compared; how strong the next was then, and how stable all are.
        self._weak: set[int] | None = None
        self._bound = self._looked_at = self._least_stability = 0.0
        self._bound_id = 0

    def clear(self) -> None:
        super().clear()
        self._weak = None

    def admits(self, entry: MemoryEntry) -> bool:
        """Whether an entry that is not here matters enough to come in. What was not lived never does."""
        if entry.kind in NOT_LIVED:
            return False
        return entry.pinned or entry.parts.remember > 0.0 or entry.importance > self.threshold

    def leaver(self, newcomer: MemoryEntry, now: float) -> int:
        """The id of the entry that leaves a full memory for `newcomer`: the weakest at world time `now`.

        Of equal ones the oldest leaves. What is held stays; the newcomer itself leaves when it is the
        weakest, or when everything else is held.
        """
        rows = self._weak_rows(now)
        if not len(rows):
            return newcomer.id
        strengths = self.strengths(now, rows)
        lowest = strengths.min()
        if not newcomer.held and strength_of(newcomer, now) < lowest:
            return newcomer.id
        return int(self.ids[rows[strengths == lowest]].min())

    def put(self, entry: MemoryEntry) -> None:
        super().put(entry)
        if self._weak is not None:
            self._weak.add(entry.id)

    def drop(self, entry_id: int) -> None:
        super().drop(entry_id)
        if self._weak is not None:
            self._weak.discard(entry_id)

    def _weak_rows(self, now: float) -> Rows:
        """Rows that may leave, the weakest among them; none where nothing may leave.

        These are all rows of a small memory. Of a large one they are those that were weakest when all were
        last compared, and what was put in since: the others were stronger than a bound, and a strength falls
        by no more than the retention does.
        """
        if len(self) <= 2 * _WEAKEST:
            return np.flatnonzero(~self.held)
        if self._weak is not None and len(self._weak) <= 2 * _WEAKEST:
            known = np.array([self._row_of[entry_id] for entry_id in self._weak], np.intp)
            rows: Rows = known[self._ints[known, HELD] == 0]
            if len(rows) and self._still_weakest(rows, now):
                return rows
        rows = np.flatnonzero(~self.held)
        if len(rows) <= _WEAKEST:
            return rows
        strengths, ids = self.strengths(now, rows), self.ids[rows]
        edge = np.partition(strengths, _WEAKEST)[_WEAKEST]
        few = np.flatnonzero(strengths <= edge)
        few = few[np.lexsort((ids[few], strengths[few]))]
        self._bound, self._bound_id = float(edge), int(ids[few[_WEAKEST]])
        self._looked_at, self._least_stability = now, float(self._floats[rows, STABILITY].min())
        self._weak = set(ids[few[:_WEAKEST]].tolist())
        return rows[few[:_WEAKEST]]

    def _still_weakest(self, rows: Rows, now: float) -> bool:
        """Whether the weakest of these rows is weaker than all others can be by now, or as weak and older."""
        strengths, elapsed = self.strengths(now, rows), max(now - self._looked_at, 0.0)
        lowest = strengths.min()
        if lowest == self._bound and elapsed == 0.0:
            return bool(self.ids[rows[strengths == lowest]].min() < self._bound_id)
        return bool(lowest < self._bound * float(retention(elapsed, self._least_stability)))

    @property
    def all_held(self) -> bool:
        """Whether there is no room and nothing may leave."""
        return self.full and bool(self.held.all())

    def important(
        self, limit: int | None, min_importance: float, user_id: str | None, known: Mask
    ) -> list[MemoryEntry]:
        """The most important entries first (equal ones: newer first)."""
        scores = self.importances()
        mask = known & (scores >= min_importance)
        if user_id is not None:
            mask &= self.said_by(user_id)
        return self.entries(self.top(scores, len(self) if limit is None else limit, mask))

    def recall_important(self, limit: int, user_id: str | None, allowed: Mask) -> list[Recalled]:
        """The most important rows that are allowed; they are then removed from `allowed`."""
        scores = self.weights() if self.hindsight else self.importances()
        rows = self.top(scores, limit, allowed if user_id is None else allowed & self.said_by(user_id))
        allowed[rows] = False
        return self._recalled(rows, scores, Why.IMPORTANT)

    def alike(self, affect: Affect, limit: int, min_similarity: float) -> list[MemoryEntry]:
        """The entries that felt most like `affect`, most alike first."""
        scores = self.likeness(affect)
        return self.entries(self.top(scores, limit, scores >= min_similarity))

    def recall_alike(
        self, affect: Affect, limit: int, min_similarity: float, allowed: Mask
    ) -> list[Recalled]:
        """The same of the rows that are allowed, with the likeness as score."""
        scores = self.likeness(affect)
        rows = self.top(scores, limit, allowed & (scores >= min_similarity))
        return self._recalled(rows, scores, Why.AFFECT)

    def _recalled(self, rows: Rows, scores: Floats, why: Why) -> list[Recalled]:
        reasons, name = (why,), why.value
        return [
            _build_recalled(entry, reasons, score, {name: score}, (), (), None, (), "")
            for entry, score in zip(self.entries(rows), scores.take(rows).tolist(), strict=True)
        ]


log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class TwoStreams:
    """Working and episodic memory, and the way from one to the other.

    Attributes:
        logged_below: the log quotes entries of a tier below this one.
        consolidated: how often an entry became episodic.
        on_change: see `HierarchicalMemory.mirror`.
    """

    working: Stream
    episodic: EpisodicMemory
    journal: ChangeJournal | None
    logged_below: Tier = Tier.SECRET
    consolidated: int = 0
    on_change: Callable[[Collection[int] | None], None] | None = None

    def take_in(self, entry: MemoryEntry, now: float) -> None:
        """Add a new entry, in the place of the oldest in working memory when that is full."""
        self._into_working(entry)
        words = quoted(entry, self.logged_below)
        log.info(
            "added to working: %s: %s (importance %.2f, salience %.2f)",
            entry.user_id, words, entry.importance, entry.identity_salience,
        )  # fmt: skip
        self.consolidate(entry, now)

    def readmit(self, entry: MemoryEntry, episodic: bool, now: float) -> None:
        """Put back an entry that was in mind once, into episodic memory too if it was there."""
        self._into_working(entry)
        if episodic:
            self._let_in(entry, now)

    def _into_working(self, entry: MemoryEntry) -> None:
        if self.working.full:
            self.working.drop(int(self.working.ids.min()))
        self.working.put(entry)
        self._changed(entry.id)

    def revise(self, entry: MemoryEntry, now: float) -> None:
        """Replace an entry wherever it is, and consolidate it when it matters enough by now."""
        self.replace(entry)
        self.consolidate(entry, now)

    def replace(self, entry: MemoryEntry) -> None:
        for stream in (self.working, self.episodic):
            if entry.id in stream:
                stream.put(entry)
                self._changed(entry.id)

    def consolidate(self, entry: MemoryEntry, now: float) -> None:
        """Put an entry into episodic memory if it matters enough, if need be in place of the weakest."""
        if entry.id in self.episodic or not self.episodic.admits(entry) or not self._let_in(entry, now):
            return
        self.consolidated += 1
        words = quoted(entry, self.logged_below)
        # With whose it is, so that it can be found when all of theirs is deleted.
        log.info("consolidated to episodic: %s: %s (total %d)", entry.user_id, words, len(self.episodic))

    def _let_in(self, entry: MemoryEntry, now: float) -> bool:
        """Put an entry into episodic memory, unless there is no room and it is the weakest itself."""
        if self.episodic.full:
            leaver = self.episodic.leaver(entry, now)
            if leaver == entry.id:
                return False
            self.leave(leaver)
        self.episodic.put(entry)
        self._note_membership(entry.id, True)
        return True

    def leave(self, entry_id: int) -> None:
        """Remove an entry from episodic memory. Raises `KeyError` if it is not there."""
        self.episodic.drop(entry_id)
        self._note_membership(entry_id, False)

    def forget(self, entry_ids: Iterable[int]) -> None:
        """Remove entries from both streams; unknown ids are ignored."""
        ids = list(entry_ids)
        for entry_id in ids:
            for stream in (self.working, self.episodic):
                if entry_id in stream:
                    stream.drop(entry_id)
        if self.on_change is not None:
            self.on_change(ids)

    def set_working(self, entries: Iterable[MemoryEntry]) -> None:
        """Let working memory hold just these, the last that fit."""
        latest = list(entries)[-self.working.capacity :]
        self.working.clear()
        for entry in latest:
            self.working.put(entry)
        if self.on_change is not None:
            self.on_change(None)

    def restore(
        self, working: Iterable[MemoryEntry], episodic: Iterable[MemoryEntry], consolidated: int, now: float
    ) -> None:
        """Restore what was in mind. If the capacity was lowered since, the strongest entries stay."""
        self.consolidated = consolidated
        strongest_first = sorted(
            episodic, key=lambda entry: (entry.held, strength_of(entry, now), entry.id), reverse=True
        )
        self.episodic.clear()
        for entry in strongest_first[: self.episodic.capacity]:
            self.episodic.put(entry)
        self.set_working(sorted(working, key=lambda entry: entry.id))

    def _changed(self, entry_id: int) -> None:
        if self.on_change is not None:
            self.on_change((entry_id,))

    def _note_membership(self, entry_id: int, episodic: bool) -> None:
        self._changed(entry_id)
        if self.journal is not None:
            self.journal.membership(entry_id, episodic)
