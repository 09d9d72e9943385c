"""One commit into the tables, within a transaction.

Everything is encoded and checked as rows before the transaction begins. What was forgotten between two
commits stays forgotten: whatever is still said about it is left out. A reference to something that never
existed is a mistake, and is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Insert

from noodlings.errors import StoreError
from noodlings.ports import ArchivedRecord, Changes
from noodlings.store import statements as sql
from noodlings.store.documents import id_list, text, to_json, whole
from noodlings.store.ingested_rows import FORGOTTEN, taken_row
from noodlings.store.rows import Row, entry_row, history_row, link_row, symbol_row, trace_row, vector_row
from noodlings.store.transaction import Change, Transaction
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.memory import ArchivedEntry, ArchivedSymbol, EntryVector, Link
from noodlings.values.trace import Trace

KEPT_TRACES = 2_000
"""For how many of an agent's latest percepts traces are kept."""


@dataclass(frozen=True, slots=True)
class Write:
    """Rows that one statement writes.

    Attributes:
        about: the parameters with the ids of entries that a row is about, maybe None. Where one of these was
            forgotten meanwhile, the row is left out.
        instead: what of the row is written as this then, in place of leaving it out.
    """

    statement: Change
    rows: list[Row]
    about: tuple[str, ...] = ()
    instead: Row | None = None

    def ids(self, row: Row) -> set[int]:
        """The entries that a row is about."""
        return {row[name] for name in self.about if row[name] is not None}

    def rows_about(self, there: set[int]) -> list[Row]:
        """The rows as they are written, given the entries that are there."""
        if self.instead is None:
            return [row for row in self.rows if self.ids(row) <= there]
        return [row if self.ids(row) <= there else row | self.instead for row in self.rows]


def writes_of(changes: Changes) -> list[Write]:
    """What a commit writes, in this order.

    Raises:
        StoreError: a part of it cannot be kept, or is another agent's.
    """
    agent_id = text(changes.agent_id, "agent_id")
    of_agent: Row = {"of_agent": agent_id}
    for part in (changes.state, changes.trace):
        if part is not None and part.agent_id != agent_id:
            raise StoreError(f"changes of {agent_id} hold something of {part.agent_id}")

    def keys(ids: Iterable[int]) -> list[Row]:
        return [of_agent | {"of_id": whole(number, "id")} for number in ids]

    members = {whole(entry_id, "id") for entry_id in changes.episodic}
    added = [entry_row(agent_id, entry) for entry in changes.added]
    for row in added:
        row["episodic"] = row["consolidated"] = row["id"] in members
    revised = [of_agent | {"of_id": whole(one.id, "id")} | history_row(one) for one in changes.updated]
    states = [] if changes.state is None else [to_json(changes.state.data, "the state")]
    traces = [] if changes.trace is None else [trace_row(changes.trace)]
    unlinked = [link_row(agent_id, link) for link in changes.unlinked]
    ends = ("source_id", "target_id", "type")
    writes = (
        Write(sql.CHANGE_AGENT, [of_agent | {"state": state} for state in states]),
        Write(sql.ADD_ENTRY, added),
        Write(sql.REVISE, revised, ("of_id",)),
        Write(sql.JOIN_EPISODIC, keys(sorted(members - {row["id"] for row in added})), ("of_id",)),
        Write(sql.LEAVE_EPISODIC, keys(changes.evicted), ("of_id",)),
        Write(sql.ADD_TRACE, traces, ("entry_id",)),
        Write(sql.PRUNE_TRACES, [of_agent | {"oldest": row["entry_id"] - KEPT_TRACES} for row in traces]),
        Write(sql.DROP_LINK, [of_agent | {f"of_{end}": row[end] for end in ends} for row in unlinked]),
        Write(sql.ADD_LINK, [link_row(agent_id, link) for link in changes.links], ("source_id", "target_id")),
        vector_writes(agent_id, changes.vectors),
        Write(sql.ADD_SYMBOL, [symbol_row(agent_id, symbol) for symbol in changes.symbols], ("entry_id",)),
        Write(sql.FADE_SYMBOL, keys(changes.faded)),
        Write(sql.ADD_TAKEN, [taken_row(agent_id, one) for one in changes.taken], ("entry_id",), FORGOTTEN),
    )
    return [one for one in writes if one.rows]


def vector_writes(agent_id: str, vectors: Sequence[EntryVector]) -> Write:
    """Adds vectors, or replaces them. Raises `StoreError` as `writes_of` does."""
    return Write(sql.ADD_VECTOR, [vector_row(agent_id, vector) for vector in vectors], ("entry_id",))


def write(transaction: Transaction, agent_id: str, writes: Sequence[Write]) -> bool:
    """Write to an agent that is known. Returns whether words were sealed that had been plain until now.

    Raises:
        StoreError: something is about an entry that never was.
    """
    added = {row["id"] for one in writes if one.statement is sql.ADD_ENTRY for row in one.rows}
    concerned = set[int]().union(*(one.ids(row) for one in writes for row in one.rows))
    there = added | _there(transaction, agent_id, concerned - added)
    with transaction.in_one_go():
        for one in writes:
            transaction.run_each(one.statement, one.rows_about(there))
    revised = (row for one in writes if one.statement is sql.REVISE for row in one.rows)
    return _seal_raised(transaction, agent_id, revised)


def _seal_raised(transaction: Transaction, agent_id: str, revised: Iterable[Row]) -> bool:
    """Seal the words of entries that were plain until an answer to them was made of something secret.

    Returns whether there were any.
    """
    raised = [row["of_id"] for row in revised if transaction.vault.may_be_plain(row["tier"])]
    wanted = {"of_agent": agent_id, "ids": json.dumps(raised)}
    plain = transaction.rows(sql.PLAIN_WORDS, wanted) if raised else []
    for row in plain:
        change = {"of_agent": agent_id, "of_id": row["id"]}
        transaction.run(sql.REVISE, change | {name: row[name] for name in sql.WORDS_OF_ENTRY})
    return bool(plain)


def _there(transaction: Transaction, agent_id: str, ids: set[int]) -> set[int]:
    """Those of the entries that are there; the others must have been forgotten.

    Raises:
        StoreError: one of the others never was, which is a mistake.
    """
    if not ids:
        return set()
    of_agent = {"of_agent": agent_id}
    there: set[int] = set(transaction.column(sql.ENTRY_IDS, of_agent | {"ids": id_list(ids)}))
    if gone := ids - there:
        (agent,) = transaction.rows(sql.AGENT, of_agent)
        if max(gone) > max(agent["forgotten_id"], transaction.value(sql.LAST_ID, of_agent)):
            raise StoreError(f"{agent_id} has no entry {max(gone)}: add it before it is changed")
    return there


def addition_of(agent_id: str, record: ArchivedRecord) -> tuple[Insert, Row]:
    """The statement that adds a record, and its row."""
    match record:
        case ArchivedEntry(entry, episodic, consolidated):
            membership = {"episodic": episodic, "consolidated": consolidated}
            return sql.ADD_ENTRY, entry_row(agent_id, entry) | membership
        case Trace():
            return sql.ADD_TRACE, trace_row(record)
        case Link():
            return sql.ADD_LINK, link_row(agent_id, record)
        case ArchivedSymbol(symbol, faded):
            return sql.ADD_SYMBOL, symbol_row(agent_id, symbol) | {"faded": faded}
        case IngestedRecord():
            return sql.ADD_TAKEN, taken_row(agent_id, record)
