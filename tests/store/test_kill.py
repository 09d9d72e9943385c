"""What was acknowledged survives `kill -9`, and the next start needs no repair."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from noodlings.errors import NotFound, StoreBusy
from noodlings.ports import Changes
from noodlings.store.cipher import UserKey
from noodlings.store.database import DATABASE_NAME
from noodlings.store.keys import UserKeys
from noodlings.store.lock import HOLDER_NAME, LOCK_NAME
from noodlings.store.sql import SqlStore
from noodlings.store.vault import Encryption
from noodlings.values.audience import Tier
from tests.store.records import AGENT, an_entry
from tests.thorough import examples

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def start_writer(folder: Path | str, *key_file: str) -> subprocess.Popen[str]:
    """The program in writer.py, once it has the folder open."""
    process = begin_writer(folder, *key_file)
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    return process


def begin_writer(folder: Path | str, *key_file: str) -> subprocess.Popen[str]:
    """The same, while it starts."""
    command = [sys.executable, "-m", "tests.store.writer", str(folder), *key_file]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def killed(process: subprocess.Popen[str]) -> list[int]:
    """Kill it without a warning; every id it has acknowledged, first to last."""
    os.kill(process.pid, signal.SIGKILL)
    output, _ = process.communicate()
    return [int(line) for line in output.splitlines(keepends=True) if line.endswith("\n")]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_kills_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    chance = random.Random(20)
    acknowledged: list[int] = []
    for _ in range(examples(20)):
        process = start_writer(tmp_path)
        assert process.stdout is not None
        said = [int(process.stdout.readline()) for _ in range(chance.randrange(1, 40))]
        acknowledged += [*said, *killed(process)]

        store = SqlStore(tmp_path)
        try:
            entries = store.archive(AGENT, limit=10**6)
            record = store.load(AGENT)
            trace = store.traces(AGENT)[0]
        finally:
            store.close()
        assert [entry.id for entry in entries] == list(range(1, len(entries) + 1))
        assert {number: entries[number - 1].response for number in acknowledged} == {
            number: f"answer {number}" for number in acknowledged
        }
        # A turn is whole or not there; the last percept may stand without its answer.
        turns = record.state.data["turns"] if record else 0
        assert turns in (len(entries), len(entries) - 1)
        assert turns >= acknowledged[-1]
        assert trace.entry_id == turns
        assert record is not None
        assert record.consolidated == len(entries)
        symbols = {symbol.id for symbol in record.symbols}
        assert {number for number in acknowledged if number > turns - 5} <= symbols
        assert symbols.isdisjoint(number - 5 for number in acknowledged)
        assert record.last_symbol_id == turns


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_the_second_process_says_who_has_it_and_the_dead_leave_nothing_locked(tmp_path: Path) -> None:
    process = start_writer(tmp_path)
    try:
        with pytest.raises(StoreBusy, match=rf"already in use by process {process.pid} \(writer.py"):
            SqlStore(tmp_path)
    finally:
        killed(process)
    assert (tmp_path / HOLDER_NAME).exists()
    SqlStore(tmp_path).close()
    assert not (tmp_path / HOLDER_NAME).exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_without_its_lock_file_and_its_log_there_is_one_writer_and_a_kill_loses_nothing(
    tmp_path: Path,
) -> None:
    process = start_writer(tmp_path)
    assert process.stdout is not None
    try:
        process.stdout.readline()
        for name in (LOCK_NAME, f"{DATABASE_NAME}-wal", f"{DATABASE_NAME}-shm"):
            (tmp_path / name).unlink()
        with pytest.raises(StoreBusy, match=rf"already in use by process {process.pid} "):
            SqlStore(tmp_path)
        latest = [int(process.stdout.readline()) for _ in range(20)][-1]
    finally:
        latest = [latest, *killed(process)][-1]
    store = SqlStore(tmp_path)
    assert [entry.id for entry in store.archive(AGENT, limit=10**6)][:latest] == list(range(1, latest + 1))
    store.close()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_a_reader_beside_a_writer_sees_what_was_committed_and_is_in_nobodys_way(tmp_path: Path) -> None:
    process = start_writer(tmp_path)
    assert process.stdout is not None
    try:
        process.stdout.readline()
        reader = SqlStore(tmp_path, read_only=True)
        for _ in range(20):
            latest = int(process.stdout.readline())
            record = reader.load(AGENT)
            assert record is not None
            assert record.last_id >= latest
            assert record.perceived == record.last_id
            assert reader.entries(AGENT, [latest])[latest].response == f"answer {latest}"
        reader.close()
    finally:
        killed(process)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_a_reader_sees_what_a_killed_writer_left_though_nobody_opened_it_since(tmp_path: Path) -> None:
    process = start_writer(tmp_path)
    assert process.stdout is not None
    latest = [int(process.stdout.readline()) for _ in range(3)][-1]
    killed(process)
    reader = SqlStore(tmp_path, read_only=True)
    assert reader.entries(AGENT, [latest])[latest].response == f"answer {latest}"
    reader.close()


def test_a_reader_is_not_counted_as_the_one_writer(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"there is no noodlings\.db in"):
        SqlStore(tmp_path, read_only=True)
    assert list(tmp_path.iterdir()) == []
    writer = SqlStore(tmp_path)
    reader = SqlStore(tmp_path, read_only=True)
    with pytest.raises(StoreBusy, match=f"process {os.getpid()} "):
        SqlStore(tmp_path)
    writer.close()
    SqlStore(tmp_path).close()
    reader.close()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_kills_lose_nothing_while_everything_is_encrypted_and_the_key_changes(tmp_path: Path) -> None:
    """TEST_KILLS=50 kills as often: while it starts, writes, or encrypts everything anew."""
    folder, keys = tmp_path / "data", UserKeys(file=str(tmp_path / "key"))
    chance, acknowledged, changed = random.Random(22), list[int](), 0
    keys.write((UserKey.new(),))
    with closing(SqlStore(folder, encryption=Encryption(Tier.OPEN, keys))) as store:  # enough to take a while
        filling = tuple(an_entry(number, f"line {number}", response="") for number in range(1, 3_000))
        store.commit(Changes(AGENT, added=filling))
    for kill in range(int(os.environ.get("TEST_KILLS", "3"))):
        if kill % 3 == 2:  # a new key, which the start takes up
            keys.write((UserKey.new(), *keys.read()[:2]))
        process = begin_writer(folder, keys.file)
        assert process.stdout is not None
        if kill % 3 == 2:
            wait_for_rewriting(folder, chance.random() * 0.05)
        else:
            assert process.stdout.readline() == "open\n"
            said = [int(process.stdout.readline()) for _ in range(chance.randrange(1, 20))]
            if kill % 3 == 1:  # a new key, which it takes up with its next step
                keys.write((UserKey.new(), *keys.read()[:2]))
                said += [int(process.stdout.readline()) for _ in range(chance.randrange(1, 8))]
            acknowledged += said
        os.kill(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        acknowledged += [int(line) for line in output.splitlines() if line.isdigit()]
        changed += unfinished(folder)

        with closing(SqlStore(folder, read_only=True, encryption=Encryption(Tier.OPEN, keys))) as store:
            kept = store.archive(AGENT, limit=10**6)
        assert [entry.id for entry in kept] == list(range(1, len(kept) + 1))
        assert len(kept) >= max([2_999, *acknowledged])
        assert all(kept[number - 1].response == f"answer {number}" for number in acknowledged)
        assert [entry.user_text for entry in kept] == [f"line {entry.id}" for entry in kept]
    SqlStore(folder, encryption=Encryption(Tier.OPEN, keys)).close()
    assert unfinished(folder) == 0
    print(f"{changed} kills fell into a change of keys; {len(acknowledged)} turns were acknowledged")
    assert changed


def unfinished(folder: Path) -> bool:
    """Whether everything is still being encrypted anew."""
    with closing(sqlite3.connect(folder / DATABASE_NAME)) as database:
        (keys, last) = database.execute("SELECT count(*), max(sealed_from IS NULL) FROM keys").fetchone()
    return keys > 1 or bool(last)


def wait_for_rewriting(folder: Path, seconds: float) -> None:
    """Until the new key is there, and some time after."""
    until = time.monotonic() + 30.0
    while not unfinished(folder) and time.monotonic() < until:
        time.sleep(0.002)
    time.sleep(seconds)
