"""A commit of a code base: turned into a record, and read back from a memory."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from functools import cache

from pydantic import TypeAdapter, ValidationError

from noodlings.ingest.record import SourceRecord
from noodlings.text import clean, with_texts
from noodlings.values.memory import MemoryEntry, given
from noodlings.values.percept import Kind

TAG = "commit"
"""The tag of every remembered commit, and the key under which its data is stored with the memory."""
TOLD = 6
"""How many files (those that changed most) and names the text lists; more would drown the message."""
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file of a commit.

    Attributes:
        path: its path after the commit, cleaned.
        added, removed: numbers of lines; None for a binary file.
        before: its path before the commit, if it was moved.
    """

    path: str
    added: int | None
    removed: int | None
    before: str = ""


@dataclass(frozen=True, slots=True)
class Commit:
    """What git knows about one commit. All texts are cleaned, and addresses are replaced by hashes.

    Attributes:
        hash, parents: full object names.
        author: the name of the author, or "".
        author_hash: a hash of the author's address.
        authored, committed: seconds since 1970-01-01 UTC, or None if the date is invalid.
        subject: the first line of the message.
        body: the rest of the message.
        files: the changed files, up to a limit.
        file_count: how many files were changed.
        added, removed: lines in all files.
        issues: ids such as "#12" or "ABC-7" in the message.
        reverts, fixes: object names, possibly abbreviated, that the message says it reverts or fixes.
        names: functions and classes around the changes, in the order of the diff.
        shown: the added lines with the most words.
        left_out: what was cut, in words.
    """

    hash: str
    parents: tuple[str, ...]
    author: str
    author_hash: str
    authored: float | None
    committed: float | None
    subject: str
    body: str
    files: tuple[FileChange, ...]
    file_count: int
    added: int
    removed: int
    issues: tuple[str, ...]
    reverts: tuple[str, ...]
    fixes: tuple[str, ...]
    names: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def record(self, source: str, repository: str) -> SourceRecord:
        """The commit as a record of kind `READ`. `repository` is its name."""
        most_changed = sorted(self.files, key=lambda file: -(file.added or 0) - (file.removed or 0))[:TOLD]
        files = ", ".join(f"{one.before} → {one.path}" if one.before else one.path for one in most_changed)
        names = ", ".join(split_words(name) for name in self.names[:TOLD])
        told = [self.subject or "(no message)", self.body]
        told += [f"Files: {files}" if files else "", f"Names: {names}" if names else ""]
        if not self.body:  # a bare subject says less than the diff
            told += self.shown
        return SourceRecord(
            source=source,
            id=self.hash,
            text=clean(". ".join(part.rstrip(".") for part in told if part)),
            who=self.author,
            timestamp=self.authored,
            kind=Kind.READ,
            place=f"{repository} {self.hash[:10]}",
            data={"tags": [TAG], TAG: asdict(self)},
        )


def commit_of(entry: MemoryEntry) -> Commit | None:
    """The commit that a memory is about, or None if it is about something else or in an unknown format."""
    try:
        return _adapter().validate_python(with_texts(given(entry, TAG), clean))  # it may be imported
    except ValidationError:
        return None


@cache
def _adapter() -> TypeAdapter[Commit]:
    return TypeAdapter(Commit)


def split_words(name: str) -> str:
    """An identifier as words: "retryQueue_max" becomes "retry queue max"."""
    return " ".join(_PARTS.findall(name)).lower()
