"""Whole agents out of a data folder, as of one moment, and into one.

Reading goes on beside a running writer and sees nothing of what it commits meanwhile. An agent is taken in
whole or not at all, and never over one that is there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Insert

from noodlings.errors import StoreError, UserError
from noodlings.store import statements as sql
from noodlings.store.database import Durability
from noodlings.store.documents import LARGEST, text, to_json, whole
from noodlings.store.ingested_rows import taken_of, taken_row
from noodlings.store.opening import open_database
from noodlings.store.rows import (
    Row,
    Stored,
    archived_symbol_of,
    entry_of,
    entry_row,
    link_of,
    link_row,
    state_of,
    symbol_row,
    trace_of,
    trace_row,
    vector_of,
)
from noodlings.store.sql_database import SqlDatabase
from noodlings.store.transaction import Statement, Transaction
from noodlings.store.vault import Encryption
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.memory import ArchivedAgent, ArchivedEntry, ArchivedSymbol, EntryVector, Link
from noodlings.values.trace import Trace

ArchivedRecord = ArchivedEntry | Trace | Link | ArchivedSymbol | IngestedRecord
Value = TypeVar("Value")

log = logging.getLogger(__name__)


class SqlSnapshot:
    """What was kept at one moment; the port `StoreSnapshot`.

    Attributes:
        transaction: what it is read in.
        damaged: what is wrong with each record that could not be read so far.
    """

    def __init__(self, transaction: Transaction, sealed_words: bool) -> None:
        self.transaction = transaction
        self._vault = transaction.vault
        self._sealed_words = sealed_words
        self.damaged: list[str] = []

    @property
    def left_out(self) -> int:
        return len(self.damaged)

    @property
    def encrypted(self) -> bool:
        """Whether anything of it is encrypted."""
        return self._vault.encrypts

    def agents(self) -> list[str]:
        return self.transaction.column(sql.AGENTS, {})

    def agent(self, agent_id: str) -> ArchivedAgent:
        """An agent of `agents`; with an empty state where that cannot be read."""
        of_agent = {"of_agent": agent_id}
        row = next(iter(self.transaction.rows(sql.AGENT, of_agent)), None)
        if row is None:
            raise StoreError(f"the record of {agent_id} cannot be found; the database is damaged")
        state = next(self._readable([row], self._vault.reading("agents", state_of)), {})
        last_id = self.transaction.value(sql.LAST_ID, of_agent)
        last_symbol_id = self.transaction.value(sql.LAST_SYMBOL_ID, of_agent)
        return ArchivedAgent(
            agent_id,
            max(last_id, row["forgotten_id"]),
            state,
            max(last_symbol_id, row["forgotten_symbol_id"]),
        )

    def entries(self, agent_id: str) -> Iterator[ArchivedEntry]:
        return self._all(sql.ARCHIVE, agent_id, self._entry)

    def traces(self, agent_id: str) -> Iterator[Trace]:
        return self._all(sql.ALL_TRACES, agent_id, self._vault.reading("traces", trace_of))

    def links(self, agent_id: str) -> Iterator[Link]:
        return self._all(sql.LINKS, agent_id, link_of)

    def symbols(self, agent_id: str) -> Iterator[ArchivedSymbol]:
        return self._all(sql.ALL_SYMBOLS, agent_id, self._vault.reading("symbols", archived_symbol_of))

    def vectors(self, agent_id: str) -> Iterator[EntryVector]:
        """All vectors of its entries, of whatever model, in the order of ids."""
        return self._all(sql.ALL_VECTORS, agent_id, self._vault.reading("vectors", vector_of))

    def taken(self, agent_id: str) -> Iterator[IngestedRecord]:
        """All records of its sources, in the order of source and id."""
        taken = self._all(sql.ALL_TAKEN, agent_id, self._vault.reading("source_records", taken_of))
        return iter(sorted(taken, key=lambda record: (record.source, record.id)))

    def done_by(self) -> list[str]:
        """The ids of those who had something forgotten, which no export holds."""
        return self.transaction.column(sql.DONE_BY, {})

    def _entry(self, row: Stored) -> ArchivedEntry:
        entry = entry_of(self._vault.opened("entries", row), self._sealed_words)
        return ArchivedEntry(entry, bool(row["episodic"]), bool(row["consolidated"]))

    def _all(self, statement: Statement, agent_id: str, read: Callable[[Stored], Value]) -> Iterator[Value]:
        everything = {"of_agent": agent_id, "position": -1, "limit": LARGEST}
        return self._readable(self.transaction.each(statement, everything), read)

    def _readable(self, rows: Iterable[Row], read: Callable[[Stored], Value]) -> Iterator[Value]:
        for row in rows:
            try:
                yield read(row)
            except StoreError as error:
                log.warning("left out: %s", error)
                self.damaged.append(str(error))


class SqlImporter:
    """Adds agents to a data folder; the port `AgentImporter`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def agents(self) -> list[str]:
        with self._database.snapshot() as transaction:
            return transaction.column(sql.AGENTS, {})

    def take_in(self, agent: ArchivedAgent, records: Iterable[ArchivedRecord]) -> None:
        """Keep an agent with its entries, traces, links, symbols and records, in one transaction.

        Args:
            records: a trace, a link, a symbol or a record stands behind the entries that it refers to. If
                reading them raises, nothing is kept.

        Raises:
            UserError: the agent is there already.
            StoreError: something cannot be kept.
        """
        row = {
            "agent_id": text(agent.agent_id, "agent_id"),
            "state": to_json(agent.state, "the state") if agent.state else None,
            "forgotten_id": whole(agent.last_id, "last_id"),
            "forgotten_symbol_id": whole(agent.last_symbol_id, "last_symbol_id"),
        }
        if agent.agent_id in self.agents():
            raise UserError(f"{agent.agent_id} is already there")
        with self._database.transaction() as transaction:
            transaction.run(sql.ADD_AGENT, row)
            for record in records:
                transaction.run(*_addition(agent.agent_id, record))


@contextmanager
def snapshot(
    where: Path | str, encryption: Encryption | None = None, sealed_words: bool = False
) -> Iterator[SqlSnapshot]:
    """What is kept now.

    Args:
        where: the data folder, or the URL of a database.
        encryption: the user's keys.
        sealed_words: whether sealed entries come with their words.

    Raises:
        NotFound: nothing is.
        StoreError: the database is damaged, foreign or of another version, or needs another key.
    """
    with (
        closing(open_database(where, read_only=True, encryption=encryption)) as database,
        database.snapshot() as transaction,
    ):
        yield SqlSnapshot(transaction, sealed_words)


@contextmanager
def intake(
    where: Path | str, durability: Durability = "normal", encryption: Encryption | None = None
) -> Iterator[SqlImporter]:
    """The way into a data folder, which is made when it is missing, or into the database of a URL.

    Raises:
        UserError: something is to be encrypted, and there is no key.
        StoreBusy: another process writes there.
        StoreError: the database is damaged, foreign or of another version.
    """
    with closing(open_database(where, durability, encryption=encryption)) as database:
        yield SqlImporter(database)


def _addition(agent_id: str, record: ArchivedRecord) -> tuple[Insert, Row]:
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
