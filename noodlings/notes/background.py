"""A thread that does small jobs one after the other, so that nobody waits for a disk.

A job that does not fit into its queue, or fails, is not done: it must be one that can be made up for.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from queue import Full, Queue
from threading import Thread

from noodlings.errors import StoreError

log = logging.getLogger(__name__)

CAPACITY = 1_000
"""Jobs that may wait."""
PATIENCE = 5.0
"""Real seconds that are given to what is still waiting at the end."""


class Background:
    """Does jobs in the order in which they came. The thread begins with the first one.

    The first job that is not done is logged as a warning, with the reason; others are not, for when a disk is
    full there are many.

    Args:
        lost: what it means when a job is not done, in words for the log.
        capacity: jobs that may wait.
    """

    def __init__(self, lost: str, capacity: int = CAPACITY) -> None:
        self._lost = lost
        self._queue: Queue[Callable[[], object] | None] = Queue(capacity)
        self._thread: Thread | None = None
        self._warned = False

    def add(self, job: Callable[[], object]) -> None:
        """Have a job done soon. Never waits."""
        if self._thread is None:
            # A disk that does not answer must not keep the process alive: no note is ever half written.
            self._thread = Thread(target=self._work, name="noodlings-notes", daemon=True)
            self._thread.start()
        try:
            self._queue.put_nowait(job)
        except Full:
            self._warn(f"{self._queue.maxsize:,} are waiting already")

    def close(self, patience: float = PATIENCE) -> None:
        """Do what is still waiting, for some seconds. A second time it does nothing."""
        if self._thread is None:
            return
        thread, self._thread = self._thread, None
        try:
            self._queue.put(None, timeout=patience)
        except Full:
            self._warn("the disk does not answer")
            return
        thread.join(patience)
        if thread.is_alive():
            self._warn(f"{self._queue.qsize():,} were still waiting at the end")

    def _work(self) -> None:
        while (job := self._queue.get()) is not None:
            try:
                job()
            except (OSError, StoreError) as error:
                self._warn(str(error))

    def _warn(self, why: str) -> None:
        if not self._warned:
            log.warning("not every note is written (%s); %s", why, self._lost)
        self._warned = True
