"""Compaction: rows that an older version wrote are rewritten in the form of new ones, which is smaller.

Each row is replaced by one that reads the same (a vector to sixteen bits), a few hundred in a transaction. If
the process dies on the way nothing is lost, and the next one continues.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from sqlalchemy import Select, Update, func, select

from noodlings.errors import StoreError
from noodlings.store import statements as sql
from noodlings.store.database import DATABASE_NAME, Database, Durability, require_file
from noodlings.store.documents import from_json
from noodlings.store.packing import packed
from noodlings.store.rows import WHAT, Row, Stored, column, parts_document, parts_of, vector_of, vector_row
from noodlings.store.vault import Encryption

AT_ONCE = 500
"""Rows of one transaction."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Older:
    """Rows of one table in the older form.

    Attributes:
        table: its name.
        key: the column of the entry's id.
        found: selects the older rows of an agent after a position.
        change: replaces columns of a row.
        rewritten: the columns of a row that change. Raises `StoreError` when it is damaged.
    """

    table: str
    key: str
    found: Select[Any]
    change: Update
    rewritten: Callable[[Stored], Row]


def _trace(row: Stored) -> Row:
    what = WHAT["traces"].format_map(row)
    return {"document": "", "packed": packed(from_json(row["document"], what), what)}


def _vector(row: Stored) -> Row:
    return {"vector": vector_row(row["agent_id"], vector_of(row))["vector"]}


def _entry(row: Stored) -> Row:
    return {"parts": parts_document(column(row, "entries.parts", parts_of))}


@cache
def _counted(found: Select[Any]) -> Select[Any]:
    """How many rows these are."""
    return select(func.count()).select_from(found.subquery())


_OLDER = (
    _Older("traces", "entry_id", sql.OLDER_TRACES, sql.CHANGE_TRACE, _trace),
    _Older("vectors", "entry_id", sql.OLDER_VECTORS, sql.CHANGE_VECTOR, _vector),
    _Older("entries", "id", sql.OLDER_ENTRIES, sql.REVISE, _entry),
)


class Compaction:
    """Rewrites rows of a data folder while nobody else writes; `compaction` makes it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._written = 0

    def agents(self) -> list[str]:
        with self._database.transaction() as transaction:
            return transaction.column(sql.AGENTS, {})

    def due(self, agents: Sequence[str]) -> int:
        """How many rows of these agents are in the older form."""
        with self._database.transaction() as transaction:
            return sum(
                transaction.value(_counted(older.found), {"of_agent": agent_id, "position": -1, "limit": -1})
                for agent_id in agents
                for older in _OLDER
            )

    def rewrite(self, agents: Sequence[str], done: Callable[[int], None]) -> int:
        """Rewrite them; returns how many were. A row that cannot be read stays as it is, and is logged.

        Args:
            done: called with how many rows were looked at so far.
        """
        looked_at = 0
        for agent_id, older in product(agents, _OLDER):
            at: Row = {"of_agent": agent_id, "position": -1, "limit": AT_ONCE}
            while True:
                with self._database.transaction() as transaction:
                    rows = transaction.rows(older.found, at)
                    self._written += transaction.run_each(older.change, self._rewritten(older, rows))
                if not rows:
                    break
                at["position"] = rows[-1][older.key]
                looked_at += len(rows)
                done(looked_at)
        return self._written

    def shrink(self) -> bool:
        """Give free room back to the disk; False where somebody reads, so that it happens later."""
        with self._database.transaction() as transaction:
            ((free,),) = transaction.pragma("freelist_count")
        return self._database.shrink() if free or self._written else True

    def _rewritten(self, older: _Older, rows: Sequence[Stored]) -> list[Row]:
        changes = []
        for row in rows:
            try:
                changed = older.rewritten(self._database.vault.opened(older.table, row))
                changes.append({"of_agent": row["agent_id"], "of_id": row[older.key]} | changed)
            except StoreError as error:
                log.warning("left unchanged: %s", error)
        return changes


@contextmanager
def compaction(
    folder: Path, durability: Durability = "normal", encryption: Encryption | None = None
) -> Iterator[Compaction]:
    """Be the one writer of a data folder until the block ends.

    Whatever is to be encrypted and is still plain is encrypted first.

    Raises:
        NotFound: nothing is kept there.
        StoreBusy: another process writes there; the words say which.
        StoreError: the database is damaged, foreign or of a newer version.
    """
    require_file(folder)
    with closing(Database(folder, durability, encryption=encryption)) as database:
        yield Compaction(database)


def size(folder: Path) -> int:
    """Bytes of the database of a data folder, with its log."""
    names = (DATABASE_NAME, f"{DATABASE_NAME}-wal")
    return sum((folder / name).stat().st_size for name in names if (folder / name).exists())
