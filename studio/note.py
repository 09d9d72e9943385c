"""A note of a memory as one reads it: its words first, then what says something of the facts at its head.

What is no head that can be read is left away; the words are there in any case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from noodlings.drawing.marks import LOUD, QUIET
from noodlings.text import clean

FENCE = "---"
FACTS = ("id", "time", "kind", "place", "feeling", "importance", "affect")
"""Of the head; the rest of it is what programs need."""
NAMES = 12
"""Cells of the name of a fact."""


def parted(markdown: str) -> tuple[str, Text]:
    """The words of a note as Markdown, and its facts as lines."""
    head, words = _split(markdown)
    facts = _read(head)
    lines = [Text.assemble((name.ljust(NAMES), QUIET), (told, LOUD)) for name, told in _told(facts)]
    return words, Text("\n").join(lines)


def _split(markdown: str) -> tuple[str, str]:
    lines = markdown.split("\n")
    if lines[0].strip() == FENCE:
        for at, line in enumerate(lines[1:], 1):
            if line.strip() == FENCE:
                return "\n".join(lines[1:at]), "\n".join(lines[at + 1 :])
    return "", markdown


def _read(head: str) -> Mapping[str, Any]:
    import yaml  # with the first note

    try:
        facts = yaml.safe_load(head)
    except yaml.YAMLError:
        return {}
    return facts if isinstance(facts, dict) else {}


def _told(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Names and words, numbers rounded; what is empty is left away."""
    for name in FACTS:
        told = facts.get(name)
        if isinstance(told, dict):
            told = " · ".join(f"{clean(str(part))} {_rounded(number)}" for part, number in told.items())
        if told not in (None, ""):
            yield name, _rounded(told)


def _rounded(told: object) -> str:
    return f"{told:.2f}".replace("-", "−") if isinstance(told, float) else clean(str(told))
