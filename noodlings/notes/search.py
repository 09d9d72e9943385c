"""Search in the notes, without the database.

Only the words that were said are searched. The front matter says whose they are and whether they are
private, so of a note with a damaged front matter nothing is shown but its path.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from noodlings.errors import NotFound, StoreError, UserError
from noodlings.files import read_bounded
from noodlings.notes.note import FENCE, QUOTE, unescaped
from noodlings.notes.pages import cited_by
from noodlings.text import clean
from noodlings.validation import read_yaml

LONGEST = 1_000_000
"""Bytes; a longer file was not written here, and is not read."""


@dataclass(frozen=True, slots=True)
class NoteHit:
    """A note that holds what was looked for.

    Attributes:
        agent_id: who remembers.
        user_id: who said or did it.
        private: whether only its audience may know of it.
        timestamp: world time.
        feeling: the word for how it felt.
        answered: what the agent answered, or None.
    """

    path: Path
    agent_id: str
    entry_id: int
    user_id: str
    kind: str
    private: bool
    timestamp: float
    feeling: str
    said: str
    answered: str | None


@dataclass(frozen=True, slots=True)
class NoteSearch:
    """Hits, latest first, and the files that could not be read, each with the reason."""

    hits: tuple[NoteHit, ...]
    torn: tuple[tuple[Path, str], ...]


def search(folder: Path, query: str, user: str | None = None, private: bool = False) -> NoteSearch:
    """The notes in which every word of the query occurs, in any order, also as a part of a longer word.

    Args:
        folder: the folder of notes.
        query: words; capitals do not matter.
        user: only what this user said or did, by the exact id.
        private: also what was whispered or thought.

    Raises:
        UserError: there is no word to look for.
        NotFound: there is no such folder.
    """
    words = clean(query).casefold().split()
    if not words:
        raise UserError("nothing to look for: give at least one word")
    if not folder.is_dir():
        raise NotFound(f"there are no notes in {folder.parent} yet; to write them: noodlings notes rebuild")
    hits: list[NoteHit] = []
    torn: list[tuple[Path, str]] = []
    for path in _files(folder, torn):
        try:
            text = _text(path)
            if cited_by(text) is not None:  # a page, which says what the notes of memories say
                continue
            front, said = _parts(text)
            spoken = "\n".join(said).casefold()
            if not all(word in spoken for word in words):
                continue
            hit = _hit(path, front, said)
        except StoreError as error:
            torn.append((path, str(error)))
            continue
        if user in (None, hit.user_id) and (private or not hit.private):
            hits.append(hit)
    hits.sort(key=lambda hit: (-hit.timestamp, hit.path))
    return NoteSearch(tuple(hits), tuple(sorted(torn)))


def _files(folder: Path, torn: list[tuple[Path, str]]) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:
        torn.append((Path(error.filename), error.strerror or str(error)))

    for above, _, names in os.walk(folder, onerror=unreadable):
        yield from (Path(above, name) for name in names if name.endswith(".md"))


def _text(path: Path) -> str:
    try:
        if path.is_symlink() or not path.is_file():
            raise StoreError("it is not a file")
        return read_bounded(path, LONGEST).decode().replace("\r\n", "\n")
    except OSError as error:
        raise StoreError(error.strerror or str(error)) from None
    except UnicodeDecodeError:
        raise StoreError("it is not text in UTF-8") from None


def _parts(text: str) -> tuple[str, list[str]]:
    """The front matter, and every line of somebody's words."""
    begin, end = f"{FENCE}\n", f"\n{FENCE}\n"
    front, fence, body = text.removeprefix(begin).partition(end)
    if not (text.startswith(begin) and fence and text.endswith("\n")):
        raise StoreError("it is torn")
    said = [unescaped(line[1:].strip()) for line in body.split("\n") if line.startswith(QUOTE)]
    if not said:
        raise StoreError("its words are missing")
    return front, said


def _hit(path: Path, front: str, said: list[str]) -> NoteHit:
    try:
        data = read_yaml(front)
        return NoteHit(
            path,
            agent_id=_of(str, data["agent"]),
            entry_id=_of(int, data["id"]),
            user_id=_of(str, data["user"]),
            kind=_of(str, data["kind"]),
            private=_of(bool, data["private"]),
            timestamp=_of(float, data["timestamp"]),
            feeling=_of(str, data["feeling"]),
            said=said[0],
            answered=said[1] if len(said) > 1 else None,
        )
    except (yaml.YAMLError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"its front matter is torn ({type(error).__name__})") from None


def _of(kind: type[Any], value: Any) -> Any:
    if type(value) is not kind:  # a bool is an int, too
        raise TypeError(f"{value!r:.40} is no {kind.__name__}")
    return value
