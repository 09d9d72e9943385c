"""What a source yields: a record of something that happened or was written, or why one could not be read."""

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
    """One thing that a source tells. What is wrong with it, the pipeline says.

    Attributes:
        source: the name of the source, the same each time it is read: "talk:harbour", "git:1f3a…".
        id: the record's own within its source, the same each time: a line's hash, a message's id, a commit's.
        text: what was said, done or written.
        who: the name of whoever said or wrote it, as the source has it, or "".
        timestamp: when, seconds since 1970-01-01 UTC; None where the source does not say.
        kind: see `Kind`.
        place: where it happened, or the title and section of what was read, or "".
        audience: who may learn of it.
        data: whatever else is to be kept beside the memory (JSON-compatible).
        line: the number of the line at which it begins, from 1; 0 where lines mean nothing.
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
        """The same as long as what stands behind the id is the same; 32 hexadecimal digits."""
        told = asdict(self) | {"audience": [sorted(self.audience.witnesses), self.audience.confined]}
        del told["source"], told["id"], told["line"]
        return hashlib.blake2b(
            json.dumps(told, sort_keys=True, ensure_ascii=False).encode("utf-8", "replace"), digest_size=16
        ).hexdigest()


@dataclass(frozen=True, slots=True)
class SourceProblem:
    """Something that a source could not read.

    Attributes:
        line: the number of the line at which it begins, from 1; 0 where lines mean nothing.
        why: in words that say what would be right.
        source, id, kept: where a later noodlings may be able to read it, what it is parked as until then: as
            for a `SourceRecord`, and the whole of it, JSON-compatible. Otherwise it is only reported.
    """

    line: int
    why: str
    source: str = ""
    id: str = ""
    kept: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class SourceNote:
    """Something about the file that whoever ingests it should know, though nothing is lost by it."""

    line: int
    what: str


class Source(Protocol):
    """Reads one kind of file."""

    def records(self) -> Iterator[SourceRecord | SourceProblem | SourceNote]:
        """Everything in it, in its order, without holding it all in memory.

        Raises:
            UserError: it cannot be read at all.
        """
