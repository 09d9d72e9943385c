"""Notes equal what is stored, and nothing that was forgotten stays in any of them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from noodlings.errors import StoreError
from noodlings.notes.note import Note
from noodlings.notes.notebook import FOLDER_NAME, Notebook
from noodlings.notes.writer import NoteSync, NoteWriter
from noodlings.ports import Changes, Forgotten
from noodlings.store.memory import MemoryStore
from noodlings.values.audience import Audience, Tier
from noodlings.values.memory import Link, LinkType
from tests.notes.folders import Folder, bytes_of, opened, written
from tests.store.records import a_trace, an_entry


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    with opened(tmp_path) as folder:
        yield folder


def linked(source: int, target: int) -> Link:
    return Link(source, target, LinkType.RECALLED, 0.5, 1.0)


def keep(folder: Folder, *texts: str) -> None:
    """Entries 1, 2, … with a note each."""
    entries = tuple(an_entry(number, text) for number, text in enumerate(texts, 1))
    ids = {entry.id for entry in entries}
    folder.store.commit(Changes("phi", added=entries, episodic=tuple(ids)))
    folder.writer.refresh("phi", ids, ids)


def test_only_what_has_a_note_or_shall_have_one_is_written(folder: Folder) -> None:
    folder.store.commit(Changes("phi", added=(an_entry(1), an_entry(2))))
    assert list(folder.writer.refresh("phi", {1, 2, 99}, {1, 98, 99})) == [1]
    folder.store.commit(Changes("phi", updated=(an_entry(1, response="YES"), an_entry(2, response="NO"))))
    assert list(folder.writer.refresh("phi", {1, 2})) == [1]
    assert "> YES" in "".join(written(folder.path).values())


def test_links_stand_at_both_ends(folder: Folder) -> None:
    keep(folder, "the dog", "the cat", "the hen")
    folder.store.commit(Changes("phi", links=(linked(2, 1), linked(3, 1))))
    folder.writer.refresh("phi", {1, 2, 3})
    one, two, three = written(folder.path).values()
    assert "- recalled ← 2 (0.50)\n- recalled ← 3 (0.50)\n" in one
    assert "- recalled → 1 (0.50)\n" in two
    assert "- recalled → 1 (0.50)\n" in three


def test_what_is_forgotten_is_in_no_note(folder: Folder) -> None:
    keep(folder, "My ZEBRA died", "what died?", "the weather")
    answer = replace(an_entry(2, "what died?"), response="YOUR ZEBRA")
    said = a_trace(2, 1, response="YOUR ZEBRA")
    folder.store.commit(Changes("phi", updated=(answer,), links=(linked(3, 1),), trace=said))
    folder.writer.refresh("phi", {1, 2, 3})
    assert bytes_of(folder.path / FOLDER_NAME).count(b"ZEBRA") == 2

    assert folder.forget("phi", 1) == Forgotten(1, redacted=(2,))
    assert b"ZEBRA" not in bytes_of(folder.path / FOLDER_NAME)
    assert [path[-5:-3] for path in written(folder.path)] == ["_2", "_3"]
    assert "recalled" not in "".join(written(folder.path).values())


def test_a_note_that_is_due_is_not_written_for_what_was_forgotten_meanwhile(folder: Folder) -> None:
    folder.commit(Changes("phi", added=(an_entry(1, "ZEBRA"),), episodic=(1,)))
    folder.forget("phi", 1)
    folder.keeper.close()
    assert written(folder.path) == {}


class SlowNotebook(Notebook):
    """Waits between reading and writing, as a thread may."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.writing, self.go_on = threading.Event(), threading.Event()

    def write(self, note: Note) -> Path:
        self.writing.set()
        assert self.go_on.wait(20)
        return super().write(note)


def test_forgetting_waits_for_the_note_that_is_being_written(tmp_path: Path) -> None:
    notebook = SlowNotebook(tmp_path / FOLDER_NAME)
    with opened(tmp_path, notebook) as folder:
        folder.commit(Changes("phi", added=(an_entry(1, "ZEBRA"),), episodic=(1,)))
        assert notebook.writing.wait(20)
        deleted = threading.Event()

        def delete() -> Forgotten:
            forgotten = folder.store.forget("phi", [1], by_user="admin", timestamp=1.0)
            deleted.set()
            return forgotten

        forgetting = threading.Thread(target=folder.keeper.forget, args=("phi", [1], delete))
        forgetting.start()
        assert deleted.wait(20)
        notebook.go_on.set()  # what was read before it was deleted is written only now
        forgetting.join(20)
        assert written(tmp_path) == {}


def test_forgetting_waits_for_a_note_of_another_process_that_shares_the_folder(folder: Folder) -> None:
    slow = SlowNotebook(folder.path / FOLDER_NAME)
    theirs, ours = (
        NoteWriter(folder.store, notebook, lambda affect: "", lock=FileLock(folder.path / "notes.lock"))
        for notebook in (slow, folder.notebook)
    )
    folder.store.commit(Changes("phi", added=(an_entry(1, "ZEBRA"),), episodic=(1,)))
    writing = threading.Thread(target=theirs.refresh, args=("phi", {1}, {1}))
    writing.start()
    assert slow.writing.wait(20)
    deleted = threading.Event()

    def delete() -> Forgotten:
        forgotten = folder.store.forget("phi", [1], by_user="admin", timestamp=1.0)
        deleted.set()
        return forgotten

    forgetting = threading.Thread(target=ours.forget, args=("phi", [1], delete))
    forgetting.start()
    assert deleted.wait(20)
    slow.go_on.set()
    for thread in (writing, forgetting):
        thread.join(20)
    assert written(folder.path) == {}


def test_a_process_that_stands_still_over_the_notes_holds_up_no_forgetting(folder: Folder) -> None:
    keep(folder, "My ZEBRA died", "the weather")
    place = folder.path / "notes.lock"
    writer = NoteWriter(folder.store, folder.notebook, lambda affect: "", lock=FileLock(place, 0.05))
    keeper = NoteSync(writer)

    def delete() -> Forgotten:
        return folder.store.forget("phi", [1], by_user="admin", timestamp=1.0)

    with FileLock(place):
        assert not keeper.forget("phi", [1], delete).erased
        assert b"ZEBRA" in bytes_of(folder.path / FOLDER_NAME)
    keeper.close()
    NoteSync(writer).close()  # as at the next start, if the other one stood still for longer
    assert b"ZEBRA" not in bytes_of(folder.path / FOLDER_NAME)


def test_what_another_process_may_have_forgotten_is_in_no_note_and_what_is_damaged_stays(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(folder, "My ZEBRA died", "the weather", "the dog")
    folder.store.forget("phi", [1], by_user="admin", timestamp=1.0)
    entries = folder.store.entries
    monkeypatch.setattr(folder.store, "entries", lambda agent_id, ids: entries(agent_id, set(ids) - {3}))
    folder.keeper.forgot_elsewhere("phi")
    folder.keeper.close()
    assert b"ZEBRA" not in bytes_of(folder.path / FOLDER_NAME)
    assert [path[-5:-3] for path in written(folder.path)] == ["_2", "_3"]


def test_when_the_store_refuses_nothing_is_forgotten_and_the_notes_stay(folder: Folder) -> None:
    keep(folder, "the dog")

    def refuse() -> Forgotten:
        raise StoreError("the disk is full")

    with pytest.raises(StoreError, match="the disk is full"):
        folder.keeper.forget("phi", [1], refuse)
    assert any("the dog" in text for text in written(folder.path).values())


def test_a_kill_while_forgetting_is_made_up_for_at_the_next_start(tmp_path: Path) -> None:
    with opened(tmp_path) as folder:
        keep(folder, "My ZEBRA died", "what died?", "the weather")
        answer = replace(an_entry(2, "what died?"), response="YOUR ZEBRA")
        folder.store.commit(Changes("phi", updated=(answer,), trace=a_trace(2, 1, response="YOUR ZEBRA")))
        folder.writer.refresh("phi", {1, 2, 3})
        folder.notebook.mark("phi")
        folder.store.forget("phi", [1], by_user="admin", timestamp=1.0)  # killed before the notes are reached
    assert bytes_of(tmp_path / FOLDER_NAME).count(b"ZEBRA") == 2
    with opened(tmp_path, enabled=False):
        pass
    assert b"ZEBRA" not in bytes_of(tmp_path / FOLDER_NAME)
    assert [path[-5:-3] for path in written(tmp_path)] == ["_2", "_3"]


class Unremovable(Notebook):
    """A folder that can be read only."""

    def discard(self, path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))


def test_notes_that_cannot_be_removed_are_named_and_removed_at_the_next_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(tmp_path, Unremovable(tmp_path / FOLDER_NAME)) as folder:
        keep(folder, "the ZEBRA", "the weather")
        with caplog.at_level(logging.WARNING):
            assert folder.forget("phi", 1) == Forgotten(1, erased=False)
    said = caplog.records[0].getMessage()  # it is tried once more in the background
    assert "memory_1.md" in said
    assert "noodlings notes rebuild" in said
    with opened(tmp_path):
        pass
    assert b"ZEBRA" not in bytes_of(tmp_path / FOLDER_NAME)


def test_forgetting_with_notes_switched_off_reaches_those_that_are_there(tmp_path: Path) -> None:
    with opened(tmp_path) as folder:
        keep(folder, "the ZEBRA", "the weather")
    with opened(tmp_path, enabled=False) as folder:
        folder.commit(Changes("phi", added=(an_entry(3, "more"),), episodic=(3,)))
        folder.forget("phi", 1)
    assert [path[-5:-3] for path in written(tmp_path)] == ["_2"]
    assert b"ZEBRA" not in bytes_of(tmp_path / FOLDER_NAME)


@pytest.mark.parametrize(("below", "left"), [(Tier.SECRET, [1, 2]), (Tier.CONFINED, [1]), (Tier.OPEN, [])])
def test_what_is_encrypted_has_no_note_and_loses_one_that_it_had(
    tmp_path: Path, below: Tier, left: list[int]
) -> None:
    store, notebook = MemoryStore(), Notebook(tmp_path)
    tiers = {1: Tier.OPEN, 2: Tier.CONFINED, 3: Tier.SECRET}
    entries = tuple(
        replace(an_entry(number, f"line {number}"), audience=Audience(frozenset({"user_caity"}), tier=tier))
        for number, tier in tiers.items()
    )
    store.commit(Changes("phi", added=entries))
    before = NoteWriter(store, notebook, lambda affect: "", Tier.SEALED)
    assert list(before.refresh("phi", {1, 2, 3}, {1, 2, 3})) == [1, 2, 3]
    now = NoteWriter(store, notebook, lambda affect: "", below)
    assert now.has_encrypted is (below < Tier.SECRET)
    now.prune()
    now.refresh("phi", {1, 2, 3}, {1, 2, 3})
    assert now.notebook.ids("phi") == left


def test_a_start_removes_notes_of_what_is_encrypted_by_now(folder: Folder) -> None:
    keep(folder, "the dog", "the cat")
    writer = NoteWriter(folder.store, folder.writer.notebook, lambda affect: "", Tier.OPEN)
    NoteSync(writer).close()
    assert writer.notebook.files() == []
