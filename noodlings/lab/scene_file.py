"""Reads a file of scenes: everything is checked, and mistakes are refused with what would be right.

A scene is a character, what it remembers, how it feels and one percept. Keys beside `scenes:` are the
defaults of all scenes in the file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from noodlings.agent.recipe_form import TransistorName
from noodlings.errors import UserError
from noodlings.text import MAX_LINE, one_line
from noodlings.validation import Unit, explain, yaml_of
from noodlings.values.affect import AXES, NEUTRAL, Affect
from noodlings.values.percept import Kind
from noodlings.values.persona import APPETITES

LARGEST = 1_000_000
"""Bytes of a file."""
MOST = 1_000
"""Scenes of a file, memories of a scene, symbols of a scene."""

_UNITS = {"second": 1.0, "minute": 60.0, "hour": 3_600.0, "day": 86_400.0, "week": 604_800.0}
_AGO = re.compile(r"\s*([0-9.]+)\s*(second|minute|hour|day|week)s?(?:\s+ago)?\s*", re.IGNORECASE)


def _affect(given: Any) -> Affect:
    if isinstance(given, dict):
        if wrong := set(given) - set(AXES):
            raise ValueError(f"there is no axis {min(map(str, wrong))}; there are {', '.join(AXES)}")
        given = [given.get(axis, rest) for axis, rest in zip(AXES, NEUTRAL.as_list(), strict=True)]
    if not (isinstance(given, list) and len(given) == len(AXES)) or not all(map(_is_number, given)):
        raise ValueError(f"a feeling is numbers for some of {', '.join(AXES)}, or a list of all five")
    try:
        return Affect(*map(float, given))
    except (UserError, OverflowError) as error:
        raise ValueError(str(error)) from None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _seconds(given: Any) -> Any:
    if isinstance(given, str):
        found = _AGO.fullmatch(given)
        if found is None:
            raise ValueError('how long ago is seconds, or words such as "3 days", "2 hours", "1 week"')
        return float(found[1]) * _UNITS[found[2].lower()]
    return given


def _percept(given: Any) -> Any:
    return {"text": given} if isinstance(given, str) else given


Feeling = Annotated[Affect, BeforeValidator(_affect)]
Ago = Annotated[float, BeforeValidator(_seconds), Field(ge=0, le=1e10, allow_inf_nan=False)]
Line = Annotated[str, Field(max_length=MAX_LINE), AfterValidator(one_line)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Memory(_Strict):
    """Something the character remembers; `affect` and `salience` come from the words if not given."""

    who: Line
    text: Line
    ago: Ago = 86_400.0
    affect: Feeling | None = None
    importance: Unit | None = None
    salience: Unit | None = None
    surprise: Unit = 0.3
    kind: Kind = Kind.SAY
    addressed: bool = True
    audience: tuple[Line, ...] = ()


class Image(_Strict):
    """A symbol; `circle` is who may hear of it, empty for everybody."""

    image: Line
    event: Line
    affect: Feeling
    salience: Unit = 0.8
    ago: Ago = 604_800.0
    circle: tuple[Line, ...] = ()


class Said(_Strict):
    """What the character answers; `affect` comes from the words if not given."""

    text: Line
    who: Line = "visitor"
    kind: Kind = Kind.SAY
    affect: Feeling | None = None
    surprise: Unit = 0.3
    salience: Unit = 0.0
    present: tuple[Line, ...] = ()
    audience: tuple[Line, ...] = ()


class Wanted(_Strict):
    appetite: Literal[APPETITES]  # type: ignore[valid-type]
    level: Unit = 0.8
    text: Line


class WrittenScene(_Strict):
    """One moment of one character.

    Attributes:
        name: printed as a title; "" for none.
        persona: a recipe's name, or a whole recipe.
        mood: by default the character's baseline.
        appetites: levels that differ from the character's own.
        goals: by default those that come from the appetites.
        percept: what is answered: a line, or a mapping.
        said: the character's own latest lines.
        thought: before any transistor; by default the voice makes one.
        gains: of transistors, in place of the recipe's.
    """

    name: str = ""
    persona: str | dict[str, Any]
    memories: Annotated[tuple[Memory, ...], Field(max_length=MOST)] = ()
    symbols: Annotated[tuple[Image, ...], Field(max_length=MOST)] = ()
    mood: Feeling | None = None
    appetites: dict[Literal[APPETITES], Unit] = {}  # type: ignore[valid-type]
    goals: tuple[Wanted, ...] | None = None
    percept: Annotated[Said, BeforeValidator(_percept)]
    said: tuple[Line, ...] = ()
    thought: Line | None = None
    gains: dict[TransistorName, Unit] = {}
    seed: int = 0


def load_scenes(path: Path) -> list[WrittenScene]:
    """The scenes of a file, in order. Raises `UserError`, naming the file and what is wrong in it."""
    data = yaml_of(path, LARGEST)
    if not isinstance(data, dict):
        raise UserError(f"scene {path}: it has no keys; give at least persona and percept")
    return [_scene(one, f"scene {path}{where}") for where, one in _each(data, path)]


def _each(data: dict[Any, Any], path: Path) -> list[tuple[str, dict[Any, Any]]]:
    if "scenes" not in data:
        return [("", data)]
    shared = {key: value for key, value in data.items() if key != "scenes"}
    several = data["scenes"]
    if not isinstance(several, list) or not several or not all(isinstance(one, dict) for one in several):
        raise UserError(f"scene {path}: scenes is a list of scenes, each with keys of its own")
    if len(several) > MOST:
        raise UserError(f"scene {path} holds {len(several):,} scenes; at most {MOST:,} go into a file")
    return [(f", number {at}", {**shared, **one}) for at, one in enumerate(several, 1)]


def _scene(data: dict[Any, Any], where: str) -> WrittenScene:
    try:
        return WrittenScene.model_validate(data)
    except ValidationError as error:
        raise UserError(f"{where}: {explain(error, WrittenScene)}") from None
