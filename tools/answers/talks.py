"""Talks whose questions are marked with the lines that answer them, as they stand in `talks.tsv`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

TALKS = Path(__file__).parent / "talks.tsv"


@dataclass
class Line:
    """A line of a talk.

    Attributes:
        answers: of a question, the places in the talk of the lines that answer it, best first; None for what
            asks nothing.
        of_itself: whether it asks for nothing that could have been told.
    """

    who: str
    text: str
    answers: tuple[int, ...] | None
    of_itself: bool


@dataclass
class Talk:
    writer: str
    lines: list[Line]


def read_talks(path: Path = TALKS) -> list[Talk]:
    """Raises ValueError for a line that is neither said by somebody nor marked as it must be."""
    found, writer, fresh = [], "", True
    for number, written in enumerate(path.read_text("utf-8").splitlines(), 1):
        if written.startswith("#"):
            continue
        if not written or written.startswith("@ "):
            writer, fresh = (written[2:] or writer), True
            continue
        who, text, mark = [*written.split("\t"), ""][:3]
        if fresh:
            found.append(Talk(writer, []))
            fresh = False
        lines = found[-1].lines
        answers = (
            None if not mark else () if mark in ("-", "you") else tuple(int(n) - 1 for n in mark.split(","))
        )
        if not (who and text) or any(not 0 <= at < len(lines) for at in answers or ()):
            raise ValueError(f"{path}, line {number}: a name, a text and a mark of earlier lines are needed")
        lines.append(Line(who, text, answers, mark == "you"))
    return found
