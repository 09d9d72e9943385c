"""Appetites: eight drives that events move and time returns to a set point, and the goals they make.

What moves them is in `appetites.yaml`. A drive that returns to a set point and is reduced by what satisfies
it is Hull's (1943) in the form of a homeostat.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import Field, field_validator

from noodlings.errors import UserError
from noodlings.validation import Section, read_table
from noodlings.values.affect import Affect
from noodlings.values.persona import APPETITES, Persona

VERSION = 1


class Drive(Section):
    """One appetite of the table; see the head of `appetites.yaml`."""

    half_life_minutes: float = Field(gt=0, le=1e6)
    moved_by: dict[str, float]
    wants: str
    presses: str

    @field_validator("moved_by")
    @classmethod
    def _are_parts(cls, moved_by: dict[str, float]) -> dict[str, float]:
        for what, part in moved_by.items():
            if not -1.0 <= part <= 1.0:
                raise ValueError(f"{what} moves it by {part}: between -1 and 1")
        return moved_by


class DriveTable(Section):
    """The whole table: all of `APPETITES`, no others."""

    version: Literal[1]
    wants_from: float = Field(ge=0, le=1)
    presses_from: float = Field(ge=0, le=1)
    most: int = Field(ge=0, le=len(APPETITES))
    appetites: dict[str, Drive]

    @field_validator("appetites")
    @classmethod
    def _are_the_eight(cls, appetites: dict[str, Drive]) -> dict[str, Drive]:
        if set(appetites) != set(APPETITES):
            raise ValueError(f"the appetites are {', '.join(APPETITES)}")
        return appetites


@dataclass(frozen=True, slots=True)
class Goal:
    """What an agent wants: the appetite behind it, its level (0…1), and the goal ("see something new")."""

    appetite: str
    level: float
    text: str


@dataclass(frozen=True, slots=True)
class Appetites:
    """How hungry an agent was when something last happened. A value.

    Attributes:
        levels: 0 (sated) … 1 (starving), in the order of `APPETITES`.
        at: world time in seconds.
        resting: the set points, in the same order.
    """

    levels: tuple[float, ...]
    at: float
    resting: tuple[float, ...]

    def __post_init__(self) -> None:
        for levels in (self.levels, self.resting):
            if len(levels) != len(APPETITES) or not all(0.0 <= level <= 1.0 for level in levels):
                raise UserError(f"appetites are {len(APPETITES)} numbers between 0 and 1, not {levels!r:.80}")
        if not math.isfinite(self.at):
            raise UserError(f"the time of appetites must be finite seconds, not {self.at!r}")

    @classmethod
    def of(cls, persona: Persona, now: float) -> Appetites:
        """The appetites of somebody to whom nothing has happened yet."""
        resting = _resting(persona)
        return cls(resting, now, resting)

    def at_time(self, table: DriveTable, now: float) -> dict[str, float]:
        """The levels at a world time, by name; a time before the last event gives those of the event."""
        minutes = max(now - self.at, 0.0) / 60.0
        return {
            name: level + (rest - level) * (1.0 - 0.5 ** (minutes / table.appetites[name].half_life_minutes))
            for name, level, rest in zip(APPETITES, self.levels, self.resting, strict=True)
        }

    def moved(self, table: DriveTable, happened: Mapping[str, float], now: float) -> Appetites:
        """The appetites after something happened; for `happened` see `signals`."""
        levels = self.at_time(table, now)
        for name, drive in table.appetites.items():
            for what, part in drive.moved_by.items():
                share = part * happened.get(what, 0.0)
                level = levels[name]
                levels[name] = min(max(level + share * (level if share < 0.0 else 1.0 - level), 0.0), 1.0)
        return Appetites(tuple(levels[name] for name in APPETITES), now, self.resting)

    def goals(self, table: DriveTable, now: float) -> tuple[Goal, ...]:
        """What is wanted at a world time, the hungriest first; of equals, in the order of `APPETITES`."""
        return goals_of(table, self.at_time(table, now))

    def as_dict(self) -> dict[str, Any]:
        """What a restart needs, JSON-compatible and exact; the set points belong to the persona."""
        return {"version": VERSION, "levels": list(self.levels), "at": self.at}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], persona: Persona) -> Appetites:
        """The appetites that `as_dict` was taken from. Raises `UserError` for anything else."""
        try:
            if data["version"] != VERSION:
                raise UserError(f"stored appetites of version {data['version']!r}, not {VERSION}")
            return cls(tuple(map(float, data["levels"])), float(data["at"]), _resting(persona))
        except (KeyError, TypeError, ValueError, OverflowError):
            raise UserError("not stored appetites") from None


def signals(affect: Affect, surprise: float, addressed: bool, event: str = "") -> dict[str, float]:
    """How much (0…1) of each thing that can move an appetite a percept had; `event` is a game's, by name."""
    pleasant, unpleasant = max(affect.valence, 0.0), max(-affect.valence, 0.0)
    return {
        "surprise": surprise,
        "familiar": 1.0 - surprise,
        "pleasant": pleasant,
        "unpleasant": unpleasant,
        "praised": pleasant * addressed,
        "insulted": unpleasant * addressed,
        "addressed": float(addressed),
        "ignored": float(not addressed),
        "fear": affect.fear,
        "sorrow": affect.sorrow,
        "boredom": affect.boredom,
        **({event: 1.0} if event else {}),
    }


@cache
def shipped_drives() -> DriveTable:
    return read_table(files("noodlings.mind") / "appetites.yaml", DriveTable)


def _resting(persona: Persona) -> tuple[float, ...]:
    return tuple(persona.appetites[name] for name in APPETITES)


def goals_of(table: DriveTable, levels: Mapping[str, float]) -> tuple[Goal, ...]:
    """What is wanted at these levels, in the order of `Appetites.goals`."""
    hungry = sorted(
        (name for name in APPETITES if levels[name] >= table.wants_from), key=lambda n: -levels[n]
    )
    return tuple(_goal(table, name, levels[name]) for name in hungry[: table.most])


def _goal(table: DriveTable, name: str, level: float) -> Goal:
    drive = table.appetites[name]
    return Goal(name, level, drive.presses if level >= table.presses_from else drive.wants)
