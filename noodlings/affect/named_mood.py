"""The named mood of a companion: one of four, set by events, chill again when nothing keeps it up.

It is looked up, never ticked: `at_time` says what it is at any world time, whoever asked before or did not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from noodlings.affect.game_rules import MoodRule, NamedMood
from noodlings.errors import UserError


@dataclass(frozen=True, slots=True)
class MoodTracker:
    """The mood an event last led to, and when. A value.

    Attributes:
        mood: as it was then.
        since: world time in seconds of the last event that called for it.
    """

    mood: NamedMood = NamedMood.CHILL
    since: float = 0.0

    def at_time(self, now: float, lasts: float) -> NamedMood:
        """The mood at a world time, if one lasts so many seconds after its last event."""
        return NamedMood.CHILL if abs(now - self.since) >= lasts else self.mood

    def left(self, now: float, lasts: float) -> float:
        """Seconds until it is chill, if nothing happens; 0 when it is."""
        return 0.0 if self.at_time(now, lasts) is NamedMood.CHILL else lasts - (now - self.since)

    def after(self, rule: MoodRule, now: float, lasts: float) -> MoodTracker:
        """The tracker after an event with this rule; itself when the rule asks for another mood before."""
        return MoodTracker(rule.become, now) if self.at_time(now, lasts) in rule.only_from else self

    def as_dict(self) -> dict[str, Any]:
        """JSON-compatible and exact."""
        return {"mood": self.mood.value, "since": self.since}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MoodTracker:
        """Raises `UserError` for anything that `as_dict` did not give."""
        try:
            mood, since = NamedMood(data["mood"]), float(data["since"])
        except (KeyError, TypeError, ValueError, OverflowError):
            raise UserError("not a stored named mood") from None
        if not math.isfinite(since):
            raise UserError(f"not a stored named mood: its time is {since!r}")
        return cls(mood, since)
