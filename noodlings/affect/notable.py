"""What a companion remembers of this session: a few notable events, the oldest leaving first.

It is rendered fresh into every prompt (the times in it are relative) and is no part of what was said.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from noodlings.affect.ago import ago
from noodlings.affect.game_rules import GameRules, Remembering, value_of
from noodlings.errors import UserError
from noodlings.text import clean

BEFORE = 2
"""How many earlier values a folded line names."""


@dataclass(frozen=True, slots=True)
class Notable:
    """One event worth remembering.

    Attributes:
        event: its name.
        summary: the line, without a time.
        at: world time in seconds.
        values: of the field that such events are folded by, oldest first; empty when they are not.
    """

    event: str
    summary: str
    at: float
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryBank:
    """Notable events, oldest first. A value."""

    events: tuple[Notable, ...] = ()

    def with_event(
        self, rules: GameRules, event: str, rule: Remembering, data: Mapping[str, Any], now: float
    ) -> MemoryBank:
        """With one more event, if its data make it notable; at most `rules.slots` are kept."""
        if rule.only_if and not rule.only_if.holds(data):
            return self
        kept = self.events
        values: tuple[str, ...] = ()
        line = rules.line(rule.summary, data)
        if rule.fold:
            value = value_of(data, rule.fold) or ""
            before = next((notable.values for notable in kept if notable.event == event), ())
            if before and _same(value, before[-1]):
                return self
            # Back where it has just been, nothing comes "after" itself.
            if others := [name for name in before if not _same(name, value)]:
                line = rules.line(rule.folded, {**data, "before": ", ".join(others[-BEFORE:])})
            kept = tuple(notable for notable in kept if notable.event != event)
            values = (*before[-BEFORE:], value)
        if line is None:
            return self
        return MemoryBank((*kept, Notable(event, line, now, values))[-rules.slots :])

    def without(self, moments: Collection[float]) -> MemoryBank:
        """Without what happened at these moments, in world seconds, nor a later line that may name it."""
        first = min(moments, default=math.inf)
        return MemoryBank(
            tuple(e for e in self.events if e.at not in moments and not (len(e.values) > 1 and e.at > first))
        )

    def format_memory(self, now: float, limit: int = 5) -> str:
        """The [MEMORY] block with the latest events, newest first, with how long ago; "" for none."""
        latest = self.events[::-1][: max(limit, 0)]
        return (
            "\n".join(["[MEMORY]", *(f"- {ago(now - e.at)}: {e.summary}" for e in latest)]) if latest else ""
        )

    def as_list(self) -> list[dict[str, Any]]:
        """JSON-compatible and exact."""
        return [
            {"event": e.event, "summary": e.summary, "at": e.at, "values": list(e.values)}
            for e in self.events
        ]

    @classmethod
    def from_list(cls, data: Any) -> MemoryBank:
        """Raises `UserError` for anything that `as_list` did not give."""
        try:
            events = tuple(
                Notable(
                    clean(e["event"]), clean(e["summary"]), float(e["at"]), tuple(map(clean, e["values"]))
                )
                for e in data
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            raise UserError("not a stored list of notable events") from None
        if not all(math.isfinite(e.at) for e in events):
            raise UserError("not a stored list of notable events: a time in it is not finite")
        return cls(events)


def _same(one: str, other: str) -> bool:
    """Whether two values are one name: "Birch Forest" is "birch_forest"."""
    return one.casefold().replace(" ", "_") == other.casefold().replace(" ", "_")
