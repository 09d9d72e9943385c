"""A database that nobody closed is checked at the next start, in nobody's way."""

from __future__ import annotations

import logging
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from noodlings.config import Settings
from noodlings.host.visit import opened
from noodlings.ports import Changes
from noodlings.store.database import DATABASE_NAME, LOGS
from noodlings.store.lock import HOLDER_NAME
from noodlings.store.sql import SqlStore
from tests.store.records import AGENT, an_entry

SETTINGS = {"embedding": {"model": "none"}}


def left_open(folder: Path, trace: str) -> Path:
    """A folder as a power cut leaves it: everything is in the database, and a file could not be removed."""
    with closing(SqlStore(folder / "alive")) as store:
        store.commit(Changes(AGENT, added=tuple(an_entry(number) for number in range(1, 40))))
        with closing(sqlite3.connect(folder / "alive" / DATABASE_NAME)) as other:
            other.execute("PRAGMA wal_checkpoint(PASSIVE)")
        (folder / "left").mkdir()
        shutil.copy(folder / "alive" / DATABASE_NAME, folder / "left")
    (folder / "left" / trace).write_bytes(bytes(64))
    return folder / "left"


def tear(folder: Path) -> None:
    """The second half of a page was not written: an index lacks entries, and what it has makes sense."""
    path = folder / DATABASE_NAME
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as file:
        (size,) = file.execute("PRAGMA page_size").fetchone()
        wanted = "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_entries_1'"
        (page,) = file.execute(wanted).fetchone()
    content = bytearray(path.read_bytes())
    content[page * size - size // 2 : page * size] = bytes(size // 2)
    path.write_bytes(content)


@pytest.mark.parametrize("trace", [LOGS[0], HOLDER_NAME])
@pytest.mark.parametrize(("damaged", "said"), [(False, "its pages are sound"), (True, "is damaged: ")])
def test_a_database_that_was_not_closed_is_checked(
    tmp_path: Path, trace: str, damaged: bool, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder = left_open(tmp_path, trace)
    if damaged:
        tear(folder)
    caplog.set_level(logging.INFO)
    with opened(Settings(store={"path": str(folder)}, **SETTINGS)):  # type: ignore[arg-type]
        for thread in threading.enumerate():
            if thread.name == "checking the file":
                thread.join(60)
    assert said in caplog.text


def test_one_that_was_closed_or_is_new_is_not_checked(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    for _ in range(2):
        with opened(Settings(store={"path": str(tmp_path)}, **SETTINGS)):  # type: ignore[arg-type]
            assert "checking the file" not in [thread.name for thread in threading.enumerate()]
    assert "was not closed" not in caplog.text
