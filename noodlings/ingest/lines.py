"""Reads files line by line: in any usual encoding, torn, or with a line of a gigabyte.

A line longer than `LONGEST` is skipped and reported; it is never in memory as a whole.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from noodlings.errors import UserError
from noodlings.files import in_words, regular
from noodlings.ingest.record import SourceNote, SourceProblem
from noodlings.validation import given_twice

LONGEST = 1_000_000
"""Longest line that is read, in bytes (in characters for UTF-16)."""
LARGEST = 32 * 1024 * 1024
"""Largest file that is read as a whole, in bytes."""
_SKIPPED_AT_ONCE = 1 << 16
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Line = tuple[int, str]
"""The number of a line, from 1, and its text including the line ending."""
Row = tuple[int, dict[str, Any]] | tuple[int, dict[str, Any], dict[str, Any]]
"""The number of a line and its object; where a key stands twice, which was reported, with its last value and
then with its first. Nobody knows which was meant, so whatever it was may be private by now."""


def lines_of(path: Path) -> Iterator[Line | SourceProblem | SourceNote]:
    """The lines of a file that are not blank. UTF-8, or UTF-16 if a byte order mark says so; a line that is
    neither is read as Windows-1252, with a note. Raises `UserError` if the file cannot be read.
    """
    with in_words(path, "read"), regular(path).open("rb") as file:
        if file.peek(2)[:2] in _UTF16:
            yield SourceNote(1, "it is UTF-16, as its first bytes say")
            with io.TextIOWrapper(file, "utf-16", errors="replace", newline="\n") as wide:
                yield from _bounded(wide, "\n")
            return
        if file.peek(3)[:3] == codecs.BOM_UTF8:
            file.seek(3)
        yield from _decoded(file)


def _decoded(file: io.BufferedReader) -> Iterator[Line | SourceProblem | SourceNote]:
    noted = False
    for item in _bounded(file, b"\n"):
        if isinstance(item, SourceProblem):
            yield item
            continue
        number, raw = item
        try:
            line = raw.decode()
        except UnicodeDecodeError:
            line = raw.decode("cp1252", "replace")
            if not noted:
                yield SourceNote(
                    number, "it is not UTF-8: this line, and any other such, was read as Windows-1252"
                )
            noted = True
        yield number, line


def _bounded(file: Any, end: Any) -> Iterator[tuple[int, Any] | SourceProblem]:
    """Lines of bytes or text with their numbers, without blank ones."""
    number = 0
    while line := file.readline(LONGEST + 1):
        number += 1
        if len(line) > LONGEST and not line.endswith(end):
            while (rest := file.readline(_SKIPPED_AT_ONCE)) and not rest.endswith(end):
                pass
            yield SourceProblem(number, f"it is longer than {LONGEST:,} bytes, and was skipped")
        elif line.strip():
            yield number, line


def count_lines(path: Path) -> int:
    """How many lines a file has, for a progress bar."""
    with in_words(path, "read"), regular(path).open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


def text_of(path: Path) -> tuple[str, list[SourceProblem | SourceNote]]:
    """The text of a file with its line numbers intact, and any problems and notes.

    Raises `UserError` if the file cannot be read, is not text or is larger than `LARGEST`.
    """
    lines: list[str] = []
    told: list[SourceProblem | SourceNote] = []
    with in_words(path, "read"):
        size = path.stat().st_size
    if size > LARGEST:
        raise UserError(f"{path} is larger than {LARGEST // 2**20} MB: split it")
    for item in lines_of(path):
        if isinstance(item, tuple):
            number, line = item
            lines += ["\n"] * (number - 1 - len(lines))
            lines.append(line.rstrip("\r\n") + "\n")
        else:
            told.append(item)
    text = "".join(lines)
    if "\0" in text:
        raise UserError(f"{path} is not a text file; save it as UTF-8 text")
    return text, told


def rows_of(path: Path) -> Iterator[Row | SourceProblem | SourceNote]:
    """The objects of a JSON Lines file. Raises `UserError` if the file cannot be read."""
    twice: list[str] = []

    def last_counts(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        row = dict(pairs)
        if len(row) < len(pairs):
            twice.append(str(given_twice(pairs)))
        return row

    for item in lines_of(path):
        if not isinstance(item, tuple):
            yield item
            continue
        number, line = item
        try:
            twice.clear()
            row = json.loads(line, object_pairs_hook=last_counts)
        except (ValueError, RecursionError) as error:
            cut = "" if line.endswith("\n") else "; the file ends in the middle of a line"
            yield SourceProblem(number, f"it is not JSON: {error}{cut}")
            continue
        if not isinstance(row, dict):
            yield SourceProblem(number, 'it is not a JSON object, such as {"user": "caity", "text": "hi"}')
        elif twice:
            yield SourceProblem(number, f"the key {twice[0]!r:.40} stands twice in it")
            yield number, row, json.loads(line, object_pairs_hook=lambda pairs: dict(reversed(pairs)))
        else:
            yield number, row


class LineIds:
    """Ids for lines that have none: a hash of their content and time.

    A line keeps its id when lines are added before or after it. Equal lines of the same time are numbered. If
    no line has a time, the hashes of all lines so far stay in memory, a few bytes each.
    """

    def __init__(self) -> None:
        self._moment: object = None
        self._seen: Counter[bytes] = Counter()

    def of(self, moment: object, *told: str) -> str:
        """The id of the next line.

        Args:
            moment: its time in any form; lines with the same time must follow each other.
            told: the content that identifies the line.
        """
        if moment != self._moment:
            self._moment = moment
            self._seen.clear()
        words = json.dumps([str(moment), *told]).encode()
        digest = hashlib.blake2b(words, digest_size=12).digest()
        self._seen[digest] += 1
        count = self._seen[digest]
        return digest.hex() if count == 1 else f"{digest.hex()}-{count}"
