"""Authored lore as a source: facts of a world, each with an audience and a time in which it holds.

A file of facts is JSON Lines, or a YAML list in which each fact begins with "- " at the start of a line. Each
fact is parsed by itself, so a torn one does not affect the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, time
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from noodlings.errors import UserError
from noodlings.ingest.lines import rows_of, text_of
from noodlings.ingest.record import Item, SourceNote, SourceProblem, SourceRecord, SourceWithheld
from noodlings.text import folded, one_line
from noodlings.validation import explain, nearest, read_yaml, yaml_trouble
from noodlings.values.lore import CIRCLES, WORLD, LoreScope
from noodlings.values.percept import Kind
from noodlings.values.persona import Persona

YAML, JSON_LINES = (".yaml", ".yml"), (".jsonl", ".ndjson")
LONGEST = 300
"""Most characters of a fact; a longer one should be split."""
_FACT = re.compile(r"^-(?=\s)", re.MULTILINE)


def _audience(given: Any) -> frozenset[tuple[str, str]]:
    found = [circle for one in (given if isinstance(given, list) else [given]) for circle in _circles(one)]
    if not found:
        raise ValueError("say who may know it: world, faction: NAME, profession: NAME, character: NAME")
    return frozenset(found)


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


def _moment(given: Any, of_day: time) -> float | None:
    """World time of a date (the time `of_day` on it) or of a date with a time (UTC by default)."""
    if given is None:
        return None
    if isinstance(given, str):
        only_day = len(given.strip()) <= len("2026-01-31")
        with suppress(ValueError):
            given = (date if only_day else datetime).fromisoformat(given.strip())
    if isinstance(given, date) and not isinstance(given, datetime):
        given = datetime.combine(given, of_day, UTC)
    if not isinstance(given, datetime):
        raise ValueError(  # noqa: TRY004 -- pydantic makes a problem of a ValueError alone
            "must be a date such as 2026-01-31, or one with a time such as 2026-01-31T18:00"
        )
    return (given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp()


class Fact(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    id: Annotated[str, Field(max_length=100), AfterValidator(one_line)]
    text: Annotated[str, Field(max_length=LONGEST), AfterValidator(one_line)]
    audience: Annotated[frozenset[tuple[str, str]], BeforeValidator(_audience)]
    since: Annotated[
        float | None, Field(alias="from"), BeforeValidator(partial(_moment, of_day=time.min))
    ] = None
    until: Annotated[float | None, BeforeValidator(partial(_moment, of_day=time.max))] = None


def lore(path: Path, source: str, persona: Persona) -> Iterator[Item]:
    """The facts of a file that are meant for one character, whatever time they hold in, and any problems.
    Facts that are meant for others are withheld.

    Raises `UserError` if it is no YAML or JSON Lines file, or cannot be read.
    """
    if path.suffix.lower() in JSON_LINES:
        pieces = rows_of(path)
    elif path.suffix.lower() in YAML:
        pieces = _items(path)
    else:
        raise UserError(f"{path}: lore is one of {', '.join((*YAML, *JSON_LINES))}")
    first: dict[str, int] = {}
    for piece in pieces:
        if not isinstance(piece, tuple):
            yield piece
            continue
        line, written, *other = piece
        if other:  # a key stands twice, and nobody knows whom it is meant for
            given = {one["id"] for one in (written, *other) if isinstance(one.get("id"), str)}
            yield from (SourceWithheld(line, source, one) for one in sorted(given))
            continue
        try:
            fact = Fact.model_validate(written)
        except ValidationError as error:
            yield SourceProblem(line, explain(error, Fact))
            continue
        scope = LoreScope(fact.audience, fact.since, fact.until)
        if first.setdefault(fact.id, line) != line:
            yield SourceProblem(line, f"{fact.id} is in line {first[fact.id]} already: give it another id")
        elif scope.meant_for(persona):
            yield SourceRecord(
                source, fact.id, fact.text, persona.id, kind=Kind.KNOWN, data=scope.data(), line=line
            )
        else:
            yield SourceWithheld(line, source, fact.id)


def _items(path: Path) -> Iterator[tuple[int, Any] | SourceProblem | SourceNote]:
    """The items of a YAML list, each parsed by itself."""
    text, told = text_of(path)
    yield from told
    starts = [found.start() for found in _FACT.finditer(text)]
    head = text[: starts[0]] if starts else text
    if any(line.strip() and not line.lstrip().startswith(("#", "---")) for line in head.splitlines()):
        yield SourceProblem(1, "facts are a list: begin each with '- id: …' at the head of a line")
    line = head.count("\n") + 1
    for start, end in pairwise([*starts, len(text)]):
        try:
            read = read_yaml(text[start:end], aliases=False)
            yield line, read[0] if isinstance(read, list) and len(read) == 1 else read
        except yaml.MarkedYAMLError as error:
            wrong = line + (error.problem_mark.line if error.problem_mark else 0)
            yield SourceProblem(
                wrong, f"it is not YAML: {error.problem}; put words with a colon in quotation marks"
            )
        except yaml.YAMLError as error:
            yield SourceProblem(line, f"it is not YAML: {yaml_trouble(error)}")
        line += text.count("\n", start, end)
