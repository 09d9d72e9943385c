"""How things stand in a game, as it last told: the `[GAME STATE]` line of a prompt.

Only what the rules call state is kept, each field as it last came, so that a voice knows the hit points long
after the event that named them. Told late, the line says how old it is.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from noodlings.affect.ago import ago
from noodlings.affect.game_rules import GameRules, NamedMood, value_of
from noodlings.errors import UserError
from noodlings.text import clean

MAX_FIELDS = 12
"""How many fields of a game's state are told."""

# Label, field, and the full measure: a field of its own, else what games usually have.
_MEASURED = (("HP", "hp", "max_hp", "20"), ("Food", "food", "max_food", "20"))


@dataclass(frozen=True, slots=True)
class GameState:
    """What a game last told of itself. A value.

    Attributes:
        fields: by name, each value as printable text with the world time at which it came.
        at: world time in seconds of the latest event; None before the first one.
    """

    fields: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    at: float | None = None

    def told(self, rules: GameRules, data: Mapping[str, Any], now: float) -> GameState:
        """The state after an event. A field that came empty is not known any more."""
        came = {name: value_of(data, name) for name in rules.state if name in data}
        kept = {name: told for name, told in self.fields.items() if name not in came}
        return GameState(kept | {name: (value, now) for name, value in came.items() if value}, now)

    def without(self, moments: Collection[float]) -> GameState:
        """Without what was told at these moments, in world seconds."""
        fields = {name: (value, at) for name, (value, at) in self.fields.items() if at not in moments}
        return GameState(fields, self.at)

    def line(self, mood: NamedMood, rules: GameRules, now: float) -> str:
        """The `[GAME STATE]` line at a world time; "" before the first event.

        A state that is older than a mood lasts says so: `| Seen:2 h ago`.
        """
        if self.at is None:
            return ""
        told = {name: self.fields[name][0] for name in rules.state if name in self.fields}
        line = format_game_state(mood, told)
        return f"{line} | Seen:{ago(now - self.at)}" if now - self.at >= rules.lasts_seconds else line

    def as_dict(self) -> dict[str, Any]:
        """JSON-compatible and exact."""
        return {"fields": {name: list(told) for name, told in self.fields.items()}, "at": self.at}

    @classmethod
    def from_dict(cls, data: Any) -> GameState:
        """Raises `UserError` for anything that `as_dict` did not give."""
        try:
            fields = {clean(name): (clean(told[0]), float(told[1])) for name, told in data["fields"].items()}
            at = None if data["at"] is None else float(data["at"])
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError):
            raise UserError("not a stored state of a game") from None
        if not all(map(math.isfinite, (at or 0.0, *(came for _, came in fields.values())))):
            raise UserError("not a stored state of a game: a time in it is not finite")
        return cls(fields, at)


def format_game_state(mood: NamedMood, state: Mapping[str, Any]) -> str:
    """One line that tells a voice how things stand: `[GAME STATE] Mood:nervous | HP:8/20 | Biome:plains`.

    Args:
        mood: the named mood, always first.
        state: what the game says: `hp` and `food` (with `max_hp` and `max_food` where those are not 20),
            `biome`, and whatever else. What did not come, or is neither text nor a number, is left out.
    """
    return "[GAME STATE] " + " | ".join([f"Mood:{mood}", *_told(state)][: MAX_FIELDS + 1])


def _told(state: Mapping[str, Any]) -> Iterator[str]:
    done = {"mood"}
    for label, name, full, usual in _MEASURED:
        done |= {name, full}
        if value := value_of(state, name):
            yield f"{label}:{value}/{value_of(state, full) or usual}"
    for name in ["biome", *state]:
        if name not in done and (value := value_of(state, name)):
            done.add(name)
            yield f"{_label(name)}:{value}"


def _label(name: str) -> str:
    """`held_item` as "Held item"."""
    return clean((value_of({"name": name}, "name") or "").replace("_", " ")).capitalize() or "?"
