"""Which entries are most like one of them."""

from __future__ import annotations

import pytest

from noodlings.recall.archive import SearchIndex
from noodlings.recall.filters import Filters
from noodlings.values.percept import Kind
from tests.memory.entries import an_entry
from tests.recall.archives import add


def test_the_entries_most_like_one_come_nearest_first_and_hidden_ones_take_no_place() -> None:

    archive = SearchIndex("m", 2)
    for number, vector in ((1, (1.0, 0.0)), (2, (0.9, 0.1)), (3, (0.0, 1.0)), (4, (0.8, 0.3))):
        whispered = {"user_id": "user_bob", "kind": Kind.WHISPER, "audience": {"phi"}} if number == 2 else {}
        add(archive, an_entry(number, **whispered), vector)
    add(archive, an_entry(5))
    assert archive.alike(1, 2) == [2, 4]
    assert archive.alike(1, 1, Filters(present=frozenset({"user_caity"}))) == [4]
    assert archive.alike(5, 3) == []
    assert archive.alike(99, 3) == []
    assert archive.likeness(1, 3) == pytest.approx(0.0)
    assert archive.likeness(1, 5) is None
    assert archive.likeness(1, 99) is None


def test_without_a_model_nothing_is_known_to_be_alike() -> None:
    archive = SearchIndex()
    add(archive, an_entry(1))
    add(archive, an_entry(2))
    assert archive.alike(1, 3) == []
    assert archive.likeness(1, 2) is None
