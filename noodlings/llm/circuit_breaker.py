"""The circuit breaker: an endpoint that keeps failing is left alone, so that nobody waits for it in vain.

Closed, it lets every call through. After `FAILURES` failures in a row it opens and refuses calls at once;
after a pause it lets one trial call through, and closes if that succeeds. Each trial that fails makes the
pause longer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from noodlings.errors import LLMError
from noodlings.llm.call import CallFailed

FAILURES = 3
"""In a row, until it opens."""
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 300.0
"""Seconds from its opening to the trial, twice as long after each trial that fails."""


class CircuitOpen(LLMError):
    """Refused at once.

    Attributes:
        seconds: until a trial is let through; 0 while one is on its way.
        reason: the last failure, in words.
    """

    def __init__(self, seconds: float, failures: int, reason: str) -> None:
        super().__init__(f"not called after {failures} failures in a row ({reason})")
        self.seconds = seconds
        self.reason = reason


class CircuitBreaker:
    """One endpoint's. Not safe to share between threads.

    Args:
        monotonic: seconds of a clock that never jumps.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._failures = 0
        self._reason = ""
        self._pause = FIRST_PAUSE
        self._again_at = math.inf
        self._trying = False

    @property
    def open(self) -> bool:
        """Whether calls are refused, but for a trial."""
        return self._failures >= FAILURES

    @contextmanager
    def call(self) -> Iterator[None]:
        """Around a call: notes how it goes.

        A `CallFailed` that says something of the endpoint counts against it; whatever else is raised, a
        cancellation among them, leaves everything as it was.

        Raises:
            CircuitOpen: the call must not be made.
        """
        trial = self._admit()
        try:
            yield
        except CallFailed as failed:
            if failed.ailing:
                self._failed(str(failed), trial)
            raise
        else:
            self._failures, self._pause = 0, FIRST_PAUSE
        finally:
            if trial:
                self._trying = False

    def _admit(self) -> bool:
        """Whether this call is a trial."""
        if not self.open:
            return False
        seconds = self._again_at - self._monotonic()
        if seconds > 0 or self._trying:
            raise CircuitOpen(max(seconds, 0.0), self._failures, self._reason)
        self._trying = True
        return True

    def _failed(self, reason: str, trial: bool) -> None:
        if self.open and not trial:
            return  # it was on its way when the circuit opened, and says nothing new
        self._failures += 1
        self._reason = reason
        if trial:
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
        self._again_at = self._monotonic() + self._pause
