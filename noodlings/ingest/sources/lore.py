"""Authored lore as a source: facts of a world, each for those whom it is meant for, while it holds.

A file of facts is a list in YAML, each fact beginning with "- " at the head of a line, or JSON Lines. Each fact
is read by itself, so that a torn one costs none of the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator

from noodlings.errors import UserError
from noodlings.ingest.record import SourceProblem, SourceRecord
from noodlings.ingest.sources.document import decoded
from noodlings.text import clean, folded
from noodlings.validation import explain, nearest, read_yaml, yaml_trouble
from noodlings.values.lore import CIRCLES, WORLD, LoreScope
from noodlings.values.percept import Kind
from noodlings.values.persona import Persona

YAML, JSON_LINES = (".yaml", ".yml"), (".jsonl", ".ndjson")
LONGEST = 300
"""Characters of a fact: more is several."""
_FACT = re.compile(r"^-(?=\s)", re.MULTILINE)


def _words(text: str) -> str:
    if not clean(text):
        raise ValueError("must not be empty")
    return clean(text)


class Fact(BaseModel):
    """A fact as it is written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, Field(max_length=100), AfterValidator(_words)]
    text: Annotated[str, Field(max_length=LONGEST), AfterValidator(_words)]
    audience: frozenset[tuple[str, str]]
    since: Annotated[float | None, Field(alias="from")] = None
    until: float | None = None

    @field_validator("id", mode="before")
    @classmethod
    def _number(cls, given: Any) -> Any:
        return str(given) if isinstance(given, int) and not isinstance(given, bool) else given

    @field_validator("audience", mode="before")
    @classmethod
    def _circles(cls, given: Any) -> frozenset[tuple[str, str]]:
        found = frozenset(
            circle for one in (given if isinstance(given, list) else [given]) for circle in _circles(one)
        )
        if not found:
            raise ValueError("say who may know it: world, faction: NAME, profession: NAME, character: NAME")
        return found

    @field_validator("since", mode="before")
    @classmethod
    def _first_moment(cls, given: Any) -> float | None:
        return None if given is None else _moment(given, time.min)

    @field_validator("until", mode="before")
    @classmethod
    def _last_moment(cls, given: Any) -> float | None:
        return None if given is None else _moment(given, time.max)


def _circles(given: Any) -> Iterator[tuple[str, str]]:
    """ "world", "faction: NAME", or the same as YAML reads it without quotation marks."""
    if isinstance(given, str):
        kind, _, name = given.partition(":")
        given = {kind: name}
    if not isinstance(given, dict):  # pydantic makes a problem of a ValueError alone
        raise ValueError(  # noqa: TRY004
            f"{given!r:.40} is nobody; write world or, for example, profession: guard"
        )
    for kind, names in given.items():
        kind = str(kind).strip()
        if kind not in CIRCLES:
            raise ValueError(f"{kind!r:.40} is no audience{nearest(kind, CIRCLES)}")
        for name in names if isinstance(names, list) else [names]:
            called = folded(name) if isinstance(name, str) else ""
            if (kind == WORLD[0]) != (not called):
                raise ValueError(
                    "world has no name" if called else f"{kind} needs a name, as in {kind}: NAME"
                )
            yield kind, called


def _moment(given: Any, of_day: time) -> float:
    """World time of a date (its first or last moment) or of a date with a time, in UTC where it does not say."""
    if isinstance(given, str):
        try:
            given = (
                datetime.fromisoformat(given)
                if len(given.strip()) > 10
                else date.fromisoformat(given.strip())
            )
        except ValueError:
            given = None
    if isinstance(given, date) and not isinstance(given, datetime):
        given = datetime.combine(given, of_day, UTC)
    if not isinstance(given, datetime):
        raise ValueError(  # noqa: TRY004 -- pydantic makes a problem of a ValueError alone
            "must be a date such as 2026-01-31, or one with a time such as 2026-01-31T18:00"
        )
    aware = given if given.tzinfo else given.replace(tzinfo=UTC)
    return (aware - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(seconds=1)


class LoreSource:
    """The port `Source` over a file of facts, for one character: it yields what is meant for that one.

    Args:
        path: a file in YAML or JSON Lines.
        persona: who is to know it.

    Attributes:
        name: "lore:realm.yaml"; the same name is the same lore, in a later form.
    """

    def __init__(self, path: Path, persona: Persona) -> None:
        self._path = path
        self._persona = persona
        self.name = f"lore:{clean(path.name)}"

    def records(self) -> Iterator[SourceRecord | SourceProblem]:
        """The facts for this character, whenever they hold, and what is wrong with others; see `Source`."""
        first: dict[str, int] = {}
        for line, fact in facts_in(self._path):
            if isinstance(fact, str):
                yield SourceProblem(line, fact)
            elif fact.id in first:
                yield SourceProblem(
                    line, f"{fact.id} stands in line {first[fact.id]} already: give it an id of its own"
                )
            else:
                first[fact.id] = line
                scope = LoreScope(fact.audience, fact.since, fact.until)
                if scope.meant_for(self._persona):
                    yield SourceRecord(
                        self.name, fact.id, fact.text, kind=Kind.KNOWN, data=scope.data(), line=line
                    )


def facts_in(path: Path) -> Iterator[tuple[int, Fact | str]]:
    """Each fact of a file with its line, or what is wrong with it.

    Raises:
        UserError: it cannot be read at all.
    """
    if path.suffix.lower() not in (*YAML, *JSON_LINES):
        raise UserError(f"{path}: lore is one of {', '.join((*YAML, *JSON_LINES))}")
    try:
        text, problems = decoded(path.read_bytes())
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    yield from ((problem.line, problem.why) for problem in problems)
    pieces = _lines(text) if path.suffix.lower() in JSON_LINES else _items(text)
    for line, piece in pieces:
        try:
            yield (
                line,
                Fact.model_validate(json.loads(piece) if path.suffix.lower() in JSON_LINES else _only(piece)),
            )
        except ValidationError as error:
            yield line, explain(error, Fact)
        except yaml.MarkedYAMLError as error:
            yield (
                line + (error.problem_mark.line if error.problem_mark else 0),
                f"no fact in YAML: {error.problem}",
            )
        except yaml.YAMLError as error:
            yield line, f"no fact in YAML: {yaml_trouble(error)}"
        except (ValueError, RecursionError) as error:
            yield line, f"no fact in JSON: {error}"


def _lines(text: str) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip())


def _items(text: str) -> Iterator[tuple[int, str]]:
    """The items of the list that a YAML file is, as they are written."""
    starts = [found.start() for found in _FACT.finditer(text)]
    head = text[: starts[0]] if starts else text
    if any(line.strip() and not line.lstrip().startswith(("#", "---")) for line in head.splitlines()):
        yield 1, "facts are a list: begin each with '- id: …' at the head of a line"
    line = head.count("\n") + 1
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        yield line, text[start:end]
        line += text.count("\n", start, end)


def _only(piece: str) -> Any:
    read = read_yaml(piece)
    return read[0] if isinstance(read, list) and len(read) == 1 else read
