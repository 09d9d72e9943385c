"""Agents in SQLite: each step of an agent is one transaction, and loading one reads only what is in mind.

What an entry was when it was encoded never changes: an update writes its history (response, override, pin,
recalls) and nothing else. What was forgotten between two commits stays forgotten.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import CompoundSelect, Connection, Select

from noodlings.errors import StoreError, UserError
from noodlings.ports import AgentRecord, AgentState, Changes, EntryColumns, Forgotten
from noodlings.store import statements as sql
from noodlings.store.database import Database, Durability
from noodlings.store.documents import LARGEST, from_json, text, to_json
from noodlings.store.forgetting import delete_entries, portions
from noodlings.store.ingested_rows import taken_of
from noodlings.store.rows import (
    Row,
    Stored,
    columns_of,
    entry_of,
    link_of,
    symbol_of,
    trace_of,
    undamaged,
    vector_of,
    vector_row,
)
from noodlings.store.vault import Encryption
from noodlings.store.writing import commit_rows, write_commit, write_vectors
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.memory import EntryVector, Link, MemoryEntry, Order
from noodlings.values.trace import Trace

Value = TypeVar("Value")

log = logging.getLogger(__name__)


class SqlStore:
    """The records of a data folder, in `noodlings.db`. Safe to use from any thread; close it in the end.

    Args:
        folder: the data folder; a writer makes it when it is missing.
        durability: what `commit` returned from survives a killed process ("normal"), or a power cut ("full").
        read_only: takes no lock and writes nothing; sees what a running writer commits.
        working_capacity: how many of the latest entries `load` brings.
        kept_traces: for how many of an agent's latest percepts traces are kept.
        encryption: the user's keys, and what they are for; without it nothing is encrypted, and nothing
            secret is kept.

    Raises:
        UserError: something is to be encrypted, and there is no key.
        NotFound: read_only, and there is no database.
        StoreBusy: another process writes; the words say which.
        StoreError: the database is damaged, foreign or of a newer version. It is left as it is.
    """

    def __init__(
        self,
        folder: Path,
        durability: Durability = "normal",
        read_only: bool = False,
        *,
        working_capacity: int = 20,
        kept_traces: int = 2_000,
        encryption: Encryption | None = None,
    ) -> None:
        self._working_capacity = working_capacity
        self._kept_traces = kept_traces
        self._known: set[str] = set()
        self._closing = threading.Event()
        self._resealing: threading.Thread | None = None
        self._database = Database(folder, durability, read_only, encryption)

    @property
    def keeps_secrets(self) -> bool:
        """Whether secret and sealed memories can be kept: there is a key."""
        return self._database.vault.encrypts

    def commit(self, changes: Changes) -> None:
        """Keep it all in one transaction. Raises `StoreError`; then nothing of it was kept."""
        batch = commit_rows(changes)
        if self._database.vault.changed():
            self._take_up_keys()
        with self._database.direct() as transaction:
            if batch.agent_id not in self._known:
                transaction.run(sql.ADD_AGENT, {"agent_id": batch.agent_id, "forgotten_id": 0})
            write_commit(transaction, batch, self._database.vault, self._kept_traces)
        self._known.add(batch.agent_id)

    def load(self, agent_id: str) -> AgentRecord | None:
        """The agent, or None when it was never stored. An unreadable row is left out, and logged."""
        of_agent = {"of_agent": agent_id}
        with self._database.transaction() as connection:
            agent = connection.execute(sql.AGENT, of_agent).one_or_none()
            if agent is None:
                return None
            working = _fetch(connection, sql.WORKING, {**of_agent, "limit": self._working_capacity})
            episodic = _fetch(connection, sql.EPISODIC, of_agent)
            last_id = connection.execute(sql.LAST_ID, of_agent).scalar_one()
            perceived = connection.execute(sql.PERCEIVED, of_agent).scalar_one()
            consolidated = connection.execute(sql.CONSOLIDATED, of_agent).scalar_one()
            symbols = _fetch(connection, sql.SYMBOLS, of_agent)
            last_symbol_id = connection.execute(sql.LAST_SYMBOL_ID, of_agent).scalar_one()
        return AgentRecord(
            state=AgentState(agent_id, self._state_data(agent_id, agent.state)),
            working=tuple(reversed(undamaged(working, self._reading("entries", entry_of)))),
            episodic=tuple(undamaged(episodic, self._reading("entries", entry_of))),
            perceived=perceived,
            consolidated=consolidated,
            last_id=max(last_id, agent.forgotten_id),
            symbols=tuple(undamaged(symbols, self._reading("symbols", symbol_of))),
            last_symbol_id=max(last_symbol_id, agent.forgotten_symbol_id),
        )

    def agents(self) -> list[str]:
        """Ids of all stored agents, sorted."""
        with self._database.transaction() as connection:
            return list(connection.execute(sql.AGENTS).scalars())

    def traces(self, agent_id: str, limit: int = 1, before: int | None = None) -> list[Trace]:
        """The latest traces, newest first; with `before`, only of entries with a lower id."""
        start = LARGEST + 1 if before is None else before
        return self._page(sql.TRACES, "traces", trace_of, "entry_id", agent_id, start, limit)

    def entries(self, agent_id: str, ids: Sequence[int]) -> dict[int, MemoryEntry]:
        """Entries of the archive by id; ids that do not exist (or were forgotten) are missing."""
        rows: list[Stored] = []
        with self._database.direct() as transaction:
            for some in portions(ids):
                rows += transaction.fetch(sql.ENTRIES, {"of_agent": agent_id, "ids": json.dumps(some)})
        return {entry.id: entry for entry in undamaged(rows, self._reading("entries", entry_of))}

    def archive(self, agent_id: str, after_id: int = -1, limit: int = 500) -> list[MemoryEntry]:
        """The next `limit` entries after an id, oldest first; fewer only at the end of the archive."""
        return self._page(sql.ARCHIVE, "entries", entry_of, "id", agent_id, after_id, limit)

    def columns(self, agent_id: str, model: str, after_id: int = -1, limit: int = 500) -> EntryColumns:
        """The same as far as search looks at it, with vectors by a model.

        Of a damaged row all that is looked at is what search needs; where that is damaged, or vectors are of
        several lengths, each row of the page is read by itself.
        """
        after = max(-1, min(after_id, LARGEST + 1))
        wanted = {"of_agent": agent_id, "of_model": model, "position": after, "limit": max(limit, 0)}
        with self._database.direct() as transaction:
            rows = transaction.values(sql.COLUMNS, wanted)
        try:
            return columns_of(self._database.vault.opened_columns(agent_id, rows), model)
        except StoreError:
            entries = self.archive(agent_id, after_id, limit)
            ends = (entries[0].id, entries[-1].id) if entries else (0, -1)
            return EntryColumns.of(entries, self.vectors(agent_id, model, *ends))

    def told_by(self, agent_id: str, user_id: str) -> list[int]:
        """Ids of everything in the archive that came from one user, rising; of damaged rows, too."""
        of_user = {"of_agent": agent_id, "of_user": user_id}
        with self._database.transaction() as connection:
            return list(connection.execute(sql.TOLD_BY, of_user).scalars())

    def in_order(
        self,
        agent_id: str,
        order: Order,
        falling: bool,
        containing: str = "",
        among: Sequence[int] | None = None,
    ) -> list[int]:
        """Ids of everything in the archive, sorted, then by id; of damaged rows, too. See the port."""
        statement = sql.in_order(order, falling, narrowed=bool(containing), among=among is not None)
        wanted = {"of_agent": agent_id} | ({"like": sql.like(containing)} if containing else {})
        wanted |= {} if among is None else {"among": json.dumps(list(among))}
        with self._database.transaction() as connection:
            listed = connection.execute(statement, wanted).scalar_one()
        ids: list[int] = json.loads(listed)
        if order is Order.WHEN:
            ids.sort(reverse=falling)
        return ids

    def version(self) -> Hashable:
        """Another value once anything was committed, here or by another process. See the port."""
        with self._database.transaction() as connection:
            return tuple(connection.execute(sql.VERSION).one())

    def links_of(self, agent_id: str, ids: Sequence[int], strongest: int | None = None) -> list[Link]:
        """Links from and to these entries, by source, target and type. See the port."""
        rows: dict[tuple[int, int, str], Stored] = {}
        with self._database.direct() as transaction:
            for some in portions(ids):
                wanted = {"of_agent": agent_id, "ids": json.dumps(some)}
                for row in (
                    transaction.fetch(sql.LINKS_OF, wanted)
                    if strongest is None
                    else transaction.fetch(sql.STRONGEST_LINKS_OF, wanted | {"strongest": strongest})
                ):
                    rows[row["source_id"], row["target_id"], row["type"]] = row
        return undamaged((rows[key] for key in sorted(rows)), link_of)

    def vectors(self, agent_id: str, model: str, first_id: int, last_id: int) -> dict[int, EntryVector]:
        """By entry id from `first_id` to `last_id`, both included; without damaged ones, which are logged."""
        first, last = (max(-1, min(bound, LARGEST + 1)) for bound in (first_id, last_id))
        wanted = {"of_agent": agent_id, "of_model": model, "first": first, "last": last}
        with self._database.transaction() as connection:
            rows = _fetch(connection, sql.VECTORS, wanted)
        found = undamaged(rows, self._reading("vectors", vector_of))
        return {vector.entry_id: vector for vector in found}

    def keep_vectors(self, agent_id: str, vectors: Sequence[EntryVector]) -> None:
        """Keep them in place of what there was, without those of entries that were forgotten meanwhile."""
        rows = [vector_row(agent_id, vector) for vector in vectors]
        with self._database.direct() as transaction:
            sealed = [self._database.vault.sealed("vectors", row) for row in rows]
            write_vectors(transaction, agent_id, sealed)

    def taken(self, agent_id: str, source: str, record_ids: Sequence[str]) -> dict[str, IngestedRecord]:
        """What became of these records of a source, by id; those that are new are missing."""
        wanted = {"of_agent": agent_id, "of_source": source, "ids": json.dumps(list(record_ids))}
        with self._database.direct() as transaction:
            rows = transaction.fetch(sql.TAKEN, wanted)
        return {taken.id: taken for taken in undamaged(rows, self._reading("source_records", taken_of))}

    def held(self, agent_id: str, source: str) -> list[str]:
        """Ids of the records of a source that are memories by now, sorted."""
        wanted = {"of_agent": agent_id, "of_source": source}
        with self._database.transaction() as connection:
            return list(connection.execute(sql.HELD, wanted).scalars())

    def parked(
        self, agent_id: str, after: tuple[str, str] = ("", ""), limit: int = 500
    ) -> list[IngestedRecord]:
        """The next records that wait, in the order of source and id, after these."""
        at = {"of_agent": agent_id, "of_source": after[0], "of_record": after[1], "limit": limit}
        with self._database.transaction() as connection:
            return undamaged(_fetch(connection, sql.PARKED, at), self._reading("source_records", taken_of))

    def forget(
        self, agent_id: str, ids: Sequence[int], *, by_user: str, timestamp: float, told_by: str = ""
    ) -> Forgotten:
        """Delete entries with everything that was made of them, in the file and its log, to the last byte.

        Their traces go; traces that recalled them lose the reference and the words; responses of such turns
        that repeat what was forgotten go too (see `noodlings.store.forgetting`). That it was done is kept as
        an event, with `by_user`, world time and count, and without content. The agent's state is its owner's:
        commit one without the forgotten before. Takes time in proportion to the size of the file.

        Raises:
            StoreError: nothing was forgotten.
        """
        with self._database.transaction() as connection:
            vault = self._database.vault
            forgotten = delete_entries(connection, vault, agent_id, ids, by_user, timestamp, told_by)
            if not forgotten.count:
                return forgotten
            self._database.mark_for_erasure(connection)
        return replace(forgotten, erased=self._database.erase())

    def erase(self) -> bool:
        """Write the file anew without what was replaced or deleted in it. See the port."""
        with self._database.transaction() as connection:
            self._database.mark_for_erasure(connection)
        return self._database.erase()

    def world_get(self, key: str) -> Any:
        """What is kept under a key of the world store, or None."""
        with self._database.transaction() as connection:
            found = connection.execute(sql.WORLD_GET, {"of_key": key}).scalar_one_or_none()
        document = self._database.vault.text(found, "world", "value", key)
        return None if document is None else from_json(document, f"the world data under {key!r}")

    def world_set(self, key: str, value: Any) -> None:
        """Put JSON-compatible data under a key, in place of what stood there."""
        row = {"key": text(key, "key"), "value": to_json(value, f"the world data under {key!r}")}
        with self._database.transaction() as connection:
            connection.execute(sql.WORLD_SET, self._database.vault.sealed("world", row))

    def close(self) -> None:
        """Let go of the file and the lock. A second time it does nothing."""
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

    def _reading(self, table: str, read: Callable[[Stored], Value]) -> Callable[[Stored], Value]:
        return self._database.vault.reading(table, read)

    def _state_data(self, agent_id: str, stored: Any) -> dict[str, Any]:
        """The state as its owner gave it; empty when there is none, or when it cannot be read."""
        try:
            document = self._database.vault.text(stored, "agents", "state", agent_id)
            return {} if document is None else dict(from_json(document, f"the state of {agent_id}"))
        except (StoreError, TypeError, ValueError) as error:
            log.warning("left out: %s", error)
            return {}

    def _page(
        self,
        statement: Select[Any],
        table: str,
        read: Callable[[Stored], Value],
        key: str,
        agent_id: str,
        position: int,
        limit: int,
    ) -> list[Value]:
        """`limit` values where there are so many, however many unreadable rows lie between them."""
        values: list[Value] = []
        with self._database.transaction() as connection:
            while (wanted := limit - len(values)) > 0:
                at = {"of_agent": agent_id, "position": max(-1, min(position, LARGEST + 1)), "limit": wanted}
                rows = _fetch(connection, statement, at)
                values += undamaged(rows, self._reading(table, read))
                if len(rows) < wanted:
                    break
                position = rows[-1][key]
        return values


def _fetch(
    connection: Connection, statement: Select[Any] | CompoundSelect[Any], parameters: Row
) -> Sequence[Stored]:
    return connection.execute(statement, parameters).mappings().all()
