"""What keeps calls to a model in bounds: a circuit breaker, and a budget of calls and tokens.

The circuit breaker leaves an endpoint that keeps failing alone for a while, so that nobody waits for it in
vain. Closed, it lets every call through. After `FAILURES` failures in a row it opens and refuses calls at
once; after a pause it lets one trial call through, and closes if that succeeds. Each trial that fails makes
the pause longer.

The budget limits an hour, a day, and one player's hour, and survives a restart. Hours and days are those of
UTC, so that the time of renewal can be stated. A call counts when it is made, its tokens when it is over, so
concurrent calls may exceed a token limit by what they use.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from noodlings.config import BudgetSettings
from noodlings.errors import LLMError, StoreError
from noodlings.llm.call import CallFailed
from noodlings.ports import WorldStore

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
        super().__init__(f"left alone after {failures} failures in a row ({reason})")
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


KEY = "llm_budget"
"""The key under which the world store keeps it."""
HOUR, DAY = 3_600, 86_400

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Spent:
    calls: int = 0
    tokens: int = 0

    def add(self, calls: int, tokens: int) -> None:
        self.calls += calls
        self.tokens += tokens


@dataclass(slots=True)
class _Window:
    """What was spent in one hour or day: the `number`th since 1970."""

    seconds: int
    number: int = -1
    everybody: _Spent = field(default_factory=_Spent)
    players: dict[str, _Spent] = field(default_factory=dict)

    def turn_to(self, now: float) -> None:
        """Begin anew when another hour or day has begun."""
        number = int(now // self.seconds)
        if number != self.number:  # an earlier one too: a clock that was far ahead must not lock us out
            self.number, self.everybody, self.players = number, _Spent(), {}

    def renews(self) -> str:
        """When it begins anew, in words."""
        return datetime.fromtimestamp((self.number + 1) * self.seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


class TokenBudget:
    """What may be spent, and what was.

    Args:
        settings: the limits; 0 is none.
        world_store: where it is kept; None forgets it at the end.
    """

    def __init__(self, settings: BudgetSettings, world_store: WorldStore | None) -> None:
        self._limits = settings
        self._limited = any(settings.model_dump().values())
        self._world_store = world_store
        self._hour, self._day = _Window(HOUR), _Window(DAY)
        if world_store is not None and self._limited:
            self._restore(world_store.world_get(KEY))

    def admit(self, user_id: str, now: float) -> None:
        """Raises `LLMError` when nothing is left for a call; it says which budget, and when it renews.

        Args:
            user_id: the player; "" for nobody, who has no budget of their own.
            now: wall time, seconds since 1970-01-01 UTC.
        """
        self._turn_to(now)
        limits = self._limits
        player = self._hour.players.get(user_id, _Spent())
        for name, limit, spent, window in (
            ("calls_per_hour", limits.calls_per_hour, self._hour.everybody.calls, self._hour),
            ("tokens_per_hour", limits.tokens_per_hour, self._hour.everybody.tokens, self._hour),
            ("calls_per_day", limits.calls_per_day, self._day.everybody.calls, self._day),
            ("tokens_per_day", limits.tokens_per_day, self._day.everybody.tokens, self._day),
            ("calls_per_player_hour", limits.calls_per_player_hour, player.calls, self._hour),
            ("tokens_per_player_hour", limits.tokens_per_player_hour, player.tokens, self._hour),
        ):
            if 0 < limit <= spent:
                words = name.replace("_", " ").replace("player hour", "hour and player")
                raise LLMError(f"the budget of {limit:,} {words} is used up; it renews at {window.renews()}")

    def spend(self, user_id: str, now: float, *, calls: int = 0, tokens: int = 0) -> None:
        """Note what was spent. Where it cannot be kept, which is logged, it counts until the end."""
        self._turn_to(now)
        self._hour.everybody.add(calls, tokens)
        self._day.everybody.add(calls, tokens)
        if user_id:
            self._hour.players.setdefault(user_id, _Spent()).add(calls, tokens)
        if self._world_store is not None and self._limited:
            try:
                self._world_store.world_set(KEY, self._as_dict())
            except StoreError as error:
                _log.warning("what was spent on models cannot be kept: %s", error)

    def _turn_to(self, now: float) -> None:
        self._hour.turn_to(now)
        self._day.turn_to(now)

    def _as_dict(self) -> dict[str, Any]:
        hour, day = self._hour, self._day
        return {
            "hour": [hour.number, hour.everybody.calls, hour.everybody.tokens],
            "day": [day.number, day.everybody.calls, day.everybody.tokens],
            "players": {user_id: [spent.calls, spent.tokens] for user_id, spent in hour.players.items()},
        }

    def _restore(self, kept: Any) -> None:
        if kept is None:
            return
        try:
            for window, name in ((self._hour, "hour"), (self._day, "day")):
                number, calls, tokens = map(int, kept[name])
                window.number, window.everybody = number, _Spent(calls, tokens)
            players = {
                str(who): _Spent(int(calls), int(tokens)) for who, (calls, tokens) in kept["players"].items()
            }
            self._hour.players = players
        except (TypeError, ValueError, KeyError, AttributeError):
            _log.warning("what was spent on models cannot be read; counting begins anew")
            self._hour, self._day = _Window(HOUR), _Window(DAY)
