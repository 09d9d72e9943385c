"""Files for their owner alone, whole or not there."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from noodlings.notes.note import Note, render
from noodlings.notes.notebook import Notebook
from noodlings.store.documents import LARGEST
from tests.notes.folders import bytes_of
from tests.store.records import an_entry


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return Notebook(tmp_path / "notes")


def a_note(number: int, text: str = "hello", agent: str = "phi") -> Note:
    return Note(agent, an_entry(number, text), "neutral")


def test_a_note_is_written_and_replaced(notebook: Notebook) -> None:
    assert not notebook.holds("phi", a_note(3).entry)
    path = notebook.write(a_note(3))
    assert path == notebook.folder / "phi/1970/01/01/00_16_43_memory_3.md"
    assert notebook.write(a_note(3, "hello again")) == path
    assert path.read_text(encoding="utf-8") == render(a_note(3, "hello again"))
    assert notebook.holds("phi", a_note(3).entry)
    assert notebook.files() == [path]
    assert notebook.ids("phi") == [3]
    assert notebook.ids("servnak") == []


def test_a_folder_may_be_named_from_where_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("world").mkdir()
    path = Notebook(Path("world/notes")).write(a_note(3))
    assert (tmp_path / path).is_file()
    assert sorted(one.name for one in tmp_path.rglob("notes")) == ["notes"]


def test_what_is_being_written_is_not_read_yet(notebook: Notebook) -> None:
    path = notebook.write(a_note(3))
    half = path.with_name(f"{path.name}.part")
    half.touch()
    assert notebook.find("phi", 3) == path
    path.unlink()
    assert notebook.find("phi", 3) is None
    assert notebook.files() == [half]  # which forgetting takes away as well


def test_nobody_else_can_look_into_it(notebook: Notebook) -> None:
    notebook.write(a_note(3))
    for path in (notebook.folder, *notebook.folder.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o600 if path.is_file() else 0o700)


def test_the_largest_id(notebook: Notebook) -> None:
    notebook.write(a_note(LARGEST))
    assert notebook.ids("phi") == [LARGEST]


def test_what_is_removed_leaves_no_folder_that_tells_when_it_was(notebook: Notebook) -> None:
    notebook.write(a_note(3, "SECRET"))
    other = notebook.write(a_note(3, agent="servnak"))
    later = notebook.write(Note("phi", replace(a_note(4).entry, timestamp=1e9), "neutral"))
    notebook.remove("phi", {3, 77})
    assert notebook.files() == [other, later] or notebook.files() == [later, other]
    assert b"SECRET" not in bytes_of(notebook.folder)
    assert not (notebook.folder / "phi/1970").exists()
    notebook.remove("phi", {4})
    assert not (notebook.folder / "phi").exists()


def test_half_written_notes_and_strays_are_removed_with_their_memory(notebook: Notebook) -> None:
    path = notebook.write(a_note(3))
    path.with_name(f"{path.name}.part").write_text("SECRET")
    (notebook.folder / "phi/memory_3.md").write_text("SECRET")
    mine = notebook.folder / "phi/what I think of memory_3.md"
    mine.write_text("my own words")
    notebook.remove("phi", {3})
    assert list(notebook.folder.rglob("*")) == [mine.parent, mine]


def test_a_link_to_elsewhere_is_not_followed(notebook: Notebook, tmp_path: Path) -> None:
    notebook.write(a_note(3))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "memory_3.md").write_text("somebody else's")
    (notebook.folder / "phi/elsewhere").symlink_to(elsewhere)
    notebook.remove("phi", {3})
    assert (elsewhere / "memory_3.md").exists()


def test_no_note_is_written_through_a_link_that_forgetting_would_not_follow(
    notebook: Notebook, tmp_path: Path
) -> None:
    path = notebook.write(a_note(3))
    notebook.remove("phi", {3})
    (elsewhere := tmp_path / "elsewhere").mkdir()
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    path.parent.symlink_to(elsewhere)
    with pytest.raises(NotADirectoryError, match="not written through"):
        notebook.write(a_note(3))
    assert list(elsewhere.iterdir()) == []


def test_what_is_no_file_where_a_page_belongs_is_left_alone(notebook: Notebook) -> None:
    page = notebook.folder / "phi/people/Ann.md"
    page.parent.mkdir(parents=True)
    os.mkfifo(page)
    notebook.write_page(Path("phi/people/Ann.md"), "My sister is called Ruth")
    assert page.is_fifo()


def test_marks_outlive_the_process_and_half_written_ones_count_for_nothing(notebook: Notebook) -> None:
    notebook.mark("phi")
    assert notebook.marked() == []  # there is nothing that could be left behind
    notebook.write(a_note(3, agent="Phi von Ö"))
    notebook.mark("Phi von Ö")
    (notebook.folder / ".forgetting-servnak.part").write_text("serv")
    assert Notebook(notebook.folder).marked() == ["Phi von Ö"]
    notebook.unmark("Phi von Ö")
    assert notebook.marked() == []


def test_what_is_in_the_way_is_an_error_and_leaves_nothing(notebook: Notebook) -> None:
    notebook.folder.write_text("a file")
    with pytest.raises(OSError):  # noqa: PT011 (which one depends on the system)
        notebook.write(a_note(3))
    assert notebook.files() == []
    assert notebook.folder.read_text() == "a file"
