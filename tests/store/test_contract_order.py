"""The order of entries in a `Repository`, over every adapter: all ids of an agent, sorted and narrowed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.ports import Changes
from noodlings.store.sql import SqlStore
from noodlings.values.memory import STORED, Order
from tests.store.either import AnyStore
from tests.store.records import AGENT, an_entry


def kept(store: AnyStore) -> None:
    entries = (
        replace(an_entry(1, "Wolf at the door"), user_id="user_b", encoded_importance=0.2, override=0.9),
        replace(an_entry(2, "a bell"), user_id="user_c", encoded_importance=0.5, response="A wolf? Where?"),
        replace(an_entry(3, "100% of_it"), user_id="user_a", encoded_importance=0.5, response=None),
    )
    store.commit(Changes(AGENT, added=entries))
    store.commit(Changes("callie", added=(an_entry(4, "wolf of another"),)))


@pytest.mark.parametrize(
    ("order", "rising"),
    [
        (Order.WHEN, [1, 2, 3]),
        (Order.IMPORTANCE, [2, 3, 1]),
        (Order.WHO, [3, 1, 2]),
        (Order.TEXT, [3, 1, 2]),
    ],
)
def test_everything_is_sorted_and_among_equals_by_id(
    store: AnyStore, order: Order, rising: list[int]
) -> None:
    kept(store)
    assert store.in_order(AGENT, order, False) == rising
    assert store.in_order(AGENT, order, True) == rising[::-1]


@pytest.mark.parametrize(
    ("containing", "found"),
    [("wolf", [1, 2]), ("WOLF", [1, 2]), ("user_a", [3]), ("%", [3]), ("_it", [3]), ("o_k", []), ("\\", [])],
)
def test_it_is_narrowed_by_the_characters_themselves(
    store: AnyStore, containing: str, found: list[int]
) -> None:
    kept(store)
    assert store.in_order(AGENT, Order.WHEN, False, containing) == found


@pytest.mark.parametrize(
    ("containing", "among", "found"),
    [
        ("wolf", [2, 3], [2]),
        ("", [3, 1], [3, 1]),
        ("wolf", [], []),
        ("wolf", [4, 99], []),
        ("a", None, [3, 2, 1]),
    ],
)
def test_it_is_narrowed_to_some_of_them(
    store: AnyStore, containing: str, among: list[int] | None, found: list[int]
) -> None:
    kept(store)
    assert store.in_order(AGENT, Order.WHEN, True, containing, among) == found


def test_nobody_has_nothing(store: AnyStore) -> None:
    assert [store.in_order("nobody", order, True) for order in STORED] == [[]] * len(STORED)


def test_what_was_forgotten_is_in_no_order(store: AnyStore) -> None:
    kept(store)
    store.forget(AGENT, [1], by_user="admin", timestamp=1.0)
    assert store.in_order(AGENT, Order.WHEN, True) == [3, 2]


def test_the_version_is_another_after_whatever_was_committed(store: AnyStore) -> None:
    kept(store)
    entry = an_entry(4, "snow")
    steps: list[Callable[[], object]] = [
        lambda: store.commit(Changes(AGENT, added=(entry,))),
        lambda: store.commit(Changes(AGENT, updated=(replace(entry, override=0.7, override_by="hand"),))),
        lambda: store.commit(Changes(AGENT, updated=(replace(entry, response="It melts."),))),
        lambda: store.commit(Changes("callie", added=(an_entry(5),))),
        lambda: store.forget(AGENT, [4], by_user="admin", timestamp=1.0),
    ]
    for step in steps:
        before = store.version()
        assert store.version() == before
        step()
        assert store.version() != before


def test_what_another_process_committed_is_another_version(tmp_path: Path) -> None:
    with closing(SqlStore(tmp_path)) as writer:
        kept(writer)
        with closing(SqlStore(tmp_path, read_only=True)) as reader:
            before = reader.version()
            assert reader.version() == before
            writer.commit(Changes(AGENT, added=(an_entry(4, "snow"),)))
            assert reader.version() != before


@given(st.text(max_size=5))
def test_whatever_is_typed_is_looked_for_and_never_run(lasting: AnyStore, typed: str) -> None:
    lasting.commit(Changes("typed"))
    assert lasting.in_order("typed", Order.TEXT, True, typed) == []
