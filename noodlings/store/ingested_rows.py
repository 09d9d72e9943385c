"""Records of a source to rows and back: see `noodlings.values.ingested_record`."""

from __future__ import annotations

from noodlings.errors import StoreError
from noodlings.store.documents import from_json, text, to_json, whole
from noodlings.store.rows import WHAT, Row, Stored, column, kept
from noodlings.values.ingested_record import IngestedRecord

FORGOTTEN: Row = {
    "digest": "",
    "entry_id": None,
    "user_id": "",
    "attempts": 0,
    "reason": "",
    "record": None,
}
"""What is left of a record that was forgotten."""
NOT_WAITING: Row = {name: FORGOTTEN[name] for name in FORGOTTEN if name != "entry_id"}
"""The same but for the memory that a waiting record was to replace: that is forgotten by itself, or stays."""


def taken_row(agent_id: str, taken: IngestedRecord) -> Row:
    """All columns of a record that was taken in, or waits.

    Raises:
        StoreError: a text does not encode, or what waits is not JSON-compatible.
    """
    return {
        "agent_id": text(agent_id, "agent_id"),
        "record_id": text(taken.id, "record_id"),
        **kept(taken, text, "source", "digest", "user_id", "reason"),
        "entry_id": None if taken.entry_id is None else whole(taken.entry_id, "entry_id"),
        "attempts": whole(taken.attempts, "attempts"),
        "record": None if taken.record is None else to_json(taken.record, "record"),
    }


def taken_of(row: Stored) -> IngestedRecord:
    """The record of a row. Raises `StoreError` when the row is damaged."""
    record = column(
        row, "source_records.record", lambda it: None if it is None else dict(from_json(it, "record"))
    )
    same = ("source", "digest", "entry_id", "user_id", "attempts", "reason")
    values = {name: row[name] for name in same}
    if not all(isinstance(values[name], str) for name in ("source", "digest", "user_id", "reason")):
        what = WHAT["source_records"].format_map(row)
        raise StoreError(f"{what} is damaged: source_records holds something that is no text")
    return IngestedRecord(**values, id=row["record_id"], record=record)
