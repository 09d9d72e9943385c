"""What a source yields: a record of something that was said, done or written, or why it could not be read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from noodlings.values.audience import OPEN, Audience
from noodlings.values.percept import Kind


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """One item of a source. It is not validated here; the pipeline does that.

    Attributes:
        source: the name of the source, such as "talk:harbour" or "git:1f3a…"; the same on every run.
        id: unique within its source and the same on every run: a hash of the line, or the id of a message or
            commit.
        text: what was said, done or written.
        who: the name of the speaker or author as the source gives it, or "".
        timestamp: seconds since 1970-01-01 UTC, or None if the source does not say.
        kind: see `Kind`.
        place: where it happened, or the title and section of a document, or "".
        audience: who may learn of it.
        data: anything else to store with the memory (JSON-compatible).
        line: the number of its first line, from 1; 0 if the source has no lines.
    """

    source: str
    id: str
    text: str
    who: str = ""
    timestamp: float | None = None
    kind: Kind = Kind.SAY
    place: str = ""
    audience: Audience = OPEN
    data: dict[str, Any] = field(default_factory=dict)
    line: int = 0

    @property
    def digest(self) -> str:
        """A hash of the content, 32 hexadecimal digits; it changes when the record behind an id changes."""
        told = asdict(self) | {"audience": [sorted(self.audience.witnesses), self.audience.confined]}
        del told["source"], told["id"], told["line"]
        return hashlib.blake2b(
            json.dumps(told, sort_keys=True, ensure_ascii=False).encode("utf-8", "replace"), digest_size=16
        ).hexdigest()


@dataclass(frozen=True, slots=True)
class SourceProblem:
    """Something that a source could not read.

    Attributes:
        line: the number of its first line, from 1; 0 if the source has no lines.
        why: what is wrong, and what would be right.
        source, id, kept: set if a later version may be able to read it. Then it is parked under this source
            and id, with the whole item in `kept` (JSON-compatible). Otherwise it is only reported.
    """

    line: int
    why: str
    source: str = ""
    id: str = ""
    kept: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class SourceNote:
    """Something worth knowing about the file; nothing was lost."""

    line: int
    what: str


class Source(Protocol):
    """Reads one kind of file."""

    def records(self) -> Iterator[SourceRecord | SourceProblem | SourceNote]:
        """Everything in it, in order, without holding all of it in memory.

        Raises:
            UserError: it cannot be read at all.
        """
