"""One commit into the tables, within a transaction.

Everything is encoded and checked as rows before the transaction begins. What was forgotten between two
commits stays forgotten: whatever is still said about it is left out. A reference to something that never
existed is a mistake, and is refused.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Update

from noodlings.errors import StoreError
from noodlings.ports import Changes
from noodlings.store import statements as sql
from noodlings.store.documents import id_list, text, to_json, whole
from noodlings.store.ingested_rows import FORGOTTEN, taken_row
from noodlings.store.rows import Row, entry_row, history_row, link_row, symbol_row, trace_row, vector_row
from noodlings.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class CommitRows:
    """The rows of one commit.

    Attributes:
        agent_id: whose.
        state: the agent's new state as a document, or None to leave it.
        added: whole rows of new entries, in episodic memory or not.
        revised: id → the columns of its history.
        joined, left: ids of older entries that came to episodic memory, or of any that left it.
        trace: the row of the finished turn, or None.
        unlinked, links: whole rows of links that are removed, and of new or stronger ones.
        vectors, symbols, taken: whole rows of vectors, new symbols and records of a source. Their entries,
            and those of `links`, may have been forgotten meanwhile.
        faded: ids of symbols that left the subconscious.
    """

    agent_id: str
    state: str | None
    added: list[Row]
    revised: dict[int, Row]
    joined: list[int]
    left: list[int]
    trace: Row | None
    unlinked: list[Row]
    links: list[Row]
    vectors: list[Row]
    symbols: list[Row]
    faded: list[int]
    taken: list[Row]

    @property
    def concerned(self) -> set[int]:
        """Ids of all entries that something is kept about, the added ones too."""
        linked = (row[end] for row in self.links for end in ("source_id", "target_id"))
        about = [row["entry_id"] for row in (*self.vectors, *self.symbols)]
        traced = () if self.trace is None else (self.trace["entry_id"],)
        return {*linked, *about, *traced, *self.taken_as, *self.revised, *self.joined, *self.left}

    @property
    def taken_as(self) -> frozenset[int]:
        """Ids of the entries that records are."""
        return frozenset(row["entry_id"] for row in self.taken if row["entry_id"] is not None)


def commit_rows(changes: Changes) -> CommitRows:
    """The rows of `changes`. Raises `StoreError` when a part cannot be kept, or is another agent's."""
    for part in (changes.state, changes.trace):
        if part is not None and part.agent_id != changes.agent_id:
            raise StoreError(f"changes of {changes.agent_id} hold something of {part.agent_id}")
    members = {whole(entry_id, "id") for entry_id in changes.episodic}
    added = [entry_row(changes.agent_id, entry) for entry in changes.added]
    for row in added:
        row["episodic"] = row["consolidated"] = row["id"] in members
    return CommitRows(
        agent_id=text(changes.agent_id, "agent_id"),
        state=None if changes.state is None else to_json(changes.state.data, "the state"),
        added=added,
        revised={whole(entry.id, "id"): history_row(entry) for entry in changes.updated},
        joined=sorted(members - {row["id"] for row in added}),
        left=[whole(entry_id, "id") for entry_id in changes.evicted],
        trace=None if changes.trace is None else trace_row(changes.trace),
        unlinked=[link_row(changes.agent_id, link) for link in changes.unlinked],
        links=[link_row(changes.agent_id, link) for link in changes.links],
        vectors=[vector_row(changes.agent_id, vector) for vector in changes.vectors],
        symbols=[symbol_row(changes.agent_id, symbol) for symbol in changes.symbols],
        faded=[whole(symbol_id, "id") for symbol_id in changes.faded],
        taken=[taken_row(changes.agent_id, taken) for taken in changes.taken],
    )


def write_commit(transaction: Transaction, batch: CommitRows, kept_traces: int) -> bool:
    """Keep a batch of an agent that is known; of its traces those of its latest `kept_traces` percepts.

    Returns whether words were sealed that had been plain until now.

    Raises:
        StoreError: it changes, or goes with, an entry that never was.
    """
    agent_id, added = batch.agent_id, {row["id"] for row in batch.added}
    there = added | _there(transaction, agent_id, batch.concerned - added)
    with transaction.in_one_go():
        if batch.state is not None:
            transaction.run(sql.CHANGE_AGENT, {"of_agent": agent_id, "state": batch.state})
        transaction.run_each(sql.ADD_ENTRY, batch.added)
        _change(transaction, sql.REVISE, agent_id, batch.revised, there)
        _change(transaction, sql.JOIN_EPISODIC, agent_id, {joined: {} for joined in batch.joined}, there)
        _change(transaction, sql.LEAVE_EPISODIC, agent_id, {left: {} for left in batch.left}, there)
        if batch.trace is not None and batch.trace["entry_id"] in there:
            _keep_trace(transaction, batch.trace, kept_traces)
        _keep_links(transaction, batch, there)
        transaction.run_each(sql.ADD_VECTOR, [row for row in batch.vectors if row["entry_id"] in there])
        _keep_symbols(transaction, batch, there)
        _keep_taken(transaction, batch, there)
    return _seal_raised(transaction, batch)


def write_vectors(transaction: Transaction, agent_id: str, rows: Sequence[Row]) -> None:
    """Add vectors, or replace them. One of an entry that was forgotten meanwhile is left out."""
    there = _there(transaction, agent_id, {row["entry_id"] for row in rows})
    transaction.run_each(sql.ADD_VECTOR, [row for row in rows if row["entry_id"] in there])


def _seal_raised(transaction: Transaction, batch: CommitRows) -> bool:
    """Seal the words of entries that were plain until an answer to them was made of something secret.

    Returns whether there were any.
    """
    raised = [number for number, row in batch.revised.items() if transaction.vault.may_be_plain(row["tier"])]
    wanted = {"of_agent": batch.agent_id, "ids": json.dumps(raised)}
    plain = transaction.rows(sql.PLAIN_WORDS, wanted) if raised else []
    for row in plain:
        change = {"of_agent": batch.agent_id, "of_id": row["id"]}
        transaction.run(sql.REVISE, change | {name: row[name] for name in sql.WORDS_OF_ENTRY})
    return bool(plain)


def _keep_trace(transaction: Transaction, trace: Row, kept_traces: int) -> None:
    oldest = {"of_agent": trace["agent_id"], "oldest": trace["entry_id"] - kept_traces}
    transaction.run(sql.ADD_TRACE, trace)
    transaction.run(sql.PRUNE_TRACES, oldest)


def _keep_links(transaction: Transaction, batch: CommitRows, there: set[int]) -> None:
    """Add links, or make them stronger. One from or to an entry that was forgotten meanwhile is left out."""
    ends = ("source_id", "target_id", "type")
    gone = [{"of_agent": batch.agent_id} | {f"of_{end}": row[end] for end in ends} for row in batch.unlinked]
    transaction.run_each(sql.DROP_LINK, gone)
    rows = [row for row in batch.links if {row["source_id"], row["target_id"]} <= there]
    transaction.run_each(sql.ADD_LINK, rows)


def _keep_symbols(transaction: Transaction, batch: CommitRows, there: set[int]) -> None:
    """Add symbols, and note which faded. One of an entry that was forgotten meanwhile is left out."""
    transaction.run_each(sql.ADD_SYMBOL, [row for row in batch.symbols if row["entry_id"] in there])
    faded = [{"of_agent": batch.agent_id, "of_id": symbol_id} for symbol_id in batch.faded]
    transaction.run_each(sql.FADE_SYMBOL, faded)


def _keep_taken(transaction: Transaction, batch: CommitRows, there: set[int]) -> None:
    """Note what became of records; one whose entry was forgotten meanwhile is forgotten, too."""
    gone = batch.taken_as - there
    rows = [row | FORGOTTEN if row["entry_id"] in gone else row for row in batch.taken]
    transaction.run_each(sql.ADD_TAKEN, rows)


def _there(transaction: Transaction, agent_id: str, ids: Collection[int]) -> set[int]:
    """Those of the entries that are there; the others must have been forgotten."""
    if not ids:
        return set()
    wanted = {"of_agent": agent_id, "ids": id_list(ids)}
    there: set[int] = set(transaction.column(sql.ENTRY_IDS, wanted))
    if len(there) < len(ids):
        _require_forgotten(transaction, agent_id, set(ids) - there)
    return there


def _change(
    transaction: Transaction, statement: Update, agent_id: str, columns: Mapping[int, Row], there: set[int]
) -> None:
    """Update each of these entries by id. One that was forgotten meanwhile is left out."""
    rows = [{"of_agent": agent_id, "of_id": entry_id, **row} for entry_id, row in columns.items()]
    transaction.run_each(statement, [row for row in rows if row["of_id"] in there])


def _require_forgotten(transaction: Transaction, agent_id: str, ids: Iterable[int]) -> None:
    """Raise `StoreError` when one of these entries is not there because it never was: that is a mistake."""
    of_agent = {"of_agent": agent_id}
    (agent,) = transaction.rows(sql.AGENT, of_agent)
    last_id = max(agent["forgotten_id"], transaction.value(sql.LAST_ID, of_agent))
    unknown = [entry_id for entry_id in ids if entry_id > last_id]
    if unknown:
        raise StoreError(f"{agent_id} has no entry {unknown[0]}: add it before it is changed")
