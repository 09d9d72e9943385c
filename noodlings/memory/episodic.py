"""Episodic memory: the entries that matter. Who comes in, who leaves, and how they are found again."""

from __future__ import annotations

import numpy as np

from noodlings.memory.likeness import Metric
from noodlings.memory.stream import Floats, Mask, Rows, Stream
from noodlings.memory.strength import strength_of
from noodlings.values.affect import Affect
from noodlings.values.build import builder
from noodlings.values.memory import MemoryEntry, Recalled, Why

_build_recalled = builder(Recalled)


class EpisodicMemory(Stream):
    """A stream that makes room by strength: the weakest leaves, never the oldest as such.

    Args:
        capacity, metric: see `Stream`.
        threshold: an importance above this lets an entry in, 0…1.
    """

    def __init__(self, capacity: int, metric: Metric, threshold: float) -> None:
        super().__init__(capacity, metric)
        self.threshold = threshold

    def admits(self, entry: MemoryEntry) -> bool:
        """Whether an entry that is not here matters enough to come in, were there room."""
        return entry.held or entry.importance > self.threshold

    def leaver(self, newcomer: MemoryEntry, now: float) -> int:
        """Who leaves a full memory when `newcomer` comes, by id: the weakest at world time `now`.

        Equal ones: the oldest. What is held stays; the newcomer itself leaves when it is the weakest, or
        when everything else is held.
        """
        rows = np.flatnonzero(~self.held)
        if not len(rows):
            return newcomer.id
        strengths = self.strengths(now)[rows]
        lowest = strengths.min()
        if not newcomer.held and strength_of(newcomer, now) < lowest:
            return newcomer.id
        return int(self.ids[rows[strengths == lowest]].min())

    @property
    def all_held(self) -> bool:
        """Whether there is no room and nothing may leave."""
        return self.full and bool(self.held.all())

    def important(
        self, limit: int | None, min_importance: float, user_id: str | None, known: Mask | None = None
    ) -> list[MemoryEntry]:
        """The most important known ones first (equal ones: newer first), of one user where one is given."""
        scores = self.importances()
        mask = scores >= min_importance
        if known is not None:
            mask &= known
        if user_id is not None:
            mask &= self.said_by(user_id)
        return self.entries(self.top(scores, len(self) if limit is None else limit, mask))

    def recall_important(self, limit: int, user_id: str | None, allowed: Mask) -> list[Recalled]:
        """The most important rows that are allowed; what is recalled is taken out of `allowed`."""
        scores = self.importances()
        rows = self.top(scores, limit, allowed if user_id is None else allowed & self.said_by(user_id))
        allowed[rows] = False
        return self._recalled(rows, scores, Why.IMPORTANT)

    def alike(self, affect: Affect, limit: int, min_similarity: float) -> list[MemoryEntry]:
        """Those that felt most like `affect`, most alike first."""
        scores = self.likeness(affect)
        return self.entries(self.top(scores, limit, scores >= min_similarity))

    def recall_alike(
        self, affect: Affect, limit: int, min_similarity: float, allowed: Mask | None = None
    ) -> list[Recalled]:
        """The same of the rows that are allowed, with the likeness as score."""
        scores = self.likeness(affect)
        mask = scores >= min_similarity
        if allowed is not None:
            mask &= allowed
        return self._recalled(self.top(scores, limit, mask), scores, Why.AFFECT)

    def _recalled(self, rows: Rows, scores: Floats, why: Why) -> list[Recalled]:
        reasons, name = (why,), why.value
        return [
            _build_recalled(entry, reasons, score, {name: score})
            for entry, score in zip(self.entries(rows), scores.take(rows).tolist(), strict=True)
        ]
