"""Files line by line, however they were written: in any usual encoding, torn, or one line of a gigabyte.

No line is ever in memory whole that is longer than `LONGEST`; it is passed over to its end, and reported.
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
from noodlings.ingest.record import SourceNote, SourceProblem

LONGEST = 1_000_000
"""Bytes of a line that are read (characters, where a file is UTF-16)."""
_SKIPPED_AT_ONCE = 1 << 16
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Line = tuple[int, str]
"""The number of a line, from 1, and what stands in it, with its end."""


def lines_of(path: Path) -> Iterator[Line | SourceProblem | SourceNote]:
    """The lines of a file that are not blank. UTF-8, unless a mark says UTF-16; what is neither is read as
    Windows-1252, and a note says so. Raises `UserError` for a file that cannot be read.
    """
    try:
        with path.open("rb") as file:
            if file.peek(2)[:2] in _UTF16:
                yield SourceNote(1, "it is UTF-16, as its first bytes say")
                with io.TextIOWrapper(file, "utf-16", errors="replace", newline="\n") as wide:
                    yield from _bounded(wide, "\n")
                return
            if file.peek(3)[:3] == codecs.BOM_UTF8:
                file.seek(3)
            yield from _decoded(file)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from None


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
    """Lines of bytes or of text with their numbers; blank ones are left out."""
    number = 0
    while line := file.readline(LONGEST + 1):
        number += 1
        if len(line) > LONGEST and not line.endswith(end):
            while (rest := file.readline(_SKIPPED_AT_ONCE)) and not rest.endswith(end):
                pass
            yield SourceProblem(number, f"it is longer than {LONGEST:,} bytes, and was passed over")
        elif line.strip():
            yield number, line


def rows_of(path: Path) -> Iterator[tuple[int, dict[str, Any]] | SourceProblem | SourceNote]:
    """The lines of a file of JSON objects. Raises `UserError` for a file that cannot be read."""
    for item in lines_of(path):
        if not isinstance(item, tuple):
            yield item
            continue
        number, line = item
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            cut = "" if line.endswith("\n") else "; the file ends in the middle of a line"
            yield SourceProblem(number, f"it is not JSON: {error}{cut}")
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            yield SourceProblem(number, 'it is not a JSON object, such as {"user": "caity", "text": "hi"}')


class LineIds:
    """Ids for lines that have none of their own: a hash of what they tell, and of when.

    So a line keeps its id when others come before it or behind it. Lines alike at the same time are numbered.
    Where no line says when it was, what was told so far is held in mind, some bytes for each.
    """

    def __init__(self) -> None:
        self._moment: object = None
        self._seen: Counter[bytes] = Counter()

    def of(self, moment: object, *told: str) -> str:
        """The id of the next line.

        Args:
            moment: when it was, in whatever form; lines of one time follow each other.
            told: what makes it the line that it is.
        """
        if moment != self._moment:
            self._moment = moment
            self._seen.clear()
        words = json.dumps([str(moment), *told]).encode()
        digest = hashlib.blake2b(words, digest_size=12).digest()
        self._seen[digest] += 1
        count = self._seen[digest]
        return digest.hex() if count == 1 else f"{digest.hex()}-{count}"
