"""Statements are run in one transaction or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from noodlings.errors import StoreError
from noodlings.store import statements as sql
from noodlings.store.database import Database
from noodlings.store.rows import entry_row
from tests.store.records import AGENT, an_entry

OF_AGENT: dict[str, Any] = {"of_agent": AGENT}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path)
    with opened.transaction() as transaction:
        transaction.run(sql.ADD_AGENT, {"agent_id": AGENT, "forgotten_id": 0})
        transaction.run_each(sql.ADD_ENTRY, [entry_row(AGENT, an_entry(number)) for number in (1, 2, 3)])
    yield opened
    opened.close()


def test_rows_that_were_changed_are_counted(database: Database) -> None:
    rows = [OF_AGENT | {"of_id": number, "response": "yes"} for number in (2, 3, 4)]
    with database.transaction() as transaction:
        assert transaction.run_each(sql.REVISE, rows) == 2
        assert transaction.run_each(sql.REVISE, []) == 0


def test_what_fails_leaves_nothing_and_the_next_goes_on(database: Database) -> None:
    def answer_and_add_twice() -> None:
        with database.transaction() as transaction:
            transaction.run(sql.REVISE, OF_AGENT | {"of_id": 3, "response": "yes"})
            transaction.run(sql.ADD_ENTRY, entry_row(AGENT, an_entry(1)))

    with pytest.raises(StoreError, match="UNIQUE"):
        answer_and_add_twice()
    with database.transaction() as transaction:
        (third,) = transaction.rows(sql.ENTRIES, OF_AGENT | {"ids": "[3]"})
    assert third["response"] is None


def test_a_value_that_is_missing_is_refused(database: Database) -> None:
    with pytest.raises(StoreError, match="of_id"), database.transaction() as transaction:
        transaction.run(sql.JOIN_EPISODIC, OF_AGENT)


def test_nothing_runs_when_the_database_is_closed(database: Database) -> None:
    database.close()
    with pytest.raises(StoreError, match="closed"), database.transaction():
        pass
