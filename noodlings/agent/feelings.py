"""What moves slowly in an agent, as one value: its mood, what a game made of it, and its appetites."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from noodlings.affect.game_events import GameFeeling
from noodlings.affect.game_rules import GameRules
from noodlings.affect.mood import Mood, baseline_of
from noodlings.mind.appetites import Appetites, DriveTable, signals
from noodlings.values.affect import Affect
from noodlings.values.percept import Kind, Percept
from noodlings.values.persona import Persona

EVENT = "event"
"""The key in a percept's data under which a game names what happened."""


@dataclass(frozen=True, slots=True)
class Feelings:
    """The slow side of an agent at one moment; a change is a new value."""

    mood: Mood
    game: GameFeeling
    appetites: Appetites

    @classmethod
    def of(cls, persona: Persona, now: float) -> Feelings:
        """Of somebody to whom nothing has happened yet."""
        return cls(Mood.of(persona, now), GameFeeling(), Appetites.of(persona, now))

    def after_event(self, rules: GameRules, percept: Percept) -> tuple[Feelings, Affect | None]:
        """What a game's event leaves, and what it feels like; nothing for every other percept."""
        name = event_of(percept)
        if not name:
            return self, None
        game, affect = self.game.after(rules, name, percept.data, percept.timestamp)
        return Feelings(self.mood, game, self.appetites), affect

    def pushed(self, affect: Affect, now: float) -> Feelings:
        """After something felt like `affect`."""
        return Feelings(self.mood.pushed(affect, now), self.game, self.appetites)

    def fed(self, drives: DriveTable, percept: Percept, affect: Affect, surprise: float) -> Feelings:
        """After a percept satisfied or sharpened appetites; `surprise` is 0…1."""
        happened = signals(affect, surprise, percept.addressed, event_of(percept))
        return Feelings(self.mood, self.game, self.appetites.moved(drives, happened, percept.timestamp))

    def without(self, moments: Collection[float]) -> Feelings:
        """Without the words of what happened at these moments, in world seconds; what was felt stays."""
        return Feelings(self.mood, self.game.without(moments), self.appetites)

    def as_dict(self) -> dict[str, Any]:
        """What a restart needs, JSON-compatible and exact."""
        return {
            "mood": self.mood.as_dict(),
            "game": self.game.as_dict(),
            "appetites": self.appetites.as_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], persona: Persona) -> Feelings:
        """The feelings that `as_dict` was taken from. Raises `UserError` for anything else."""
        return cls(
            Mood.from_dict(data["mood"], baseline_of(persona)),
            GameFeeling.from_dict(data["game"]),
            Appetites.from_dict(data["appetites"], persona),
        )


def event_of(percept: Percept) -> str:
    """The name of the game event that a percept tells of, or ""."""
    name = percept.data.get(EVENT)
    return name if percept.kind is Kind.EVENT and isinstance(name, str) else ""
