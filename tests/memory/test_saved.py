"""The file of a host: the same again, whatever was in the memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noodlings.bridge.list_wrapper import MemoryListWrapper
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.plain import PlainMemory
from noodlings.memory.saved import plain
from noodlings.values.memory import MemoryEntry
from tests.bridge.hosts import KINDS, rich_memory, unmarked
from tests.memory.entries import JOYFUL, SORROWFUL, texts
from tests.thorough import examples


@pytest.fixture(params=KINDS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"servnak{request.param}"


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
    stats = memory.stats()  # a mean over the same numbers in another order
    assert again.stats() == replace(stats, average_importance=pytest.approx(stats.average_importance))
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
    assert unmarked(again) == [
        {"text": "c", "affect": [], "surprise": 9.0},
        {"text": "b", "is_rumination": True, "bad": None, "odd": "'x'"},
        {"text": "a", "affect": pytest.approx([0.1, 0.5, 0, 0, 0]), "nested": {"1": [2]}},
        {"user": "caity", "text": "My dog died", "affect": pytest.approx([-0.8, 0.5, 0.1, 0.8, 0.0])},
    ]
    assert texts(again.hm.working_memory) == texts(context.hm.working_memory)
    assert texts(again.hm.retrieve_by_affect_similarity(SORROWFUL)) == ["My dog died"]
    assert again.hm.stats() == context.hm.stats()
    # Rows that the host kept by itself as well are not perceived once more.
    again.assign([dict(row) for row in again])
    assert again.hm.stats().perceived == 4
    again.append({"text": "d"})
    assert [row["text"] for row in again] == ["c", "b", "a", "My dog died", "d"]


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
    assert [row["text"] for row in small] == [str(number) for number in range(8)]
    assert texts(small.hm.retrieve_working()) == ["6", "7"]
    assert small.hm.stats().perceived == 8


def test_what_was_forgotten_since_stays_forgotten(path: Path) -> None:
    context = MemoryListWrapper()
    context.extend([{"text": "secret"}, {"text": "hello"}])
    context.save(path)
    context.hm.forget([1])
    context.load(path)
    assert [row["text"] for row in context] == ["hello"] == texts(context.hm.retrieve_working())


# -- threads


@pytest.mark.slow
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
    assert again.load(path) == 30
    assert again == context
    assert list(path.parent.iterdir()) == [path]


# -- whatever a host keeps

json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.dictionaries(st.sampled_from(["text", "user", "x"]), json_like), max_size=6))
def test_any_row_can_be_saved(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    context = MemoryListWrapper()
    context.extend(rows)
    context.save(tmp_path / "memory.json")
    again = MemoryListWrapper()
    assert again.load(tmp_path / "memory.json") == len(rows)
    assert unmarked(again) == [plain(row) for row in unmarked(rows)]
    assert not list(tmp_path.glob("*.damaged-*"))


def test_what_contains_itself_ends_somewhere() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert json.dumps(plain(endless)).count("[") > 10
    assert plain(2**80) == str(2**80)
