"""What vectors are to a store, over every adapter."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noodlings.errors import StoreError
from noodlings.ports import Changes
from noodlings.store.database import DATABASE_NAME
from noodlings.store.documents import LARGEST
from noodlings.store.sql import SqlStore
from noodlings.values.memory import EntryVector
from tests.store.either import AnyStore, filled
from tests.store.records import AGENT, an_entry

MODEL = "small"


def a_vector(entry_id: int, seed: int | None = None, model: str = MODEL, **changes: Any) -> EntryVector:
    """A unit vector, always the same for the same seed (by default the id)."""
    numbers = np.random.default_rng(entry_id if seed is None else seed).normal(size=8)
    vector = (numbers / np.linalg.norm(numbers)).astype(np.float32)
    return replace(EntryVector(entry_id, model, vector), **changes)


def failed(entry_id: int, attempts: int = 2, reason: str = "it cannot be reached") -> EntryVector:
    return a_vector(entry_id, vector=None, attempts=attempts, reason=reason)


def kept(store: AnyStore, model: str = MODEL) -> dict[int, EntryVector]:
    return store.vectors(AGENT, model, 0, LARGEST)


def same(one: EntryVector, other: EntryVector) -> bool:
    """Equal to the last bit."""
    alike = one.vector is other.vector is None or np.array_equal(one.vector, other.vector)  # type: ignore[arg-type]
    bare = [(vector.entry_id, vector.model, vector.attempts, vector.reason) for vector in (one, other)]
    return bool(alike) and bare[0] == bare[1]


def test_vectors_come_with_their_entries_in_one_commit(store: AnyStore) -> None:
    made = [a_vector(1), failed(2)]
    store.commit(Changes(AGENT, added=tuple(map(an_entry, (1, 2, 3))), vectors=tuple(made)))
    found = kept(store)
    assert sorted(found) == [1, 2]
    assert same(found[1], made[0])
    assert same(found[2], made[1])
    assert found[1].vector is not None
    assert found[1].vector.dtype == np.float32


def test_a_vector_that_comes_later_takes_the_place_of_what_there_was(store: AnyStore) -> None:
    filled(store, 3)
    store.keep_vectors(AGENT, [failed(1), a_vector(2)])
    store.keep_vectors(AGENT, [a_vector(1), a_vector(2, seed=9)])
    found = kept(store)
    assert same(found[1], a_vector(1))
    assert same(found[2], a_vector(2, seed=9))


def test_vectors_of_two_models_never_meet(store: AnyStore) -> None:
    filled(store, 2)
    store.keep_vectors(AGENT, [a_vector(1), a_vector(2)])
    store.keep_vectors(AGENT, [a_vector(2, model="large")])
    assert sorted(kept(store)) == [1]
    assert sorted(kept(store, "large")) == [2]
    assert kept(store, "none of these") == {}


def test_they_are_read_by_a_range_of_ids(store: AnyStore) -> None:
    filled(store, 5)
    store.keep_vectors(AGENT, [a_vector(number) for number in range(1, 6)])
    assert sorted(store.vectors(AGENT, MODEL, 2, 4)) == [2, 3, 4]
    assert sorted(store.vectors(AGENT, MODEL, -7, 10**30)) == [1, 2, 3, 4, 5]
    assert store.vectors(AGENT, MODEL, 4, 2) == {}
    assert store.vectors("nobody", MODEL, 0, 9) == {}


def test_they_go_with_what_is_forgotten_and_never_come_back(store: AnyStore) -> None:
    filled(store, 3)
    store.keep_vectors(AGENT, [a_vector(1), a_vector(2)])
    store.forget(AGENT, [1, 3], by_user="admin", timestamp=1.0)
    store.keep_vectors(AGENT, [a_vector(1), a_vector(3), a_vector(2, seed=7)])
    store.commit(Changes(AGENT, vectors=(a_vector(3),)))
    assert sorted(kept(store)) == [2]
    assert same(kept(store)[2], a_vector(2, seed=7))


@pytest.mark.parametrize("entry_id", [4, LARGEST])
def test_one_of_an_entry_that_never_was_is_a_mistake(store: AnyStore, entry_id: int) -> None:
    filled(store, 3)
    with pytest.raises(StoreError, match=f"has no entry {entry_id}"):
        store.keep_vectors(AGENT, [a_vector(1), a_vector(entry_id, seed=1)])
    with pytest.raises(StoreError, match=f"has no entry {entry_id}"):
        store.commit(Changes(AGENT, vectors=(a_vector(entry_id, seed=1),)))
    assert kept(store) == {}


@pytest.mark.parametrize(
    "broken",
    [np.zeros(8), np.full(8, np.nan), np.ones(8), np.ones((1, 1)), np.empty(0)],
    ids=["zero", "not a number", "too long", "two axes", "empty"],
)
def test_what_is_no_unit_vector_is_refused(store: AnyStore, broken: Any) -> None:
    filled(store, 1)
    with pytest.raises(StoreError, match="length should be 1"):
        store.keep_vectors(AGENT, [a_vector(1, vector=broken.astype(np.float32))])
    assert kept(store) == {}


DAMAGE = {
    "cut short": b"\x00\x00",
    "zeros": bytes(32),
    "noise": bytes(range(32)),
    "all ones": b"\xff" * 32,
    "nothing": b"",
    "text": "not a vector",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_vector_is_reported_left_out_and_replaced(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    with closing(SqlStore(tmp_path)) as store:
        filled(store, 2)
        store.keep_vectors(AGENT, [a_vector(1), a_vector(2)])
        with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as other, other:
            other.execute("UPDATE vectors SET vector = ? WHERE entry_id = 1", [DAMAGE[damage]])
        with caplog.at_level(logging.WARNING):
            assert sorted(kept(store)) == [2]
        assert "the vector of entry 1 of phi is damaged and will be made again" in caplog.text
        store.keep_vectors(AGENT, [a_vector(1)])
        assert sorted(kept(store)) == [1, 2]
