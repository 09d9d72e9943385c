"""What gets a note: whatever ever became episodic, as it is by now."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import load_settings
from noodlings.notes.note import escaped
from noodlings.notes.notebook import FOLDER_NAME
from noodlings.ports import Changes
from noodlings.store.memory import MemoryStore
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import Link, LinkType
from noodlings.values.percept import Kind, Percept
from tests.notes.folders import bytes_of, opened, written
from tests.store.records import an_entry

ADMIN = Caller("user_admin", "admin", Role.ADMIN)


def noted(path: Path) -> list[int]:
    """Ids of the memories that there are notes of."""
    return sorted(int(name.rpartition("_")[2].removesuffix(".md")) for name in written(path))


def test_whatever_was_ever_episodic_has_a_note(tmp_path: Path) -> None:
    with opened(tmp_path) as folder:
        entries = tuple(an_entry(number) for number in range(1, 6))
        folder.commit(Changes("phi", added=entries, episodic=(1, 2), evicted=(3,)))
        folder.commit(Changes("phi", evicted=(1,)))
        folder.commit(
            Changes("phi", updated=(replace(entries[3], response="NOW IT MATTERS"),), episodic=(4,))
        )
        folder.commit(Changes("phi", updated=(replace(entries[4], response="IT DOES NOT"),)))
    assert noted(tmp_path) == [1, 2, 3, 4]
    assert "NOW IT MATTERS" in "".join(written(tmp_path).values())


def test_what_comes_later_is_in_the_note(tmp_path: Path) -> None:
    with opened(tmp_path) as folder:
        folder.commit(Changes("phi", added=(an_entry(1), an_entry(2)), episodic=(1,)))
    with opened(tmp_path) as folder:
        folder.commit(Changes("phi", updated=(an_entry(1, response="LATER", pinned=True),)))
        folder.commit(Changes("phi", links=(Link(2, 1, LinkType.FOLLOWED, 1.0, 1.0),)))
    (note,) = written(tmp_path).values()
    assert "> LATER" in note
    assert "pinned: true" in note
    assert "followed ← 2 (1.00)" in note
    with opened(tmp_path) as folder:
        folder.commit(Changes("phi", unlinked=(Link(2, 1, LinkType.FOLLOWED, 1.0, 1.0),)))
    assert "followed" not in "".join(written(tmp_path).values())


def test_several_agents_hear_the_same_in_the_same_second(tmp_path: Path) -> None:
    with opened(tmp_path) as folder:
        for agent in ("phi", "servnak"):
            folder.commit(Changes(agent, added=(an_entry(1),), episodic=(1,)))
    assert list(written(tmp_path)) == [
        "phi/1970/01/01/00_16_41_memory_1.md",
        "servnak/1970/01/01/00_16_41_memory_1.md",
    ]


@pytest.mark.slow
async def test_the_whole_way_from_a_line_to_its_note_and_out_of_it_again(tmp_path: Path) -> None:
    settings = load_settings(store={"path": str(tmp_path)}, embedding={"model": "none"})
    society = build(settings, clock=ManualClock(1_759_350_427.0))
    said = Percept(
        "user_caity",
        "My zebra died yesterday",
        1_759_350_427.0,
        addressed=True,
        present=frozenset({"user_bob"}),
    )
    trace = await society.perceive("phi", said)
    await society.perceive("phi", replace(said, text="I stole a zebra", kind=Kind.WHISPER, timestamp=1.8e9))
    society.close()
    notes = written(tmp_path)
    first = f"phi/2025/10/01/20_27_07_memory_{trace.entry_id}.md"
    assert f"> {said.text}" in notes[first]
    assert f"importance: {trace.importance}" in notes[first]
    assert trace.response
    assert f"> {escaped(trace.response)}" in notes[first]
    assert "private: false" in notes[first]

    society = build(settings, clock=ManualClock(1.9e9))
    assert society.corrections.forget_user(ADMIN, "phi", "user_caity").count == 2
    society.close()
    assert b"zebra" not in bytes_of(tmp_path / FOLDER_NAME)
    assert written(tmp_path) == {}


async def test_switched_off_or_kept_elsewhere_there_are_none(tmp_path: Path) -> None:
    percept = Percept("user_caity", "My zebra died yesterday", 1.8e9, addressed=True)
    off = load_settings(store={"path": str(tmp_path)}, embedding={"model": "none"}, notes={"enabled": False})
    on = load_settings(store={"path": str(tmp_path)}, embedding={"model": "none"})
    for settings, store in ((off, None), (on, MemoryStore())):
        society = build(settings, clock=ManualClock(1.8e9), store=store)
        assert (await society.perceive("phi", percept)).importance > 0.3
        society.close()
    assert not (tmp_path / FOLDER_NAME).exists()
