"""What moves slowly in an agent, as one value: its mood, what a game made of it, and its appetites."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from noodlings.affect.game import GameFeeling
from noodlings.affect.game_rules import GameRules
from noodlings.affect.mood import Mood, baseline_of
from noodlings.agent.events import event_in
from noodlings.mind.appetites import Appetites, DriveTable, signals
from noodlings.values.affect import Affect
from noodlings.values.percept import Percept
from noodlings.values.persona import Persona


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
        name = event_in(percept.kind, percept.data)
        if not name:
            return self, None
        game, affect = self.game.after(rules, name, percept.data, percept.timestamp)
        return replace(self, game=game), affect

    def pushed(self, affect: Affect, now: float) -> Feelings:
        """After something felt like `affect`."""
        return replace(self, mood=self.mood.pushed(affect, now))

    def corrected(self, was: Mood, instead: Mood) -> Feelings:
        """As if an earlier push had led to the mood `instead`, where it led to `was`."""
        return replace(self, mood=self.mood.corrected(was, instead))

    def fed(self, drives: DriveTable, percept: Percept, affect: Affect, surprise: float) -> Feelings:
        """After a percept satisfied or sharpened appetites; `surprise` is 0…1."""
        event = event_in(percept.kind, percept.data)
        happened = signals(affect, surprise, percept.addressed, event)
        return replace(self, appetites=self.appetites.moved(drives, happened, percept.timestamp))

    def without(self, moments: Collection[float]) -> Feelings:
        """Without the words of what happened at these moments, in world seconds; what was felt stays."""
        return replace(self, game=self.game.without(moments))

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
