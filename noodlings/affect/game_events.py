"""What a game made of a companion: its named mood and what it remembers of the session.

Events change both, whether or not anybody spoke in between; rendering them for a prompt changes neither.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from noodlings.affect.game_rules import GameRules, NamedMood, value_of
from noodlings.affect.named_mood import MoodTracker
from noodlings.affect.notable import MemoryBank
from noodlings.errors import UserError
from noodlings.text import clean
from noodlings.values.affect import Affect

VERSION = 1

MAX_FIELDS = 12
"""How many fields of a game's state are told."""

# Label, field, and the full measure: a field of its own, else what games usually have.
_MEASURED = (("HP", "hp", "max_hp", "20"), ("Food", "food", "max_food", "20"))


@dataclass(frozen=True, slots=True)
class GameFeeling:
    """Named mood and notable events. A value: an event gives a new one."""

    tracker: MoodTracker = field(default_factory=MoodTracker)
    bank: MemoryBank = field(default_factory=MemoryBank)

    def after(
        self, rules: GameRules, event: str, data: Mapping[str, Any], now: float
    ) -> tuple[GameFeeling, Affect | None]:
        """Take in an event of the game.

        Args:
            event: its name; one without a rule changes nothing.
            data: whatever the game tells of it. Fields that are missing or of an odd kind do no harm.
            now: world time in seconds.

        Returns:
            What the event left, and what it feels like (to push the slow mood), or None for nothing.

        Raises:
            UserError: the time is not finite.
        """
        if not math.isfinite(now):
            raise UserError(f"the time of a game event must be finite seconds, not {now!r}")
        rule = rules.rule(event, data)
        if rule is None:
            return self, None
        tracker, bank = self.tracker, self.bank
        if rule.mood:
            tracker = tracker.after(rule.mood, now, rules.lasts_seconds)
        if rule.remember:
            bank = bank.with_event(rules, clean(event).lower(), rule.remember, data, now)
        return GameFeeling(tracker, bank), rule.feel.affect() if rule.feel else None

    def without(self, moments: Collection[float]) -> GameFeeling:
        """Without the words of what happened at these moments, in world seconds."""
        return GameFeeling(self.tracker, self.bank.without(moments))

    def mood(self, rules: GameRules, now: float) -> NamedMood:
        """The named mood at a world time."""
        return self.tracker.at_time(now, rules.lasts_seconds)

    def as_dict(self) -> dict[str, Any]:
        """JSON-compatible and exact."""
        return {"version": VERSION, "tracker": self.tracker.as_dict(), "events": self.bank.as_list()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GameFeeling:
        """Raises `UserError` for another version, and for anything that is damaged."""
        if data.get("version") != VERSION:
            raise UserError(f"a stored game feeling of version {data.get('version')!r}, not {VERSION}")
        return cls(MoodTracker.from_dict(data.get("tracker", {})), MemoryBank.from_list(data.get("events")))


def format_game_state(mood: NamedMood, state: Mapping[str, Any]) -> str:
    """One line that tells a voice how things stand: `[GAME STATE] Mood:nervous | HP:8/20 | Biome:plains`.

    Args:
        mood: the named mood, always first.
        state: what the game says: `hp` and `food` (with `max_hp` and `max_food` where those are not 20),
            `biome`, and whatever else. What did not come, or is neither text nor a number, is left out.
    """
    return "[GAME STATE] " + " | ".join([f"Mood:{mood}", *_fields(state)][: MAX_FIELDS + 1])


def _fields(state: Mapping[str, Any]) -> Iterator[str]:
    told = {"mood"}
    for label, name, full, usual in _MEASURED:
        told |= {name, full}
        if value := value_of(state, name):
            yield f"{label}:{value}/{value_of(state, full) or usual}"
    for name in ["biome", *state]:
        if name not in told and (value := value_of(state, name)):
            told.add(name)
            yield f"{_label(name)}:{value}"


def _label(name: str) -> str:
    """`held_item` as "Held item"."""
    return clean((value_of({"name": name}, "name") or "").replace("_", " ")).capitalize() or "?"
