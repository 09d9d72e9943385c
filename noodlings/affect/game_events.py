"""What a game made of a companion: its named mood, how things stand, and what it remembers of the session.

Events change all three, whether or not anybody spoke in between; rendering them for a prompt changes none.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from noodlings.affect.game_rules import GameRules, NamedMood, event_name
from noodlings.affect.game_state import GameState
from noodlings.affect.named_mood import MoodTracker
from noodlings.affect.notable import MemoryBank
from noodlings.errors import UserError
from noodlings.values.affect import Affect

VERSION = 1


@dataclass(frozen=True, slots=True)
class GameFeeling:
    """Named mood, notable events and the latest state. A value: an event gives a new one."""

    tracker: MoodTracker = field(default_factory=MoodTracker)
    bank: MemoryBank = field(default_factory=MemoryBank)
    state: GameState = field(default_factory=GameState)

    def after(
        self, rules: GameRules, event: str, data: Mapping[str, Any], now: float
    ) -> tuple[GameFeeling, Affect | None]:
        """Take in an event of the game.

        Args:
            event: its name; one without a rule may tell how things stand, and changes nothing else.
            data: whatever the game tells of it. Fields that are missing or of an odd kind do no harm.
            now: world time in seconds.

        Returns:
            What the event left, and what it feels like (to push the slow mood), or None for nothing.

        Raises:
            UserError: the time is not finite.
        """
        if not math.isfinite(now):
            raise UserError(f"the time of a game event must be finite seconds, not {now!r}")
        state = self.state.told(rules, data, now)
        rule = rules.rule(event, data)
        if rule is None:
            return GameFeeling(self.tracker, self.bank, state), None
        tracker, bank = self.tracker, self.bank
        if rule.mood:
            tracker = tracker.after(rule.mood, now, rules.lasts_seconds)
        if rule.remember:
            bank = bank.with_event(rules, event_name(event), rule.remember, data, now)
        return GameFeeling(tracker, bank, state), rule.feel.affect() if rule.feel else None

    def without(self, moments: Collection[float]) -> GameFeeling:
        """Without the words of what happened at these moments, in world seconds."""
        return GameFeeling(self.tracker, self.bank.without(moments), self.state.without(moments))

    @property
    def began(self) -> bool:
        """Whether there ever was an event of a game."""
        return self.state.at is not None

    def mood(self, rules: GameRules, now: float) -> NamedMood:
        """The named mood at a world time."""
        return self.tracker.at_time(now, rules.lasts_seconds)

    def blocks(self, rules: GameRules, now: float) -> tuple[str, ...]:
        """What a voice is told anew in each turn: `[GAME STATE] …` and, where there is any, `[MEMORY] …`.

        Empty before the first event of a game. The times in it are relative to `now`, so it is never kept.
        """
        told = (self.state.line(self.mood(rules, now), rules, now), self.bank.format_memory(now))
        return tuple(block for block in told if block)

    def as_dict(self) -> dict[str, Any]:
        """JSON-compatible and exact."""
        return {
            "version": VERSION,
            "tracker": self.tracker.as_dict(),
            "events": self.bank.as_list(),
            "state": self.state.as_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GameFeeling:
        """Raises `UserError` for another version, and for anything that is damaged."""
        if data.get("version") != VERSION:
            raise UserError(f"a stored game feeling of version {data.get('version')!r}, not {VERSION}")
        return cls(
            MoodTracker.from_dict(data.get("tracker", {})),
            MemoryBank.from_list(data.get("events")),
            GameState.from_dict(data.get("state")),
        )
