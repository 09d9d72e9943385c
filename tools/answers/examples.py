"""Lines with the questions that they answer or not, and the remarks that touch on them or not, as they are
written in `examples.txt`, `remarks.txt` and `tellers.txt`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Example:
    """A line with its questions, as they are read: who says it, a colon, and the text.

    Attributes:
        others: lines of the same person that answer none of the questions, and that no remark touches on.
    """

    line: str
    others: list[str] = field(default_factory=list)
    answered: list[tuple[str, tuple[int, int]]] = field(default_factory=list)
    not_answered: list[str] = field(default_factory=list)
    touched: list[str] = field(default_factory=list)
    not_touched: list[str] = field(default_factory=list)


def read_examples(path: Path) -> list[Example]:
    """Raises ValueError for a line of none of the six forms, or an answer that is no part of its line."""
    found: list[Example] = []
    for number, written in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not written.strip() or written.startswith("#"):
            continue
        match [part.strip() for part in written.split("|")]:
            case ["T", who, told]:
                found.append(Example(f"{who}: {told}"))
            case ["o", told]:
                found[-1].others.append(under_name_of(found[-1], told))
            case ["+", who, question, words]:
                start = found[-1].line.lower().index(words.lower(), found[-1].line.index(": ") + 2)
                found[-1].answered.append((f"{who}: {question}", (start, start + len(words))))
            case ["-", who, question]:
                found[-1].not_answered.append(f"{who}: {question}")
            case ["~", who, remark]:
                found[-1].touched.append(f"{who}: {remark}")
            case ["=", who, remark]:
                found[-1].not_touched.append(f"{who}: {remark}")
            case _:
                raise ValueError(f"{path}, line {number}: neither T, o, +, -, ~ nor =")
    return found


def under_name_of(one: Example, text: str) -> str:
    return f"{one.line.split(':')[0]}: {text}"


def all_texts(one: Example) -> Iterator[str]:
    yield from (one.line, *one.others)
    yield from (question for question, _ in one.answered)
    yield from (*one.not_answered, *one.touched, *one.not_touched)
