"""Reads our own sentences with the feeling they carry, and lines with what they are worth and how pleasant.

The files, `sentences.txt` and `lines.tsv`, say how they are written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FILLS = 6
"""Sentences that one template gives, at most."""

_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text, its affect (five numbers), and the line it came from: sentences of one template share it."""

    text: str
    affect: tuple[float, ...]
    line: int


def read_sentences(path: Path, seed: int) -> list[Sentence]:
    """All sentences of the file, templates filled."""
    random = np.random.default_rng(seed)
    lists: dict[str, list[str]] = {}
    affect: tuple[float, ...] = ()
    found: list[Sentence] = []
    for number, raw in enumerate(path.read_text("utf-8").splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("= "):
            name, _, choices = line[2:].partition(":")
            lists[name] = [choice.strip() for choice in choices.split("|")]
        elif line.startswith("@ "):
            affect = tuple(float(word) for word in line[2:].split())
        else:
            found += [Sentence(text, affect, number) for text in _filled(line, lists, random)]
    return found


@dataclass(frozen=True, slots=True)
class RatedLine:
    """A text, how far it is worth keeping, 0…1, its valence, −1…1, where that was rated, and its line."""

    text: str
    significance: float
    valence: float | None
    line: int


def read_lines(path: Path) -> list[RatedLine]:
    """All lines of the file."""
    found = []
    for number, raw in enumerate(path.read_text("utf-8").splitlines(), 1):
        if raw and not raw.startswith("#"):
            keep, *valence, text = raw.split("\t")
            pleasant = float(valence[0]) / 5.0 if valence else None
            found.append(RatedLine(text, float(keep) / 10.0, pleasant, number))
    return found


def _filled(line: str, lists: dict[str, list[str]], random: np.random.Generator) -> list[str]:
    if not _SLOT.search(line):
        return [line]
    filled = [_SLOT.sub(lambda slot: str(random.choice(lists[slot[1]])), line) for _ in range(FILLS)]
    return list(dict.fromkeys(text[0].upper() + text[1:] for text in filled))
