"""The command line over a PostgreSQL database, and moving there and back: what a person gets to see."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from noodlings.store.cipher import UserKey
from tests.cli.test_main import played, run
from tests.postgres import NewDatabase

pytestmark = pytest.mark.slow


class Place:
    """A data folder with its database on a server, and the program over it."""

    def __init__(self, folder: Path, url: str, **more: str) -> None:
        self.folder, self.url = folder, url
        self.settings = {"NOODLINGS_STORE__URL": url, "NOODLINGS_EMBEDDING__MODEL": "none", **more}

    def played(self, *lines: str) -> str:
        return played(self.folder, *lines, **self.settings)

    def said(self, *words: object, code: int = 0) -> str:
        """What a command says, on whichever stream."""
        done = run(*words, "--data", self.folder, **self.settings)
        assert done.returncode == code, done.stderr
        return (done.stdout + done.stderr).decode()


@pytest.fixture
def place(tmp_path: Path, new_database: NewDatabase) -> Place:
    made = Place(tmp_path / "data", new_database())
    made.played("say servnak, my dog died yesterday", "@pin servnak --id 1")
    return made


def test_a_visit_is_remembered_and_no_file_holds_it(place: Place) -> None:
    place.played("say servnak, good night")
    assert all(words in place.said("export") for words in ("my dog died yesterday", "good night"))
    assert not (place.folder / "noodlings.db").exists()
    assert (place.folder / "noodlings.log").exists()


def test_checking_says_what_can_be_read(place: Place) -> None:
    assert "is sound:" in place.said("check")
    assert "the database postgres on" in place.said("check")


def test_what_is_for_a_folder_says_what_to_use_instead(place: Place, tmp_path: Path) -> None:
    assert "pg_dump" in place.said("backup", tmp_path / "copy", code=2)
    assert "VACUUM FULL" in place.said("compact", code=2)
    place.settings["NOODLINGS_BACKUP__FOLDER"] = str(tmp_path / "copies")
    assert "pg_basebackup" in place.said("check", code=2)


def test_an_export_is_taken_in_by_another_database(
    place: Place, tmp_path: Path, new_database: NewDatabase
) -> None:
    file, again = tmp_path / "all.jsonl", tmp_path / "again.jsonl"
    place.said("export", file)
    other = Place(tmp_path / "other", new_database())
    assert "into the database postgres on" in other.said("import", file)
    other.said("export", again)
    assert again.read_bytes() == file.read_bytes()
    assert "already there" in other.said("import", file, code=2)


def test_everything_of_a_person_goes(place: Place) -> None:
    assert "memories of what they said and did" in place.said("person", "traveller")
    assert "dog" in place.said("export")
    gone = place.said("person", "traveller", "--forget", "--yes")
    assert "leave the disk at the next start, or with the database server" in gone
    assert "dog" not in place.said("export")


def test_what_was_forgotten_on_another_machine_has_no_note_after_the_next_start(
    place: Place, tmp_path: Path
) -> None:
    def noted() -> bool:
        return any(
            "dog died" in path.read_text() for path in (place.folder / "notes" / "servnak").rglob("*.md")
        )

    assert noted()
    Place(tmp_path / "other", place.url).played("@forget servnak --id 2 --yes")
    assert noted()
    place.played("look")
    assert not noted()


def test_notes_are_written_again(place: Place) -> None:
    notes = place.folder / "notes"
    before = {path.relative_to(notes): path.read_bytes() for path in notes.rglob("*.md")}
    assert before
    for path in notes.rglob("*.md"):
        path.unlink()
    place.said("notes", "rebuild")
    assert {path.relative_to(notes): path.read_bytes() for path in notes.rglob("*.md")} == before


def test_the_key_is_changed_and_nothing_is_readable_without_it(
    tmp_path: Path, new_database: NewDatabase
) -> None:
    file = tmp_path / "key"
    file.write_text(UserKey(bytes(32)).text)
    file.chmod(0o600)
    keyed = {"NOODLINGS_STORE__ENCRYPT": "all", "NOODLINGS_STORE__KEY_FILE": str(file)}
    place = Place(tmp_path / "data", new_database(), **keyed)
    place.played("say servnak, my dog died yesterday")
    assert "everything that the settings ask for" in place.said("key", "status")
    assert "took the place of" in place.said("key", "rotate")
    assert len(file.read_text().split()) == 2
    assert "no longer needed here" in place.said("key", "status")
    file.write_text(file.read_text().split()[0])
    assert "my dog died yesterday" in place.said("export", "--plain")
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(place.url.replace("+psycopg", "")) as admin:
        for table in ("entries", "traces", "agents", "symbols", "vectors", "world"):
            rows = admin.execute(f"SELECT t::text FROM {table} AS t").fetchall()
            assert not any("dog died" in row for (row,) in rows)  # "dog" alone may stand in what is sealed
    file.write_text(UserKey(bytes(32)).text)
    assert "is encrypted with key" in place.said("check", code=2)


def test_a_folder_moves_to_a_database_and_back(tmp_path: Path, new_database: NewDatabase) -> None:
    folder, back, url = tmp_path / "played", tmp_path / "back", new_database()
    played(folder, "say servnak, my dog died yesterday", "@pin servnak --id 1", "say phi, hello")
    exported = run("export", "--data", folder).stdout
    done = run("move", folder, url)
    assert done.returncode == 0, done.stderr
    assert "compared each" in done.stdout.decode()
    assert "postgresql+psycopg" not in done.stdout.decode()
    there = {"NOODLINGS_STORE__URL": url}
    assert run("export", "--data", tmp_path / "there", **there).stdout == exported
    moved = run("move", url, back, "--json")
    counts = json.loads(moved.stdout)["records"]
    assert counts["agents"] >= 2
    assert run("export", "--data", back).stdout == exported
    assert "is not empty" in run("move", folder, url).stderr.decode()


@pytest.mark.parametrize(
    ("ends", "hint"),
    [
        (("nothing", "there"), "has no noodlings.db yet"),
        (("mysql://somewhere/x", "there"), "postgresql+psycopg://USER"),
        (("nothing", "postgresql+psycopg://me:hunter2@"), "postgresql+psycopg://USER"),
    ],
)
def test_what_cannot_be_moved_is_said(tmp_path: Path, ends: tuple[str, str], hint: str) -> None:
    done = run("move", *(end if "://" in end else tmp_path / end for end in ends))
    assert done.returncode == 2
    assert hint in done.stderr.decode()
    assert "hunter2" not in done.stderr.decode()
