"""The circuit breaker: an endpoint that keeps failing is left alone, so that nobody waits for it in vain.

While it is closed, every call is made. After `FAILURES` failures in a row it opens and refuses calls at once;
after a pause one trial call is made, and if that succeeds it closes. Each failed trial doubles the pause.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from noodlings.errors import LLMError
from noodlings.llm.call import CallFailed

FAILURES = 3
"""Failures in a row after which it opens."""
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 300.0
"""Seconds from opening to the trial."""


class CircuitOpen(LLMError):
    """A call was refused at once.

    Attributes:
        seconds: until a trial may be made; 0 during one.
        reason: the last failure, in words.
    """

    def __init__(self, seconds: float, failures: int, reason: str) -> None:
        super().__init__(f"not called after {failures} failures in a row ({reason})")
        self.seconds = seconds
        self.reason = reason


class CircuitBreaker:
    """The circuit breaker of one endpoint. Not thread-safe. `monotonic` is a clock in seconds."""

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
    def call(self, counts: bool = True) -> Iterator[None]:
        """Wraps a call and notes its outcome. Raises `CircuitOpen` if the call must not be made.

        If it `counts`, so does a `CallFailed` that is the endpoint's fault. Other errors change nothing,
        nor does a cancellation.
        """
        trial = self.open
        if trial:
            seconds = self._again_at - self._monotonic()
            if seconds > 0 or self._trying:
                raise CircuitOpen(max(seconds, 0.0), self._failures, self._reason)
            self._trying = True
        try:
            yield
        except CallFailed as failed:
            # What began before the circuit opened changes nothing.
            if failed.ailing and counts and (trial or not self.open):
                self._failures += 1
                self._reason = str(failed)
                if trial:
                    self._pause = min(2 * self._pause, LONGEST_PAUSE)
                self._again_at = self._monotonic() + self._pause
            raise
        else:
            self._failures, self._pause = 0, FIRST_PAUSE
        finally:
            if trial:
                self._trying = False
