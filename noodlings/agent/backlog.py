"""Entries of one agent that have no vector yet: handed out to be embedded, and kept when they come back.

A vector goes to the store first, and then into the index. Safe to share between threads: the lock of the
index guards it.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from noodlings.embed.retry_queue import PATIENCE, RetryQueue
from noodlings.errors import StoreError
from noodlings.ports import EntryColumns, Repository
from noodlings.recall.archive import SearchIndex
from noodlings.recall.neighbours import Mask
from noodlings.values.audience import OPEN, Tier
from noodlings.values.memory import EntryVector, Vector

LOG_EVERY = 1_000
"""Entries between two lines of progress in the log."""

log = logging.getLogger(__name__)


class EmbeddingBacklog:
    """The entries of an archive that are still to be embedded by one model.

    Args:
        model: the name of the model.
        dimensions: the length of its vectors; 0 until the first one tells.
        reach: the highest tier of an entry that may be embedded.

    Attributes:
        waiting: the entries to embed.
        held: while True nothing is handed out.
        reason: why something could not be embedded last, or "".
    """

    def __init__(
        self,
        agent_id: str,
        repository: Repository,
        archive: SearchIndex,
        model: str,
        dimensions: int,
        reach: Tier = Tier.SECRET,
    ) -> None:
        self.model = model
        self.dimensions = dimensions
        self.waiting = RetryQueue()
        self.held = False
        self.reason = ""
        self._agent_id = agent_id
        self._repository = repository
        self._archive = archive
        self._reach = reach

    @property
    def embedded(self) -> int:
        """How many entries have a vector."""
        with self._archive.lock:
            return self._archive.vectors.count if self.dimensions else 0

    def fitting(self, columns: EntryColumns) -> tuple[Mask, Vector]:
        """Which new entries have a vector that fits, and these vectors; queues the others if not empty."""
        embedded = np.array(columns.embedded, np.bool_)
        fits = np.array([self._fits(vector) for vector in columns.vectors], np.bool_)
        fitting = [vector for vector, fit in zip(columns.vectors, fits, strict=True) if fit]
        for place in np.flatnonzero(embedded)[~fits].tolist():
            log.warning(
                "the vector of entry %d of %s is remade: wrong length", columns.ids[place], self._agent_id
            )
            embedded[place] = False
        if self.model and not embedded.all():
            for place in np.flatnonzero(~embedded).tolist():
                audience = columns.audiences.get(place, OPEN)
                if columns.texts[place] and audience.tier <= self._reach:
                    kept = columns.tried.get(columns.ids[place])
                    tried, reason = (kept.attempts, kept.reason) if kept else (0, "")
                    self.waiting.add(columns.ids[place], tried, reason)
                    self.reason = reason or self.reason
        return embedded, np.array(fitting, np.float32)

    def take(self, now: float, most: int) -> dict[int, str]:
        """At most so many texts to embed, by entry id; each is then given to `keep` or `fail`."""
        with self._archive.lock:
            ids = [] if self.held else self.waiting.take(now, most)
        if not ids:
            return {}
        try:
            entries = self._repository.entries(self._agent_id, ids)
        except StoreError as error:
            self._failed(ids, str(error), now)
            raise
        texts: dict[int, str] = {
            number: entry.user_text for number, entry in entries.items() if entry.tier <= self._reach
        }
        with self._archive.lock:
            self.waiting.done(set(ids) - texts.keys())  # forgotten meanwhile, or secret by now
        return texts

    def keep(self, vectors: Mapping[int, Vector], now: float) -> None:
        """Keep vectors by entry id."""
        with self._archive.lock:
            strange = [len(vector) for vector in vectors.values() if not self._fits(vector)]
        if strange:
            was = f"{self.model} made vectors of {self.dimensions} numbers"
            self.fail(list(vectors), f"{was}, but now makes vectors of {strange[0]}", now)
            return
        kept = [EntryVector(number, self.model, vector) for number, vector in vectors.items()]
        try:
            self._repository.keep_vectors(self._agent_id, kept)
        except StoreError as error:
            self._failed(vectors, str(error), now)
            raise
        with self._archive.lock:
            before = self.embedded
            for one in kept:
                if one.vector is not None and one.entry_id in self._archive:
                    self._archive.set_vector(one.entry_id, one.vector)
            self.waiting.done(vectors)
            embedded, left = self.embedded, len(self.waiting)
        if embedded // LOG_EVERY > before // LOG_EVERY:
            log.info("%s: %d memories are embedded, %d to go", self._agent_id, embedded, left)

    def fail(self, ids: Sequence[int], reason: str, now: float) -> None:
        """Note that these could not be embedded."""
        attempts = self._failed(ids, reason, now)
        self._repository.keep_vectors(
            self._agent_id,
            [EntryVector(number, self.model, None, tried, reason) for number, tried in attempts.items()],
        )

    def again_at(self) -> float:
        """When there is something to take: −inf for now, inf for never."""
        with self._archive.lock:
            return math.inf if self.held else self.waiting.again_at()

    def _failed(self, ids: Iterable[int], reason: str, now: float) -> dict[int, int]:
        with self._archive.lock:
            attempts = self.waiting.fail(ids, reason, now)
            self.reason = reason
        parked = sum(tried >= PATIENCE for tried in attempts.values())
        if parked:
            log.info(
                "%s: %d memories could not be embedded and are given up: %s", self._agent_id, parked, reason
            )
        return attempts

    def _fits(self, vector: Vector) -> bool:
        """Whether a vector has the right length; the first one decides which length that is."""
        if not self.dimensions:
            self.dimensions = len(vector)
            self._archive.change_model(self.model, self.dimensions)
            self._archive.vectors.reserve(len(self._archive) * 3 // 2)
        return vector.shape == (self.dimensions,)
