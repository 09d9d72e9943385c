"""A commit of a code base as it is remembered: made a record, and read from a memory again."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from noodlings.ingest.record import SourceRecord
from noodlings.text import clean
from noodlings.values.memory import MemoryEntry, given
from noodlings.values.percept import Kind

if TYPE_CHECKING:
    from pydantic import TypeAdapter

TAG = "commit"
"""The tag of every commit that is remembered; what git knows of it stands beside the memory under it, too."""
TOLD = 6
"""Files (those that changed most) and names that stand in the text of the memory; more drown the message."""
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file of a commit.

    Attributes:
        path: where it is now; clean.
        added, removed: lines; null where it is not text.
        before: where it was, if it was moved.
    """

    path: str
    added: int | None
    removed: int | None
    before: str = ""


@dataclass(frozen=True, slots=True)
class Commit:
    """What git says of one commit; every text is clean and without addresses.

    Attributes:
        hash, parents: object names in full.
        author: the name of the author, or nothing.
        author_hash: a hash of the author's address.
        authored, committed: seconds since 1970-01-01 UTC; null where git knows no such moment.
        subject: the first line of the message.
        body: the rest of the message.
        files: the files that it changes, as far as they are kept.
        file_count: how many files there are.
        added, removed: lines in all files.
        issues: ids such as "#12" or "ABC-7" in the message.
        reverts, fixes: object names, perhaps abbreviated, of what the message says it reverts or fixes.
        names: what is defined where the diff changes something, in the order of the diff.
        shown: the most telling of the lines that it adds.
        left_out: what of it was cut, in words.
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
        """The commit as something that was read, by the source and the name of its repository."""
        most_changed = sorted(self.files, key=lambda file: -(file.added or 0) - (file.removed or 0))[:TOLD]
        files = ", ".join(_file_told(file) for file in most_changed)
        names = ", ".join(split_words(name) for name in self.names[:TOLD])
        told = [self.subject or "(no message)", self.body]
        told += [f"Files: {files}" if files else "", f"Names: {names}" if names else ""]
        if not self.body:  # then the diff says more than the message does
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
    """The commit that a memory is of; None where it is of something else, or of a form that is not known."""
    from pydantic import ValidationError

    try:
        return _adapter().validate_python(_cleaned(given(entry, TAG)))
    except ValidationError:
        return None


@cache
def _adapter() -> TypeAdapter[Commit]:
    from pydantic import TypeAdapter

    return TypeAdapter(Commit)


def _cleaned(data: Any) -> Any:
    """The same with every text clean: an import may have brought it from anywhere."""
    match data:
        case str():
            return clean(data)
        case list() | tuple():
            return [_cleaned(one) for one in data]
        case dict():
            return {name: _cleaned(one) for name, one in data.items()}
    return data


def split_words(name: str) -> str:
    """An identifier in words: "retryQueue_max" is "retry queue max"."""
    return " ".join(_PARTS.findall(name)).lower()


def _file_told(file: FileChange) -> str:
    return f"{file.before} → {file.path}" if file.before else file.path
