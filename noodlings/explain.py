"""Mistakes in files that people write, put into words: which key, what is wrong, what would be right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """Every problem of a validation in one line; an unknown key is answered with the nearest right one."""
    lines = []
    for problem in error.errors():
        where = [str(part) for part in problem["loc"]]
        key = ".".join(where)
        if problem["type"] == "extra_forbidden":
            lines.append(f"unknown key {key}{nearest(where[-1], _keys_of(model, where[:-1]))}")
        elif problem["type"] == "missing":
            lines.append(f"{key} is missing")
        elif problem["type"] == "value_error":  # one of our own, already in words
            lines.append(f"{key}: {problem['ctx']['error']}")
        else:
            lines.append(f"{key}: {problem['msg'].lower()} (it is {problem['input']!r:.60})")
    return "; ".join(lines)


def nearest(wrong: str, right: Iterable[str]) -> str:
    """How a refusal goes on: the nearest right word, or all of them, or nothing where there are none."""
    choices = sorted(right)
    near = difflib.get_close_matches(wrong, choices, n=1, cutoff=0.5)
    if near:
        return f"; did you mean {near[0]}?"
    return f"; there are {', '.join(choices)}" if choices else ""


def _keys_of(model: Any, section: Sequence[str]) -> Iterable[str]:
    """The keys of a section, as they are written in a file."""
    names = iter(section)
    for name in names:
        field = _fields(model).get(name)
        if field is None:
            return ()
        annotation = field.annotation
        model = annotation if _is_model(annotation) else next(filter(_is_model, get_args(annotation)), None)
        if model is None:
            return ()
        if get_origin(annotation) is dict:
            next(names, None)  # a name that the writer chose
    return _fields(model)


def _fields(model: Any) -> dict[str, Any]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
