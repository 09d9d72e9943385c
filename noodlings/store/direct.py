"""Statements of SQLAlchemy Core, run by the driver itself: for what lies on the way of every event.

Core takes many times as long over a small statement as SQLite does. So each is put into SQL once for the
names of its parameters, and after that only values are handed over. They need no conversion: what
`noodlings.store.rows` makes and reads is what SQLite holds.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Delete, Insert, Select, Update
from sqlalchemy.dialects import sqlite

from noodlings.store.rows import Row

Statement = Insert | Update | Delete | Select[Any]

_DIALECT = sqlite.dialect(paramstyle="named")


class Direct:
    """An open transaction; `noodlings.store.database.Database.direct` gives it. Raises `sqlite3.Error`.

    A statement may not have parameters that expand to several.
    """

    def __init__(self, driver: sqlite3.Connection) -> None:
        self._driver = driver

    def run(self, statement: Statement, row: Row) -> None:
        """Run a statement once."""
        words, constants = _prepared(statement, tuple(row))
        self._driver.execute(words, constants | row)

    def run_each(self, statement: Statement, rows: Sequence[Row]) -> int:
        """Run a statement for each row; all have the same names. Returns how many rows it changed."""
        if not rows:
            return 0
        words, constants = _prepared(statement, tuple(rows[0]))
        return self._driver.executemany(words, [constants | row for row in rows]).rowcount

    def fetch(self, statement: Statement, parameters: Row) -> list[Row]:
        """All rows that a statement finds, by column; a truth is 0 or 1."""
        words, constants = _prepared(statement, tuple(parameters))
        found = self._driver.execute(words, constants | parameters)
        names = [column[0] for column in found.description]
        return [dict(zip(names, values, strict=True)) for values in found]


@cache
def _prepared(statement: Statement, names: tuple[str, ...]) -> tuple[str, Row]:
    """A statement in SQL that is given values for these names, and the values it has of its own."""
    compiled = statement.compile(dialect=_DIALECT, column_keys=names)
    own = {name: value for name, value in compiled.params.items() if name not in names and value is not None}
    return str(compiled), own
