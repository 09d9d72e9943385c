"""How SQLite goes about a statement, where that decides whether it stays fast."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlalchemy.dialects import sqlite

from noodlings.store.database import DATABASE_NAME
from noodlings.store.sql import SqlStore
from noodlings.store.statements import LINKS_OF


def test_links_are_looked_up_at_both_ends_and_never_read_through(tmp_path: Path) -> None:
    SqlStore(tmp_path).close()
    asked = LINKS_OF.params(of_agent="phi", ids=[1, 2])
    statement = asked.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True})
    connection = sqlite3.connect(tmp_path / DATABASE_NAME)
    plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
    connection.close()
    steps = [step[-1] for step in plan if "links" in step[-1]]
    assert [step.partition(" USING ")[2] for step in steps] == [
        "PRIMARY KEY (source_id=? AND agent_id=?)",
        "COVERING INDEX ix_links_target (target_id=? AND agent_id=?)",
    ]
