"""Scheduled backups: when they are due, that each is tried, and that none is lost for a bad one."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from noodlings.config import BackupSettings
from noodlings.errors import StoreError, UserError
from noodlings.host.backups import AGAIN_SECONDS, IDENTITY, ScheduledBackups
from noodlings.logs import logging_to
from noodlings.ports import Changes
from noodlings.store.checking import check
from noodlings.store.sql import SqlStore
from tests.api.serving import environment, served
from tests.program import ran
from tests.store.records import AGENT, a_trace, an_entry

HOUR = 3_600.0


class Clock:
    """World and waiting of a test."""

    def __init__(self) -> None:
        self.now = 1_764_000_000.0
        self.waited: list[float] = []

    async def wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.now += seconds
        if len(self.waited) > 4:
            raise asyncio.CancelledError


@pytest.fixture
def data(tmp_path: Path) -> Path:
    with closing(SqlStore(tmp_path / "data")) as store:
        for number in range(1, 4):
            store.commit(Changes(AGENT, added=(an_entry(number),), trace=a_trace(number)))
    return tmp_path / "data"


def backups(data: Path, clock: Clock, **settings: float) -> ScheduledBackups:
    chosen = BackupSettings.model_validate(
        {"folder": str(data.parent / "copies"), "every_hours": 6} | settings
    )
    return ScheduledBackups(data, chosen, now=lambda: clock.now, wait=clock.wait)


def names(data: Path) -> list[str]:
    return sorted(path.name for path in (data.parent / "copies").iterdir())


def damage(data: Path) -> None:
    with closing(sqlite3.connect(data / "noodlings.db")) as database, database:
        database.execute("UPDATE entries SET parts = 'x' WHERE id = 2")


async def test_a_copy_is_made_at_once_and_then_every_so_often(data: Path) -> None:
    clock = Clock()
    with pytest.raises(asyncio.CancelledError):
        await backups(data, clock, keep=2).run()
    assert clock.waited == [0.0, 6 * HOUR, 6 * HOUR, 6 * HOUR, 6 * HOUR]
    assert names(data) == ["2025-11-25T04-00-00Z", "2025-11-25T10-00-00Z"]
    for name in names(data):
        assert check(data.parent / "copies" / name) == check(data)


def test_after_a_restart_the_next_one_is_due_when_it_was(data: Path) -> None:
    clock = Clock()
    backups(data, clock).make()
    clock.now += HOUR
    assert backups(data, clock).due() == clock.now + 5 * HOUR


def test_a_copy_of_what_is_damaged_costs_no_older_one(data: Path) -> None:
    clock = Clock()
    backups(data, clock, keep=1).make()
    damage(data)
    clock.now += HOUR
    with pytest.raises(StoreError, match=r"entry 2 .* is damaged"):
        backups(data, clock, keep=1).make()
    whole = [name for name in names(data) if name.endswith("Z")]
    assert whole == ["2025-11-24T16-00-00Z"]


async def test_one_that_fails_is_tried_again(data: Path, caplog: pytest.LogCaptureFixture) -> None:
    damage(data)
    clock = Clock()
    with pytest.raises(asyncio.CancelledError):
        await backups(data, clock).run()
    assert clock.waited[:3] == [0.0, AGAIN_SECONDS, 0.0]
    assert "tried again in ten minutes" in caplog.text


def test_what_a_kill_left_goes_and_nothing_else(data: Path) -> None:
    copies, clock = data.parent / "copies", Clock()
    made = backups(data, clock, keep=1).make()
    made.rename(copies / "2025-01-01T00-00-00Z.part")
    others = ["2025-01-02T00-00-00Z.part", "2025-02-01T00-00-00Z", "2025-notes", "mine.part"]
    for name in others:
        (copies / name).mkdir()
    (copies / "2025-02-02T00-00-00Z").write_text("a file of somebody's")
    clock.now += HOUR
    backups(data, clock, keep=1).make()
    assert names(data) == sorted([*others, "2025-02-02T00-00-00Z", "2025-11-24T17-00-00Z"])


def test_two_worlds_may_keep_their_copies_in_one_folder(data: Path) -> None:
    other, clock = data.parent / "other", Clock()
    shutil.copytree(data, other)
    backups(data, clock, keep=1).make()
    assert backups(other, clock, keep=1).due() == clock.now
    with pytest.raises(OSError, match=r"exists|not empty"):  # within the same second
        backups(other, clock, keep=1).make()
    clock.now += HOUR
    made = backups(other, clock, keep=1).make()
    assert names(data) == ["2025-11-24T16-00-00Z", "2025-11-24T17-00-00Z"]
    shutil.rmtree(other)
    made.rename(other)  # it is restored, and goes on
    backups(other, clock, keep=1).make()
    clock.now += HOUR
    backups(other, clock, keep=1).make()
    assert names(data) == ["2025-11-24T16-00-00Z", "2025-11-24T18-00-00Z"]
    assert (data / IDENTITY).stat().st_mode & 0o077 == 0


async def test_nothing_ends_the_backups(data: Path, caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    backups(data, clock).make()
    (data / IDENTITY).unlink()
    (data / IDENTITY).mkdir()
    with pytest.raises(asyncio.CancelledError):
        await backups(data, clock).run()
    assert clock.waited == [AGAIN_SECONDS] * 5
    assert caplog.text.count("tried again in ten minutes") == 5
    assert "Is a directory" in caplog.text


def test_a_copy_without_a_mark_that_can_be_read_is_not_ours(data: Path) -> None:
    clock = Clock()
    made = backups(data, clock).make()
    (data.parent / "copies" / "2026-01-01T00-00-00Z" / IDENTITY).mkdir(parents=True)
    assert backups(data, clock).due() == clock.now + 6 * HOUR
    (made / IDENTITY).unlink()
    assert backups(data, clock).due() == clock.now


@pytest.mark.skipif(sys.platform == "darwin", reason="there every name is UTF-8")
def test_the_name_of_a_data_folder_may_be_any(data: Path) -> None:
    data = data.rename(data.parent / os.fsdecode(b"d\xff"))
    clock = Clock()
    backups(data, clock).make()
    assert backups(data, clock).due() == clock.now + 6 * HOUR
    assert backups(data.rename(data.parent / os.fsdecode(b"d\xfe")), clock).due() == clock.now


def test_none_are_made_inside_the_data_folder(data: Path) -> None:
    with pytest.raises(UserError, match="inside the data folder"):
        backups(data, Clock(), folder=str(data / "copies"))  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_server_makes_one_that_can_be_played_in(tmp_path: Path) -> None:
    data, copies = tmp_path / "data", tmp_path / "copies"
    told = {"user_id": "user_caity", "text": "My dog died yesterday"}
    with served(data) as server:
        assert server.client.post("/api/agents/servnak/perceive", json=told).status_code == 200
        assert server.stop() == 0
    with served(data, NOODLINGS_BACKUP__FOLDER=str(copies)) as server:
        assert server.stop() == 0
    (copy,) = copies.iterdir()
    done = ran("memories", "servnak", "--working", "--json", "--data", copy, environment=environment())
    assert [entry["text"] for entry in json.loads(done.stdout)["entries"]] == ["My dog died yesterday"]


def test_a_copy_in_which_somebody_played_is_no_copy_any_more(data: Path) -> None:
    clock = Clock()
    copy = backups(data, clock, keep=1).make()
    with logging_to(copy, "info"):
        pass
    clock.now += 6 * HOUR
    other = backups(data, clock, keep=1).make()
    assert names(data) == [copy.name, other.name]
    clock.now += 6 * HOUR
    of_the_copy = backups(copy, clock, folder=str(copy.parent), keep=1)  # served where it lies
    of_the_copy.make()
    clock.now += 6 * HOUR
    of_the_copy.make()
    assert copy.name in names(data)


@pytest.mark.slow
def test_a_state_that_no_character_can_be_restored_from_is_damage(data: Path) -> None:
    with closing(sqlite3.connect(data / "noodlings.db")) as database, database:
        state = {"v": 1, "data": {"version": 9}}
        database.execute("UPDATE agents SET state = ?", (json.dumps(state),))
    found = ran("check", "--data", data, environment=environment())
    assert found.returncode == 1
    assert b"damaged: the state of" in found.stdout
    with pytest.raises(StoreError, match="is damaged"):
        backups(data, Clock()).make()
