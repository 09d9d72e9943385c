"""`noodlings notes` on the command line: what a person and a script get to see."""

from __future__ import annotations

from pathlib import Path

import pytest

from noodlings.notes.notebook import FOLDER_NAME
from noodlings.ports import Changes
from noodlings.store.database import DATABASE_NAME
from noodlings.values.percept import Kind
from tests.cli.test_main import run
from tests.notes.folders import opened, written
from tests.store.records import an_entry


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Four memories with notes, of two people; one is a whisper."""
    entries = (
        an_entry(1, "My dog died", response="I AM *SORRY*"),
        an_entry(2, "I never had a dog", user_id="user_toad"),
        an_entry(3, "I stole the dog", kind=Kind.WHISPER),
        an_entry(4, "hello"),
    )
    with opened(tmp_path) as folder:
        folder.commit(Changes("phi", added=entries, episodic=(1, 2, 3)))
    return tmp_path


def notes(data: Path, *words: str) -> tuple[int, str, str]:
    """Exit code, output and errors of `noodlings notes …`."""
    done = run("notes", *words, "--data", data)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.slow
def test_rebuild_and_search(data: Path) -> None:
    before = written(data)
    for file in (data / FOLDER_NAME).rglob("*1.md"):
        file.unlink()
    folder = data / FOLDER_NAME
    assert notes(data, "rebuild") == (0, f"wrote 6 notes in {folder}\n", "")
    after = written(data)
    pages = {"phi/people/Caity.md", "phi/people/Caity's dog.md", "phi/journal/1970-01-01.md"}
    assert after.keys() - before.keys() == pages
    assert "stole" not in "".join(after[path] for path in pages)
    assert {path: after[path] for path in before} == before
    assert notes(data, "search", "DOG") == (
        0,
        "notes/phi/1970/01/01/00_16_42_memory_2.md (say, sad)\n"
        "  user_toad: I never had a dog\n"
        "notes/phi/1970/01/01/00_16_41_memory_1.md (say, sad)\n"
        "  user_caity: My dog died\n"
        "  phi: I AM *SORRY*\n".replace("sad", "neutral"),
        "",
    )


@pytest.mark.slow
def test_search_when_the_database_cannot_be_opened(data: Path) -> None:
    (data / DATABASE_NAME).write_bytes(b"no database " * 1000)
    code, shown, _ = notes(data, "search", "dog", "--user", "user_caity")
    assert (code, shown.count("dog")) == (0, 1)
    code, shown, _ = notes(data, "search", "dog", "--user", "user_caity", "--private")
    assert (code, shown.count("dog")) == (0, 2)
    assert "(private, whisper, neutral)" in shown
    code, _, said = notes(data, "rebuild")
    assert code == 2
    assert "damaged" in said
    assert len(written(data)) == 3


@pytest.mark.slow
def test_nothing_found_and_torn_notes_are_said_beside_the_output(data: Path) -> None:
    torn = data / FOLDER_NAME / "phi/memory_9.md"
    torn.write_text("\x1b[31m torn")
    assert notes(data, "search", "dog", "--user", "caity") == (
        0,
        "",
        f"noodlings: skipped {torn}: it is torn\n"
        "noodlings: no note of caity (users go by their id, such as user_caity) contains that\n",
    )


@pytest.mark.slow
def test_what_a_file_was_made_to_hold_gives_the_terminal_no_orders(data: Path) -> None:
    (note,) = (data / FOLDER_NAME).rglob("*memory_1.md")
    note.write_text(note.read_text().replace("My dog", "\x1b]0;title\x07My dog\x1b[31m"))
    code, shown, _ = notes(data, "search", "died")
    assert code == 0
    assert "user_caity: My dog died\n" in shown
    assert "\x1b" not in shown


@pytest.mark.slow
def test_mistakes_are_one_line(tmp_path: Path, data: Path) -> None:
    empty = tmp_path / "empty"
    code, _, said = notes(empty, "rebuild")
    assert (code, said.count("\n")) == (2, 1)
    assert f"{empty} has no {DATABASE_NAME} yet" in said
    code, _, said = notes(empty, "search", "dog")
    assert (code, said.count("\n")) == (2, 1)
    assert not empty.exists()
    with opened(data):
        code, _, said = notes(data, "rebuild")
    assert (code, said.count("\n")) == (3, 1)
