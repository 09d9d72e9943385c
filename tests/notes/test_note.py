"""Where a note lies, and what stands in it."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from noodlings.affect.feeling import feeling
from noodlings.notes.note import Note, folder_of, path_of, render, unescaped
from noodlings.text import clean
from noodlings.values.affect import Affect
from noodlings.values.memory import ImportanceParts, Link, LinkType, MemoryEntry
from noodlings.values.percept import Kind
from tests.fakes import witnessed
from tests.store.records import an_entry
from tests.store.records import entries as any_entry

DOG = an_entry(
    12,
    "My dog died yesterday",
    timestamp=datetime.datetime(2025, 10, 1, 20, 27, 7, 900_000, datetime.UTC).timestamp(),
    affect=Affect(-0.6, 0.4, 0.0, 0.8, 0.0),
    response="I am so sorry.",
    place="hearth",
    override=0.7,
    override_by="response",
)


def front(text: str) -> dict[str, Any]:
    """The front matter of a note."""
    assert text.startswith("---\n")
    data = yaml.safe_load(text[4 : text.index("\n---\n")])
    assert isinstance(data, dict)
    return data


def quotes(text: str) -> list[str]:
    """Whatever was said."""
    body = text[text.index("\n---\n") :]
    return [unescaped(line[1:].strip()) for line in body.split("\n") if line.startswith(">")]


def test_a_note_says_everything_that_does_not_fade() -> None:
    links = (
        Link(12, 9, LinkType.RECALLED, 0.8, 1.0),
        Link(14, 12, LinkType.BY_HAND, 0.5, 1.0),
    )
    assert render(Note("phi", DOG, "sad", links)) == (
        "---\n"
        "id: 12\n"
        "agent: phi\n"
        "user: user_caity\n"
        "kind: say\n"
        "private: false\n"
        "addressed: true\n"
        "audience: []\n"
        "place: hearth\n"
        "time: '2025-10-01T20:27:07Z'\n"
        "timestamp: 1759350427.9\n"
        "feeling: sad\n"
        "affect:\n  valence: -0.6\n  arousal: 0.4\n  fear: 0.0\n  sorrow: 0.8\n  boredom: 0.0\n"
        "intensity: 0.908\n"
        "importance: 0.7\n"
        "encoded_importance: 0.5\n"
        "override_by: response\n"
        "parts:\n  surprise: 0.25\n  intensity: 0.0\n  salience: 0.0\n  addressed: 1.0\n"
        "  answered: 0.0\n  remember: 0.0\n  significance: 0.0\n"
        "pinned: false\n"
        "tags: []\n"
        "---\n\n"
        "**caity** said to **phi**:\n\n"
        "> My dog died yesterday\n\n"
        "**phi** answered:\n\n"
        "> I am so sorry.\n\n"
        "Links:\n\n"
        "- recalled → 9 (0.80)\n"
        "- by\\_hand ← 14 (0.50)\n"
    )


def test_being_recalled_changes_no_byte() -> None:
    recalled = replace(DOG, recall_count=7, last_recalled=2e9, stability=1e6, step=99)
    assert render(Note("phi", recalled, "sad")) == render(Note("phi", DOG, "sad"))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"parts": ImportanceParts()}, "**caity** said:"),
        ({"kind": Kind.WHISPER}, "**caity** whispered to **phi**:"),
        ({"kind": Kind.THOUGHT, "user_id": "phi", "parts": ImportanceParts()}, "**phi** thought:"),
        ({"kind": Kind.EMOTE}, "**caity** gestured to **phi**:"),
        ({"user_id": "**x**"}, r"**\*\*x\*\*** said to **phi**:"),
        ({"user_id": "\x1b[31m"}, "**somebody** said to **phi**:"),
    ],
)
def test_who_did_what(changes: dict[str, Any], sentence: str) -> None:
    assert f"\n\n{sentence}\n\n>" in render(Note("phi", replace(DOG, **changes), "sad"))


@pytest.mark.parametrize("kind", Kind)
def test_a_private_memory_is_marked(kind: Kind) -> None:
    private = kind in (Kind.WHISPER, Kind.THOUGHT)
    assert front(render(Note("phi", witnessed(replace(DOG, kind=kind)), "sad")))["private"] is private


def test_nothing_felt_and_nothing_answered() -> None:
    text = render(Note("phi", replace(DOG, affect=None, response=None, user_text=""), feeling(None)))
    assert front(text)["affect"] is None
    assert front(text)["feeling"] == "unknown"
    assert text.endswith("**caity** said to **phi**:\n\n>\n")


hostile = st.text() | st.sampled_from(
    [
        "---\nprivate: false\n---\n> hello",
        "\n---\n",
        "user: victim",
        "!!python/object/apply:os.system [id]",
        "&a [*a, *a]",
        "yes",
        "null",
        "2025-01-01",
        "1e3",
        "\x85---\x85",
        "\u2028---\u2028",
        "\ud800",
        "../../etc/passwd",
    ]
)


@pytest.mark.slow
@given(any_entry, hostile, hostile, hostile, st.none() | hostile)
@example(DOG, "phi", "\n---\nuser: victim\nprivate: false\n---\n", "> a\n> b", "---")
def test_no_words_get_out_of_their_place(
    entry: MemoryEntry, agent: str, user: str, text: str, response: str | None
) -> None:
    entry = replace(entry, user_id=user, user_text=text, response=response, place=user)
    note = render(Note(agent, entry, feeling(entry.affect)))
    data = front(note)
    assert (data["agent"], data["user"], data["place"]) == (agent, user, user)
    assert (data["id"], data["timestamp"]) == (entry.id, entry.timestamp)
    assert data["private"] is entry.private
    assert data["importance"] == entry.importance
    assert set(data["audience"]) == entry.audience.witnesses
    assert quotes(note) == [clean(said) for said in (text, response) if said is not None]
    assert note.count("\n---\n") == 1
    note.encode()


@pytest.mark.slow
@given(any_entry, st.text())
def test_a_path_stays_in_its_folder(entry: MemoryEntry, agent: str) -> None:
    path = path_of(agent, entry)
    assert not path.is_absolute()
    assert len(path.parts) in (3, 5)
    for part in path.parts:
        assert part not in ("", ".", "..")
        assert "/" not in part
        assert "\\" not in part
        assert len(part.encode()) <= 255
    assert path.stem.endswith(f"memory_{entry.id}")


@pytest.mark.parametrize(
    ("timestamp", "path"),
    [
        (1_759_350_427.999, "phi/2025/10/01/20_27_07_memory_12.md"),
        (0.0, "phi/1970/01/01/00_00_00_memory_12.md"),
        (-0.5, "phi/1969/12/31/23_59_59_memory_12.md"),
        (-62_135_596_800.0, "phi/0001/01/01/00_00_00_memory_12.md"),
        (-62_135_596_800.5, "phi/undated/memory_12.md"),
        (253_402_300_799.9, "phi/9999/12/31/23_59_59_memory_12.md"),
        (253_402_300_800.0, "phi/undated/memory_12.md"),
        (1e300, "phi/undated/memory_12.md"),
        (-1e300, "phi/undated/memory_12.md"),
    ],
)
def test_every_moment_has_a_place(timestamp: float, path: str) -> None:
    entry = replace(DOG, timestamp=timestamp)
    assert PurePosixPath(path_of("phi", entry)) == PurePosixPath(path)
    moment = front(render(Note("phi", entry, "sad")))["time"]
    assert bool(moment) is ("undated" not in path)
    assert moment.replace("-", "/").startswith("/".join(path.split("/")[1:4])) or not moment


def test_ordinary_ids_are_the_names_of_their_folders() -> None:
    assert folder_of("agent_servnak-2") == "agent_servnak-2"


@given(st.lists(st.text(), min_size=2, max_size=2, unique=True))
@example(["Phi", "phi"])
@example(["", "%"])
@example(["a" * 101, "a" * 102])
@example(["%41%", "A"])
def test_two_agents_never_share_a_folder(ids: list[str]) -> None:
    one, other = map(folder_of, ids)
    assert one.casefold() != other.casefold()
