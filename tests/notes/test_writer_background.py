"""Notes come soon, in nobody's way, and a note that does not come is said once."""

from __future__ import annotations

import errno
import logging
import os
import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from noodlings.notes.note import Note
from noodlings.notes.notebook import FOLDER_NAME, Notebook
from noodlings.notes.writer import NoteSync
from noodlings.ports import Changes
from tests.notes.folders import opened, written
from tests.store.records import an_entry


class Recorder:
    """A writer that only notes down what it is asked for, and does it when it is let."""

    has_encrypted = False

    @property
    def notebook(self) -> Recorder:
        return self

    def marked(self) -> list[str]:
        return []

    def __init__(self, held: bool = False) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.first, self.go_on = threading.Event(), threading.Event()
        if not held:
            self.go_on.set()

    def refresh(self, agent_id: str, ids: Collection[int], new: Collection[int] = ()) -> None:
        self.asked.append((agent_id, *ids, *(["new"] if new else [])))
        self.first.set()
        assert self.go_on.wait(20)

    def prune(self) -> None:
        if self.has_encrypted:
            self.asked.append(("prune",))


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notes are written when the writer is closed, and not before."""
    monkeypatch.setattr("noodlings.notes.writer.PAUSE", 1e6)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noodlings.notes.writer.PAUSE", 0.0)


def writer_over(recorder: Recorder) -> NoteSync:
    return NoteSync(recorder)  # type: ignore[arg-type]


@pytest.mark.usefixtures("unhurried")
def test_a_memory_that_changes_again_is_written_once() -> None:
    recorder = Recorder()
    writer = writer_over(recorder)
    writer.add("phi", [1], [1])
    writer.add("phi", [2, 1], [])
    writer.add("servnak", [1], [])
    writer.add("phi", [2], [2])
    writer.close()
    assert recorder.asked == [("phi", 1, "new"), ("phi", 2, "new"), ("servnak", 1)]


@pytest.mark.usefixtures("at_once")
def test_notes_come_while_the_world_goes_on() -> None:
    recorder = Recorder()
    writer = writer_over(recorder)
    writer.add("phi", [1], [1])
    assert recorder.first.wait(20)
    writer.close()


@pytest.mark.usefixtures("at_once")
def test_what_is_encrypted_by_now_goes_first() -> None:
    recorder = Recorder()
    recorder.has_encrypted = True
    writer = writer_over(recorder)
    writer.add("phi", [1], [1])
    writer.close()
    assert recorder.asked == [("prune",), ("phi", 1, "new")]


def test_closing_twice_or_with_nothing_to_do_is_nothing() -> None:
    writer = writer_over(Recorder())
    writer.close()
    writer.close()


@pytest.mark.usefixtures("unhurried")
def test_a_full_queue_only_logs(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noodlings.notes.writer.CAPACITY", 2)
    recorder = Recorder()
    writer = writer_over(recorder)
    with caplog.at_level(logging.WARNING):
        writer.add("phi", [1, 2, 3, 4], [1, 2, 3, 4])
        writer.add("phi", [2], [])
    writer.close()
    assert recorder.asked == [("phi", 1, "new"), ("phi", 2, "new")]
    assert len(caplog.records) == 1
    assert "2 are due already" in caplog.text
    assert "noodlings notes rebuild" in caplog.text


@pytest.mark.usefixtures("at_once")
def test_a_disk_that_does_not_answer_holds_up_nobody_for_long(caplog: pytest.LogCaptureFixture) -> None:
    recorder = Recorder(held=True)
    writer = writer_over(recorder)
    writer.add("phi", [1], [1])
    assert recorder.first.wait(20)
    with caplog.at_level(logging.WARNING):
        writer.add("phi", [2, 3], [])
        writer.close(patience=0.01)
    assert "2 were still due at the end" in caplog.text
    recorder.go_on.set()


class FullDisk(Notebook):
    """There is room again when `full` is False."""

    full = True

    def write(self, note: Note) -> Path:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(note)


def test_a_full_disk_is_one_clear_warning_and_memories_are_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    notebook = FullDisk(tmp_path / FOLDER_NAME)
    with caplog.at_level(logging.WARNING), opened(tmp_path, notebook) as folder:
        for number in range(1, 6):
            folder.commit(Changes("phi", added=(an_entry(number),), episodic=(number,)))
        folder.keeper.close()
        assert len(folder.store.archive("phi")) == 5
    assert [record.getMessage() for record in caplog.records] == [
        "not every note is written ([Errno 28] No space left on device); memories are kept all the same, and"
        " this writes what is missing: noodlings notes rebuild"
    ]
    assert written(tmp_path) == {}


def test_a_file_in_the_place_of_the_folder_is_one_clear_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FOLDER_NAME).write_text("mine")
    with caplog.at_level(logging.WARNING), opened(tmp_path) as folder:
        folder.commit(Changes("phi", added=(an_entry(1), an_entry(2)), episodic=(1, 2)))
    assert len(caplog.records) == 1
    assert str(tmp_path / FOLDER_NAME) in caplog.text
    assert (tmp_path / FOLDER_NAME).read_text() == "mine"


@contextmanager
def without_rights() -> Iterator[None]:
    """Whoever may do everything may for once do nothing."""
    if os.geteuid():
        yield
        return
    os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(sys.platform == "win32", reason="rights are another matter on Windows")
def test_a_folder_that_may_not_be_written_is_one_clear_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    notes = tmp_path / FOLDER_NAME
    notes.mkdir(mode=0o500)
    with caplog.at_level(logging.WARNING), opened(tmp_path) as folder:
        with without_rights():
            folder.commit(Changes("phi", added=(an_entry(1), an_entry(2)), episodic=(1, 2)))
            folder.keeper.close()
        assert len(folder.store.archive("phi")) == 2
    assert len(caplog.records) == 1
    assert "Permission denied" in caplog.text
    assert list(notes.iterdir()) == []
