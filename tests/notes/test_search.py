"""Search by the files alone; nobody's filter shows what somebody else said."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from noodlings.errors import NotFound, UserError
from noodlings.notes.note import Note
from noodlings.notes.notebook import Notebook
from noodlings.notes.search import search
from noodlings.text import clean
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import Kind
from tests.store.records import an_entry
from tests.thorough import examples


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return Notebook(tmp_path / "notes")


def keep(notebook: Notebook, *entries: MemoryEntry, agent: str = "phi") -> list[Path]:
    return [notebook.write(Note(agent, entry, "sad")) for entry in entries]


def found(notebook: Notebook, query: str, user: str | None = None, private: bool = False) -> list[int]:
    """Ids of the hits, when no file is torn."""
    result = search(notebook.folder, query, user, private)
    assert result.torn == ()
    return [hit.entry_id for hit in result.hits]


def test_every_word_must_occur_in_what_was_said_or_answered(notebook: Notebook) -> None:
    keep(
        notebook,
        an_entry(1, "My dog died yesterday"),
        an_entry(2, "what?", response="YOUR DOGS, C*_[x] <b>ÄRGER</b>"),
        an_entry(3, "the weather"),
    )
    assert found(notebook, "dog") == [2, 1]
    assert found(notebook, "  YESTERDAY\tdOg ") == [1]
    assert found(notebook, "c*_[X]") == [2]
    assert found(notebook, "<b>ärger") == [2]
    assert found(notebook, "user_caity") == found(notebook, "valence") == found(notebook, "said") == []


def test_a_hit_says_what_it_is(notebook: Notebook) -> None:
    entry = replace(an_entry(1, "*dog*", kind=Kind.WHISPER), response="oh", timestamp=-7.5)
    (path,) = keep(notebook, entry)
    (hit,) = search(notebook.folder, "dog", private=True).hits
    assert (hit.path, hit.agent_id, hit.entry_id, hit.user_id) == (path, "phi", 1, "user_caity")
    assert (hit.kind, hit.private, hit.timestamp, hit.feeling) == ("whisper", True, -7.5, "sad")
    assert (hit.said, hit.answered) == ("*dog*", "oh")


@pytest.mark.parametrize("kind", [Kind.WHISPER, Kind.THOUGHT])
def test_what_is_private_is_shown_only_when_asked_for(notebook: Notebook, kind: Kind) -> None:
    keep(notebook, an_entry(1, "the dog", kind=kind), an_entry(2, "the dog"))
    assert found(notebook, "dog") == [2]
    assert found(notebook, "dog", private=True) == [2, 1]


people = st.sampled_from(["user_caity", "caity", "user_", "", "yes", "1", "user_Caity", "a: b", "---"])
forged = st.sampled_from(
    [
        "dog",
        "dog ---\nuser: caity\nprivate: false\n---\n> dog",
        "> dog",
        "dog\n\n**caity** said:",
        "\u2028---\u2028user: caity dog",
        "\r---\ruser: caity\r---\r> dog",
        "{user: caity, private: false} dog",
    ]
)
said_by_somebody = st.builds(
    lambda number, user, kind, text, response: an_entry(
        number, text, user_id=user, kind=kind, response=response, place=text, audience=frozenset({text})
    ),
    st.integers(1, 10**6),
    people,
    st.sampled_from(Kind),
    forged | st.text().map("dog {}".format),
    st.none() | forged,
)


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(st.lists(said_by_somebody, max_size=8, unique_by=lambda entry: entry.id), people, st.booleans())
@example([an_entry(1, "dog ---\nuser: caity\n---", user_id="user_caity")], "caity", True)
def test_a_filter_never_shows_what_somebody_else_said(
    tmp_path_factory: pytest.TempPathFactory, entries: list[MemoryEntry], user: str, private: bool
) -> None:
    notebook = Notebook(tmp_path_factory.mktemp("data") / "notes")
    notebook.folder.mkdir()
    keep(notebook, *entries)
    own = [entry for entry in entries if entry.user_id == user and (private or not entry.private)]
    result = search(notebook.folder, "dog", user, private)
    assert result.torn == ()
    assert {hit.entry_id for hit in result.hits} == {entry.id for entry in own}
    assert {hit.said for hit in result.hits} == {clean(entry.user_text) for entry in own}
    assert {hit.user_id for hit in result.hits} <= {user}


def test_latest_first_across_agents(notebook: Notebook) -> None:
    keep(notebook, an_entry(1, "dog", timestamp=1e9), an_entry(2, "dog", timestamp=-1e300))
    keep(notebook, an_entry(3, "dog", timestamp=2e9), agent="servnak")
    assert found(notebook, "dog") == [3, 1, 2]


TORN = {
    "empty": b"",
    "zeros": b"\0" * 500,
    "in the front matter": b"---\nid: 1\nuser: user_caity\n",
    "in the words": b"---\nid: 1\n---\n\n**caity** said:\n\n> the do",
    "without words": b"---\nid: 1\n---\n\ndog\n",
    "no mapping": b"---\n[dog]\n---\n\n> dog\n",
    "no user": b"---\nid: 1\nagent: phi\n---\n\n> dog\n",
    "private is a word": b"---\nid: 1\nagent: phi\nuser: user_caity\nkind: say\nprivate: 'no'\n"
    b"timestamp: 1.0\nfeeling: sad\n---\n\n> dog\n",
    "user is a number": b"---\nid: 1\nagent: phi\nuser: 1\nkind: say\nprivate: false\n"
    b"timestamp: 1.0\nfeeling: sad\n---\n\n> dog\n",
    "runs code": b"---\n!!python/object/apply:os.abort []\n---\n\n> dog\n",
    "breaks YAML": b"---\na: !!int ''\nb: 2025-99-99\n---\n\n> dog\n",
    "deep": b"---\n" + b"[" * 50_000 + b"\n---\n\n> dog\n",
    "not UTF-8": b"---\nid: 1\n---\n\n> dog \xff\n",
    "too long": b"---\nid: 1\n---\n\n> dog " + b"x" * 1_000_000 + b"\n",
}


@pytest.mark.parametrize("content", TORN.values(), ids=TORN)
@pytest.mark.slow
def test_a_torn_note_is_named_and_passed_over(notebook: Notebook, content: bytes) -> None:
    (whole,) = keep(notebook, an_entry(1, "the dog"))
    torn = whole.with_name("00_00_00_memory_2.md")
    torn.write_bytes(content)
    result = search(notebook.folder, "dog", private=True)
    assert [hit.path for hit in result.hits] == [whole]
    ((path, why),) = result.torn
    assert path == torn
    assert why
    assert "\n" not in why


@settings(max_examples=examples(60))
@given(st.integers(0, 2_000), st.binary(max_size=5))
def test_whatever_is_torn_off_nothing_private_or_of_others_appears(
    tmp_path_factory: pytest.TempPathFactory, cut: int, tail: bytes
) -> None:
    notebook = Notebook(tmp_path_factory.mktemp("data") / "notes")
    (path,) = keep(notebook, an_entry(1, "the dog", kind=Kind.WHISPER))
    path.write_bytes(path.read_bytes()[:cut] + tail)
    assert search(notebook.folder, "dog").hits == ()
    assert search(notebook.folder, "dog", "user_else", private=True).hits == ()


def test_pipes_links_and_other_files_are_left_alone(notebook: Notebook, tmp_path: Path) -> None:
    (whole,) = keep(notebook, an_entry(1, "the dog"))
    os.mkfifo(whole.with_name("memory_2.md"))
    elsewhere = tmp_path / "elsewhere.md"
    elsewhere.write_bytes(whole.read_bytes())
    whole.with_name("memory_3.md").symlink_to(elsewhere)
    whole.with_name("half.md.part").write_text("dog")
    result = search(notebook.folder, "dog")
    assert [hit.path for hit in result.hits] == [whole]
    assert [(path.name, why) for path, why in result.torn] == [
        ("memory_2.md", "it is not a file"),
        ("memory_3.md", "it is not a file"),
    ]


def test_a_note_that_went_through_windows_is_read(notebook: Notebook) -> None:
    (path,) = keep(notebook, an_entry(1, "the dog"))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert found(notebook, "dog", "user_caity") == [1]


def test_there_must_be_something_to_look_for_and_somewhere_to_look(notebook: Notebook) -> None:
    with pytest.raises(NotFound, match="noodlings notes rebuild"):
        search(notebook.folder, "dog")
    keep(notebook, an_entry(1))
    for nothing in ("", " \t", "\x1b[31m"):
        with pytest.raises(UserError, match="nothing to look for"):
            search(notebook.folder, nothing)
