"""Whole agents out of a data folder, as of one moment.

Reading goes on beside a running writer and sees nothing of what it commits meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from noodlings.errors import StoreError
from noodlings.store import statements as sql
from noodlings.store.documents import LARGEST
from noodlings.store.ingested_rows import taken_of
from noodlings.store.opening import open_database
from noodlings.store.rows import (
    Stored,
    Value,
    entry_of,
    link_of,
    state_of,
    symbol_of,
    trace_of,
    undamaged,
    vector_of,
)
from noodlings.store.transaction import Statement, Transaction
from noodlings.store.vault import Encryption
from noodlings.values.audience import Tier
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.memory import ArchivedAgent, ArchivedEntry, ArchivedSymbol, EntryVector, Link
from noodlings.values.trace import Trace


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
        state = next(undamaged([row], self._vault.reading("agents", state_of), self.damaged.append), {})
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
        """All images; of what comes without its words there are none."""
        made, sealed = self._all(sql.ALL_SYMBOLS, agent_id, self._symbol), set[int]()
        if not self._sealed_words:
            rows = self.transaction.rows(sql.SECRET, {"of_agent": agent_id})
            sealed = {row["id"] for row in rows if row["tier"] == Tier.SEALED}
        return (one for one in made if one.symbol.entry_id not in sealed)

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

    def _symbol(self, row: Stored) -> ArchivedSymbol:
        return ArchivedSymbol(symbol_of(self._vault.opened("symbols", row)), bool(row["faded"]))

    def _all(self, statement: Statement, agent_id: str, read: Callable[[Stored], Value]) -> Iterator[Value]:
        everything = {"of_agent": agent_id, "position": -1, "limit": LARGEST}
        return undamaged(self.transaction.each(statement, everything), read, self.damaged.append)


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
