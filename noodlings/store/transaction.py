"""A transaction of the store, in which the driver itself runs the statements.

They are SQLAlchemy Core, but Core takes many times as long over a small statement as SQLite does. So each is
compiled to SQL once for the names of its parameters; after that only values are handed over. They need no
conversion, because what `noodlings.store.rows` makes and reads is what SQLite holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, ClassVar

from sqlalchemy import CompoundSelect, Delete, Dialect, Insert, Select, String, Update
from sqlalchemy.dialects import sqlite

from noodlings.store import statements as sql
from noodlings.store.documents import from_json
from noodlings.store.rows import Row
from noodlings.store.vault import Vault

Change = Insert | Update | Delete
Statement = Change | Select[Any] | CompoundSelect[Any]


class Transaction:
    """An open transaction; `noodlings.store.database.Database.transaction` gives it. Raises `sqlite3.Error`.

    A statement may not have parameters that expand to several. Rows that are written are sealed here, so that
    no key is dropped before they are written; rows that were read are opened by whoever reads them.

    Attributes:
        vault: the keys.

    Raises:
        StoreError: a secret is to be written, and there is no key.
    """

    _dialect: ClassVar[Dialect] = sqlite.dialect(paramstyle="named")
    _how: ClassVar[dict[str, Any]] = {}  # options of the driver

    def __init__(self, driver: Any, vault: Vault) -> None:
        self._driver = driver
        self.vault = vault

    def run(self, statement: Change, row: Row) -> int:
        """Run a statement once. Returns how many rows it changed."""
        return int(self._execute(statement, self._sealed(statement, row)).rowcount)

    def run_each(self, statement: Change, rows: Sequence[Row]) -> int:
        """Run a statement for each row; all have the same names. Returns how many rows it changed."""
        return self.run_sealed(statement, [self._sealed(statement, row) for row in rows])

    def run_sealed(self, statement: Change, rows: Sequence[Row]) -> int:
        """The same for rows that are sealed already, as far as they are to be."""
        if not rows:
            return 0
        words, constants, texts = _prepared(statement, tuple(rows[0]), self._dialect)
        cursor = self._driver.cursor()
        cursor.executemany(words, [self._bound(constants | row, texts) for row in rows])
        return int(cursor.rowcount)

    def each(self, statement: Statement, parameters: Row) -> Iterator[Row]:
        """Rows that a statement finds, one by one and by column; a boolean may be 0 or 1."""
        return named(self._execute(statement, parameters))

    def rows(self, statement: Statement, parameters: Row) -> list[Row]:
        """All rows that a statement finds; see `each`."""
        return list(named(self._execute(statement, parameters)))

    def tuples(self, statement: Statement, parameters: Row) -> list[tuple[Any, ...]]:
        """All rows that a statement finds, without the names of the columns."""
        found: list[tuple[Any, ...]] = self._execute(statement, parameters).fetchall()
        return found

    def column(self, statement: Statement, parameters: Row) -> list[Any]:
        """The first column of all rows that a statement finds."""
        return [values[0] for values in self._execute(statement, parameters)]

    def value(self, statement: Statement, parameters: Row) -> Any:
        """The first column of the first row that a statement finds; None where it finds none."""
        values = self._execute(statement, parameters).fetchone()
        return None if values is None else values[0]

    def in_one_go(self) -> AbstractContextManager[object]:
        """A block in which changes need not have been made yet when they return; what they return means
        nothing. A mistake in one of them is raised in the block or at its end."""
        return nullcontext()

    def take_time(self) -> None:
        """Let much be worked out between two statements of this transaction."""

    def world(self, key: str) -> Any:
        """What is kept under a key of the world, or None. Raises `StoreError` where it is damaged."""
        found = self.value(sql.WORLD_GET, {"of_key": key})
        document = self.vault.text(found, "world", "value", key)
        return None if document is None else from_json(document, f"the world data under {key!r}")

    def pragma(self, name: str) -> list[tuple[Any, ...]]:
        """Run a pragma of SQLite."""
        found: list[tuple[Any, ...]] = self._driver.execute(f"PRAGMA {name}").fetchall()
        return found

    def _sealed(self, statement: Change, row: Row) -> Row:
        return self.vault.sealed(statement.table.description, row)

    def _execute(self, statement: Statement, parameters: Row, cursor: Any = None) -> Any:
        words, constants, texts = _prepared(statement, tuple(parameters), self._dialect)
        return (cursor or self._driver).execute(
            words, self._bound(constants | parameters, texts), **self._how
        )

    def _bound(self, values: Row, texts: tuple[str, ...]) -> Row:
        """Values as the driver takes them; `texts` are the names of those that are text."""
        return values


def named(found: Any) -> Iterator[Row]:
    """The rows of a cursor by column."""
    names = [column[0] for column in found.description]
    for values in found:
        yield dict(zip(names, values, strict=True))


@cache
def _prepared(
    statement: Statement, names: tuple[str, ...], dialect: Dialect
) -> tuple[str, Row, tuple[str, ...]]:
    """A statement in SQL that is given values for these names, the values it has of its own, and the names of
    the values that are text."""
    compiled = statement.compile(dialect=dialect, column_keys=names)
    own = {name: value for name, value in compiled.params.items() if name not in names and value is not None}
    texts = (name for name, value in compiled.binds.items() if isinstance(value.type, String))
    return str(compiled), own, tuple(texts)
