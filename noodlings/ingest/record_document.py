"""Parked records as versioned JSON.

Missing fields have defaults, so older versions can be read. A newer version is refused and stays parked until
noodlings is updated.
"""

from __future__ import annotations

import math
from typing import Any

from noodlings.errors import UserError
from noodlings.ingest.record import SourceRecord
from noodlings.memory.saved import plain
from noodlings.values.audience import Audience
from noodlings.values.percept import Kind

VERSION = 1
_TEXTS = ("source", "id", "text", "who", "place")


def document_of(record: SourceRecord) -> dict[str, Any]:
    """The record as JSON. Numbers in its data that are not finite become null."""
    document: dict[str, Any] = plain(
        {
            "version": VERSION,
            **{name: getattr(record, name) for name in (*_TEXTS, "data", "line")},
            "timestamp": _told(record.timestamp),
            "kind": str(record.kind),
            "witnesses": sorted(map(str, record.audience.witnesses)),
            "confined": record.audience.confined,
        }
    )
    return document


def _told(timestamp: float | None) -> object:
    """The time as the source gave it; JSON has no NaN or infinity, so these become text and stay invalid."""
    wrong = isinstance(timestamp, float) and not math.isfinite(timestamp)
    return str(timestamp) if wrong else timestamp


def require_known_version(document: dict[str, Any]) -> None:
    """Raise `UserError` if the version is newer than this noodlings knows, or invalid."""
    version = document.get("version", VERSION)
    if isinstance(version, bool) or not isinstance(version, int) or version < 0:
        raise UserError(f"its version is {version!r:.40}: it must be a whole number, such as {VERSION}")
    if version > VERSION:
        raise UserError(f"it has version {version}; this noodlings reads up to version {VERSION}")


def record_in(document: dict[str, Any]) -> SourceRecord:
    """The record in a document. Raises `UserError` if the document is invalid."""
    require_known_version(document)
    texts = {name: document.get(name, "") for name in _TEXTS}
    for name, value in texts.items():
        if not isinstance(value, str):
            raise UserError(f"{name} must be text, not {value!r:.40}")
    try:
        kind = Kind(document.get("kind", Kind.SAY))
    except ValueError:
        raise UserError(f"there is no kind {document['kind']!r:.40}; use one of: {', '.join(Kind)}") from None
    data, witnesses = document.get("data", {}), document.get("witnesses", [])
    if not isinstance(data, dict) or not isinstance(witnesses, list):
        raise UserError("data must be an object, and witnesses a list")
    return SourceRecord(
        **texts,
        timestamp=document.get("timestamp"),
        kind=kind,
        audience=Audience(frozenset(map(str, witnesses)), bool(document.get("confined", False))),
        data=data,
        line=int(document.get("line") or 0),
    )
