"""Pages of people and days: what is on them, and what never is."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import example, given
from hypothesis import strategies as st

from noodlings.app import build, make_pages
from noodlings.clock import ManualClock
from noodlings.config import load_settings
from noodlings.notes import writer as writing
from noodlings.notes.notebook import FOLDER_NAME, Notebook
from noodlings.notes.pages import cited_by, paths_of, render_page
from noodlings.notes.search import search
from noodlings.notes.writer import NoteSync, NoteWriter, rebuild
from noodlings.ports import Changes, Forgotten
from noodlings.store.transfer import snapshot
from noodlings.values.audience import Audience, Tier
from noodlings.values.caller import Caller, Role
from noodlings.values.page import Page, Statement
from noodlings.values.percept import Kind, Percept
from tests.notes.folders import NAMES, NOW, Folder, bytes_of, opened, written
from tests.store.records import an_entry

ROOT = Path(__file__).parents[2]
ADMIN = Caller("user_admin", "admin", Role.ADMIN)
TOLD = ("My sister Ruth is a nurse", "I live in Hull", "I hate thunder", "I moved to Leeds")
CONFINED = Audience(frozenset({"user_caity"}), tier=Tier.CONFINED)


def keep(folder: Folder, *texts: str) -> None:
    """As memories from 1 on, with the pages that follow from them."""
    entries = tuple(an_entry(number, text) for number, text in enumerate(texts, 1))
    folder.store.commit(Changes("phi", added=entries, episodic=tuple(entry.id for entry in entries)))
    folder.writer.write_pages("phi")


def pages(path: Path) -> dict[str, str]:
    """The pages, by their path in the folder of notes."""
    return {name: text for name, text in written(path).items() if "/people/" in name or "/journal/" in name}


def forget(folder: Folder, number: int) -> Forgotten:
    return folder.store.forget("phi", [number], by_user="admin", timestamp=1.0)


@pytest.mark.slow
async def test_from_a_line_in_a_room_to_its_page_and_out_of_it_again(tmp_path: Path) -> None:
    settings = load_settings(store={"path": str(tmp_path)}, embedding={"model": "none"})
    society = build(settings, clock=ManualClock(NOW))
    society.introduce("user_caity", "Caity")
    everybody = frozenset({"user_bob", "user_caity"})
    for text in (*TOLD, "I have my driving test tomorrow"):
        said = Percept("user_caity", text, NOW, addressed=True, present=everybody)
        await society.perceive("phi", said)
    await society.perceive("phi", Percept("user_caity", "I am allergic to nuts", NOW, Kind.WHISPER))
    await society.perceive("phi", Percept("user_caity", "I hate herring", NOW, addressed=True))
    await society.rest(2.0)
    society.close()
    page = pages(tmp_path)["phi/people/Caity.md"]
    assert "person: user_caity\nmemories: [" in page
    assert "# Caity\n" in page
    assert "- **2027-01-16** I have my driving test tomorrow" in page
    assert "- **home** ~~I live in Hull~~ → I moved to Leeds" in page
    ruth = pages(tmp_path)["phi/people/Ruth.md"]
    assert "aliases:\n- Caity's sister\n" in ruth
    assert "told by Caity" in ruth
    assert "Caity told me: " in pages(tmp_path)["phi/journal/2027-01-15.md"]
    everything = "".join(pages(tmp_path).values())
    assert "nuts" not in everything  # whispered
    assert "herring" not in everything  # said to it alone
    links = {link.partition("|")[0] for link in everything.split("[[")[1:]}
    assert links
    assert {f"{link}.md" for link in links} <= written(tmp_path).keys()

    society = build(settings, clock=ManualClock(NOW))
    society.corrections.forget_user(ADMIN, "phi", "user_caity")
    assert pages(tmp_path) == {}
    society.close()
    assert pages(tmp_path) == {}


def test_forgetting_removes_pages_at_once_and_what_is_left_is_told_anew(tmp_path: Path) -> None:
    with opened(tmp_path, pages=True) as folder:
        keep(folder, *TOLD)
        before = pages(tmp_path)
        assert sorted(before) == ["phi/journal/1970-01-01.md", "phi/people/Caity.md", "phi/people/Ruth.md"]
        assert "thunder" in before["phi/people/Caity.md"]
        folder.forget("phi", 3)
        assert sorted(pages(tmp_path)) == ["phi/people/Ruth.md"]
    after = pages(tmp_path)
    assert sorted(after) == sorted(before)
    assert "thunder" not in "".join(after.values())
    assert "Leeds" in after["phi/people/Caity.md"]


def test_of_somebodys_name_nothing_is_left_when_what_told_it_is_forgotten(tmp_path: Path) -> None:
    with opened(tmp_path, pages=True) as folder:
        keep(folder, "My sister Ruth came", "Ruth hates thunder")
        ruth = pages(tmp_path)["phi/people/Ruth.md"]
        assert cited_by(ruth) == {1, 2}
        folder.keeper.forget("phi", [1], lambda: forget(folder, 1))
        assert "phi/people/Ruth.md" not in pages(tmp_path)
    assert "sister" not in "".join(pages(tmp_path).values())


@pytest.mark.parametrize(
    "listed", ["[1, 2,]", "[1 2]", "[01]", "[\u0661]", f"[{'9' * 5_000}]", "[9999999999999999999]"]
)
def test_a_file_of_ones_own_stays_and_is_in_nobodys_way(tmp_path: Path, listed: str) -> None:
    with opened(tmp_path, pages=True) as folder:
        keep(folder, *TOLD)
        own = next(tmp_path.glob("**/people")) / "list.md"
        own.write_text(f"---\nmemories: {listed}\n---\n")
        folder.keeper.forget("phi", [3], lambda: forget(folder, 3))
        folder.keeper.forgot_elsewhere("phi")
    assert own.exists()
    assert "thunder" not in "".join(pages(tmp_path).values())


def test_what_another_process_forgot_is_on_no_page(tmp_path: Path) -> None:
    with opened(tmp_path, pages=True) as folder:
        keep(folder, *TOLD)
        forget(folder, 3)
        folder.keeper.forgot_elsewhere("phi")
    assert "thunder" not in "".join(pages(tmp_path).values())
    assert "phi/people/Ruth.md" in pages(tmp_path)


def test_two_processes_share_the_folder_and_none_writes_what_the_other_forgot(tmp_path: Path) -> None:
    with opened(tmp_path) as folder:
        lock = tmp_path / "notes.lock"
        make = partial(make_pages, folder.store, {}, NAMES, NOW)
        ours, theirs = (
            NoteWriter(folder.store, Notebook(tmp_path / FOLDER_NAME), lambda felt: "", lock=FileLock(lock),
                       make_pages=make)
            for _ in range(2)
        )  # fmt: skip
        folder.store.commit(Changes("phi", added=tuple(an_entry(n, text) for n, text in enumerate(TOLD, 1))))
        theirs.write_pages("phi")
        assert "thunder" in pages(tmp_path)["phi/people/Caity.md"]
        steps = []

        def forget_meanwhile() -> bool:
            if not steps:
                theirs.forget("phi", [3], lambda: forget(folder, 3))
            steps.append(1)
            return True

        folder.store.commit(Changes("phi", added=(an_entry(5, "I love herring pie"),)))
        ours.write_pages("phi", forget_meanwhile)
        assert steps
        assert "thunder" not in "".join(pages(tmp_path).values())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_what_is_forgotten_beside_a_process_that_writes_pages_never_comes_back(tmp_path: Path) -> None:
    with opened(tmp_path) as folder:
        keep(folder, *(f"I hate zebra{number}s" for number in range(1, 21)), "I love herring pie")
        writer = NoteWriter(
            folder.store, folder.notebook, lambda felt: "", lock=FileLock(tmp_path / "notes.lock")
        )
        command = [sys.executable, "-m", "tests.notes.page_writer", str(tmp_path)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"made\n"
            assert "zebra20s" in pages(tmp_path)["phi/people/Caity.md"]
            for number in range(1, 21):
                writer.forget("phi", [number], partial(forget, folder, number))
                for _ in range(3):
                    assert f"zebra{number}s".encode() not in bytes_of(tmp_path / FOLDER_NAME)
            while "phi/people/Caity.md" not in pages(tmp_path):
                assert process.stdout.readline() == b"made\n"
        finally:
            process.kill()
            process.communicate()
        assert "herring" in pages(tmp_path)["phi/people/Caity.md"]
        writer.resume("phi")  # what the kill left half written
        assert b"zebra" not in bytes_of(tmp_path / FOLDER_NAME)


def test_what_is_forgotten_or_confined_while_pages_are_made_is_on_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path, pages=True) as folder:
        keep(folder, "I hate thunder", "I love herring pie")
        made = list(writing._made(make_pages(folder.store, {}, NAMES, NOW, "phi"), lambda: True) or ())
        monkeypatch.setattr(writing, "_made", lambda pages, go_on: (pages.close(), made)[1])
        folder.forget("phi", 1)
        folder.writer.write_pages("phi")
        assert pages(tmp_path) == {}
        confined = replace(an_entry(2, "I love herring pie"), audience=CONFINED)
        folder.store.commit(Changes("phi", updated=(confined,)))
        folder.writer.write_pages("phi")
        assert pages(tmp_path) == {}


def test_a_line_that_turns_out_to_be_confined_leaves_its_pages_with_its_note(tmp_path: Path) -> None:
    with opened(tmp_path, pages=True) as folder:
        keep(folder, "I hate thunder", "My sister Ruth is a nurse")
        folder.store.commit(
            Changes("phi", updated=(replace(an_entry(1, "I hate thunder"), audience=CONFINED),))
        )
        folder.writer.refresh("phi", {1})
        assert "thunder" not in "".join(pages(tmp_path).values())
        assert "phi/people/Ruth.md" in pages(tmp_path)


def test_what_says_the_same_is_not_written_again_and_what_somebody_changed_is(tmp_path: Path) -> None:
    with opened(tmp_path, pages=True) as folder:
        keep(folder, *TOLD)
        caity, ruth = (tmp_path / FOLDER_NAME / "phi" / "people" / f"{name}.md" for name in ("Caity", "Ruth"))
        stamps = [path.stat().st_mtime_ns for path in (caity, ruth)]
        told = caity.read_text()
        folder.writer.write_pages("phi")
        assert [path.stat().st_mtime_ns for path in (caity, ruth)] == stamps
        caity.write_text(f"{told}\nI wrote this.\n")
        folder.writer.write_pages("phi")
        assert caity.read_text() == told


def test_files_of_ones_own_stay_whatever_happens(tmp_path: Path) -> None:
    with opened(tmp_path, pages=True) as folder:
        people = tmp_path / FOLDER_NAME / "phi" / "people"
        people.mkdir(parents=True)
        for name, text in (("Caity.md", "# My own\n"), ("Zed.md", "---\ntags: [me]\n---\n"), ("a.md", "x")):
            (people / name).write_text(text)
        (people / "folder.md").mkdir()
        keep(folder, *TOLD)
        folder.forget("phi", 1)
    found = pages(tmp_path)
    assert found["phi/people/Caity.md"] == "# My own\n"
    assert {"phi/people/Zed.md", "phi/people/a.md"} <= found.keys()


def test_what_a_kill_left_half_written_is_removed(tmp_path: Path) -> None:
    with opened(tmp_path, pages=True) as folder:
        keep(folder, *TOLD)
        part = tmp_path / FOLDER_NAME / "phi" / "people" / "Gone.md.part"
        part.write_text("---\nagent: phi\nI ha")
        folder.writer.write_pages("phi")
        assert not part.exists()


def test_pages_are_written_some_seconds_after_a_change_and_not_at_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = []
    with opened(tmp_path, pages=True) as folder:
        write = folder.writer.write_pages
        monkeypatch.setattr(folder.writer, "write_pages", lambda *how: runs.append(how[0]) or write(*how))
        for number, text in enumerate(TOLD, 1):
            folder.commit(Changes("phi", added=(an_entry(number, text),), episodic=(number,)))
        folder.commit(Changes("servnak", added=(replace(an_entry(1, "I hate thunder"), audience=CONFINED),)))
        assert runs == []
    assert runs == ["phi"]
    assert "phi/people/Ruth.md" in pages(tmp_path)


def test_at_the_end_making_pages_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path, pages=True) as folder:
        folder.commit(Changes("phi", added=tuple(an_entry(n, text) for n, text in enumerate(TOLD, 1))))
        folder.keeper.close(0.0)
    assert pages(tmp_path) == {}


def test_names_that_changed_are_on_the_pages_after_a_flush(tmp_path: Path) -> None:
    names = {**NAMES, "user_caity": "Zora"}
    with opened(tmp_path) as folder:
        make = lambda agent_id: make_pages(folder.store, {}, names, NOW, agent_id)  # noqa: E731
        writer = NoteWriter(folder.store, folder.notebook, lambda felt: "", make_pages=make)
        keeper = NoteSync(writer)
        folder.store.commit(Changes("phi", added=tuple(an_entry(n, text) for n, text in enumerate(TOLD, 1))))
        assert writer.write_pages("phi")
        assert "phi/people/Zora.md" in pages(tmp_path)
        del names["user_caity"]
        keeper.flush()
        keeper.close()
    assert "Zora" not in "".join(f"{path}{text}" for path, text in pages(tmp_path).items())
    assert "phi/people/Ruth.md" in pages(tmp_path)


def test_a_rebuild_writes_the_same_pages_and_removes_others(tmp_path: Path) -> None:
    with opened(tmp_path, pages=True) as folder:
        keep(folder, *TOLD)
        folder.writer.refresh("phi", {1, 2, 3, 4}, {1, 2, 3, 4})
        folder.writer.write_pages("phi")
        before = written(tmp_path)
        stray = tmp_path / FOLDER_NAME / "gone" / "people" / "Caity.md"
        stray.parent.mkdir(parents=True)
        stray.write_text(before["phi/people/Caity.md"])
        (tmp_path / FOLDER_NAME / "phi" / "people" / "Ruth.md").unlink()
        with snapshot(tmp_path) as kept:
            assert rebuild(kept, folder.writer, lambda position: None).removed == 1
    assert written(tmp_path) == before


def test_a_search_finds_the_memory_and_passes_over_its_pages(tmp_path: Path) -> None:
    with opened(tmp_path, pages=True) as folder:
        keep(folder, *TOLD)
        folder.writer.refresh("phi", {3}, {3})
    found = search(tmp_path / FOLDER_NAME, "thunder")
    assert [hit.entry_id for hit in found.hits] == [3]
    assert found.torn == ()


def test_where_everything_is_encrypted_there_are_no_pages(tmp_path: Path) -> None:
    with opened(tmp_path, pages=True) as folder:
        keep(folder, *TOLD)
        make = partial(make_pages, folder.store, {}, NAMES, NOW)
        encrypted = NoteWriter(
            folder.store, folder.notebook, lambda felt: "", below=Tier.OPEN, make_pages=make
        )
        NoteSync(encrypted).close()
        assert pages(tmp_path) == {}
        assert encrypted.write_pages("phi") == set()
        assert pages(tmp_path) == {}


@given(st.lists(st.text(max_size=80), max_size=8, unique=True))
@example(["\U00010330" * 80])
def test_any_names_have_paths_of_their_own_inside_the_folder(names: list[str]) -> None:
    told = [Page(f"user_{name}", name, (Statement("x", (1,)),)) for name in names]
    paths = paths_of("phi", [*told, Page("2026-11-23", "2026-11-23", (), day=True)])
    assert len({str(path).casefold() for path in paths}) == len(paths)
    for path in paths:
        assert len(path.parts) == 3
        assert not path.name.startswith(".")
        assert len(f"{path.name}.part".encode("utf-8", "surrogatepass")) <= 255
        assert not set(path.name) & set('/\\:*?"<>|\n\r\0')
    assert paths[-1] == Path("phi/journal/2026-11-23.md")


@pytest.mark.parametrize("name", ["../../etc/passwd", "CON", "nul", ".hidden", "", " ", "a/b", "Caity\n# x"])
def test_hostile_names_lead_nowhere(name: str) -> None:
    (path,) = paths_of("phi", [Page("user_x", name, ())])
    assert path.parent == Path("phi/people")
    assert "~" in path.name


def test_two_of_one_name_have_two_pages_and_nobody_takes_anothers() -> None:
    named = [Page("user_bob", "Bob", ()), Page("account:bob", "bob", ()), Page("x", "Bobby", ())]
    one, other, third = paths_of("phi", named)
    assert one != other
    assert third == Path("phi/people/Bobby.md")
    (taken,) = paths_of("phi", [Page("user_eve", one.stem, ())])
    assert taken != one


def test_words_from_outside_are_never_markup_or_front_matter() -> None:
    hostile = "[[x]] #tag ~~a~~ ![](y) <b> %%c%% \n---\nmemories: [9]"
    page = Page(
        "user_x\nmemories: [7]", hostile, (Statement(hostile, (1,), hostile, hostile),), also=(hostile,)
    )
    text = render_page("phi", page, {1: ""})
    assert cited_by(text) == {1}
    body = text.partition("\n---\n")[2]
    assert "[[" not in body
    assert "\\#tag" in body
    assert "\n---" not in body


def test_what_is_confined_after_a_restart_is_on_no_page(tmp_path: Path) -> None:
    with opened(tmp_path, pages=True) as folder:
        keep(folder, *TOLD)
    assert "Hull" in "".join(pages(tmp_path).values())
    with opened(tmp_path, pages=True) as folder:
        told = folder.store.entries("phi", [2])[2]
        folder.commit(Changes("phi", updated=(replace(told, audience=CONFINED),)))
    assert "Hull" not in "".join(pages(tmp_path).values())


def test_what_is_left_of_a_page_is_written_again_where_another_process_forgot(tmp_path: Path) -> None:
    with opened(tmp_path, pages=True) as folder:
        keep(folder, *TOLD)
        forget(folder, 2)
        folder.keeper.forgot_elsewhere("phi")
    page = pages(tmp_path)["phi/people/Caity.md"]
    assert "Leeds" in page
    assert "Hull" not in page


def test_the_longest_name_in_the_longest_letters_is_the_name_of_a_file(tmp_path: Path) -> None:
    names = NAMES | {"user_caity": "\U00020000" * 80}
    with opened(tmp_path) as folder:
        make = partial(make_pages, folder.store, {}, names, NOW)
        entry = an_entry(1, TOLD[1])
        folder.store.commit(Changes("phi", added=(entry,)))
        NoteWriter(folder.store, folder.notebook, str, make_pages=make).write_pages("phi")
    assert "Hull" in "".join(pages(tmp_path).values())
