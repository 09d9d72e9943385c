"""What every kind of agent memory has in common: encoding a percept, counting it, noting it for the store."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import Any

from noodlings.clock import later
from noodlings.memory.change_journal import ChangeJournal
from noodlings.memory.encode import encode
from noodlings.memory.importance import strength_of
from noodlings.memory.saved import Saved, SavedEntry, read, write
from noodlings.values.audience import Audience
from noodlings.values.memory import ImportanceWeights, MemoryEntry, MemoryStats
from noodlings.values.percept import Kind, Percept


class AgentMemory(ABC):
    """Encodes percepts in order of arrival; what becomes of an entry is up to the kind of memory.

    Attributes:
        lock: held by every method while it runs. A thread holds it around calls that belong together, such as
            reading what the journal collected and writing it.
    """

    def __init__(self, weights: ImportanceWeights, journal: ChangeJournal | None) -> None:
        self.lock = RLock()
        self.weights = weights
        self._journal = journal
        self._last_id = 0
        self._perceived = 0
        self._now = -math.inf
        # A turn may still hold an entry that is forgotten meanwhile: its response must not bring it back.
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
        significance: float | None = None,
        audience: Audience | Collection[str] = (),
        place: str = "",
        **extra: Any,
    ) -> MemoryEntry:
        """Encode a percept into working memory, and into episodic memory when it matters.

        Args:
            timestamp: world time in seconds since 1970-01-01 UTC, see `noodlings.clock.moment`.
            step: the host's count of percepts; only kept.
            user_id, user_text: who said or did what.
            affect: five numbers (list, numpy or mlx array of shape (5,) or (1, 5)), an `Affect`, or None or
                an empty list where nothing is known.
            phenomenal_state: 40 numbers, a dict of arrays that are 40 together, or None.
            surprise, identity_salience: 0…1.
            response: what the agent answered, when that is already known.
            kind, place: see `Percept`.
            audience: who may learn of it, or only the ids of those who witnessed it. Nobody else ever learns
                of a whisper or a thought.
            addressed: it was said to this agent.
            remember: somebody asked to keep it.
            significance: see `remember`.
            extra: anything else, kept with the entry.

        Raises:
            UserError: a number is NaN, infinite, out of range or of the wrong shape.
        """
        entry = self.remember(
            Percept(
                user_id, user_text, timestamp, kind=kind, addressed=addressed, audience=audience, place=place
            ),
            step=step,
            affect=affect,
            phenomenal_state=phenomenal_state,
            surprise=surprise,
            identity_salience=identity_salience,
            keep=remember,
            significance=significance,
            extra=extra,
        )
        return entry if response is None else self.complete(entry, response)

    @property
    def last_id(self) -> int:
        """The highest id that was ever given, 0 before the first."""
        return self._last_id

    def remember(
        self,
        percept: Percept,
        *,
        step: int,
        affect: Any,
        phenomenal_state: Any = None,
        surprise: float = 0.0,
        identity_salience: float = 0.0,
        keep: float = 0.0,
        significance: float | None = None,
        extra: dict[str, Any] | None = None,
        source: str = "",
    ) -> MemoryEntry:
        """Encode a percept as `add` does.

        Args:
            keep: how far somebody asked to keep it, 0…1; at 1 it never leaves episodic memory.
            significance: how far its words are worth keeping, 0…1; None where nobody appraised them. It
                shrinks with each entry in mind that has the same words.
            extra: kept with the entry; the percept's data by default.
            source: see `MemoryEntry.source`. An entry with a source was not lived: it becomes episodic when
                it matters, but never enters working memory, and world time does not follow it.
        """
        entry = encode(
            self._last_id + 1,
            self.weights,
            percept,
            step=step,
            affect=affect,
            phenomenal_state=phenomenal_state,
            surprise=surprise,
            identity_salience=identity_salience,
            remember=keep,
            significance=significance,
            repeats=0 if significance is None else self._said_before(percept),
            extra={"data": percept.data} if extra is None else extra,
            source=source,
        )
        self._last_id = entry.id
        self._perceived += 1
        if not source:
            self._now = later(self._now, entry.timestamp)
        if self._journal is not None:
            self._journal.added(entry)
        self._admit(entry)
        return entry

    def _said_before(self, percept: Percept) -> int:
        """How many entries in mind have the same words by the same speaker.

        Those of other speakers do not count, because the importance would give them away.
        """
        return 0

    def save(self, path: str | PathLike[str]) -> None:
        """Write what is in mind to a file, for hosts without a store; see `noodlings.memory.saved.write`."""
        write(self.saved(), Path(path))

    def load(self, path: str | PathLike[str]) -> int:
        """Restore a saved memory; see `noodlings.memory.saved.read`. The journal does not record it.

        Returns how many entries there were. If there is no file yet, it returns 0 and nothing changes.
        """
        saved = read(Path(path))
        if saved is None:
            return 0
        self.take_up(saved)
        return len(saved.entries)

    def saved(self) -> Saved:
        """All that is in mind, as a value."""
        working = {entry.id: entry for entry in self.retrieve_working()}
        episodic = {entry.id: entry for entry in self.retrieve_episodic(limit=None)}
        stats = self.stats()
        entries = (
            SavedEntry(entry, entry.id in working, entry.id in episodic)
            for _, entry in sorted((episodic | working).items())
        )
        return Saved(tuple(entries), stats.perceived, stats.consolidated, self._last_id)

    def take_up(self, saved: Saved) -> None:
        """Restore a memory as it was when it was saved; what was forgotten since stays forgotten."""
        entries = [kept for kept in saved.entries if kept.entry.id not in self._forgotten]
        self.restore(
            [kept.entry for kept in entries if kept.working],
            [kept.entry for kept in entries if kept.episodic],
            max(saved.perceived, len(saved.entries)),
            saved.consolidated,
            saved.last_id,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Without the lock: a copy has its own."""
        return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, lock=RLock())

    @property
    def now(self) -> float:
        """World time: the latest timestamp seen, −inf before there was any."""
        return self._now

    def weight(self, entry: MemoryEntry) -> float:
        """By what an important entry comes to mind, 0…1."""
        return entry.importance

    def strength(self, entry: MemoryEntry, now: float | None = None) -> float:
        """How strongly an entry stands, 0…1, at world time `now` (by default the latest timestamp seen)."""
        return strength_of(entry, self._now if now is None else now)

    def get_stats(self) -> dict[str, Any]:
        """`stats` as a dict, for hosts."""
        return asdict(self.stats())

    @abstractmethod
    def _admit(self, entry: MemoryEntry) -> None:
        """Take a new entry in; one from a source never as if it had just happened."""

    @abstractmethod
    def complete(self, entry: MemoryEntry, response: str) -> MemoryEntry:
        """Add the response to an entry, wherever it is by now; returns its new value."""

    @abstractmethod
    def retrieve_working(self, last_n: int | None = None) -> list[MemoryEntry]:
        """The latest entries, oldest first."""

    @abstractmethod
    def retrieve_episodic(
        self, user_id: str | None = None, min_importance: float = 0.0, limit: int | None = 10
    ) -> list[MemoryEntry]:
        """Entries that matter, most important first."""

    @abstractmethod
    def restore(
        self,
        working: Iterable[MemoryEntry],
        episodic: Iterable[MemoryEntry],
        perceived: int,
        consolidated: int,
        last_id: int,
    ) -> None:
        """Replace everything with what was stored of an agent. The journal does not record it."""

    @abstractmethod
    def stats(self) -> MemoryStats:
        """How full the memory is."""

    def _resume(self, entries: Iterable[MemoryEntry]) -> None:
        """Set world time to what it was after these entries."""
        self._now = -math.inf
        lived = (entry for entry in entries if not entry.source)
        for entry in sorted(lived, key=lambda entry: entry.id):
            self._now = later(self._now, entry.timestamp)

    def _note_revised(self, entry: MemoryEntry) -> None:
        if self._journal is not None and entry.id not in self._forgotten:
            self._journal.updated(entry)

    def _note_forgotten(self, entry_id: int) -> None:
        self._forgotten.add(entry_id)
        if self._journal is not None:
            self._journal.forgotten(entry_id)
