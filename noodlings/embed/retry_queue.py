"""Entries that wait for a vector: the newest first, failed ones again after growing pauses, up to a limit.

Time is that of a monotonic clock.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

PATIENCE = 12
"""Attempts after which an entry is parked: with the pauses below, after five and a half hours."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 3_600.0
"""Seconds until it is tried again, four times as long each time."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What became of an entry so far: how often it was tried, when it is tried again, and why it failed."""

    attempts: int
    again_at: float
    reason: str


@dataclass(slots=True)
class RetryQueue:
    """The entries of one agent that have no vector yet. Not safe to share between threads.

    Attributes:
        failed: id → what became of it; it is tried again in time.
        parked: id → why it is not tried any more.
    """

    failed: dict[int, Failure] = field(default_factory=dict)
    parked: dict[int, str] = field(default_factory=dict)
    _fresh: dict[int, None] = field(default_factory=dict)
    _taken: set[int] = field(default_factory=set)

    def __len__(self) -> int:
        """How many may still get a vector; parked ones do not count."""
        return len(self._fresh) + len(self._taken) + len(self.failed)

    def add(self, entry_id: int, attempts: int = 0, reason: str = "") -> None:
        """Add an entry with its earlier attempts; one that was parked gets one more try."""
        if attempts:
            self.failed[entry_id] = Failure(min(attempts, PATIENCE - 1), -math.inf, reason)
        else:
            self._fresh[entry_id] = None

    def take(self, now: float, most: int) -> list[int]:
        """At most `most` ids to embed now; each must then be given to `done` or `fail`.

        Failed ones are tried in smaller portions each time, in the end one by one, so that one text that
        cannot be embedded does not hold up others.
        """
        if self._fresh:
            ids = [self._fresh.popitem()[0] for _ in range(min(most, len(self._fresh)))]
            self._taken.update(ids)
            return ids
        due = sorted(
            (f.again_at, f.attempts, entry_id) for entry_id, f in self.failed.items() if f.again_at <= now
        )
        return [entry_id for _, _, entry_id in due[: max(1, most >> due[0][1])]] if due else []

    def done(self, ids: Iterable[int]) -> None:
        """Remove entries that have a vector or were forgotten."""
        for entry_id in ids:
            self._fresh.pop(entry_id, None)
            self._taken.discard(entry_id)
            self.failed.pop(entry_id, None)
            self.parked.pop(entry_id, None)

    def fail(self, ids: Iterable[int], reason: str, now: float) -> dict[int, int]:
        """Note that these failed once more. Returns how often each has failed."""
        attempts = {}
        for entry_id in ids:
            before = self.failed.get(entry_id)
            attempts[entry_id] = tried = before.attempts + 1 if before else 1
            self.done([entry_id])
            if tried < PATIENCE:
                self.failed[entry_id] = Failure(tried, now + pause(tried), reason)
            else:
                self.parked[entry_id] = reason
        return attempts

    def again_at(self) -> float:
        """When there is something to take: −inf for now, inf for never."""
        if self._fresh:
            return -math.inf
        return min((failure.again_at for failure in self.failed.values()), default=math.inf)


def pause(attempts: int) -> float:
    """Seconds to wait after so many failures, ≥ 1."""
    return min(FIRST_PAUSE * 4.0 ** (attempts - 1), LONGEST_PAUSE)
