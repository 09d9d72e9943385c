"""A budget of calls and tokens for an hour, a day, and one player's hour; it survives a restart.

Hours and days are those of UTC, so that the time of renewal can be stated. A call counts when it begins, its
tokens when it ends, so concurrent calls may exceed a token limit by what they use.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from noodlings.config import BudgetSettings
from noodlings.errors import LLMError, StoreError
from noodlings.ports import WorldStore

KEY = "llm_budget"
"""The key in the world store."""
HOUR, DAY = 3_600, 86_400
_SECONDS = {"hour": HOUR, "day": DAY}

_Spent = dict[str, Any]
"""`hour` and `day` have their number since 1970 and the calls and tokens of everybody; `players` has those of
each in that hour, by id."""

_log = logging.getLogger(__name__)


class TokenBudget:
    """What may be spent, and what was spent.

    Args:
        settings: the limits; 0 means no limit.
        world_store: where it is kept; None keeps it in memory only.
    """

    def __init__(self, settings: BudgetSettings, world_store: WorldStore | None) -> None:
        self._limits = settings
        self._world_store = world_store if any(settings.model_dump().values()) else None
        self._spent = _read(self._world_store.world_get(KEY) if self._world_store else None)
        self._unsaved: list[tuple[str, int, int]] = []

    def admit(self, user_id: str, now: float) -> None:
        """Raise `LLMError`, which names the budget and its renewal, if nothing is left for a call.

        Args:
            user_id: the player; "" for nobody, who has no budget of their own.
            now: wall time, seconds since 1970-01-01 UTC.
        """
        spent = _current(self._spent, now)
        for name, window, counts in (
            ("hour", "hour", spent["hour"][1:]),
            ("day", "day", spent["day"][1:]),
            ("player_hour", "hour", spent["players"].get(user_id, (0, 0))),
        ):
            for what, count in zip(("calls", "tokens"), counts, strict=True):
                limit = getattr(self._limits, f"{what}_per_{name}")
                if 0 < limit <= count:
                    words = f"{limit:,} {what} per {name.replace('player_hour', 'hour and player')}"
                    renews = datetime.fromtimestamp((spent[window][0] + 1) * _SECONDS[window], UTC)
                    raise LLMError(f"the budget of {words} is used up until {renews:%Y-%m-%d %H:%M} UTC")

    def spend(self, user_id: str, now: float, *, calls: int = 0, tokens: int = 0) -> None:
        """Count what was spent. If the store fails, that is logged, and the count is in memory only."""

        def added(kept: Any) -> _Spent:
            """What is kept, to which another process may have added, with all that is not saved yet."""
            spent = _current(_read(kept), now)
            for unsaved in self._unsaved:
                spent = _with(spent, *unsaved)
            return spent

        here = _with(_current(self._spent, now), user_id, calls, tokens)
        if self._world_store is not None:
            self._unsaved.append((user_id, calls, tokens))
            try:
                here = self._world_store.world_update(KEY, added)
                self._unsaved.clear()
            except StoreError as error:
                _log.warning("the record of model spending cannot be saved: %s", error)
        self._spent = here


def _with(spent: _Spent, user_id: str, calls: int, tokens: int) -> _Spent:
    def more(counts: Sequence[int]) -> list[int]:
        return [*counts[:-2], counts[-2] + calls, counts[-1] + tokens]

    players = spent["players"]
    if user_id and (calls or user_id in players):  # or they have been forgotten since
        players = players | {user_id: more(players.get(user_id, (0, 0)))}
    return {"hour": more(spent["hour"]), "day": more(spent["day"]), "players": players}


def _current(spent: _Spent, now: float) -> _Spent:
    """What was spent in the present hour and day, also if another is later: the clock may have been ahead."""
    current = dict(spent)
    for name, seconds in _SECONDS.items():
        if spent[name][0] != now // seconds:
            current |= {name: [int(now // seconds), 0, 0]} | ({"players": {}} if name == "hour" else {})
    return current


def _read(kept: Any) -> _Spent:
    """What was kept; nothing spent if there is nothing, or nothing that can be read."""
    spent: _Spent = {"hour": [-1, 0, 0], "day": [-1, 0, 0], "players": {}}
    if kept is None:
        return spent
    try:
        read: _Spent = {}
        for name in _SECONDS:
            number, calls, tokens = map(int, kept[name])
            read[name] = [number, calls, tokens]
        read["players"] = {
            str(who): [int(calls), int(tokens)] for who, (calls, tokens) in kept["players"].items()
        }
        return read
    except (TypeError, ValueError, KeyError, AttributeError):
        _log.warning("the record of model spending cannot be read; counting starts again from 0")
        return spent
