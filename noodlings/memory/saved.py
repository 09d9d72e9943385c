"""What a host's memory is in a file: a value, and each of its entries as a record of JSON.

A file may come from anywhere, and may have been changed by hand, so a record is read field by field; one that
cannot be read is no reason not to read the next.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from noodlings.clock import moment
from noodlings.errors import UserError
from noodlings.memory.encode import finite, read_affect, read_state, unit, whole
from noodlings.text import clean
from noodlings.values.audience import Audience
from noodlings.values.memory import ImportanceParts, MemoryEntry
from noodlings.values.percept import Kind, kept_audience

DEEPEST = 50
"""Levels of what a host put into a row; what lies deeper is not kept."""

_LARGEST = 2**63
_OVERRIDES = ("", "response", "hand")


@dataclass(frozen=True, slots=True)
class SavedEntry:
    """An entry, where it is in mind, and the row as which a host shows it, if it does."""

    entry: MemoryEntry
    working: bool
    episodic: bool
    row: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Saved:
    """A memory.

    Attributes:
        entries: those in working memory stand in the order in which they are shown.
        perceived: how many there ever were; consolidated: how often one became episodic.
        last_id: the highest id that was ever given.
    """

    entries: tuple[SavedEntry, ...] = ()
    perceived: int = 0
    consolidated: int = 0
    last_id: int = 0


def record_of(saved: SavedEntry) -> dict[str, Any]:
    """An entry as JSON can hold it."""
    entry = saved.entry
    record = {field.name: getattr(entry, field.name) for field in fields(entry)} | {
        "affect": None if entry.affect is None else entry.affect.as_list(),
        "parts": asdict(entry.parts),
        "kind": entry.kind.value,
        "audience": sorted(entry.audience.witnesses),
        "confined": entry.audience.confined,
        "working": saved.working,
        "episodic": saved.episodic,
    }
    kept: dict[str, Any] = plain(record if saved.row is None else record | {"row": saved.row})
    return kept


def read_record(record: Any) -> SavedEntry:
    """The entry of a record. Raises `UserError` that says what is wrong with it."""
    if not isinstance(record, Mapping):
        raise UserError(f"a record is an object, not {record!r:.40}")
    try:
        row = record.get("row")
        if not isinstance(row, dict | None):
            raise UserError(f"row must be an object, not {row!r:.40}")
        return SavedEntry(_entry(record), _flag(record["working"]), _flag(record["episodic"]), row)
    except KeyError as error:
        raise UserError(f"{error.args[0]} is missing") from None
    except (TypeError, ValueError, AttributeError) as error:
        raise UserError(str(error)) from None


def plain(value: Any, depth: int = 0) -> Any:
    """A value as JSON can hold it.

    Arrays (numpy, mlx) and sets become lists, numbers that are not finite become None, and whatever else
    there is becomes its text.
    """
    if depth > DEEPEST:
        return None
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int) and abs(value) < _LARGEST:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): plain(inner, depth + 1) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(inner, depth + 1) for inner in value]
    return plain(value.tolist(), depth + 1) if hasattr(value, "tolist") else str(value)


def _entry(record: Mapping[str, Any]) -> MemoryEntry:
    parts = record["parts"]
    override_by = record["override_by"]
    if override_by not in _OVERRIDES:
        raise UserError(f"override_by is {override_by!r:.40}; it is one of response, hand or empty")
    stability = finite(record["stability"], "stability")
    if stability <= 0.0:
        raise UserError(f"stability is {stability}: it must be above 0")
    return MemoryEntry(
        id=count(record["id"], "id"),
        timestamp=moment(record["timestamp"], "timestamp"),
        step=whole(record["step"], "step"),
        user_id=_words(record["user_id"], "user_id"),
        user_text=_words(record["user_text"], "user_text"),
        affect=read_affect(record["affect"]),
        surprise=unit(record["surprise"], "surprise"),
        encoded_importance=unit(record["encoded_importance"], "encoded_importance"),
        parts=ImportanceParts(**{name: unit(value, name) for name, value in parts.items()}),
        override=_maybe(unit, record, "override"),
        override_by=override_by,
        response=_maybe(_words, record, "response"),
        identity_salience=unit(record["identity_salience"], "identity_salience"),
        phenomenal_state=read_state(record["phenomenal_state"]),
        kind=Kind(record["kind"]),
        audience=_audience(record),
        place=_words(record["place"], "place"),
        pinned=_flag(record["pinned"]),
        recall_count=count(record["recall_count"], "recall_count"),
        last_recalled=_maybe(finite, record, "last_recalled"),
        stability=stability,
        extra=dict(record["extra"]),
    )


def _audience(record: Mapping[str, Any]) -> Audience:
    """Who may learn of it."""
    witnesses = [_words(user_id, "audience") for user_id in record["audience"]]
    confined = _flag(record["confined"]) if "confined" in record else None
    return kept_audience(Kind(record["kind"]), record["user_id"], witnesses, confined)


def count(value: Any, name: str) -> int:
    """A whole number from 0, or `UserError` that names it."""
    number = whole(value, name)
    if number < 0:
        raise UserError(f"{name} is {number}: it must be at least 0")
    return number


def _maybe(read: Callable[[Any, str], Any], record: Mapping[str, Any], name: str) -> Any:
    return None if record[name] is None else read(record[name], name)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise UserError(f"there is {value!r:.40} where true or false belongs")
    return value


def _words(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise UserError(f"{name} must be text, not {value!r:.40}")
    return clean(value)
