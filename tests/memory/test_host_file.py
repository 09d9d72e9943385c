"""The file of a host: the same again, whole or not at all, and never in place of something else."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noodlings.errors import UserError
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.list_wrapper import MemoryListWrapper
from noodlings.memory.plain import PlainMemory
from noodlings.memory.saved import plain
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import Kind
from tests.memory.entries import ANXIOUS, JOYFUL, SORROWFUL, texts

KINDS = [".json", ".db", ".sqlite", ".SQLITE3"]


@pytest.fixture(params=KINDS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"servnak{request.param}"


def rich_memory() -> HierarchicalMemory:
    """Something of everything that an entry may hold."""
    memory = HierarchicalMemory(working_capacity=3)
    state = np.linspace(-1, 1, 40)
    memory.add(1.5, 1, "caity", "My dog died", SORROWFUL, state, 0.9, "Oh no.", 0.7, data={"a": [1, None]})
    memory.add(2, 2, "micha", "psst", ANXIOUS, kind=Kind.WHISPER, audience={"caity", "phi"}, place="hall")
    kept = memory.add(3, 3, "caity", "Nimm Äpfel 🍎", None, remember=True, addressed=True)
    memory.pin(kept)
    memory.set_importance(memory.add(4, 4, "caity", "ok", JOYFUL), 0.95)
    memory.reinforce([1], 90_000.0)
    for number in range(3):
        memory.add(5.0 + number, 5 + number, "caity", f"hm {number}", [])
    return memory


def alike(one: MemoryEntry, other: MemoryEntry) -> bool:
    return all(
        np.array_equal(getattr(one, field.name), getattr(other, field.name))
        if field.name == "phenomenal_state"
        else getattr(one, field.name) == getattr(other, field.name)
        for field in fields(MemoryEntry)
    )


def all_of(memory: Any) -> Iterator[MemoryEntry]:
    yield from memory.retrieve_working()
    yield from memory.retrieve_episodic(limit=None)


def test_a_memory_comes_back_as_it_was(path: Path) -> None:
    memory, again = rich_memory(), HierarchicalMemory(working_capacity=3)
    memory.save(path)
    assert again.load(str(path)) == 7
    assert again.stats() == memory.stats()
    assert all(map(alike, all_of(memory), all_of(again)))
    assert len(list(all_of(memory))) == len(list(all_of(again))) == 7
    assert again.add(9, 9, "caity", "next", []).id == 8
    assert (again.now, again.strength(again.find(1))) == (9.0, memory.strength(memory.find(1), 9.0))


def test_the_same_memory_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one.json", "other.json"):
        rich_memory().save(tmp_path / name)
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "other.json").read_bytes()
    content = json.loads((tmp_path / "one.json").read_text())
    assert (content["format"], content["version"]) == ("noodlings-memory", 1)


def test_an_empty_memory_and_a_plain_list_can_be_saved(path: Path) -> None:
    HierarchicalMemory().save(path)
    memory = rich_memory()
    assert memory.load(path) == 0
    assert list(all_of(memory)) == []
    plain_list = PlainMemory()
    plain_list.add(1, 1, "caity", "hello", JOYFUL)
    plain_list.save(path)
    again = PlainMemory()
    assert (again.load(path), texts(again.retrieve_working())) == (1, ["hello"])


def test_without_a_file_there_is_nothing_yet(path: Path) -> None:
    memory = rich_memory()
    assert memory.load(path) == 0
    assert memory.stats().perceived == 7
    assert not path.exists()


def test_a_host_finds_its_rows_again(path: Path) -> None:
    context = MemoryListWrapper(HierarchicalMemory(working_capacity=3))
    context.append({"user": "caity", "text": "My dog died", "affect": mx.array([-0.8, 0.5, 0.1, 0.8, 0.0])})
    context.append({"text": "a", "affect": np.array([0.1, 0.5, 0, 0, 0], np.float32), "nested": {1: {2}}})
    context.append({"text": "b", "is_rumination": True, "bad": float("nan"), "odd": KeyError("x")})
    context.append({"text": "c", "affect": [], "surprise": 9.0})
    context.reverse()
    context.save(path)

    again = MemoryListWrapper(HierarchicalMemory(working_capacity=3))
    assert again.load(path) == 4
    assert again == [
        {"text": "c", "affect": [], "surprise": 9.0},
        {"text": "b", "is_rumination": True, "bad": None, "odd": "'x'"},
        {"text": "a", "affect": pytest.approx([0.1, 0.5, 0, 0, 0]), "nested": {"1": [2]}},
    ]
    assert texts(again.hm.retrieve_by_affect_similarity(SORROWFUL)) == ["My dog died"]
    assert again.hm.stats() == context.hm.stats()
    # Rows that the host kept by itself as well are not perceived once more.
    again.assign([dict(row) for row in again])
    assert again.hm.stats().perceived == 4
    again.append({"text": "d"})
    assert [row["text"] for row in again] == ["b", "a", "d"]


def test_a_wrapper_reads_what_a_memory_saved_and_the_other_way_round(path: Path) -> None:
    rich_memory().save(path)
    context = MemoryListWrapper()
    assert context.load(path) == 7
    assert [row["text"] for row in context] == ["hm 0", "hm 1", "hm 2"]
    context.save(path)
    memory = HierarchicalMemory(working_capacity=3)
    memory.load(path)
    assert all(map(alike, all_of(rich_memory()), all_of(memory)))


def test_smaller_memories_take_what_they_can_hold(path: Path) -> None:
    context = MemoryListWrapper()
    context.extend({"text": str(number), "surprise": number / 10} for number in range(8))
    context.save(path)
    small = MemoryListWrapper(HierarchicalMemory(working_capacity=2, episodic_capacity=1))
    assert small.load(path) == 8
    assert [row["text"] for row in small] == ["6", "7"] == texts(small.hm.retrieve_working())
    assert small.hm.stats().perceived == 8


def test_what_was_forgotten_since_stays_forgotten(path: Path) -> None:
    context = MemoryListWrapper()
    context.extend([{"text": "secret"}, {"text": "hello"}])
    context.save(path)
    context.hm.forget([1])
    context.load(path)
    assert [row["text"] for row in context] == ["hello"] == texts(context.hm.retrieve_working())


# -- files that are not as they should be


def test_other_endings_are_refused(tmp_path: Path) -> None:
    for name in ("memory.txt", "memory", "memory.pickle"):
        with pytest.raises(UserError, match=r"must end in \.json, or in \.db"):
            rich_memory().save(tmp_path / name)
        with pytest.raises(UserError, match="must end in"):
            rich_memory().load(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("left", [0, 1, 40, 0.5, -4])
def test_a_torn_file_is_refused_and_left_alone(path: Path, left: float) -> None:
    rich_memory().save(path)
    whole = path.read_bytes()
    torn = whole[: int(len(whole) * left) if 0 < left < 1 else int(left)]
    path.write_bytes(torn)
    memory = HierarchicalMemory()
    memory.add(1, 1, "caity", "here", [])
    with pytest.raises(UserError, match=path.name):
        memory.load(path)
    assert texts(memory.retrieve_working()) == ["here"]
    with pytest.raises(UserError, match="is not replaced"):
        memory.save(path)
    assert path.read_bytes() == torn
    assert list(path.parent.iterdir()) == [path]


FOREIGN = {
    "list": b"[]",
    "text": b"dear diary",
    "other": b'{"format": "somebody", "version": 1, "entries": []}',
    "later": b'{"format": "noodlings-memory", "version": 2, "entries": []}',
    "true": b'{"format": "noodlings-memory", "version": true, "entries": []}',
    "counts": b'{"format": "noodlings-memory", "version": 1, "perceived": -1, "entries": []}',
    "entries": b'{"format": "noodlings-memory", "version": 1, "entries": {}}',
    "deep": b"[" * 100_000,
    "latin": b'{"format": "\xe4"}',
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_file_is_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(UserError, match=path.name):
        HierarchicalMemory().load(path)
    with pytest.raises(UserError, match="is not replaced"):
        rich_memory().save(path)
    assert path.read_bytes() == content


def test_another_database_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "orders.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE orders (id INTEGER)")
    before = path.read_bytes()
    for action in (HierarchicalMemory().load, rich_memory().save):
        with pytest.raises(UserError, match=r"orders\.db"):
            action(path)
    assert path.read_bytes() == before


def test_a_folder_that_is_not_there_is_said_to_be(path: Path) -> None:
    with pytest.raises(UserError, match="cannot be written: No such file"):
        rich_memory().save(path.parent / "nowhere" / path.name)
    path.mkdir()
    with pytest.raises(UserError, match=path.name):
        rich_memory().save(path)
    with pytest.raises(UserError, match=path.name):
        HierarchicalMemory().load(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_that_may_not_be_read_is_said_to_be(path: Path) -> None:
    rich_memory().save(path)
    path.chmod(0)
    with pytest.raises(UserError, match=path.name):
        HierarchicalMemory().load(path)


SPOILT: dict[str, Any] = {
    "id": [-1, 1.5, None, 2**70],
    "timestamp": ["noon", None],
    "user_text": [5, None],
    "affect": [[1, 2], "sad"],
    "surprise": [1.5, "much"],
    "parts": [{"surprise": 2}, {"unknown": 0.5}, [], None],
    "override_by": ["me", None],
    "phenomenal_state": [[0.0] * 39, "?"],
    "kind": ["shout", None],
    "audience": [[5], None],
    "pinned": [1, None],
    "stability": [0, -5, None],
    "recall_count": [-1],
    "extra": [5, "ab"],
    "working": ["yes"],
    "row": [[1], "row"],
}


@pytest.mark.parametrize("name", SPOILT)
def test_one_bad_record_costs_no_other(path: Path, name: str) -> None:
    for value in SPOILT[name]:
        rich_memory().save(path)
        spoil(path, {name: value})
        spoilt = path.read_bytes()
        again = HierarchicalMemory(working_capacity=3)
        assert again.load(path) == 6
        assert again.find(1) is None
        assert again.find(2) is not None
        (beside,) = path.parent.glob("*.damaged-*")
        assert beside.read_bytes() == spoilt
        again.save(path)  # which is whole again; the rest stays beside it
        assert HierarchicalMemory().load(path) == 6
        beside.unlink()


def test_records_that_are_none_at_all_are_passed_over(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for junk in (None, 5, "junk", [], {}):
        rich_memory().save(path)
        spoil(path, junk)
        assert HierarchicalMemory().load(path) == 6
    assert "record 1 is passed over" in caplog.text
    assert "the file is kept as servnak" in caplog.text


def test_an_entry_that_is_there_twice_counts_once(path: Path) -> None:
    rich_memory().save(path)
    spoil(path, {"id": 2, "working": False})
    assert HierarchicalMemory().load(path) == 6


def spoil(path: Path, change: Any) -> None:
    """Change the first record; a dict is put into it, anything else in its place."""
    if path.suffix == ".json":
        content = json.loads(path.read_text())
        first = content["entries"][0]
        content["entries"][0] = first | change if isinstance(change, dict) and change else change
        path.write_text(json.dumps(content))
        return
    with closing(sqlite3.connect(path)) as database, database:
        (record,) = database.execute("SELECT record FROM entries WHERE place = 0").fetchone()
        new = json.loads(record) | change if isinstance(change, dict) and change else change
        written = "{torn" if new == "junk" else json.dumps(new)
        database.execute("UPDATE entries SET record = ? WHERE place = 0", (written,))


# -- threads


def test_threads_that_save_at_once_leave_a_whole_file(path: Path) -> None:
    context = MemoryListWrapper()

    def save(name: str) -> None:
        for number in range(10):
            context.append({"user": name, "text": f"{name} {number}", "surprise": 1.0})
            context.save(path)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(save, ("caity", "micha", "phi"), timeout=60))
    context.save(path)
    again = MemoryListWrapper()
    assert again.load(path) == 20
    assert again == context
    assert list(path.parent.iterdir()) == [path]


# -- whatever a host keeps

json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.dictionaries(st.sampled_from(["text", "user", "x"]), json_like), max_size=6))
def test_any_row_can_be_saved(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    context = MemoryListWrapper()
    context.extend(rows)
    context.save(tmp_path / "memory.json")
    again = MemoryListWrapper()
    assert again.load(tmp_path / "memory.json") == len(rows)
    assert again == [plain(row) for row in rows]
    assert not list(tmp_path.glob("*.damaged-*"))


def test_what_contains_itself_ends_somewhere() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert json.dumps(plain(endless)).count("[") > 10
    assert plain(2**80) == str(2**80)
