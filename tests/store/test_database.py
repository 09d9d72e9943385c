"""A file that is damaged, foreign or too new is refused and left as it is; a disk that fails is told of."""

from __future__ import annotations

import os
import random
import sqlite3
import stat
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from noodlings.errors import StoreBusy, StoreError
from noodlings.ports import AgentState, Changes
from noodlings.store.database import DATABASE_NAME
from noodlings.store.sql import SqlStore
from noodlings.store.tables import SCHEMA
from tests.store.records import AGENT, a_trace, an_entry

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with 300 entries in it, closed."""
    store = SqlStore(tmp_path)
    store.commit(Changes(AGENT, added=tuple(an_entry(number, "words " * 20) for number in range(1, 301))))
    store.close()
    return tmp_path


@pytest.fixture
def store(folder: Path) -> Iterator[SqlStore]:
    store = SqlStore(folder)
    yield store
    store.close()


def by_hand(folder: Path, *statements: str) -> None:
    connection = sqlite3.connect(folder / DATABASE_NAME)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def refused(folder: Path, words: str) -> None:
    """Both ways of opening are refused with these words, and no byte of the file changes."""
    before = (folder / DATABASE_NAME).read_bytes()
    for read_only in (False, True):
        with pytest.raises(StoreError, match=words):
            SqlStore(folder, read_only=read_only)
    assert (folder / DATABASE_NAME).read_bytes() == before


def test_a_closed_folder_holds_one_file_that_matters(folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}
    assert names - {"noodlings.lock"} == {DATABASE_NAME}


def _garbage(whole: bytes) -> bytes:
    return random.Random(1).randbytes(len(whole))


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"not a database",
        lambda whole: bytes(len(whole)),
        _garbage,
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:5_000],
        lambda whole: whole[:50] + b"\xff" * 50 + whole[100:],
        lambda whole: whole[:100] + b"\xff" * 4_000 + whole[4_100:],
    ],
    ids=["short", "zeros", "garbage", "half", "torn", "bad header", "bad first page"],
)
def test_a_damaged_file_is_refused_and_left_as_it_is(folder: Path, damage: Callable[[bytes], bytes]) -> None:
    path = folder / DATABASE_NAME
    path.write_bytes(damage(path.read_bytes()))
    refused(folder, "is damaged")


def test_damage_further_in_is_told_when_it_is_met_and_nothing_is_written(folder: Path) -> None:
    path = folder / DATABASE_NAME
    whole = path.read_bytes()
    half = len(whole) * 2 // 3  # the tables that are empty lie before it
    path.write_bytes(whole[:half] + b"\xff" * 20_000 + whole[half + 20_000 :])
    store = SqlStore(folder)
    with pytest.raises(StoreError, match="is damaged"):
        store.archive(AGENT, limit=1_000)
    store.close()
    assert path.stat().st_size == len(whole)


def test_a_log_that_was_torn_by_a_power_cut_costs_only_the_last_commits(folder: Path) -> None:
    """File and log as a machine that stops leaves them, the log cut in the middle of a commit."""
    store = SqlStore(folder)
    path, log = folder / DATABASE_NAME, folder / f"{DATABASE_NAME}-wal"
    store.commit(Changes(AGENT, added=(an_entry(301),)))
    safe = log.stat().st_size
    store.commit(Changes(AGENT, added=(an_entry(302),)))
    file, torn = path.read_bytes(), log.read_bytes()[: safe + 2_000]
    store.close()
    path.write_bytes(file)
    log.write_bytes(torn)
    store = SqlStore(folder)
    record = store.load(AGENT)
    store.close()
    assert record is not None
    assert record.last_id == 301


@pytest.mark.parametrize("left", [(), ("-wal", "-shm")], ids=["closed", "killed"])
def test_an_emptied_database_is_not_taken_for_a_new_one(folder: Path, left: tuple[str, ...]) -> None:
    store = SqlStore(folder)
    store.commit(Changes(AGENT, added=(an_entry(301),)))
    logs = {end: (folder / f"{DATABASE_NAME}{end}").read_bytes() for end in left}
    store.close()
    for end, content in logs.items():
        (folder / f"{DATABASE_NAME}{end}").write_bytes(content)
    (folder / DATABASE_NAME).write_bytes(b"")
    refused(folder, "is empty.* Put a backup in its place, or delete it to start afresh")
    for end, content in logs.items():  # SQLite deletes the log of an empty file
        assert (folder / f"{DATABASE_NAME}{end}").read_bytes() == content


def test_a_database_without_tables_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    by_hand(tmp_path, "CREATE TABLE recipes (name TEXT)", "DROP TABLE recipes")
    refused(tmp_path, "is empty")


@pytest.mark.parametrize("end", ["-wal", "-shm"])
def test_a_database_that_is_missing_beside_its_log_is_not_made_anew(folder: Path, end: str) -> None:
    (folder / DATABASE_NAME).unlink()
    (folder / f"{DATABASE_NAME}{end}").write_bytes(b"log")
    with pytest.raises(
        StoreError, match=f"is missing, but {DATABASE_NAME}{end} is beside it: put the file back"
    ):
        SqlStore(folder)
    assert (folder / f"{DATABASE_NAME}{end}").read_bytes() == b"log"
    assert not (folder / DATABASE_NAME).exists()


def test_a_new_database_that_a_kill_left_half_made_is_made_again(tmp_path: Path) -> None:
    (tmp_path / f"{DATABASE_NAME}.part").write_bytes(b"half")
    store = SqlStore(tmp_path)
    assert store.agents() == []
    store.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows deletes no file that is open")
@pytest.mark.parametrize("ends", [("-wal",), ("-shm",), ("-wal", "-shm")], ids="".join)
def test_a_log_that_was_deleted_costs_nothing_and_whoever_reads_goes_on(
    store: SqlStore, folder: Path, ends: tuple[str, ...]
) -> None:
    before = SqlStore(folder, read_only=True)
    store.commit(Changes(AGENT, added=(an_entry(301),)))
    for end in ends:
        (folder / f"{DATABASE_NAME}{end}").unlink()
    store.commit(Changes(AGENT, added=(an_entry(302),)))
    after = SqlStore(folder, read_only=True)
    # What a kill would leave: the files, without whatever only an open descriptor still reaches.
    left = folder / "left"
    left.mkdir()
    for name in (DATABASE_NAME, f"{DATABASE_NAME}-wal"):
        (left / name).write_bytes((folder / name).read_bytes())
    killed = SqlStore(left)
    for kept in (before, after, killed, store):
        assert sorted(kept.entries(AGENT, [300, 301, 302, 303])) == [300, 301, 302]
    store.commit(Changes(AGENT, added=(an_entry(303),)))
    for reader in (before, after):
        assert sorted(reader.entries(AGENT, [303])) == [303]
        reader.close()
    killed.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows truncates no file that is open")
def test_where_the_log_was_emptied_nothing_more_is_acknowledged_and_the_rest_stays_sound(
    store: SqlStore, folder: Path
) -> None:
    log = folder / f"{DATABASE_NAME}-wal"
    store.commit(Changes(AGENT, added=(an_entry(303),)))
    assert log.stat().st_size > 0
    log.write_bytes(b"")
    for _ in range(2):
        with pytest.raises(StoreError, match=r"the log beside .* was emptied .* start it again"):
            store.commit(Changes(AGENT, added=(an_entry(301),)))
    store.close()
    again = SqlStore(folder)
    again.commit(Changes(AGENT, added=(an_entry(302),)))
    assert sorted(again.entries(AGENT, [301, 302])) == [302]
    again.close()


def test_a_link_to_a_disk_that_is_not_there_is_no_new_database(tmp_path: Path) -> None:
    (tmp_path / DATABASE_NAME).symlink_to(tmp_path / "away" / DATABASE_NAME)
    with pytest.raises(StoreError, match="a link to a file that is not there"):
        SqlStore(tmp_path)
    assert (tmp_path / DATABASE_NAME).is_symlink()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows deletes no file that is open")
@pytest.mark.parametrize("instead", [None, b"another"], ids=["deleted", "replaced"])
def test_nothing_is_acknowledged_that_goes_into_a_database_that_is_gone(
    store: SqlStore, folder: Path, instead: bytes | None
) -> None:
    (folder / DATABASE_NAME).unlink()
    if instead is not None:
        (folder / DATABASE_NAME).write_bytes(instead)
    with pytest.raises(StoreError, match=r"deleted or replaced while noodlings had it open.* stop noodlings"):
        store.commit(Changes(AGENT, added=(an_entry(301),)))
    with pytest.raises(StoreError, match="deleted or replaced"):
        store.world_set("key", 1)


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    by_hand(tmp_path, "CREATE TABLE recipes (name TEXT)")
    refused(tmp_path, "not a noodlings database")


def test_a_database_of_a_newer_noodlings_is_refused(folder: Path) -> None:
    by_hand(folder, f"UPDATE alembic_version SET version_num = '{int(SCHEMA) + 1:04d}'")
    refused(folder, f"newer noodlings .schema {int(SCHEMA) + 1:04d}; this one knows {SCHEMA}")


@pytest.mark.parametrize("version", ["'ab12cd34ef56'", "'٠٠٠١'", "''"])
def test_a_database_of_unknown_make_is_refused(folder: Path, version: str) -> None:
    by_hand(folder, f"UPDATE alembic_version SET version_num = {version}")
    refused(folder, "not a noodlings database")


def test_a_reader_does_not_bring_an_older_database_up_to_date(folder: Path) -> None:
    by_hand(folder, "UPDATE alembic_version SET version_num = '0000'")
    with pytest.raises(StoreError, match="update it with noodlings play"):
        SqlStore(folder, read_only=True)


def test_a_folder_that_cannot_be_made_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be created"):
        SqlStore(tmp_path / "file" / "data")


def test_a_path_with_every_awkward_character_is_only_a_path(tmp_path: Path) -> None:
    folder = tmp_path / "50% of #1 & what? 'näh' mode=ro"
    for _ in range(2):
        store = SqlStore(folder)
        store.commit(Changes(AGENT))
        assert store.agents() == [AGENT]
        store.close()
    assert (folder / DATABASE_NAME).is_file()


def test_only_its_owner_may_look_into_a_folder_we_made(tmp_path: Path) -> None:
    store = SqlStore(tmp_path / "data")
    store.commit(Changes(AGENT))
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0
    files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "data").glob("*.db*")}
    assert files == dict.fromkeys((DATABASE_NAME, f"{DATABASE_NAME}-wal", f"{DATABASE_NAME}-shm"), 0o600)
    store.close()
    (tmp_path / "data" / DATABASE_NAME).chmod(0o640)  # as somebody may have wanted it
    SqlStore(tmp_path / "data").close()
    assert stat.S_IMODE((tmp_path / "data" / DATABASE_NAME).stat().st_mode) == 0o640


def test_a_reader_cannot_write(folder: Path) -> None:
    reader = SqlStore(folder, read_only=True)
    for write in (
        lambda: reader.commit(Changes(AGENT, added=(an_entry(301),))),
        lambda: reader.forget(AGENT, [1], by_user="admin", timestamp=1.0),
        lambda: reader.world_set("key", 1),
    ):
        with pytest.raises(StoreError, match="for reading only"):
            write()
    assert len(reader.archive(AGENT)) == 300
    reader.close()


def test_a_closed_store_says_so_and_closes_again(store: SqlStore) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match="was closed"):
        store.commit(Changes(AGENT))


def test_somebody_who_holds_the_file_too_long_is_told_of(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("noodlings.store.database.BUSY_SECONDS", 0.05)
    store = SqlStore(folder)
    other = sqlite3.connect(folder / DATABASE_NAME, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy, match="in use by another program"):
        store.commit(Changes(AGENT, added=(an_entry(301),)))
    other.execute("ROLLBACK")
    other.close()
    store.commit(Changes(AGENT, added=(an_entry(301),)))
    store.close()


def test_an_error_holds_nothing_of_what_was_to_be_kept(store: SqlStore) -> None:
    with pytest.raises(StoreError) as caught:
        store.commit(Changes(AGENT, added=(an_entry(1, "a whispered secret"),)))
    assert "secret" not in str(caught.value)
    assert "secret" not in str(caught.value.__cause__)


def test_one_bad_row_costs_one_entry_and_one_bad_state_no_memory(folder: Path) -> None:
    store = SqlStore(folder)
    store.commit(
        Changes(AGENT, state=AgentState(AGENT, {"mood": 1}), trace=a_trace(299), episodic=(299, 300))
    )
    store.commit(Changes(AGENT, trace=a_trace(300)))
    store.close()
    by_hand(
        folder,
        "UPDATE entries SET parts = '{' WHERE id IN (2, 300)",
        "UPDATE traces SET document = 'x' WHERE entry_id = 300",
        "UPDATE agents SET state = '[]'",
    )
    store = SqlStore(folder)
    record = store.load(AGENT)
    assert record is not None
    assert [entry.id for entry in record.episodic] == [299]
    assert [entry.id for entry in record.working] == list(range(281, 300))
    assert (record.state.data, record.perceived, record.last_id) == ({}, 300, 300)
    assert [trace.entry_id for trace in store.traces(AGENT)] == [299]
    assert [entry.id for entry in store.archive(AGENT, limit=3)] == [1, 3, 4]
    store.close()


def test_text_that_is_damaged_is_not_quoted(folder: Path) -> None:
    by_hand(folder, "UPDATE entries SET user_text = CAST(x'6120736563726574ff' AS TEXT) WHERE id = 7")
    store = SqlStore(folder)
    for read in (lambda: store.archive(AGENT), lambda: store.entries(AGENT, [7])):
        with pytest.raises(StoreError, match="column user_text contains text that is not UTF-8") as caught:
            read()
        assert "secret" not in "".join(traceback.format_exception(caught.value))
    store.close()


def test_full_durability_waits_for_the_disk_and_normal_does_not(tmp_path: Path) -> None:
    for durability, level in (("normal", 1), ("full", 2)):
        store = SqlStore(tmp_path / durability, durability)  # type: ignore[arg-type]
        with store._database.transaction() as transaction:
            assert transaction.pragma("synchronous") == [(level,)]
        store.close()


FAILING_DISK = """
import resource, sys
from pathlib import Path
from noodlings.errors import StoreError
from noodlings.ports import AgentState, Changes
from noodlings.store.sql import SqlStore
from tests.store.records import AGENT, an_entry

store = SqlStore(Path(sys.argv[1]))
store.commit(Changes(AGENT, added=(an_entry(1),), state=AgentState(AGENT, {"turns": 1})))
room = (Path(sys.argv[1]) / "noodlings.db-wal").stat().st_size + 20_000
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))
big = tuple(an_entry(number, "x" * 4_000) for number in range(2, 200))
try:
    store.commit(Changes(AGENT, added=big, episodic=(1, 2), state=AgentState(AGENT, {"turns": 2})))
    raise SystemExit("a full disk was not noticed")
except StoreError as error:
    print(error)
record = store.load(AGENT)
assert (record.perceived, record.last_id, record.episodic) == (1, 1, ()), record
assert record.state.data == {"turns": 1}
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
store.commit(Changes(AGENT, added=big))
store.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file sizes cannot be limited on Windows")
@pytest.mark.slow
def test_a_commit_that_the_disk_refuses_leaves_nothing_and_the_next_one_goes_on(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FAILING_DISK, str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert str(tmp_path / DATABASE_NAME) in done.stdout
    store = SqlStore(tmp_path)
    assert len(store.archive(AGENT)) == 199
    store.close()
