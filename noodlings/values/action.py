"""Actions: what a world lets a character do beside its words, and what it chose to do.

An action is one of those that were offered, with arguments that fit, whoever chose it. Its parameters are a
JSON schema of one level, with the keys that are here and no others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal

from noodlings.errors import UserError
from noodlings.text import clean, folded

MOST_ACTIONS = 20
LARGEST_OFFER = 8_000
"""Characters of all that is offered with one percept, as JSON: a model reads it with each answer."""
LONGEST_NAME = 60
"""Characters of a name, of an enum value, and of words that ask for an action."""
LONGEST_TEXT = 200
"""Characters of a description, and of an argument in free words."""
LARGEST_NUMBER = 2**53
"""Beyond it whole numbers are not the same in every program that reads JSON."""
NONE = "none"
"""A model answers this to choose nothing."""

Argument = str | int | float | bool

_STRICT = {"extra": "forbid"}
_NAME = re.compile(r"[A-Za-z0-9_]{1,60}")


@dataclass(frozen=True, slots=True)
class ParameterSchema:
    """What an argument may be; `enum` are the only allowed strings, or empty."""

    __pydantic_config__: ClassVar = _STRICT

    type: Literal["string", "integer", "number", "boolean"]
    description: str = ""
    enum: tuple[str, ...] = ()

    def fits(self, value: object) -> bool:
        """Whether a value is allowed: of that type, a number up to `LARGEST_NUMBER`, a clean string."""
        if isinstance(value, str):
            free = not self.enum and 0 < len(value) <= LONGEST_TEXT and value == clean(value)
            return self.type == "string" and (free or value in self.enum)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return self.type == "boolean" and isinstance(value, bool)
        whole = self.type == "integer" and isinstance(value, int)
        return (whole or self.type == "number") and abs(value) <= LARGEST_NUMBER  # NaN fails, too


@dataclass(frozen=True, slots=True)
class ParametersSchema:
    """The parameters of an action, and which are required."""

    __pydantic_config__: ClassVar = _STRICT

    properties: dict[str, ParameterSchema] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    type: Literal["object"] = "object"
    additionalProperties: Literal[False] = False


@dataclass(frozen=True, slots=True)
class OfferedAction:
    """Something that a character may do beside answering.

    Attributes:
        name: 1 to 60 of a–z, 0–9 and _; capitals, spaces and hyphens become these.
        description: for a model, up to 200 characters.
        words: by which one asks for it, beside its name.

    Raises:
        UserError: its parts do not go together, or are too long.
    """

    __pydantic_config__: ClassVar = _STRICT

    name: str
    description: str = ""
    parameters: ParametersSchema = ParametersSchema()
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", re.sub(r"[\s-]+", "_", folded(self.name)))
        takes = self.parameters.properties
        for name in (self.name, *takes):
            if not _NAME.fullmatch(name) or name == NONE:
                raise UserError(
                    f"{name!r:.70} is not a valid name: use 1 to 60 of a-z, 0-9, _ (and not none)"
                )
        if unknown := set(self.parameters.required) - takes.keys():
            raise UserError(f"{self.name} requires {min(unknown)!r:.70}, which is not in its properties")
        if wrong := [name for name, one in takes.items() if one.enum and one.type != "string"]:
            raise UserError(f"{wrong[0]} of {self.name} has an enum, so its type must be string")
        described = [self.description, *(one.description for one in takes.values())]
        _require_lines(self.name, LONGEST_TEXT, described)
        named = [*self.words, *(choice for one in takes.values() for choice in one.enum)]
        _require_lines(self.name, LONGEST_NAME, named)
        if not all(named):
            raise UserError(f"the words and enum values of {self.name} must not be empty")

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments, without empty parts."""
        properties = {
            name: {"type": one.type}
            | ({"description": one.description} if one.description else {})
            | ({"enum": list(one.enum)} if one.enum else {})
            for name, one in self.parameters.properties.items()
        }
        required = sorted(set(self.parameters.required))
        return asdict(self.parameters) | {"properties": properties, "required": required}

    def chosen(self, arguments: Mapping[str, Any], by: str) -> Action:
        """The action with these arguments. Raises `UserError`, which repeats none of them, if they do not
        fit."""
        takes, required = self.parameters.properties, self.parameters.required
        if not set(required) <= arguments.keys() <= takes.keys():
            raise UserError(f"{self.name} lacks a required argument, or has one it does not take")
        if unfit := [name for name, value in arguments.items() if not takes[name].fits(value)]:
            raise UserError(f"{unfit[0]} of {self.name} has a value that is not allowed")
        return Action(self.name, dict(arguments), by)


@dataclass(frozen=True, slots=True)
class Action:
    """An offered action that a character does; `by` says who chose it: "rule" or "llm"."""

    name: str
    arguments: dict[str, Argument]
    by: str

    def __str__(self) -> str:
        given = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in self.arguments.items())
        return f"{self.name}({', '.join(given)})"


def require_offer(actions: Sequence[OfferedAction]) -> None:
    """Raise `UserError` if there are too many, they are too long, or two have the same name."""
    if len({action.name for action in actions}) < len(actions) or len(actions) > MOST_ACTIONS:
        raise UserError(f"offer at most {MOST_ACTIONS} actions, each with a different name")
    size = len(json.dumps([asdict(action) for action in actions]))
    if size > LARGEST_OFFER:
        raise UserError(f"the actions have {size:,} characters; use at most {LARGEST_OFFER:,}")


def _require_lines(name: str, most: int, texts: Iterable[str]) -> None:
    if not all(len(text) <= most and text == clean(text) for text in texts):
        raise UserError(f"every text of {name} must be one line of up to {most} printable characters")
