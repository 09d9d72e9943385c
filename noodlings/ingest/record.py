"""What a source yields: a record of something that was said, done or written, or why it could not be read."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from noodlings.errors import UserError
from noodlings.memory.saved import plain
from noodlings.values.audience import OPEN, Audience, Tier
from noodlings.values.percept import PRIVATE, Kind

VERSION = 1
"""Of the form in which records are parked. A newer one stays parked until noodlings is updated."""
_NOBODY = Audience(confined=True)
_TEXTS = ("source", "id", "text", "who", "place")


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
    def secret(self) -> bool:
        """Whether it may not wait, because it would wait in plain."""
        return self.audience.tier >= Tier.SECRET

    @property
    def private(self) -> bool:
        return self.audience.confined or self.audience.tier > Tier.OPEN or self.kind in PRIVATE

    @property
    def confined_to(self) -> Audience | None:
        """Who alone may learn of its former form, even if it cannot be kept itself; None for everybody."""
        return self.audience.at_least(Tier.CONFINED) if self.private else None

    @property
    def digest(self) -> str:
        """A hash of the content, 32 hexadecimal digits; it changes when the record behind an id changes."""
        heard_by: list[object] = [sorted(self.audience.witnesses), self.audience.confined]
        if self.audience.tier > Tier.CONFINED:  # else as it was before there were tiers
            heard_by.append(int(self.audience.tier))
        told = asdict(self) | {"audience": heard_by}
        del told["source"], told["id"], told["line"]
        return _digest(json.dumps(told, sort_keys=True, ensure_ascii=False).encode("utf-8", "replace"))

    def document(self) -> dict[str, Any]:
        """The record as versioned JSON, to be parked. Numbers in its data that are not finite become null."""
        moment = self.timestamp  # JSON has no NaN or infinity, so these become text and stay invalid
        wrong = isinstance(moment, float) and not math.isfinite(moment)
        document: dict[str, Any] = plain(
            {
                "version": VERSION,
                **{name: getattr(self, name) for name in (*_TEXTS, "data", "line")},
                "timestamp": str(moment) if wrong else moment,
                "kind": str(self.kind),
                "witnesses": sorted(map(str, self.audience.witnesses)),
                "confined": self.audience.confined,
            }
        )
        return document


@dataclass(frozen=True, slots=True)
class SourceProblem:
    """Something that a source could not read.

    Attributes:
        line: the number of its first line, from 1; 0 if the source has no lines.
        why: what is wrong, and what would be right.
        source, id, kept: set if a later version may be able to read it. Then it is parked under this source
            and id, with the whole item in `kept` (JSON-compatible). Otherwise it is only reported.
        who: the name of the speaker, as far as it can be read, or "".
        private: its words may be private, whatever its marks say.
    """

    line: int
    why: str
    source: str = ""
    id: str = ""
    who: str = ""
    kept: dict[str, Any] | None = None
    private: bool = False

    @property
    def secret(self) -> bool:
        """As of a record; a tier that is not known may be secret."""
        return marked_tier(self.kept or {}) >= Tier.SECRET

    @property
    def confined_to(self) -> Audience | None:
        """As of a record; a mark that cannot be read may be one."""
        tier = max(marked_tier(self.kept or {}), Tier.CONFINED if self.private else Tier.OPEN)
        return Audience(tier=tier) if tier else None

    @property
    def digest(self) -> str:
        """As that of a record."""
        return _digest(json.dumps(self.document(), sort_keys=True).encode())

    def document(self) -> dict[str, Any]:
        """The item as JSON, to be parked."""
        document: dict[str, Any] = plain(self.kept)
        return document


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class SourceNote:
    """Something worth knowing about the file; nothing was lost."""

    line: int
    what: str


@dataclass(frozen=True, slots=True)
class SourceWithheld:
    """Something that is neither taken in nor parked, as it may be private or is not for this character.

    What it was before is confined, or withdrawn where a source is complete.

    Attributes:
        line: the number of its first line, from 1; 0 if the source has no lines.
        source, id: as of the record that it was.
        confined_to: as of a record.
    """

    line: int
    source: str
    id: str
    confined_to: Audience | None = _NOBODY


Keepable = SourceRecord | SourceProblem
"""What becomes a memory, or may be parked."""
Identified = Keepable | SourceWithheld
"""What is known again by its source and id."""
Item = Identified | SourceNote
"""What a source yields, in order, without holding all of it in memory. A source is an iterator of these; it
raises `UserError` where it cannot be read at all."""


def require_known_version(document: dict[str, Any]) -> None:
    """Raise `UserError` if the version is newer than this noodlings knows, or invalid."""
    version = document.get("version", VERSION)
    if isinstance(version, bool) or not isinstance(version, int) or version < 0:
        raise UserError(f"its version is {version!r:.40}: it must be a whole number, such as {VERSION}")
    if version > VERSION:
        raise UserError(f"it has version {version}; this noodlings reads up to version {VERSION}")


def marked_tier(row: Mapping[str, object]) -> Tier:
    """The tier that a row has by its own marks; of one that cannot be read, the secret one that it may be."""
    tier = Tier.OPEN if row.get("tier") is None else row["tier"]
    if tier not in [*Tier]:
        return Tier.SECRET
    private = any(row.get(name) not in (None, False, 0) for name in ("confined", "private"))
    private |= row.get("kind") not in [None, *(kind for kind in Kind if kind not in PRIVATE)]
    return max(Tier(tier), Tier.CONFINED if private else Tier.OPEN)  # type: ignore[arg-type]


def kind_of(given: object) -> Kind:
    """The kind that a source gives. Raises `UserError` if there is no such kind."""
    try:
        return Kind(given)  # type: ignore[arg-type]
    except ValueError:
        raise UserError(f"there is no kind {given!r:.40}; use one of: {', '.join(Kind)}") from None


def record_in(document: dict[str, Any]) -> SourceRecord:
    """The record in a document; what is missing has its default, as older versions had less of it.

    Raises `UserError` if the document is invalid, or of a newer version.
    """
    require_known_version(document)
    texts = {name: document.get(name, "") for name in _TEXTS}
    for name, value in texts.items():
        if not isinstance(value, str):
            raise UserError(f"{name} must be text, not {value!r:.40}")
    data, witnesses = document.get("data", {}), document.get("witnesses", [])
    if not isinstance(data, dict) or not isinstance(witnesses, list):
        raise UserError("data must be an object, and witnesses a list")
    line = document.get("line") or 0
    if not isinstance(line, int) or not 0 <= line < 2**63:
        raise UserError(f"line must be the number of a line, not {line!r:.40}")
    return SourceRecord(
        **texts,
        timestamp=document.get("timestamp"),
        kind=kind_of(document.get("kind", Kind.SAY)),
        audience=Audience(frozenset(map(str, witnesses)), bool(document.get("confined", False))),
        data=data,
        line=line,
    )
