"""The rooms of a world, read from YAML."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter

from noodlings.errors import UserError
from noodlings.text import shorten
from noodlings.validation import yaml_of

PLACES = Path(__file__).with_name("places.yaml")

_OPPOSITE = {
    "north": "the south",
    "south": "the north",
    "east": "the west",
    "west": "the east",
    "up": "below",
    "down": "above",
}


@dataclass(frozen=True, slots=True)
class RoomThing:
    """Something to look at; `also` are other words for it."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    name: str
    description: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Room:
    """A room. `exits` leads from a direction ("north") to the id of another room."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    name: str
    description: str
    exits: dict[str, str] = field(default_factory=dict)
    things: tuple[RoomThing, ...] = ()

    @property
    def inline(self) -> str:
        """The name in the middle of a sentence: "the Workshop"."""
        return self.name[0].lower() + self.name[1:] if self.name.startswith("The ") else self.name

    def thing(self, wanted: str) -> RoomThing | None:
        wanted = wanted.casefold().strip().removeprefix("the ")
        return next((thing for thing in self.things if wanted in (thing.name, *thing.also)), None)


@dataclass(frozen=True, slots=True)
class Places:
    """All rooms by their ids, and the one where players come in."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    start: str
    rooms: dict[str, Room]

    def exit(self, room: Room, way: str) -> tuple[str, str]:
        """Direction and target of the exit called `way`: a direction, its first letter, or where it leads.

        Raises:
            UserError: there is none; the message lists all exits.
        """
        way = way.casefold().strip().removeprefix("the ")
        for direction, target in room.exits.items():
            name = self.rooms[target].name.casefold()
            if way in (direction, direction[0], target, name, name.removeprefix("the ")):
                return direction, target
        exits = [f"{direction} to {self.rooms[to].inline}" for direction, to in room.exits.items()]
        asked = f"You cannot go {shorten(way, 30)} from here" if way else "Which way"
        raise UserError(f"{asked}; there is {', '.join(exits) or 'no way out at all'}.")


def load_places() -> Places:
    """The rooms that come with noodlings; a test sees to it that they hang together."""
    return TypeAdapter(Places).validate_python(yaml_of(PLACES))


def came_from(direction: str) -> str:
    """Where somebody comes from who walked in this direction: north → "the south"."""
    return _OPPOSITE.get(direction, "somewhere else")
