"""Forgetting in the database: what `noodlings.store.forget` decides, within one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import Connection

from noodlings.errors import StoreError
from noodlings.ports import Forgotten
from noodlings.store import statements as sql
from noodlings.store.documents import LARGEST, number, text
from noodlings.store.forget import content_words, repeats, turns_made_of, without
from noodlings.store.rows import trace_of, trace_row
from noodlings.values.trace import Trace

IDS_AT_ONCE = 500
"""Parameters of one statement; older SQLite takes 999 in all."""


def portions(ids: Iterable[int], at_once: int = IDS_AT_ONCE) -> Iterator[list[int]]:
    """The ids that could exist, each once, in portions that fit into a statement; none for none."""
    possible = sorted({entry_id for entry_id in map(int, ids) if 0 <= entry_id <= LARGEST})
    for start in range(0, len(possible), at_once):
        yield possible[start : start + at_once]


def delete_entries(
    connection: Connection, agent_id: str, ids: Sequence[int], by_user: str, timestamp: float
) -> Forgotten:
    """Delete these entries of an agent, and every word made of them. See `SqlStore.forget`."""
    texts = _texts(connection, agent_id, ids)
    if not texts:
        return Forgotten()
    gone = frozenset(texts)
    images = _images(connection, agent_id, gone)
    words = content_words([*(part for pair in texts.values() for part in pair), *images.values()])
    turns = _redact_traces(connection, agent_id, gone, words, frozenset(images))
    redacted = tuple(
        entry_id
        for entry_id, (_, response) in _texts(connection, agent_id, turns).items()
        if response and repeats(response, words)
    )
    if redacted:
        connection.execute(sql.REDACT_RESPONSE, [_row(agent_id, entry_id) for entry_id in redacted])
    connection.execute(sql.FORGET_ENTRY, [_row(agent_id, entry_id) for entry_id in gone])
    connection.execute(sql.RAISE_FORGOTTEN_ID, {"of_agent": agent_id, "last_id": max(gone)})
    if images:
        last = {"of_agent": agent_id, "last_id": max(images)}
        connection.execute(sql.RAISE_FORGOTTEN_SYMBOL_ID, last)
    event = {
        "agent_id": agent_id,
        "timestamp": number(timestamp, "timestamp"),
        "kind": "forget",
        "by_user": text(by_user, "by_user"),
        "count": len(gone),
    }
    connection.execute(sql.ADD_EVENT, event)
    return Forgotten(len(gone), redacted)


def _texts(connection: Connection, agent_id: str, ids: Sequence[int]) -> dict[int, tuple[str, str]]:
    """id → what was said and answered, of those that exist, however damaged the row is elsewhere."""
    found = {}
    for some in portions(ids):
        for row in connection.execute(sql.WORDS, {"of_agent": agent_id, "ids": some}):
            found[row.id] = (row.user_text, row.response or "")
    return found


def _images(connection: Connection, agent_id: str, ids: Iterable[int]) -> dict[int, str]:
    """id → image, of the symbols that were made of these entries, faded ones too."""
    found = {}
    for some in portions(ids):
        for row in connection.execute(sql.SYMBOLS_OF, {"of_agent": agent_id, "ids": some}):
            found[row.id] = row.symbolic_encoding
    return found


def _redact_traces(
    connection: Connection,
    agent_id: str,
    gone: frozenset[int],
    words: frozenset[str],
    symbols: frozenset[int],
) -> list[int]:
    """Take the forgotten out of the traces of other turns; the turns that may hold words of it.

    A trace that cannot be read cannot be redacted, so it goes. Those of the forgotten entries go with them.
    """
    traces: dict[int, Trace] = {}
    for row in connection.execute(sql.ALL_TRACES, {"of_agent": agent_id}).mappings().all():
        try:
            traces[row["entry_id"]] = trace_of(row)
        except StoreError:
            connection.execute(sql.FORGET_TRACE, _row(agent_id, row["entry_id"]))
    turns = turns_made_of(list(traces.values()), gone, words, symbols) - gone
    for entry_id in turns:
        document = trace_row(without(traces[entry_id], gone))["document"]
        connection.execute(sql.REDACT_TRACE, {**_row(agent_id, entry_id), "document": document})
    return sorted(turns)


def _row(agent_id: str, entry_id: int) -> dict[str, str | int]:
    return {"of_agent": agent_id, "of_id": entry_id}
