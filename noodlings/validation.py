"""YAML tables that people may change: read safely, checked whole, mistakes explained.

A message says which key is affected, what is wrong and what would be right. A value that is or holds a secret
is never repeated.
"""

from __future__ import annotations

import difflib
import re
import reprlib
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from noodlings.errors import UserError
from noodlings.files import read_bounded

NEAR = 0.65
"""How alike, 0…1 by `difflib`, a word must be to what was written to have been meant."""

_NO_SECTION = frozenset({"model_type", "dict_type", "model_attributes_type"})
_NO_LIST = frozenset({"tuple_type", "list_type"})


def explain(error: ValidationError, model: type[BaseModel], quoted: bool = True) -> str:
    """Every problem of a validation in one line; an unknown key is answered with the nearest right one.

    Not `quoted`, nothing of what is wrong is repeated: it may hold words of people.
    """
    lines = []
    for problem in error.errors():
        where = [str(part) for part in problem["loc"] if part != "[key]"]
        key = ".".join(where)
        if problem["type"] == "extra_forbidden":
            lines.append(
                "unknown key"
                if not quoted
                else f"unknown key {key}{nearest(where[-1], _keys_of(model, where[:-1]))}"
            )
        elif problem["type"] == "missing":
            lines.append(f"{key} is missing")
        elif problem["type"] == "value_error":  # one of our own, already in words
            lines.append(f"{key}: {problem['ctx']['error']}".removeprefix(": "))
        else:
            wrong, hint = problem["msg"].lower().removeprefix("input "), ""
            if problem["type"] in _NO_SECTION:
                wrong, hint = "should be a section with keys of its own", nearest("", _keys_of(model, where))
            elif problem["type"] in _NO_LIST:
                wrong = "should be a list, such as [a, b]"
            elif problem["type"] in ("too_short", "too_long"):
                wrong = re.sub(r"^\w+|items(?= after)| after .*", "", wrong).strip()
                wrong += " characters" if isinstance(problem["input"], str) else " entries"
            secret = _holds_secret(_annotation_at(model, where))
            given = "" if secret or not quoted else f", not {_brief(problem['input']):.60}"
            lines.append(f"{key}: {wrong}{given}{hint}")
    return "; ".join(lines)


def _brief(value: Any) -> str:
    """As `repr`, but never longer than anybody reads: in YAML an alias may stand for aliases without end."""
    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = 60
    return short.repr(value)


def yaml_trouble(error: Exception) -> str:
    """Why a text could not be read as YAML, in one line."""
    return " ".join(str(error).split()).replace('in "<unicode string>", line', "at line")


def nearest(wrong: str, right: Iterable[str]) -> str:
    """How a refusal goes on: the word that was probably meant, else all that are right, else nothing."""
    choices = sorted(right)
    if near := difflib.get_close_matches(wrong, choices, n=1, cutoff=NEAR):
        return f"; did you mean {near[0]}?"
    return f"; use one of: {', '.join(choices)}" if choices else ""


def _keys_of(model: type[BaseModel], section: Sequence[str]) -> Iterable[str]:
    """The keys of a section, as they are written in a file."""
    annotation = _annotation_at(model, section)
    return _fields(annotation) if _is_model(annotation) else ()


def _annotation_at(model: type[BaseModel], where: Sequence[str]) -> Any:
    """What may stand at a place; None where nothing may."""
    annotation: Any = model
    for name in where:
        if get_origin(annotation) in (dict, list, tuple):  # the place in it is the writer's choice
            annotation = next((part for part in get_args(annotation) if part is not str), None)
        else:
            field = _fields(annotation).get(name) if _is_model(annotation) else None
            annotation = field and field.annotation
        if get_origin(annotation) not in (None, dict, list, tuple):  # of "a section or nothing" the section
            annotation = next(filter(_is_model, get_args(annotation)), annotation)
    return annotation


def _holds_secret(annotation: Any) -> bool:
    if _is_model(annotation):
        return any(_holds_secret(field.annotation) for field in _fields(annotation).values())
    return annotation is SecretStr or any(_holds_secret(part) for part in get_args(annotation))


def _fields(model: Any) -> dict[str, Any]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


if TYPE_CHECKING:
    from yaml import SafeLoader
else:
    SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C is several times as fast
LONGEST_NUMBER = 400
"""Characters of a whole number that is read; Python cannot even print one of more than 4,300 digits."""


class _Loader(SafeLoader):
    """Refuses impossible dates, numbers and tags as bad YAML; PyYAML lets Python's own errors out."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        whole_number = node.tag == "tag:yaml.org,2002:int"
        if whole_number and len(node.value) > LONGEST_NUMBER:
            why = f"a number of {len(node.value):,} digits is too long"
            raise yaml.constructor.ConstructorError(None, None, why, node.start_mark)
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, ArithmeticError, AttributeError, TypeError):  # may quote a secret
            why = "an impossible date, number or tag"
            raise yaml.constructor.ConstructorError(None, None, why, node.start_mark) from None


def given_twice(pairs: Iterable[tuple[str, Any]]) -> str | None:
    """The first key that stands more than once in a JSON object, as `object_pairs_hook` gets it."""
    return next((key for key, count in Counter(key for key, _ in pairs).items() if count > 1), None)


DEEPEST = 100
"""Levels of lists and sections in each other that are read. No table has ten; in C each level takes room from
a stack that ends, and the process with it, long before a file does."""
_BRACKETS = re.compile(r"[\[\]{}]")
_HEAD = re.compile(r"^[ \t?:-]*", re.MULTILINE)
_BEGINS_LEVEL = (yaml.SequenceStartEvent, yaml.MappingStartEvent)


def read_yaml(text: str, aliases: bool = True) -> Any:
    """The data in a YAML text, read by a safe loader.

    Args:
        aliases: whether there may be any. A few lines of them stand for more than fits into memory.

    Raises:
        yaml.YAMLError: it is not YAML, is nested too deep, or holds an impossible date or too long a number.
    """
    if _may_be_deep(text):
        _refuse_depth(text)
    if not aliases and any(isinstance(one, yaml.AliasEvent) for one in yaml.parse(text, Loader=_Loader)):
        raise yaml.YAMLError("it has an alias; write out what it stands for")
    return yaml.load(text, Loader=_Loader)  # noqa: S506 -- a safe loader


def _may_be_deep(text: str) -> bool:
    """Whether it must be looked at twice: a level takes an open bracket, or room at the head of a line."""
    open_now = most_open = 0
    for bracket in _BRACKETS.finditer(text):
        open_now += 1 if bracket.group() in "[{" else -1
        most_open = max(most_open, open_now)
    head = max((len(found.group()) for found in _HEAD.finditer(text)), default=0)
    return most_open + head > DEEPEST


def _refuse_depth(text: str) -> None:
    too_deep = yaml.YAMLError(f"its lists and sections are nested more than {DEEPEST} levels deep")
    depth = 0
    try:
        for event in yaml.parse(text, Loader=_Loader):
            if isinstance(event, _BEGINS_LEVEL):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > DEEPEST:
                raise too_deep
    except yaml.scanner.ScannerError as error:
        # From PyYAML 6.0.4 on, the scanner in C has a limit of its own, and it reads ahead of the events:
        # of a thousand open brackets it complains before the first of them has come out as an event.
        if "nesting depth" in str(error):
            raise too_deep from None
        raise


class Section(BaseModel):
    """A table or a part of one. It refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


Table = TypeVar("Table", bound=BaseModel)


LARGEST = 10_000_000
"""Bytes of a YAML file that is read."""


def yaml_of(file: Traversable, largest: int = LARGEST) -> Any:
    """The data in a YAML file. Raises `UserError` if it cannot be read, or has more than `largest` bytes."""
    try:
        if isinstance(file, Path):
            return read_yaml(read_bounded(file, largest).decode())
        return read_yaml(file.read_text("utf-8"))
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror or error}") from None
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"{file} cannot be read as YAML: {yaml_trouble(error)}") from None


def read_table(file: Traversable, model: type[Table]) -> Table:
    """The file as a model. Raises `UserError` when it cannot be read, and for all that is wrong in it."""
    try:
        return model.model_validate(yaml_of(file))
    except ValidationError as error:
        raise UserError(f"{file}: {explain(error, model)}") from None
