"""World time: the one clock of the real world, and one that is set by hand.

Everything that needs the time is handed a clock (`noodlings.ports.Clock`), so that a replay gives the same
result twice and a world can run faster than ours.
"""

import time


class SystemClock:
    """World time is wall time, optionally sped up from the moment the clock was made.

    Args:
        speed: world seconds in one real second, > 0. 60 lets a minute pass in a second.
        not_before: world time to begin at where wall time is not that far yet: what a faster clock left
            behind is not in the future.
    """

    def __init__(self, speed: float = 1.0, not_before: float = 0.0) -> None:
        if not speed > 0:
            raise ValueError(f"a clock must run forward: speed is {speed}, it must be above 0")
        self.speed = speed
        self._made = time.time()
        self._origin = max(self._made, not_before)

    def now(self) -> float:
        """World time in seconds since 1970-01-01 UTC."""
        return self._origin + (time.time() - self._made) * self.speed


class ManualClock:
    """World time stands still until it is set: for replays, simulations and tests."""

    def __init__(self, now: float = 0.0) -> None:
        self._now = now

    def now(self) -> float:
        """World time in seconds since 1970-01-01 UTC."""
        return self._now

    def set(self, now: float) -> None:
        """Jump to a moment; it may lie in the past (a replay follows its file)."""
        self._now = now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._now += seconds
