"""How SQLite goes about a statement, where that decides whether it stays fast."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Select
from sqlalchemy.dialects import sqlite

from noodlings.store.database import DATABASE_NAME
from noodlings.store.sql import SqlStore
from noodlings.store.statements import ENTRIES, LINKS_OF, STRONGEST_LINKS_OF


def plan(folder: Path, statement: Select[Any], table: str) -> list[str]:
    """How a table is read for some ids."""
    SqlStore(folder).close()
    asked = statement.params(of_agent="phi", ids="[1,2]", strongest=64)
    words = asked.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True})
    connection = sqlite3.connect(folder / DATABASE_NAME)
    steps = [step[-1] for step in connection.execute(f"EXPLAIN QUERY PLAN {words}")]
    connection.close()
    return [step.partition(" USING ")[2] for step in steps if f" {table} " in step]


@pytest.mark.parametrize("statement", [LINKS_OF, STRONGEST_LINKS_OF])
def test_links_are_looked_up_at_both_ends_and_never_read_through(
    tmp_path: Path, statement: Select[Any]
) -> None:
    assert plan(tmp_path, statement, "links") == [
        "PRIMARY KEY (source_id=? AND agent_id=?)",
        "COVERING INDEX ix_links_target (target_id=? AND agent_id=?)",
    ]


def test_entries_are_looked_up_by_id(tmp_path: Path) -> None:
    assert plan(tmp_path, ENTRIES, "entries") == ["INDEX sqlite_autoindex_entries_1 (agent_id=? AND id=?)"]
