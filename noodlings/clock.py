"""World time: the one clock of the real world, and one that is set by hand.

Everything that needs the time is handed a clock (`noodlings.ports.Clock`), so that a replay gives the same
result twice and a world can run faster than ours.
"""

import logging
import math
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from noodlings.errors import UserError

EARLIEST, LATEST = -62_135_596_800.0, 253_402_300_799.0
"""The first and the last second of the calendar: the years 1 to 9999. World time ends with it."""

FURTHEST = 366 * 86_400.0
"""Seconds by which what is remembered may be ahead of now; beyond that, some clock was wrong."""

LEAST_LEFT = 86_400.0
"""Seconds of ours for which world time can go on from where it begins, before the year 9999 ends."""

UNITS = {"y": 31_557_600, "mo": 2_629_800, "wk": 604_800, "d": 86_400, "h": 3_600, "min": 60, "s": 1}
"""Units of time as they are shown and typed ("3 d ago"), in seconds, the longest first."""

log = logging.getLogger(__name__)


def moment(value: Any, name: str = "it") -> float:
    """`value` as a moment of world time. Raises `UserError` for text, and for what no calendar holds."""
    try:
        number = math.nan if isinstance(value, str | bytes | bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0.0 <= number <= LATEST:  # NaN fails this too
        raise UserError(
            f"{name} is {value!r:.40}: it must be seconds since 1970-01-01 UTC,"
            f" a number from 0 to {LATEST:.0f}"
        )
    return number


def calendar_time(timestamp: float) -> datetime:
    """A world time as a date in UTC; beyond the calendar, its first or last second."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=min(max(timestamp, EARLIEST), LATEST))


def later(latest: float, moment: float) -> float:
    """World time when something comes at `moment`, and `latest` was the latest so far.

    It does not go back, or a percept out of order would make all others younger; unless it had gone so far
    ahead that nothing would catch up.
    """
    return moment if latest - moment > FURTHEST else max(latest, moment)


class SystemClock:
    """World time is wall time, optionally sped up from the moment the clock was made, until `LATEST`.

    Args:
        speed: world seconds in one real second, > 0. 60 lets a minute pass in a second.
        not_before: world time to begin at where wall time is not that far yet: what a faster clock left
            behind is not in the future. What is further ahead than `FURTHEST` for each world second in a
            second, or leaves less than `LEAST_LEFT`, is not believed.
    """

    def __init__(self, speed: float = 1.0, not_before: float = 0.0) -> None:
        if not speed > 0:
            raise ValueError(f"a clock must run forward: speed is {speed}, it must be above 0")
        self.speed = speed
        self._made = time.time()
        self._origin = max(self._made, not_before)
        # A very fast clock may have run for thousands of years, so one imported memory of the year 9999 would
        # be believed, and time would stand still for everybody, at this start and at each one after it.
        last = min(self._made + FURTHEST * max(speed, 1.0), LATEST - LEAST_LEFT * speed)
        if not_before > max(last, self._made):
            self._origin = self._made
            log.warning(
                "the latest memory is %.0f days ahead of this computer's clock: one of the two is wrong."
                " World time goes on from the clock; if the world ran faster before, set world.clock_speed"
                " as it was",
                (not_before - self._made) / 86_400.0,
            )

    def now(self) -> float:
        """World time in seconds since 1970-01-01 UTC."""
        now = self._origin + (time.time() - self._made) * self.speed
        return min(now, LATEST)  # what comes later than that is refused, see `moment`


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
