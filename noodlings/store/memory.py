"""Agents kept for as long as the process lives: for simulations and tests that leave nothing behind."""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from noodlings.store.database import Database, ddl_transaction
from noodlings.store.rows import Row
from noodlings.store.sql import SqlStore
from noodlings.store.tables import make_tables
from noodlings.store.vault import Encryption, Vault


class MemoryStore(SqlStore):
    """The port `Repository`, as `SqlStore` fulfils it, in a database without a file. See there."""

    keeps_secrets = True

    def __init__(self, *, working_capacity: int = 20) -> None:
        self._use(_MemoryDatabase(), working_capacity)


class _MemoryDatabase(Database):
    """A database without a file. It lasts until nobody refers to it, so `close` leaves it open."""

    def __init__(self) -> None:
        self.path = Path(":memory:")
        self.name = str(self.path)
        self.read_only = False
        self._begin = "BEGIN"
        self._mutex = threading.Lock()
        self._driver = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self._driver.close)
        with ddl_transaction(self._driver) as connection:
            make_tables(connection)
        self._driver.execute("PRAGMA foreign_keys = ON")
        self._driver.create_function("opened", 4, lambda value, *place: value)
        self.vault = _PlainVault(tuple, Encryption())

    def erase(self) -> bool:
        """There is no disk that bytes would have to leave."""
        return True

    def close(self) -> None:
        """Nothing is held."""

    def _require_open(self) -> None:
        """It always is."""

    @contextmanager
    def _measured(self) -> Iterator[None]:
        yield


class _PlainVault(Vault):
    """Seals nothing, because nothing reaches a disk."""

    def sealed(self, table: str, row: Row) -> Row:
        """The row as it is."""
        return row
