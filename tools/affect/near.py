"""Which of our sentences come near an evaluation file: whatever is measured there must not be learnt here.

Compared are the words alone, in small letters. Two sentences are near when their words are the same, or when
they share at least `TOO_ALIKE` of their runs of three letters (Jaccard's index). What has fewer than `WORDS`
words ("Thank you!", "I don't know.") belongs to nobody and comes near nothing.
"""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

TOO_ALIKE = 0.5
"""One word exchanged among ten leaves about .75; two sentences of one form about other things .2 to .4."""
WORDS = 4

_WORD = re.compile(r"[^\W_]+")


def folded(text: str) -> str:
    """The words alone, in small letters, one space between them; an apostrophe does not part a word."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'").replace("'", "")
    return " ".join(_WORD.findall(plain))


def nearest(texts: Sequence[str], theirs: Sequence[str]) -> list[tuple[float, int]]:
    """For each text how near it comes to one of theirs, 0…1 (1: the same words), and to which (-1: none)."""
    known = [_runs(text) for text in theirs]
    sizes = np.array([len(runs) for runs in known])
    places = defaultdict(list)
    for place, runs in enumerate(known):
        for run in runs:
            places[run].append(place)
    having = {run: np.array(found) for run, found in places.items()}
    result = []
    for own in map(_runs, texts):
        found = [having[run] for run in own if run in having]
        if not found:
            result.append((0.0, -1))
            continue
        shared = np.bincount(np.concatenate(found), minlength=len(sizes))
        alike = shared / (len(own) + sizes - shared)
        result.append((float(alike.max()), int(alike.argmax())))
    return result


def texts_of(path: Path) -> list[str]:
    """What a file holds of text: every cell of CSV, every string in JSON or JSONL, every line of others."""
    content = path.read_text("utf-8-sig")
    if path.suffix == ".csv":
        return [cell for row in csv.reader(content.splitlines(keepends=True)) for cell in row]
    if path.suffix == ".json":
        return list(_strings(json.loads(content)))
    lines = content.splitlines()
    if path.suffix == ".jsonl":
        return [text for line in lines for text in _strings(json.loads(line))]
    return lines


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


def _runs(text: str) -> frozenset[str]:
    """Runs of three letters, the ends of words among them; none in what is too short to be anybody's."""
    words = folded(text)
    if words.count(" ") + 1 < WORDS:
        return frozenset()
    padded = f" {words} "
    return frozenset(padded[i : i + 3] for i in range(len(padded) - 2))
