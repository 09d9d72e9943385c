"""Notes made anew are the same to the byte, and nothing else is left."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noodlings.errors import StoreError
from noodlings.notes.notebook import FOLDER_NAME
from noodlings.notes.writer import Rebuilt, rebuild
from noodlings.ports import Changes
from noodlings.store.database import DATABASE_NAME
from noodlings.store.transfer import snapshot
from noodlings.values.memory import Link, LinkType
from tests.notes.folders import opened, written
from tests.store.records import an_entry, entries
from tests.thorough import examples


def rebuilt(path: Path) -> Rebuilt:
    """Rebuild a folder as the command does."""
    with opened(path, enabled=False) as folder, snapshot(path) as kept:
        return rebuild(kept, folder.writer, lambda position: None)


@pytest.mark.slow
@given(st.lists(entries, min_size=1, max_size=6, unique_by=lambda entry: entry.id), st.data())
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_the_same_bytes_as_were_written(
    tmp_path_factory: pytest.TempPathFactory, some: list, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("data")
    ids = [entry.id for entry in some]
    with opened(path) as folder:
        folder.commit(Changes("phi", added=tuple(replace(entry, response=None) for entry in some)))
        for entry in some:
            step = data.draw(st.sampled_from(["join", "leave", "answer", "link"]))
            other = data.draw(st.sampled_from(ids))
            links = (Link(entry.id, other, LinkType.FOLLOWED, 0.5, 1.0),) if other != entry.id else ()
            folder.commit(
                Changes(
                    "phi",
                    updated=(entry,),
                    episodic=(entry.id,) if step == "join" else (),
                    evicted=(entry.id,) if step == "leave" else (),
                    links=links if step == "link" else (),
                )
            )
    before = written(path)
    assert rebuilt(path) == Rebuilt(len(before), 0, 0)
    assert written(path) == before


def test_what_is_missing_is_written_and_what_is_of_nothing_is_removed(tmp_path: Path) -> None:
    with opened(tmp_path) as folder:
        folder.commit(Changes("phi", added=tuple(map(an_entry, range(1, 4))), episodic=(1, 2)))
    before = written(tmp_path)
    notes = tmp_path / FOLDER_NAME
    first, second = (notes / name for name in before)
    first.unlink()
    second.write_text("torn")
    for stray in ("memory_9.md", "00_00_00_memory_1.md.part"):
        (notes / "phi" / stray).write_text("stray")
    (notes / "nobody").mkdir()
    (notes / "nobody/memory_1.md").write_text("stray")
    mine = notes / "phi/mine.md"
    mine.write_text("mine")
    assert rebuilt(tmp_path) == Rebuilt(2, 3, 0)
    assert mine.read_text() == "mine"
    mine.unlink()
    assert written(tmp_path) == before
    assert not (notes / "nobody").exists()


def test_it_makes_up_for_a_forgetting_that_was_cut_off(tmp_path: Path) -> None:
    with opened(tmp_path) as folder:
        folder.commit(Changes("phi", added=(an_entry(1), an_entry(2)), episodic=(1, 2)))
        folder.keeper.close()
        folder.notebook.mark("phi")
        folder.store.forget("phi", [1], by_user="admin", timestamp=1.0)
        with snapshot(tmp_path) as kept:
            assert rebuild(kept, folder.writer, lambda position: None) == Rebuilt(1, 1, 0)
        assert folder.notebook.marked() == []
        assert folder.notebook.ids("phi") == [2]


def test_while_a_memory_cannot_be_read_no_note_is_removed(tmp_path: Path) -> None:
    with opened(tmp_path) as folder:
        folder.commit(Changes("phi", added=(an_entry(1), an_entry(2)), episodic=(1, 2)))
    with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as database, database:
        database.execute("UPDATE entries SET kind = 'nonsense' WHERE id = 1")
    before = written(tmp_path)
    assert rebuilt(tmp_path) == Rebuilt(1, 0, 1)
    assert written(tmp_path) == before


def test_it_says_how_far_it_is(tmp_path: Path) -> None:
    positions: list[int] = []
    with opened(tmp_path, enabled=False) as folder:
        folder.commit(Changes("phi", added=tuple(map(an_entry, range(1, 702)))))
        folder.commit(Changes("servnak", added=(an_entry(1),)))
        with snapshot(tmp_path) as kept:
            assert rebuild(kept, folder.writer, positions.append) == Rebuilt(0, 0, 0)
    assert positions == [500, 701, 702]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with opened(tmp_path, enabled=False) as folder:
        folder.commit(Changes("phi", added=(an_entry(1),), episodic=(1,)))
    (tmp_path / FOLDER_NAME).write_text("in the way")
    with pytest.raises(StoreError, match=f"the notes cannot be written: .*{FOLDER_NAME}"):
        rebuilt(tmp_path)
