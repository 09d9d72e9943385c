"""What every kind of agent memory has in common: encoding a percept, counting it, noting it for the store."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from noodlings.config import ImportanceWeights
from noodlings.memory.encode import encode
from noodlings.memory.journal import Journal
from noodlings.memory.strength import strength_of
from noodlings.values.memory import MemoryEntry, MemoryStats, Recalled
from noodlings.values.percept import Kind


class Recorder(ABC):
    """Encodes percepts in order of arrival; what becomes of an entry is up to the kind of memory.

    Args:
        weights: of the components of importance.
        journal: collects what a store has to keep; without one nothing is collected.
    """

    def __init__(self, weights: ImportanceWeights, journal: Journal | None) -> None:
        self.weights = weights
        self._journal = journal
        self._last_id = 0
        self._perceived = 0
        self._now = -math.inf
        # A turn may still hold what is forgotten meanwhile; nothing of it may come back with its response.
        self._forgotten: set[int] = set()

    def add(
        self,
        timestamp: float,
        step: int,
        user_id: str,
        user_text: str,
        affect: Any,
        phenomenal_state: Any = None,
        surprise: float = 0.0,
        response: str | None = None,
        identity_salience: float = 0.0,
        *,
        kind: Kind = Kind.SAY,
        addressed: bool = False,
        remember: bool = False,
        audience: Collection[str] = (),
        place: str = "",
        **extra: Any,
    ) -> MemoryEntry:
        """Encode a percept into working memory, and into episodic memory when it matters.

        Args:
            timestamp: world time in seconds since 1970-01-01 UTC, finite.
            step: the host's count of percepts; only kept.
            user_id, user_text: who said or did what.
            affect: five numbers (list, numpy or mlx array of shape (5,) or (1, 5)), an `Affect`, or None or
                an empty list where nothing is known.
            phenomenal_state: 40 numbers, a dict of arrays that are 40 together, or None.
            surprise, identity_salience: 0…1.
            response: what the agent answered, when that is already known.
            kind, audience, place: see `Percept`.
            addressed: it was said to this agent.
            remember: somebody asked to keep it.
            extra: anything else, kept with the entry.

        Raises:
            UserError: a number is NaN, infinite, out of range or of the wrong shape.
        """
        entry = encode(
            self._last_id + 1,
            self.weights,
            timestamp=timestamp,
            step=step,
            user_id=user_id,
            user_text=user_text,
            affect=affect,
            phenomenal_state=phenomenal_state,
            surprise=surprise,
            identity_salience=identity_salience,
            kind=kind,
            addressed=addressed,
            remember=remember,
            audience=audience,
            place=place,
            extra=extra,
        )
        self._last_id = entry.id
        self._perceived += 1
        self._now = max(self._now, entry.timestamp)
        if self._journal is not None:
            self._journal.added(entry)
        self._admit(entry)
        return entry if response is None else self.complete(entry, response)

    @property
    def now(self) -> float:
        """World time: the latest timestamp seen, −inf before there was any."""
        return self._now

    def strength(self, entry: MemoryEntry, now: float | None = None) -> float:
        """How strongly an entry stands, 0…1, at world time `now` (by default the latest timestamp seen)."""
        return strength_of(entry, self._moment(now))

    def get_stats(self) -> dict[str, Any]:
        """`stats` as a dict, for hosts."""
        return asdict(self.stats())

    @abstractmethod
    def _admit(self, entry: MemoryEntry) -> None:
        """Take a new entry in."""

    @abstractmethod
    def complete(self, entry: MemoryEntry, response: str) -> MemoryEntry:
        """Put the response beside an entry, wherever it is by now; returns its new value."""

    @abstractmethod
    def recall_by_affect(
        self, current_affect: Any, top_k: int = 5, min_similarity: float = 0.7
    ) -> list[Recalled]:
        """Entries that felt like `current_affect`, most alike first, with the likeness as score."""

    @abstractmethod
    def stats(self) -> MemoryStats:
        """How full the memory is."""

    def _moment(self, now: float | None) -> float:
        return self._now if now is None else now

    def _note_revised(self, entry: MemoryEntry) -> None:
        if self._journal is not None and entry.id not in self._forgotten:
            self._journal.updated(entry)

    def _note_forgotten(self, entry_id: int) -> None:
        self._forgotten.add(entry_id)
        if self._journal is not None:
            self._journal.forgotten(entry_id)
