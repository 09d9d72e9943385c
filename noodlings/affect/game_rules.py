"""The rules of `game_events.yaml`, read and checked: what an event does, when, and how it is remembered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from noodlings.text import clean, shorten
from noodlings.validation import Section, read_table
from noodlings.values.affect import Affect

MAX_VALUE = 40
"""Characters that are shown of one value in an event's data."""
LARGEST = 1e15
"""Numbers in an event's data are ignored from here on."""

_FIELD = re.compile(r"(?:an? )?[a-z_]+")
_NAMESPACE = re.compile(r"^[a-z0-9_.-]+:(?=[a-z0-9_./-]+$)")

# Characters by which a value from outside could imitate another field or block of a prompt.
_MARKS = str.maketrans("", "", "[]{}<>|`")


class NamedMood(StrEnum):
    """The four moods of a companion; one at a time."""

    CHILL = "chill"
    HYPED = "hyped"
    NERVOUS = "nervous"
    FRUSTRATED = "frustrated"


class Condition(Section):
    """A field of an event's data is one of some names, or has one of them as a word."""

    field: str
    one_of: frozenset[str] = frozenset()
    word_of: frozenset[str] = frozenset()

    def holds(self, data: Mapping[str, Any]) -> bool:
        """False when the field is missing. Case and blanks do not matter."""
        name = (value_of(data, self.field) or "").lower().replace(" ", "_")
        return name in self.one_of or not self.word_of.isdisjoint(name.split("_"))


class MoodRule(Section):
    """The named mood an event leads to, from any mood or only from some."""

    become: NamedMood
    only_from: frozenset[NamedMood] = Field(frozenset(NamedMood), alias="from")


Unit = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False)]
Signed = Annotated[float, Field(ge=-1, le=1, strict=True, allow_inf_nan=False)]


class NamedAffect(Section):
    """A feeling, by the names of its numbers; those left out are neutral."""

    valence: Signed = 0.0
    arousal: Unit = 0.5
    fear: Unit = 0.0
    sorrow: Unit = 0.0
    boredom: Unit = 0.0

    def affect(self) -> Affect:
        return Affect(**self.model_dump())


class Remembering(Section):
    """The line that is remembered of an event. See the head of `game_events.yaml`."""

    summary: str
    only_if: Condition | None = Field(None, alias="if")
    fold: str = ""
    folded: str = ""

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        if bool(self.fold) != bool(self.folded):
            raise ValueError("fold and folded go together")
        for line in (self.summary, self.folded):
            _fields(line)
        return self


class EventRule(Section):
    """What one event does; each part may be left out."""

    only_if: Condition | None = Field(None, alias="if")
    mood: MoodRule | None = None
    feel: NamedAffect | None = None
    remember: Remembering | None = None
    new_session: bool = False


MOST_SLOTS = 1_000
"""Notable events that are kept at most."""


class GameRules(Section):
    """The whole file."""

    version: Literal[1]
    lasts_seconds: float = Field(300.0, gt=0, le=1e9)
    slots: int = Field(10, ge=1, le=MOST_SLOTS)
    state: tuple[str, ...] = Field((), max_length=12)
    moods: dict[NamedMood, str] = Field(default_factory=dict)
    unknown: dict[str, str] = Field(default_factory=dict)
    events: dict[str, EventRule]

    def rule(self, event: str, data: Mapping[str, Any]) -> EventRule | None:
        """The rule for an event with this data, or None when it is unknown or does not count."""
        rule = self.events.get(event_name(event))
        return None if rule is None or (rule.only_if and not rule.only_if.holds(data)) else rule

    def line(self, template: str, data: Mapping[str, Any]) -> str | None:
        """A template with its fields filled in, or None when one of them did not come."""
        parts = []
        for text, field in _fields(template):
            value = self._filled(field, data) if field else ""
            if value is None:
                return None
            parts.append(text + value)
        return "".join(parts)

    def kind(self, event: str) -> str:
        """The words that the lines of an event have in common, else its name. So one event under several
        names is still of one kind."""
        rule = self.events.get(event)
        template = rule.remember.summary if rule and rule.remember else ""
        return clean(" ".join(text for text, _ in _fields(template))) or event

    def _filled(self, field: str, data: Mapping[str, Any]) -> str | None:
        if field == "who":
            return "I" if value_of(data, "by") == "bot" else "you"
        article, _, name = field.rpartition(" ")
        value = value_of(data, name) or self.unknown.get(name)
        if not value or not article:
            return value
        return f"{'an' if value[0].lower() in 'aeiou' else 'a'} {value}"


def event_name(event: str) -> str:
    """The name of an event as rules and memory know it: one printable line in lower case."""
    return clean(event).lower()


def value_of(data: Mapping[str, Any], field: str) -> str | None:
    """A field of an event's data as short printable text; None if it is missing or neither text nor a number.

    A namespace (`minecraft:plains`) and the characters that prompts are built with are removed.
    """
    value = data.get(field)
    if isinstance(value, float | int) and not isinstance(value, bool):
        return f"{value:.10g}" if abs(value) < LARGEST else None  # NaN fails this too
    if not isinstance(value, str):
        return None
    text = clean(clean(value).translate(_MARKS))
    return shorten(_NAMESPACE.sub("", text), MAX_VALUE) or None


@cache
def shipped_rules() -> GameRules:
    return read_table(files("noodlings.affect") / "game_events.yaml", GameRules)


def _fields(template: str) -> list[tuple[str, str]]:
    """A template as pairs of text and the field that follows it ("" at the end).

    Raises:
        ValueError: braces that do not match, or more in them than one field's name.
    """
    pairs = []
    for text, field, form, conversion in Formatter().parse(template):
        if form or conversion or (field is not None and not _FIELD.fullmatch(field)):
            raise ValueError(f"{{{field}}} is not {{field}} or {{a field}}, in {template!r}")
        pairs.append((text, field or ""))
    return pairs
