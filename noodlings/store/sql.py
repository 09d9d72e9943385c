"""Agents in SQLite: each step of an agent is one transaction, and loading one reads only what is in mind.

What an entry was when it was encoded never changes: an update writes its history (response, override, pin,
recalls) and nothing else. What was forgotten between two commits stays forgotten.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from noodlings.errors import StoreError, UserError
from noodlings.ports import (
    AgentRecord,
    AgentState,
    ArchivedRecord,
    Changes,
    EntryColumns,
    Forgotten,
    ReadTraces,
)
from noodlings.store import statements as sql
from noodlings.store.database import Durability
from noodlings.store.documents import LARGEST, id_list, text, to_json, whole
from noodlings.store.forgetting import delete_entries, made_of, make_nameless, readable
from noodlings.store.ingested_rows import taken_of
from noodlings.store.leases import tell
from noodlings.store.opening import open_database
from noodlings.store.rows import (
    Row,
    Stored,
    Value,
    columns_of,
    entry_of,
    link_of,
    state_of,
    symbol_of,
    trace_of,
    undamaged,
    vector_of,
)
from noodlings.store.sql_database import SqlDatabase
from noodlings.store.transaction import Statement, Transaction
from noodlings.store.vault import Encryption
from noodlings.store.writing import addition_of, vector_writes, write, writes_of
from noodlings.values.audience import Tier
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.memory import ArchivedAgent, EntryVector, Link, MemoryEntry, Order
from noodlings.values.trace import Trace

if TYPE_CHECKING:
    from noodlings.store.sharing import Sharing

log = logging.getLogger(__name__)


class SqlStore:
    """The records of a data folder, in `noodlings.db`. Safe to use from any thread; close it in the end.

    The port, `noodlings.ports.Repository`, says what the methods do. Damaged rows are left out and logged,
    except where only ids are asked for.

    Args:
        where: the data folder, which a writer makes when it is missing, or the URL of a PostgreSQL database.
            How it is opened, and what that raises, see `noodlings.store.opening.open_database`.
        working_capacity: how many of the latest entries `load` brings.

    Attributes:
        sharing: what it takes part in with other workers that write to the same database; else None.
    """

    def __init__(
        self,
        where: Path | str,
        durability: Durability = "normal",
        read_only: bool = False,
        *,
        working_capacity: int = 20,
        encryption: Encryption | None = None,
        shared: bool = False,
    ) -> None:
        database = open_database(where, durability, read_only, encryption, shared)
        with ExitStack() as undo:
            undo.callback(database.close)
            sharing = database.sharing() if shared else None
            undo.pop_all()
        self._use(database, working_capacity, sharing)

    def _use(self, database: SqlDatabase, working_capacity: int, sharing: Sharing | None = None) -> None:
        self._database = database
        self._working_capacity = working_capacity
        self._known: set[str] = set()
        self.sharing = sharing
        self._closing = threading.Event()
        self._resealing: threading.Thread | None = None
        self._log_due = False  # words that are sealed by now still stand plain in the log

    @property
    def keeps_secrets(self) -> bool:
        return self._database.vault.encrypts

    def fingerprint(self, text: str) -> str:
        return self._database.vault.fingerprint(text.encode()).hex()[:32]

    def commit(self, changes: Changes) -> None:
        agent_id, writes = changes.agent_id, writes_of(changes)
        if self._database.vault.changed():
            self._take_up_keys()
        with self._writing(agent_id) as transaction:
            if agent_id not in self._known:
                transaction.run(sql.ADD_AGENT, {"agent_id": agent_id, "forgotten_id": 0})
            if write(transaction, agent_id, writes):
                self._database.mark_for_erasure(transaction)
                self._log_due = True
        self._known.add(agent_id)
        if self._log_due:
            self._log_due = False  # before it is emptied: another thread may seal more meanwhile
            self._log_due |= not self._database.empty_log()

    def load(self, agent_id: str) -> AgentRecord | None:
        """The agent, or None when it was never stored. An unreadable row is left out, and logged."""
        of_agent = {"of_agent": agent_id}
        with self._database.snapshot() as transaction:
            found = transaction.rows(sql.AGENT, of_agent)
            if not found:
                return None
            (agent,) = found
            working = transaction.rows(sql.WORKING, of_agent | {"limit": self._working_capacity})
            episodic = transaction.rows(sql.EPISODIC, of_agent)
            symbols = transaction.rows(sql.SYMBOLS, of_agent)
            last_id = transaction.value(sql.LAST_ID, of_agent)
            last_symbol_id = transaction.value(sql.LAST_SYMBOL_ID, of_agent)
            perceived = transaction.value(sql.PERCEIVED, of_agent)
            consolidated = transaction.value(sql.CONSOLIDATED, of_agent)
        return AgentRecord(
            state=AgentState(agent_id, next(iter(self._read("agents", [agent], state_of)), {})),
            working=tuple(reversed(self._read("entries", working, entry_of))),
            episodic=tuple(self._read("entries", episodic, entry_of)),
            perceived=perceived,
            consolidated=consolidated,
            last_id=max(last_id, agent["forgotten_id"]),
            symbols=tuple(self._read("symbols", symbols, symbol_of)),
            last_symbol_id=max(last_symbol_id, agent["forgotten_symbol_id"]),
        )

    def agents(self) -> list[str]:
        return self._column(sql.AGENTS, {})

    def traces(self, agent_id: str, limit: int = 1, before: int | None = None) -> list[Trace]:
        start = LARGEST + 1 if before is None else before
        return self._page(sql.TRACES, "traces", trace_of, "entry_id", agent_id, start, limit)

    def entries(self, agent_id: str, ids: Sequence[int]) -> dict[int, MemoryEntry]:
        rows = self._rows(sql.ENTRIES, {"of_agent": agent_id, "ids": id_list(ids)})
        return {entry.id: entry for entry in self._read("entries", rows, entry_of)}

    def archive(self, agent_id: str, after_id: int = -1, limit: int = 500) -> list[MemoryEntry]:
        return self._page(sql.ARCHIVE, "entries", entry_of, "id", agent_id, after_id, limit)

    def columns(self, agent_id: str, model: str, after_id: int = -1, limit: int = 500) -> EntryColumns:
        """What search looks at in the next `limit` entries, with vectors by a model.

        A damaged row is noticed only where search needs what is damaged. Then, or where vectors are of
        several lengths, each row of the page is read by itself.
        """
        wanted = {"of_agent": agent_id, "of_model": model, "position": _id(after_id), "limit": max(limit, 0)}
        with self._database.snapshot() as transaction:
            rows = transaction.tuples(sql.COLUMNS, wanted)
        try:
            return columns_of(self._database.vault.opened_columns(agent_id, rows), model)
        except StoreError:
            entries = self.archive(agent_id, after_id, limit)
            ends = (entries[0].id, entries[-1].id) if entries else (0, -1)
            return EntryColumns.of(entries, self.vectors(agent_id, model, *ends))

    def told_by(self, agent_id: str, user_id: str) -> list[int]:
        return self._column(sql.TOLD_BY, {"of_agent": agent_id, "of_user": user_id})

    def secret(self, agent_id: str) -> list[MemoryEntry]:
        rows = self._rows(sql.SECRET, {"of_agent": agent_id})
        return self._read("entries", rows, partial(entry_of, words=True))

    def in_order(
        self,
        agent_id: str,
        order: Order,
        falling: bool,
        containing: str = "",
        among: Sequence[int] | None = None,
    ) -> list[int]:
        if "\0" in containing:
            return []  # no text has it
        vault = self._database.vault
        if vault.encrypts and not self._database.opens_sealed and (containing or order is Order.TEXT):
            return self._in_order_of_opened(agent_id, order, falling, containing, among)
        statement = sql.in_order(order, falling, narrowed=bool(containing), among=among is not None)
        wanted = {"of_agent": agent_id} | ({"like": sql.like(containing)} if containing else {})
        wanted |= {} if among is None else {"among": json.dumps(list(among))}
        (listed,) = self._column(statement, wanted)
        ids: list[int] = json.loads(listed)
        if order is Order.WHEN:
            ids.sort(reverse=falling)
        return ids

    def _in_order_of_opened(
        self, agent_id: str, order: Order, falling: bool, containing: str, among: Collection[int] | None
    ) -> list[int]:
        """As `in_order`: all entries are read, and opened here."""
        found: list[tuple[Any, int]] = []
        wanted = None if among is None else frozenset(among)
        with self._database.snapshot() as transaction:
            for row in transaction.each(sql.SEALED_ORDER, {"of_agent": agent_id}):
                if wanted is not None and row["id"] not in wanted:
                    continue
                open_to_all = row["tier"] < Tier.SEALED
                said, answered = (
                    readable(transaction, "entries", row, name) if open_to_all else ""
                    for name in ("user_text", "response")
                )
                if any(_folded(containing) in _folded(words) for words in (said, answered, row["user_id"])):
                    keys = {Order.IMPORTANCE: row["importance"], Order.WHO: row["user_id"], Order.TEXT: said}
                    found.append((keys.get(order, 0), row["id"]))
        return [entry_id for _, entry_id in sorted(found, reverse=falling)]

    def version(self) -> Hashable:
        with self._database.snapshot() as transaction:
            return transaction.tuples(sql.VERSION, {})[0]

    def links_of(self, agent_id: str, ids: Sequence[int], strongest: int | None = None) -> list[Link]:
        wanted = {"of_agent": agent_id, "ids": id_list(ids)}
        if strongest is None:
            rows = self._rows(sql.LINKS_OF, wanted)
        else:
            rows = self._rows(sql.STRONGEST_LINKS_OF, wanted | {"strongest": strongest})
        found = {(row["source_id"], row["target_id"], row["type"]): row for row in rows}
        return list(undamaged((found[key] for key in sorted(found)), link_of))

    def vectors(self, agent_id: str, model: str, first_id: int, last_id: int) -> dict[int, EntryVector]:
        wanted = {"of_agent": agent_id, "of_model": model, "first": _id(first_id), "last": _id(last_id)}
        found = self._read("vectors", self._rows(sql.VECTORS, wanted), vector_of)
        return {vector.entry_id: vector for vector in found}

    def keep_vectors(self, agent_id: str, vectors: Sequence[EntryVector]) -> None:
        added = vector_writes(agent_id, vectors)
        if self.sharing is not None and not self.sharing.leases.holds(agent_id):
            return  # its own process embeds it, too
        with self._writing(agent_id) as transaction:
            write(transaction, agent_id, [added])

    def taken(self, agent_id: str, source: str, record_ids: Sequence[str]) -> dict[str, IngestedRecord]:
        with self._database.snapshot() as transaction:
            rows = [
                row
                for record_id in record_ids
                for row in transaction.rows(sql.TAKEN, self._record_at(agent_id, source, record_id))
            ]
        return {taken.id: taken for taken in self._read("source_records", rows, taken_of)}

    def held(self, agent_id: str, source: str) -> list[str]:
        with self._database.snapshot() as transaction:
            rows = transaction.rows(sql.HELD, self._record_at(agent_id, source))
        return sorted(self._read("source_records", rows, lambda row: str(row["record_id"])))

    def parked(
        self, agent_id: str, after: tuple[str, str] = ("", ""), limit: int = 500
    ) -> list[IngestedRecord]:
        with self._database.snapshot() as transaction:
            rows = transaction.rows(sql.PARKED, self._record_at(agent_id, *after) | {"limit": limit})
        return self._read("source_records", rows, taken_of)

    def _record_at(self, agent_id: str, source: str, record_id: str = "") -> Row:
        """The names of a record as a column can be compared with them. For use within a transaction."""
        named = {"agent_id": agent_id, "source": source, "record_id": record_id}
        sealed = self._database.vault.sealed("source_records", named)
        return {"of_agent": agent_id, "of_source": sealed["source"], "of_record": sealed["record_id"]}

    def take_in(self, agent: ArchivedAgent, records: Iterable[ArchivedRecord]) -> None:
        """The port `AgentImporter`."""
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
                transaction.run(*addition_of(agent.agent_id, record))

    def read_traces(self, agent_id: str) -> ReadTraces:
        with self._database.snapshot() as transaction:
            rows = transaction.tuples(sql.ALL_TRACES, {"of_agent": agent_id})
        read = self._database.vault.reading("traces", trace_of)
        names = sql.ALL_TRACES.selected_columns.keys()
        return {
            trace.entry_id: (row, trace)
            for row in rows
            for trace in undamaged([dict(zip(names, row, strict=True))], read)
        }

    def forget(
        self,
        agent_id: str,
        ids: Sequence[int],
        *,
        by_user: str,
        timestamp: float,
        told_by: str = "",
        known: ReadTraces = MappingProxyType({}),
    ) -> Forgotten:
        """Delete entries with everything that was made of them, see `noodlings.store.forgetting`.

        That it was done is kept as an event, with `by_user`, world time and count, and without content. The
        agent's state is its owner's: commit one without the forgotten before.

        Raises:
            StoreError: nothing was forgotten.
        """
        with self._writing(agent_id) as transaction:
            forgotten = delete_entries(transaction, agent_id, ids, by_user, timestamp, told_by, known)
            if forgotten.count:
                if self.sharing is not None:
                    tell(transaction, "forgot", agent_id, self.sharing.leases.worker)
                self._database.mark_for_erasure(transaction)
        return forgotten

    def made_of(
        self, agent_id: str, ids: Sequence[int], traces: Mapping[int, Trace]
    ) -> tuple[frozenset[int], tuple[int, ...]]:
        with self._database.snapshot() as transaction:
            return made_of(transaction, agent_id, ids, traces)

    def make_nameless(self, agent_id: str, user_ids: Collection[str], names: Collection[str] = ()) -> None:
        with self._writing(agent_id) as transaction:
            make_nameless(transaction, agent_id, user_ids, names)
            if self.sharing is not None:
                tell(transaction, "forgot", agent_id, self.sharing.leases.worker)

    def erase(self) -> bool:
        """The port. Takes time in proportion to the size of the file."""
        with self._database.transaction() as transaction:
            self._database.mark_for_erasure(transaction)
        return self._database.erase()

    def world_get(self, key: str) -> Any:
        with self._database.snapshot() as transaction:
            return transaction.world(key)

    def world_set(self, key: str, value: Any, owner: str = "") -> None:
        with self._writing(owner) as transaction:
            transaction.run(sql.WORLD_SET, self._world_row(key, value))

    def world_update(self, key: str, change: Callable[[Any], Any]) -> Any:
        with self._database.transaction() as transaction:
            if self.sharing is not None:
                self.sharing.leases.will_change(transaction, key)
            value = change(transaction.world(key))
            transaction.run(sql.WORLD_SET, self._world_row(key, value))
        return value

    def _world_row(self, key: str, value: Any) -> Row:
        return {"key": text(key, "key"), "value": to_json(value, f"the world data under {key!r}")}

    def will_load(self, agent_id: str) -> None:
        if self.sharing is not None:
            self.sharing.leases.will_load(agent_id)

    def outdated(self, agent_id: str) -> bool:
        return self.sharing is not None and self.sharing.leases.outdated(agent_id)

    @contextmanager
    def _writing(self, agent_id: str) -> Iterator[Transaction]:
        """A transaction that writes to an agent. Raises `AgentElsewhere` if that is another process's."""
        leases = self.sharing.leases if self.sharing is not None and agent_id else None
        if leases is not None:
            leases.claim(agent_id)
        with self._database.transaction() as transaction:
            if leases is not None:
                leases.fence(transaction, agent_id)
            yield transaction

    def close(self) -> None:
        """Let go of the file and the lock. A second time it does nothing."""
        if self.sharing is not None:
            self.sharing.close()
        if not self._closing.is_set() and self._database.vault.changed():
            self._take_up_keys()  # or the old key would still be needed at the next start
        self._closing.set()
        if self._resealing is not None:
            self._resealing.join()
        self._database.close()

    def _take_up_keys(self) -> None:
        """The user's keys changed: seal everything with the new one, beside whatever else goes on."""
        try:
            due = self._database.renew_keys()
        except (UserError, StoreError) as error:
            log.warning("the new key is not used, and everything goes on with the one before: %s", error)
            return
        if due and (self._resealing is None or not self._resealing.is_alive()):
            self._resealing = threading.Thread(target=self._reseal, name="noodlings-keys", daemon=True)
            self._resealing.start()

    def _reseal(self) -> None:
        try:
            self._database.reseal(self._closing.is_set)
        except StoreError as error:
            log.warning("not everything is encrypted with the new key yet; the next start goes on: %s", error)

    def _rows(self, statement: Statement, parameters: Row) -> list[Row]:
        with self._database.snapshot() as transaction:
            return transaction.rows(statement, parameters)

    def _column(self, statement: Statement, parameters: Row) -> list[Any]:
        with self._database.snapshot() as transaction:
            return transaction.column(statement, parameters)

    def _read(self, table: str, rows: Iterable[Stored], read: Callable[[Stored], Value]) -> list[Value]:
        """What `read` makes of each row of a table, without those that are damaged, which are logged."""
        return list(undamaged(rows, self._database.vault.reading(table, read)))

    def _page(
        self,
        statement: Statement,
        table: str,
        read: Callable[[Stored], Value],
        key: str,
        agent_id: str,
        position: int,
        limit: int,
    ) -> list[Value]:
        """`limit` values where there are so many, however many unreadable rows lie between them."""
        values: list[Value] = []
        with self._database.snapshot() as transaction:
            while (wanted := limit - len(values)) > 0:
                at = {"of_agent": agent_id, "position": _id(position), "limit": wanted}
                rows = transaction.rows(statement, at)
                values += self._read(table, rows, read)
                if len(rows) < wanted:
                    break
                position = rows[-1][key]
        return values


def _folded(words: str) -> bytes:
    """As `LIKE` compares it: A and a are alike, Ä and ä are not."""
    return words.encode().lower()


def _id(wanted: int) -> int:
    """An id as a column can be compared with it."""
    return max(-1, min(wanted, LARGEST + 1))
