"""Looks for words in all that lies in a folder, in every way in which a program may have written them."""

from __future__ import annotations

import sqlite3
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from importlib import resources
from pathlib import Path

_DICTIONARY = resources.files("noodlings.store").joinpath("traces.dictionary").read_bytes()


def forms(word: str) -> Iterator[bytes]:
    """A word as UTF-8, UTF-16, escaped as in JSON, and as part of a text in base64, in three positions."""
    for written in {word, word.upper(), word.capitalize()}:
        yield written.encode()
        yield written.encode("utf-16-le")
        yield written.encode("utf-16-be")
        yield written.encode("ascii", "backslashreplace").replace(b"\\x", b"\\u00")
        for before in range(3):
            # Without the letters that bytes around it have a part in.
            coded = b64encode(b"\0" * before + written.encode())
            yield coded[4 if before else 0 : len(coded) // 4 * 4 - 4]


def blocks(data: bytes) -> Iterator[bytes]:
    """The data, and whatever in it zlib can read, with our dictionary or without."""
    yield data
    at = data.find(b"\x78")
    while at >= 0:
        if at + 1 < len(data) and (data[at] << 8 | data[at + 1]) % 31 == 0:
            with_dictionary = bool(data[at + 1] & 0x20)
            inflate = zlib.decompressobj(zdict=_DICTIONARY) if with_dictionary else zlib.decompressobj()
            with suppress(zlib.error):
                yield inflate.decompress(data[at:], 1 << 20)
        at = data.find(b"\x78", at + 1)
    at = data.find(b"\x1f\x8b\x08")  # gzip; in megabytes of chance it stands now and then by itself
    while at >= 0:
        with suppress(zlib.error):
            yield zlib.decompressobj(31).decompress(data[at:], 1 << 20)
        at = data.find(b"\x1f\x8b\x08", at + 1)


def written(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file below a folder, and of a database every value by itself: one may lie on several pages."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(folder)), path.read_bytes()
            if path.suffix == ".db":
                yield from _values(path)


def _values(path: Path) -> Iterator[tuple[str, bytes]]:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            for row in database.execute(f"SELECT * FROM {table}"):
                for value in row:
                    if isinstance(value, str | bytes):
                        yield f"{path.name}:{table}", value.encode() if isinstance(value, str) else value


def found(folder: Path, words: Iterable[str]) -> dict[str, set[str]]:
    """Word → where it stands."""
    wanted = {form: word for word in words for form in forms(word) if form}
    places: dict[str, set[str]] = {}
    for name, data in written(folder):
        for block in blocks(data):
            for form, word in wanted.items():
                if form in block:
                    places.setdefault(word, set()).add(name)
    return places
