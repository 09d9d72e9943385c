"""A transaction of the store, in which the driver itself runs the statements.

They are SQLAlchemy Core, but Core takes many times as long over a small statement as SQLite does. So each is
compiled to SQL once for the names of its parameters; after that only values are handed over. They need no
conversion, because what `noodlings.store.rows` makes and reads is what SQLite holds.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from sqlalchemy import CompoundSelect, Delete, Insert, Select, Update
from sqlalchemy.dialects import sqlite

from noodlings.store.rows import Row
from noodlings.store.vault import Vault

Change = Insert | Update | Delete
Statement = Change | Select[Any] | CompoundSelect[Any]

_DIALECT = sqlite.dialect(paramstyle="named")


class Transaction:
    """An open transaction; `noodlings.store.database.Database.transaction` gives it. Raises `sqlite3.Error`.

    A statement may not have parameters that expand to several. Rows that are written are sealed here, so that
    no key is dropped before they are written; rows that were read are opened by whoever reads them.

    Attributes:
        vault: the keys.

    Raises:
        StoreError: a secret is to be written, and there is no key.
    """

    def __init__(self, driver: sqlite3.Connection, vault: Vault) -> None:
        self._driver = driver
        self.vault = vault

    def run(self, statement: Change, row: Row) -> int:
        """Run a statement once. Returns how many rows it changed."""
        return self._execute(statement, self._sealed(statement, row)).rowcount

    def run_each(self, statement: Change, rows: Sequence[Row]) -> int:
        """Run a statement for each row; all have the same names. Returns how many rows it changed."""
        if not rows:
            return 0
        words, constants = _prepared(statement, tuple(rows[0]))
        return self._driver.executemany(
            words, [constants | self._sealed(statement, row) for row in rows]
        ).rowcount

    def each(self, statement: Statement, parameters: Row) -> Iterator[Row]:
        """Rows that a statement finds, one by one and by column; a boolean is 0 or 1."""
        found = self._execute(statement, parameters)
        names = [column[0] for column in found.description]
        for values in found:
            yield dict(zip(names, values, strict=True))

    def rows(self, statement: Statement, parameters: Row) -> list[Row]:
        """All rows that a statement finds; see `each`."""
        return list(self.each(statement, parameters))

    def tuples(self, statement: Statement, parameters: Row) -> list[tuple[Any, ...]]:
        """All rows that a statement finds, without the names of the columns."""
        return self._execute(statement, parameters).fetchall()

    def column(self, statement: Statement, parameters: Row) -> list[Any]:
        """The first column of all rows that a statement finds."""
        return [values[0] for values in self._execute(statement, parameters)]

    def value(self, statement: Statement, parameters: Row) -> Any:
        """The first column of the first row that a statement finds; None where it finds none."""
        values = self._execute(statement, parameters).fetchone()
        return None if values is None else values[0]

    def pragma(self, name: str) -> list[tuple[Any, ...]]:
        """Run a pragma."""
        return self._driver.execute(f"PRAGMA {name}").fetchall()

    def _sealed(self, statement: Change, row: Row) -> Row:
        return self.vault.sealed(statement.table.description, row)

    def _execute(self, statement: Statement, parameters: Row) -> sqlite3.Cursor:
        words, constants = _prepared(statement, tuple(parameters))
        return self._driver.execute(words, constants | parameters)


@cache
def _prepared(statement: Statement, names: tuple[str, ...]) -> tuple[str, Row]:
    """A statement in SQL that is given values for these names, and the values it has of its own."""
    compiled = statement.compile(dialect=_DIALECT, column_keys=names)
    own = {name: value for name, value in compiled.params.items() if name not in names and value is not None}
    return str(compiled), own
