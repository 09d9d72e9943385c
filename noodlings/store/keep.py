"""One batch into the tables, within a transaction.

What was forgotten between two commits stays forgotten: whatever is still said about it is left out. What was
never there is a mistake, and refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import Update

from noodlings.errors import StoreError
from noodlings.store import statements as sql
from noodlings.store.batch import Batch
from noodlings.store.direct import Direct
from noodlings.store.rows import Row


def keep(transaction: Direct, batch: Batch, kept_traces: int) -> None:
    """Keep a batch of an agent that is known; of its traces those of its latest `kept_traces` percepts.

    Raises:
        StoreError: it changes, or goes with, an entry that never was.
    """
    agent_id = batch.agent_id
    if batch.state is not None:
        transaction.run(sql.SET_STATE, {"of_agent": agent_id, "state": batch.state})
    transaction.run_each(sql.ADD_ENTRY, batch.added)
    _change(transaction, sql.REVISE, agent_id, batch.revised)
    _change(transaction, sql.JOIN_EPISODIC, agent_id, {joined: {} for joined in batch.joined})
    _change(transaction, sql.LEAVE_EPISODIC, agent_id, {left: {} for left in batch.left})
    if batch.trace is not None:
        _keep_trace(transaction, batch.trace, kept_traces)
    _keep_links(transaction, batch)
    keep_vectors(transaction, agent_id, batch.vectors)
    _keep_symbols(transaction, batch)


def keep_vectors(transaction: Direct, agent_id: str, rows: Sequence[Row]) -> None:
    """Add vectors, or replace them. One of an entry that was forgotten meanwhile is left out."""
    there = _there(transaction, agent_id, {row["entry_id"] for row in rows})
    transaction.run_each(sql.ADD_VECTOR, [row for row in rows if row["entry_id"] in there])


def _keep_trace(transaction: Direct, trace: Row, kept_traces: int) -> None:
    of_agent, entry_id = trace["agent_id"], trace["entry_id"]
    if _there(transaction, of_agent, [entry_id]):
        transaction.run(sql.ADD_TRACE, trace)
        transaction.run(sql.PRUNE_TRACES, {"of_agent": of_agent, "oldest": entry_id - kept_traces})


def _keep_links(transaction: Direct, batch: Batch) -> None:
    """Add links, or make them stronger. One from or to an entry that was forgotten meanwhile is left out."""
    there = _there(transaction, batch.agent_id, batch.linked)
    rows = [row for row in batch.links if {row["source_id"], row["target_id"]} <= there]
    transaction.run_each(sql.ADD_LINK, rows)


def _keep_symbols(transaction: Direct, batch: Batch) -> None:
    """Add symbols, and note which faded. One of an entry that was forgotten meanwhile is left out."""
    there = _there(transaction, batch.agent_id, {row["entry_id"] for row in batch.symbols})
    transaction.run_each(sql.ADD_SYMBOL, [row for row in batch.symbols if row["entry_id"] in there])
    faded = [{"of_agent": batch.agent_id, "of_id": symbol_id} for symbol_id in batch.faded]
    transaction.run_each(sql.FADE_SYMBOL, faded)


def _there(transaction: Direct, agent_id: str, ids: Collection[int]) -> set[int]:
    """Those of the entries that are there; the others must have been forgotten."""
    there = {
        entry_id
        for entry_id in ids
        if transaction.fetch(sql.HAS_ENTRY, {"of_agent": agent_id, "of_id": entry_id})
    }
    if len(there) < len(ids):
        _require_forgotten(transaction, agent_id, set(ids) - there)
    return there


def _change(transaction: Direct, statement: Update, agent_id: str, columns: Mapping[int, Row]) -> None:
    """Update each of these entries by id. One that was forgotten meanwhile is left out."""
    rows = [{"of_agent": agent_id, "of_id": entry_id, **row} for entry_id, row in columns.items()]
    if transaction.run_each(statement, rows) < len(rows):
        _require_forgotten(transaction, agent_id, columns)


def _require_forgotten(transaction: Direct, agent_id: str, ids: Iterable[int]) -> None:
    """Raise `StoreError` when one of these entries is not there because it never was: that is a mistake."""
    of_agent = {"of_agent": agent_id}
    (agent,) = transaction.fetch(sql.AGENT, of_agent)
    (newest,) = transaction.fetch(sql.LAST_ID, of_agent)
    last_id = max(agent["forgotten_id"], *newest.values())
    unknown = [entry_id for entry_id in ids if entry_id > last_id]
    if unknown:
        raise StoreError(f"{agent_id} has no entry {unknown[0]}: add it before it is changed")
