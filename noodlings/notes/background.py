"""A thread that writes notes, in nobody's way: what is due waits in a bounded queue, each memory once.

It pauses before every note. So an event meets one note at most, and a memory that changes several times in a
turn is written once. What does not fit, fails, or waits when the process is killed is not written.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from functools import partial
from threading import Condition, Thread

from noodlings.errors import StoreError
from noodlings.notes.scribe import Scribe

log = logging.getLogger(__name__)

CAPACITY = 100_000
"""Notes that may be due."""
PAUSE = 0.05
"""Real seconds before each note, until the end."""
PATIENCE = 5.0
"""Real seconds that are given at the end to what is still due."""


class BackgroundWriter:
    """Writes what is due, in the order in which it came. The thread begins with the first work.

    The first note that is not written is logged as a warning, with the reason; others are not, for when a
    disk is full there are many.

    Args:
        scribe: writes the notes.
        unfinished: ids of agents of whom something was being forgotten; that is finished first.
        capacity, pause: see `CAPACITY` and `PAUSE`.
    """

    def __init__(
        self,
        scribe: Scribe,
        unfinished: Sequence[str] = (),
        *,
        capacity: int = CAPACITY,
        pause: float = PAUSE,
    ) -> None:
        self._scribe = scribe
        self._unfinished = unfinished
        self._capacity = capacity
        self._pause = pause
        self._due: dict[tuple[str, int], bool] = {}  # agent and id → whether it gets a note in any case
        self._changed = Condition()
        self._closing = False
        self._thread: Thread | None = None
        self._warned = False
        if unfinished:
            self._start()

    def add(self, agent_id: str, ids: Collection[int], new: Collection[int]) -> None:
        """Have the notes of these memories written soon, see `Scribe.refresh`. Never waits."""
        with self._changed:
            waits = not self._due  # else it knows that there is work: to wake it would cost an event its turn
            for entry_id in ids:
                key = (agent_id, entry_id)
                if key in self._due or len(self._due) < self._capacity:
                    self._due[key] = self._due.get(key, False) or entry_id in new
                else:
                    self._warn(f"{self._capacity:,} are due already")
            if waits:
                self._changed.notify()
        self._start()

    def close(self, patience: float = PATIENCE) -> None:
        """Write what is due, without pauses, for some seconds. A second time it does nothing."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(patience)
            if self._thread.is_alive():
                self._warn(f"{len(self._due):,} were still due at the end")
            self._thread = None

    def _start(self) -> None:
        if self._thread is None:
            # A disk that does not answer must not keep the process alive: no note is ever half written.
            self._thread = Thread(target=self._work, name="noodlings-notes", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        for agent_id in self._unfinished:
            self._attempt(partial(self._scribe.resume, agent_id))
        while (next_due := self._take()) is not None:
            (agent_id, entry_id), new = next_due
            self._attempt(partial(self._scribe.refresh, agent_id, {entry_id}, {entry_id} if new else ()))

    def _take(self) -> tuple[tuple[str, int], bool] | None:
        """What is due next, when it is time; None when there is nothing more and never will be."""
        with self._changed:
            self._changed.wait_for(lambda: self._due or self._closing)
            self._changed.wait_for(lambda: self._closing, self._pause)
            if not self._due:
                return None
            key = next(iter(self._due))
            return key, self._due.pop(key)

    def _attempt(self, write: Callable[[], object]) -> None:
        try:
            write()
        except (OSError, StoreError) as error:
            self._warn(str(error))

    def _warn(self, why: str) -> None:
        if not self._warned:
            log.warning(
                "not every note is written (%s); memories are kept all the same, and this writes what is"
                " missing: noodlings notes rebuild",
                why,
            )
        self._warned = True
