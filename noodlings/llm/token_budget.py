"""A budget of calls and tokens for an hour, a day, and one player's hour; it survives a restart.

Hours and days are those of UTC, so that the time of renewal can be stated. A call counts when it begins, its
tokens when it ends, so concurrent calls may exceed a token limit by what they use.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from noodlings.config import BudgetSettings
from noodlings.errors import LLMError, StoreError
from noodlings.ports import WorldStore

KEY = "llm_budget"
"""The key in the world store."""
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
    """What was spent in the hour or day with this number since 1970."""

    seconds: int
    number: int = -1
    everybody: _Spent = field(default_factory=_Spent)
    players: dict[str, _Spent] = field(default_factory=dict)

    def turn_to(self, now: float) -> None:
        """Begin anew when another hour or day has begun."""
        number = int(now // self.seconds)
        if number != self.number:  # even an earlier one: a clock that was far ahead must not lock us out
            self.number, self.everybody, self.players = number, _Spent(), {}

    def renews(self) -> str:
        """When it begins anew, in words."""
        return datetime.fromtimestamp((self.number + 1) * self.seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


class TokenBudget:
    """What may be spent, and what was spent.

    Args:
        settings: the limits; 0 means no limit.
        world_store: where it is kept; None keeps it in memory only.
    """

    def __init__(self, settings: BudgetSettings, world_store: WorldStore | None) -> None:
        self._limits = settings
        self._limited = any(settings.model_dump().values())
        self._world_store = world_store
        self._hour, self._day = _Window(HOUR), _Window(DAY)
        self._unsaved: list[tuple[str, int, int]] = []
        if world_store is not None and self._limited:
            self._restore(world_store.world_get(KEY))

    def admit(self, user_id: str, now: float) -> None:
        """Raise `LLMError`, which names the budget and its renewal, if nothing is left for a call.

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
                raise LLMError(f"the budget of {limit:,} {words} is used up until {window.renews()}")

    def spend(self, user_id: str, now: float, *, calls: int = 0, tokens: int = 0) -> None:
        """Count what was spent. If the store fails, that is logged, and the count is in memory only."""

        counted = False

        def added(kept: Any) -> dict[str, Any]:
            """What is kept, to which another process may have added, with all that is not saved yet."""
            nonlocal counted
            self._hour, self._day = _Window(HOUR), _Window(DAY)
            self._restore(kept)
            self._turn_to(now)
            for spent in self._unsaved:
                self._count(*spent)
            counted = True
            return self._as_dict()

        if self._world_store is not None and self._limited:
            self._unsaved.append((user_id, calls, tokens))
            try:
                self._world_store.world_update(KEY, added)
                self._unsaved.clear()
            except StoreError as error:
                _log.warning("the record of model spending cannot be saved: %s", error)
        if not counted:
            self._turn_to(now)
            self._count(user_id, calls, tokens)

    def _count(self, user_id: str, calls: int, tokens: int) -> None:
        self._hour.everybody.add(calls, tokens)
        self._day.everybody.add(calls, tokens)
        if user_id and (calls or user_id in self._hour.players):  # or they have been forgotten since
            self._hour.players.setdefault(user_id, _Spent()).add(calls, tokens)

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
            _log.warning("the record of model spending cannot be read; counting starts again from 0")
            self._hour, self._day = _Window(HOUR), _Window(DAY)
