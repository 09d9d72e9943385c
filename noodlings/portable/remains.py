"""Deletes what a person left in the plain files of a data folder, and searches for what is left.

The logs and the history of the terminal lose whole lines. The audit log keeps its lines but not the person:
that something was done, when and with which rights, stays on record for the others whom it concerns.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock

from noodlings.errors import StoreError
from noodlings.files import atomic_write
from noodlings.logs import paused_logs
from noodlings.portable.export import export
from noodlings.stemming import UNSPACED, ordinary_words
from noodlings.store.database import DATABASE_NAME
from noodlings.store.forgetting import spellings, whole_words
from noodlings.store.transfer import snapshot
from noodlings.store.vault import Encryption
from noodlings.text import shorten

NAMELESS = "[forgotten]"
EXPORTED = b'"format": "noodlings-'
"""In the first line of what we exported, of characters or of a person."""
_WHO = ("user", "address", "path", "what")
"""What a line of the audit log says of whoever did something, or to whom."""
AUDIT, HISTORY = "audit.log*", "history"
_LINES = ("noodlings.log*", "refused.log*", AUDIT, HISTORY)
LOCK_SECONDS = 30.0
"""How long to wait for another process that strikes out lines in the same folder."""
_QUOTED = 50
"""Characters that a log quotes."""
_SHORTEST = 12
"""Characters of a quotation that is known by itself, of scripts without spaces half as many."""
_UNSPACED = re.compile(f"[{UNSPACED}]")
_WORD = re.compile(r"\w{4,}")
_FRAME = re.compile(r'^[\d-]{10} [\d:,]{12} [A-Z]+ +[\w.]+: |"\w+": |\b[a-z]+=')
"""What our logs write around what they tell: time, level and module, and the names of fields."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What marks a line as being about a person.

    Attributes:
        called: finds ids and names, as whole words in any case, in the `spellings` of a text.
        quotes: beginnings of what they said, and of what was made of it.
        words: words that nobody else used.
        history: what was typed in the terminal is theirs, all of it.
    """

    called: re.Pattern[str]
    quotes: tuple[str, ...]
    words: frozenset[str]
    history: bool = False

    @classmethod
    def of(cls, called: Iterable[str], said: Iterable[str], words: Collection[str], history: bool) -> Marks:
        """Of ids and names, texts, and words that are theirs alone."""
        names = {form for one in called if one for form in (one, *spellings(one))}
        quotes = {shorten(text, _QUOTED).rstrip("…") for text in said}
        long_enough = tuple(sorted(one for one in quotes if len(_UNSPACED.sub("  ", one)) >= _SHORTEST))
        return cls(whole_words(names, re.I), long_enough, frozenset(words) - ordinary_words(), history)

    def within(self, text: str) -> Marks:
        """Only the marks that occur in a text: these are few, so that its lines are searched quickly."""
        return replace(self, quotes=tuple(quote for quote in self.quotes if quote in text))

    def are_in(self, line: str) -> bool:
        """Whether a line is about the person."""
        line = _FRAME.sub("", line)  # somebody may be called Info, or Role
        quoted = any(quote in line for quote in self.quotes)
        named = any(map(self.called.search, spellings(line)))
        return quoted or named or not self.words.isdisjoint(words_in(line))


@dataclass(frozen=True, slots=True)
class Remains:
    """What a search in every file found.

    Attributes:
        words: how many words were searched for: those that only the person used, and no ordinary English.
        found: file, or kind of record of a character → how many of these words, and of their ids, are in it.
        copies: exports and backups below the folder, which stay as they are.
    """

    words: int
    found: dict[str, int]
    copies: tuple[str, ...]


def words_in(text: str) -> frozenset[str]:
    """The words of four letters or digits and more, folded."""
    return frozenset(_WORD.findall(text.casefold()))


def lines_with(folder: Path, marks: Marks) -> dict[str, int]:
    """File → lines about a person."""
    found = ((path.name, _split(path, _lines(path), marks)) for path in _files(folder))
    return {name: len(theirs) for name, (_, theirs) in found if theirs}


def strike_out(folder: Path, marks: Marks) -> dict[str, int]:
    """Take these lines out of the files, or out of the audit log whoever they are about; as `lines_with`.

    A file is looked through while the logs are written to; they are held still only to replace it.

    Raises:
        StoreError: a file cannot be written.
    """
    try:
        with FileLock(folder / "logs.lock", LOCK_SECONDS):  # other processes may strike out lines there
            return _struck_out(folder, marks)
    except OSError as error:
        raise StoreError(f"the logs cannot be written: {error}") from None


def _struck_out(folder: Path, marks: Marks) -> dict[str, int]:
    struck: Counter[str] = Counter()
    done: set[int] = set()  # by inode: a log that is rotated meanwhile gets another name
    while True:
        with paused_logs(folder):
            path = next((one for one in _files(folder) if one.stat().st_ino not in done), None)
            seen = [] if path is None else _lines(path)
        if path is None:
            return dict(struck)
        kept, theirs = _split(path, seen, marks)
        with paused_logs(folder):
            if not path.is_file():  # the oldest one goes when they are rotated
                continue
            lines = _lines(path)
            if lines[: len(seen)] != seen:  # it was rotated
                continue
            late_kept, late_theirs = _split(path, lines[len(seen) :], marks)
            if found := len(theirs) + len(late_theirs):
                struck[path.name] += found
                mode = path.stat().st_mode
                with atomic_write(path.resolve()) as aside:  # not in place of a link to it
                    aside.write_text("".join(kept + late_kept), "utf-8", "surrogateescape", "")
                    aside.chmod(mode)
            done.add(path.stat().st_ino)


def remains(
    folder: Path,
    ids: Iterable[str],
    words: frozenset[str],
    encryption: Encryption | None = None,
    url: str = "",
) -> Remains:
    """Search for ids and words in everything below a data folder, in the database record by record, and for
    the words byte by byte.

    Args:
        url: of the database, where it is not in the folder.

    Raises:
        StoreError: a file cannot be read; the message names it.
    """
    found: dict[str, set[str]] = {}
    copies = []
    called = Marks.of(ids, (), (), False).called

    def look(where: str, text: str) -> None:
        if there := (words & words_in(text)).union(map(str.casefold, called.findall(text))):
            found.setdefault(where, set()).update(there)

    def look_at_line(written: str) -> None:
        line = json.loads(written)
        look(f"{line.get('agent', line.get('id', ''))}: {line.get('type', 'head')}", written)

    with snapshot(url or folder, encryption, sealed_words=True) as kept:
        export(kept, kept.agents(), look_at_line, importable=False)
        look("events", "\n".join(kept.done_by()))
    backups = {path.parent for path in folder.rglob(DATABASE_NAME)} - {folder}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = _content(path)
        name = str(path.relative_to(folder))
        if backups.intersection(path.parents) or EXPORTED in content[:100]:
            copies.append(name)
            continue
        text = content.decode("utf-8", "ignore").casefold()
        look(name, text)
        if path.name.startswith(DATABASE_NAME):  # there words lie side by side, without anything between
            found.setdefault(name, set()).update(word for word in words if word in text)
    return Remains(len(words), {name: len(there) for name, there in found.items() if there}, tuple(copies))


def _content(path: Path) -> bytes:
    """What is in a file; nothing where it was deleted meanwhile, as temporary files are."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise StoreError(f"{path} cannot be looked into: {error.strerror}") from None


def _files(folder: Path) -> Iterator[Path]:
    for pattern in _LINES:
        yield from sorted(folder.glob(pattern))


def _lines(path: Path) -> list[str]:
    with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.readlines()


def _split(path: Path, lines: list[str], marks: Marks) -> tuple[list[str], list[str]]:
    """Those lines of a file that may stay, and those that may not."""
    near = marks.within("".join(lines))
    everything = path.name == HISTORY and marks.history
    theirs = [line for line in lines if everything or near.are_in(line)]
    if path.match(AUDIT):
        return [_nameless(line, near) if near.are_in(line) else line for line in lines], theirs
    return [line for line in lines if not everything and not near.are_in(line)], theirs


def _nameless(line: str, marks: Marks) -> str:
    """A line of the audit log without the person and their address; "" where it is no JSON."""
    try:
        facts = json.loads(line)
    except ValueError:
        return ""
    who = {name: NAMELESS for name in _WHO if name == "address" or marks.are_in(str(facts.get(name, "")))}
    return json.dumps(facts | who, ensure_ascii=False) + "\n"
