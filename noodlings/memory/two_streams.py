"""Two streams: what an agent has in mind. The latest go by, what matters is consolidated and stays.

An entry becomes episodic when it matters enough, whether at once or later. When there is no room the weakest
leaves, by strength at that moment: never the oldest as such, never one that is pinned or was asked to be
remembered. Who came and who left is noted for the store; leaving is not deletion.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from noodlings.memory.episodic import EpisodicMemory
from noodlings.memory.journal import Journal
from noodlings.memory.stream import Stream
from noodlings.memory.strength import strength_of
from noodlings.text import shorten
from noodlings.values.memory import MemoryEntry

log = logging.getLogger(__name__)


class TwoStreams:
    """Working and episodic memory, and the way from one to the other.

    Attributes:
        working, episodic: the streams, to be read.
        consolidated: how often an entry became episodic.
        on_working: called when working memory holds something else than before; for whoever mirrors it.
    """

    def __init__(self, working: Stream, episodic: EpisodicMemory, journal: Journal | None) -> None:
        self.working = working
        self.episodic = episodic
        self.consolidated = 0
        self.on_working: Callable[[], None] | None = None
        self._journal = journal

    def find(self, entry_id: int) -> MemoryEntry | None:
        """The entry with this id, from either stream, or None."""
        return self.working.get(entry_id) or self.episodic.get(entry_id)

    def take_in(self, entry: MemoryEntry, now: float) -> None:
        """A new entry, in the place of the oldest in working memory when that is full."""
        if self.working.full:
            self.working.drop(int(self.working.ids.min()))
        self.working.put(entry)
        self._working_changed()
        log.info(
            "added to working: %s: %s (importance %.2f, salience %.2f)",
            entry.user_id,
            shorten(entry.user_text, 50),
            entry.importance,
            entry.identity_salience,
        )
        self.consolidate(entry, now)

    def revise(self, entry: MemoryEntry, now: float) -> None:
        """The new value of an entry, wherever it is; consolidated when it matters enough by now."""
        for stream in (self.working, self.episodic):
            if entry.id in stream:
                stream.put(entry)
        self.consolidate(entry, now)

    def consolidate(self, entry: MemoryEntry, now: float) -> None:
        """Into episodic memory, if it matters enough; out of it the weakest, if there is no room."""
        if entry.id in self.episodic or not self.episodic.admits(entry):
            return
        if self.episodic.full:
            leaver = self.episodic.leaver(entry, now)
            if leaver == entry.id:
                return
            self.leave(leaver)
        self.episodic.put(entry)
        self.consolidated += 1
        self._note_membership(entry.id, True)
        log.info("consolidated to episodic: %s (total %d)", shorten(entry.user_text, 50), len(self.episodic))

    def leave(self, entry_id: int) -> None:
        """Out of episodic memory. Raises `KeyError` for an entry that is not there."""
        self.episodic.drop(entry_id)
        self._note_membership(entry_id, False)

    def forget(self, entry_ids: Iterable[int]) -> None:
        """Out of both streams; ids that are not here are ignored."""
        for entry_id in entry_ids:
            for stream in (self.working, self.episodic):
                if entry_id in stream:
                    stream.drop(entry_id)
        self._working_changed()

    def set_working(self, entries: Iterable[MemoryEntry]) -> None:
        """Let working memory hold just these, the last that fit."""
        kept = list(entries)[-self.working.capacity :]
        self.working.clear()
        for entry in kept:
            self.working.put(entry)
        self._working_changed()

    def restore(
        self, working: Iterable[MemoryEntry], episodic: Iterable[MemoryEntry], consolidated: int, now: float
    ) -> None:
        """What was in mind when it was stored. A capacity may have been lowered since: the strongest stay."""
        self.consolidated = consolidated
        mattering = sorted(
            episodic, key=lambda entry: (entry.held, strength_of(entry, now), entry.id), reverse=True
        )
        self.episodic.clear()
        for entry in mattering[: self.episodic.capacity]:
            self.episodic.put(entry)
        self.set_working(sorted(working, key=lambda entry: entry.id))

    def _working_changed(self) -> None:
        if self.on_working is not None:
            self.on_working()

    def _note_membership(self, entry_id: int, episodic: bool) -> None:
        if self._journal is not None:
            self._journal.membership(entry_id, episodic)
