"""Whole agents out of a data folder, as of one moment, and into one.

Reading goes on beside a running writer and sees nothing of what it commits meanwhile. An agent is taken in
whole or not at all, and never over one that is there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Insert, Select

from noodlings.errors import StoreError, UserError
from noodlings.store import statements as sql
from noodlings.store.database import Database, Durability
from noodlings.store.documents import from_json, text, to_json, whole
from noodlings.store.ingested_rows import taken_of, taken_row
from noodlings.store.rows import (
    Row,
    Stored,
    entry_of,
    entry_row,
    kept_symbol_of,
    link_of,
    link_row,
    symbol_row,
    trace_of,
    trace_row,
    vector_of,
)
from noodlings.store.vault import Encryption, Vault
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.memory import ArchivedAgent, ArchivedEntry, ArchivedSymbol, EntryVector, Link
from noodlings.values.trace import Trace

Source = TypeVar("Source")
Value = TypeVar("Value")

AT_ONCE = 500
"""Rows that are read or written in one go, however long an archive is."""

log = logging.getLogger(__name__)


class SqlSnapshot:
    """What was kept at one moment.

    Attributes:
        damaged: what is wrong with each record that could not be read so far.
    """

    def __init__(self, connection: Connection, vault: Vault, sealed_words: bool) -> None:
        self._connection = connection
        self._vault = vault
        self._sealed_words = sealed_words
        self.damaged: list[str] = []

    @property
    def left_out(self) -> int:
        """How many records could not be read so far."""
        return len(self.damaged)

    @property
    def encrypted(self) -> bool:
        """Whether anything of it is encrypted."""
        return self._vault.encrypts

    def agents(self) -> list[str]:
        """Ids of all agents, sorted."""
        return list(self._connection.execute(sql.AGENTS).scalars())

    def agent(self, agent_id: str) -> ArchivedAgent:
        """An agent of `agents`; with an empty state where that cannot be read."""
        of_agent = {"of_agent": agent_id}
        row = self._connection.execute(sql.AGENT, of_agent).one()
        last_id: int = self._connection.execute(sql.LAST_ID, of_agent).scalar_one()
        state = None if row.state is None else self._read((agent_id, row.state), self._state)
        last_symbol_id: int = self._connection.execute(sql.LAST_SYMBOL_ID, of_agent).scalar_one()
        return ArchivedAgent(
            agent_id,
            max(last_id, row.forgotten_id),
            state or {},
            max(last_symbol_id, row.forgotten_symbol_id),
        )

    def entries(self, agent_id: str) -> Iterator[ArchivedEntry]:
        """Everything an agent ever perceived, in the order of ids."""
        return self._page(sql.ARCHIVE, "id", agent_id, self._entry)

    def traces(self, agent_id: str) -> Iterator[Trace]:
        """All of its traces, in the order of ids."""
        return self._page(sql.TRACES_AFTER, "entry_id", agent_id, self._vault.reading("traces", trace_of))

    def links(self, agent_id: str) -> Iterator[Link]:
        """All links between its entries, in the order of source, target and type."""
        return self._all(sql.LINKS, agent_id, link_of)

    def symbols(self, agent_id: str) -> Iterator[ArchivedSymbol]:
        """All symbols made of its entries, in the order of ids."""
        return self._all(sql.ALL_SYMBOLS, agent_id, self._vault.reading("symbols", kept_symbol_of))

    def _entry(self, row: Stored) -> ArchivedEntry:
        entry = entry_of(self._vault.opened("entries", row), self._sealed_words)
        return ArchivedEntry(entry, row["episodic"], row["consolidated"])

    def _state(self, stored: tuple[str, Any]) -> dict[str, Any]:
        agent_id, document = stored
        data = from_json(self._vault.text(document, "agents", "state", agent_id), f"the state of {agent_id}")
        if not isinstance(data, dict):
            raise StoreError(f"the state of {agent_id} is damaged")
        return data

    def vectors(self, agent_id: str) -> Iterator[EntryVector]:
        """All vectors of its entries, of whatever model, in the order of ids."""
        return self._all(sql.ALL_VECTORS, agent_id, self._vault.reading("vectors", vector_of))

    def taken(self, agent_id: str) -> Iterator[IngestedRecord]:
        """All records of sources that it was given, in the order of source and id."""
        at = ("", "")
        while True:
            wanted = {"of_agent": agent_id, "of_source": at[0], "of_record": at[1], "limit": AT_ONCE}
            rows = self._connection.execute(sql.TAKEN_AFTER, wanted).mappings().all()
            for row in rows:
                taken = self._read(row, self._vault.reading("source_records", taken_of))
                if taken is not None:
                    yield taken
            if len(rows) < AT_ONCE:
                return
            at = (rows[-1]["source"], rows[-1]["record_id"])

    def _all(self, statement: Select[Any], agent_id: str, read: Callable[[Stored], Value]) -> Iterator[Value]:
        for row in self._connection.execute(statement, {"of_agent": agent_id}).mappings():
            value = self._read(row, read)
            if value is not None:
                yield value

    def _page(
        self, statement: Select[Any], key: str, agent_id: str, read: Callable[[Stored], Value]
    ) -> Iterator[Value]:
        position = -1
        while True:
            at = {"of_agent": agent_id, "position": position, "limit": AT_ONCE}
            rows = self._connection.execute(statement, at).mappings().all()
            for row in rows:
                value = self._read(row, read)
                if value is not None:
                    yield value
            if len(rows) < AT_ONCE:
                return
            position = rows[-1][key]

    def _read(self, stored: Source, read: Callable[[Source], Value]) -> Value | None:
        try:
            return read(stored)
        except StoreError as error:
            log.warning("left out: %s", error)
            self.damaged.append(str(error))
            return None


class SqlImporter:
    """Takes agents into a data folder."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def agents(self) -> list[str]:
        """Ids of those that are there, sorted."""
        with self._database.transaction() as connection:
            return list(connection.execute(sql.AGENTS).scalars())

    def take_in(
        self,
        agent: ArchivedAgent,
        records: Iterable[ArchivedEntry | Trace | Link | ArchivedSymbol | IngestedRecord],
    ) -> None:
        """Keep an agent with its entries, traces, links, symbols and records, in one transaction.

        Args:
            agent: one that is not there.
            records: its entries; a trace, a link, a symbol or a record stands behind the entries that it
                refers to. What raises here ends the transaction, and nothing is kept.

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
        with self._database.transaction() as connection:
            add = partial(_add, connection, self._database.vault)
            add(sql.ADD_AGENT, [row])
            for some in _portions(records):
                entries = [kept for kept in some if isinstance(kept, ArchivedEntry)]
                add(sql.ADD_ENTRY, [_entry_row(agent.agent_id, kept) for kept in entries])
                add(sql.ADD_TRACE, [trace_row(trace) for trace in some if isinstance(trace, Trace)])
                links = [link for link in some if isinstance(link, Link)]
                add(sql.ADD_LINK, [link_row(agent.agent_id, link) for link in links])
                symbols = [kept for kept in some if isinstance(kept, ArchivedSymbol)]
                add(sql.ADD_SYMBOL, [_symbol_row(agent.agent_id, kept) for kept in symbols])
                taken = [kept for kept in some if isinstance(kept, IngestedRecord)]
                add(sql.ADD_TAKEN, [taken_row(agent.agent_id, kept) for kept in taken])


@contextmanager
def snapshot(
    folder: Path, encryption: Encryption | None = None, sealed_words: bool = False
) -> Iterator[SqlSnapshot]:
    """What is kept in a data folder now.

    Args:
        folder: the data folder.
        encryption: the user's keys.
        sealed_words: whether sealed entries come with their words.

    Raises:
        NotFound: nothing is.
        StoreError: the database is damaged, foreign or of another version, or needs another key.
    """
    with (
        closing(Database(folder, read_only=True, encryption=encryption)) as database,
        database.transaction() as connection,
    ):
        yield SqlSnapshot(connection, database.vault, sealed_words)


@contextmanager
def intake(
    folder: Path, durability: Durability = "normal", encryption: Encryption | None = None
) -> Iterator[SqlImporter]:
    """The way into a data folder, which is made when it is missing.

    Raises:
        UserError: something is to be encrypted, and there is no key.
        StoreBusy: another process writes there.
        StoreError: the database is damaged, foreign or of another version.
    """
    with closing(Database(folder, durability, encryption=encryption)) as database:
        yield SqlImporter(database)


def _entry_row(agent_id: str, kept: ArchivedEntry) -> Row:
    membership = {"episodic": kept.episodic, "consolidated": kept.consolidated}
    return entry_row(agent_id, kept.entry) | membership


def _symbol_row(agent_id: str, kept: ArchivedSymbol) -> Row:
    return symbol_row(agent_id, kept.symbol) | {"faded": kept.faded}


def _portions(records: Iterable[Value]) -> Iterator[list[Value]]:
    rest = iter(records)
    while some := list(islice(rest, AT_ONCE)):
        yield some


def _add(connection: Connection, vault: Vault, statement: Insert, rows: Sequence[Row]) -> None:
    if rows:
        connection.execute(statement, [vault.sealed(statement.table.name, row) for row in rows])
