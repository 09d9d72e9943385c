"""A backup is one moment of a database that is written to, and comes into place whole or not at all."""

from __future__ import annotations

import sqlite3
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from noodlings.errors import NotFound, StoreBusy, StoreError, UserError
from noodlings.ports import AgentState, Changes
from noodlings.store.backup import back_up
from noodlings.store.database import DATABASE_NAME
from noodlings.store.sql import SqlStore
from tests.store.records import AGENT, an_entry


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def store(folder: Path) -> Iterator[SqlStore]:
    store = SqlStore(folder)
    remember(store, 1)
    yield store
    store.close()


def remember(store: SqlStore, number: int) -> None:
    """One commit whose parts belong together."""
    state = AgentState(AGENT, {"step": number})
    store.commit(Changes(AGENT, added=(an_entry(number),), episodic=(number,), state=state))


def last(folder: Path) -> int:
    """The last memory in a folder, which must be one whole moment."""
    store = SqlStore(folder)
    record = store.load(AGENT)
    store.close()
    assert record is not None
    assert record.state.data == {"step": record.last_id}
    assert [entry.id for entry in record.episodic] == list(range(1, record.last_id + 1))
    return record.last_id


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_copy_is_a_data_folder(store: SqlStore, folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "deep" / "copy"
    size = back_up(folder, copy)
    assert size == (copy / DATABASE_NAME).stat().st_size
    assert last(copy) == 1
    remember(store, 2)
    store.close()
    assert (last(copy), last(folder)) == (1, 2)


def test_only_its_owner_can_read_it(store: SqlStore, folder: Path, tmp_path: Path) -> None:
    back_up(folder, tmp_path / "copy")
    assert stat.S_IMODE((tmp_path / "copy").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "copy" / DATABASE_NAME).stat().st_mode) == 0o600


def test_a_copy_is_one_file_that_can_be_read_where_nothing_can_be_written(
    store: SqlStore, folder: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    back_up(folder, copy)
    assert names(copy) - {"noodlings.lock"} == {DATABASE_NAME}
    reader = SqlStore(copy, read_only=True)
    assert [entry.id for entry in reader.archive(AGENT)] == [1]
    reader.close()
    assert names(copy) - {"noodlings.lock"} == {DATABASE_NAME}


def test_a_writer_is_not_held_up_and_every_copy_is_one_moment(
    store: SqlStore, folder: Path, tmp_path: Path
) -> None:
    enough = threading.Event()
    written = [1]

    def write() -> None:
        while not enough.is_set():
            remember(store, written[-1] + 1)
            written.append(written[-1] + 1)

    writer = threading.Thread(target=write)
    writer.start()
    seen = []
    while len(seen) < 5 or written[-1] < 7:  # it goes on, however busy the machine is
        before, number = written[-1], len(seen)
        back_up(folder, tmp_path / str(number))
        seen.append((before, number))
    enough.set()
    writer.join()
    for before, number in seen:
        assert last(tmp_path / str(number)) >= before


def test_a_copy_is_replaced_only_by_force(store: SqlStore, folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    back_up(folder, copy)
    remember(store, 2)
    with pytest.raises(UserError, match="--force"):
        back_up(folder, copy)
    assert last(copy) == 1
    back_up(folder, copy, force=True)
    assert last(copy) == 2


def test_the_log_of_a_replaced_database_is_not_played_into_the_new_one(
    store: SqlStore, folder: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    back_up(folder, copy)
    other = SqlStore(copy)
    for number in range(2, 9):
        remember(other, number)
    killed = {name: (copy / name).read_bytes() for name in names(copy) if name.startswith(DATABASE_NAME)}
    other.close()
    for name, content in killed.items():  # as a process that was killed leaves it
        (copy / name).write_bytes(content)
    assert (copy / f"{DATABASE_NAME}-wal").stat().st_size > 0
    back_up(folder, copy, force=True)
    assert last(copy) == 1


def test_nothing_else_in_a_folder_is_touched(store: SqlStore, folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "thesis.txt").write_text("years of work")
    back_up(folder, copy)
    back_up(folder, copy, force=True)
    assert (copy / "thesis.txt").read_text() == "years of work"


def test_what_lies_beside_goes_with_it(store: SqlStore, folder: Path, tmp_path: Path) -> None:
    (folder / "recipes").mkdir()
    (folder / "recipes" / "zoe.yaml").write_text("name: Zoe")
    (folder / "rules.yaml").write_text("version: 1")
    copy, beside = tmp_path / "copy", ("recipes", "rules.yaml", "missing")
    back_up(folder, copy, beside)
    assert (copy / "recipes" / "zoe.yaml").read_text() == "name: Zoe"
    assert (copy / "rules.yaml").read_text() == "version: 1"
    (copy / DATABASE_NAME).unlink()
    with pytest.raises(UserError, match="already contains recipes"):
        back_up(folder, copy, beside)


@pytest.mark.parametrize(
    "way", ["{}", "{}/.", "{}/../data", "{}/copies", "{}/recipes/deep/copy", "{}/../link", "{}/../link/copy"]
)
def test_a_folder_is_not_copied_into_itself(store: SqlStore, folder: Path, way: str) -> None:
    (folder / "recipes").mkdir()
    (folder / "recipes" / "zoe.yaml").write_text("name: Zoe")
    (folder / "../link").symlink_to(folder, target_is_directory=True)
    before = names(folder)
    with pytest.raises(UserError, match=r"the data folder or inside it.* name a folder elsewhere"):
        back_up(folder, Path(way.format(folder)), ("recipes",), force=True)
    assert names(folder) == before
    remember(store, 2)


def test_a_link_to_a_folder_is_not_followed(store: SqlStore, folder: Path, tmp_path: Path) -> None:
    (folder / "recipes").mkdir()
    (folder / "recipes" / "zoe.yaml").write_text("name: Zoe")
    (folder / "recipes" / "root").symlink_to("/", target_is_directory=True)
    back_up(folder, tmp_path / "copy", ("recipes",))
    assert [path.name for path in (tmp_path / "copy" / "recipes").iterdir()] == ["zoe.yaml"]


def test_an_emptied_database_is_no_backup(store: SqlStore, folder: Path, tmp_path: Path) -> None:
    store.close()
    (folder / DATABASE_NAME).write_bytes(b"")
    with pytest.raises(StoreError, match="is empty"):
        back_up(folder, tmp_path / "copy")


def test_a_destination_that_will_not_do(store: SqlStore, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="is a file"):
        back_up(folder, tmp_path / "file", force=True)
    with pytest.raises(StoreError, match="cannot be written"):
        back_up(folder, tmp_path / "file" / "below")
    back_up(folder, tmp_path / "used")
    used = SqlStore(tmp_path / "used")
    with pytest.raises(StoreBusy):
        back_up(folder, tmp_path / "used", force=True)
    used.close()


def test_without_a_database_there_is_no_backup(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        back_up(tmp_path / "nothing", tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_damaged_database_leaves_the_last_backup_alone(
    store: SqlStore, folder: Path, tmp_path: Path
) -> None:
    for number in range(2, 200):
        remember(store, number)
    copy = tmp_path / "copy"
    back_up(folder, copy)
    store.close()
    sound = (folder / DATABASE_NAME).read_bytes()
    for damaged in (b"not a database" * 100, sound[:40_000] + b"\xff" * 8_000 + sound[48_000:]):
        (folder / DATABASE_NAME).write_bytes(damaged)
        with pytest.raises(StoreError):
            back_up(folder, copy, force=True)
        assert names(copy) - {"noodlings.lock"} == {DATABASE_NAME}
        assert last(copy) == 199


def test_a_database_of_something_else_is_no_backup_of_ours(folder: Path, tmp_path: Path) -> None:
    folder.mkdir()
    connection = sqlite3.connect(folder / DATABASE_NAME)
    connection.execute("CREATE TABLE songs (title TEXT)")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="not a noodlings database"):
        back_up(folder, tmp_path / "copy")
    assert DATABASE_NAME not in names(tmp_path / "copy")
