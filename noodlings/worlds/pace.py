"""Real time for a port: waiting that a test can do by hand, and how fast somebody may type."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Timer(Protocol):
    """Time as it passes for people at their keyboards."""

    def now(self) -> float:
        """Seconds that only ever rise."""

    async def sleep(self, seconds: float) -> None:
        """Wait for so long."""


class RealTimer:
    """The time of this machine."""

    def now(self) -> float:
        """Seconds that only ever rise."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait for so long."""
        await asyncio.sleep(seconds)


class Pace:
    """How fast one person may go on: some at once, then so many a second.

    Args:
        per_second: things a second, > 0.
        at_once: things that need not wait after a pause.
        now: seconds, to begin with.
    """

    def __init__(self, per_second: float, at_once: int, now: float) -> None:
        self._per_second = per_second
        self._at_once = at_once
        self._left = float(at_once)
        self._counted_at = now

    def wait(self, now: float) -> float:
        """Count one thing; the seconds it has to wait for, 0 at a human pace."""
        gained = (now - self._counted_at) * self._per_second
        self._left = min(self._left + gained, self._at_once) - 1
        self._counted_at = now
        return max(-self._left / self._per_second, 0.0)
