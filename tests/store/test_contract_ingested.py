"""Records of sources, over every store: kept with their entries, found by id, forgotten without a word."""

from __future__ import annotations

from dataclasses import replace

import pytest

from noodlings.errors import StoreError
from noodlings.ports import Changes
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.memory import Link, LinkType
from tests.store.either import AnyStore, Make
from tests.store.records import AGENT, an_entry

SOURCE = "talk:log"
KEPT = IngestedRecord(SOURCE, "1", "ab", 1)
WAITS = IngestedRecord(SOURCE, "2", "cd", None, "past:bob", 2, "find: no", {"text": "hm", "n": [1, None]})


def test_what_was_taken_in_is_found_by_its_id_and_what_is_new_is_missing(store: AnyStore) -> None:
    store.commit(Changes(AGENT, added=(an_entry(1, source=SOURCE),), taken=(KEPT, WAITS)))
    assert store.taken(AGENT, SOURCE, ["1", "2", "3"]) == {"1": KEPT, "2": WAITS}
    assert store.taken(AGENT, "talk:other", ["1"]) == {}
    assert store.taken("servnak", SOURCE, ["1"]) == {}
    assert store.entries(AGENT, [1])[1].source == SOURCE


def test_what_becomes_of_a_record_takes_the_place_of_what_became_of_it_before(store: AnyStore) -> None:
    store.commit(Changes(AGENT, taken=(WAITS,)))
    done = IngestedRecord(SOURCE, "2", "ef", 1)
    store.commit(Changes(AGENT, added=(an_entry(1, source=SOURCE),), taken=(done,)))
    assert store.taken(AGENT, SOURCE, ["2"]) == {"2": done}
    assert store.parked(AGENT) == []


def test_what_waits_comes_page_by_page_each_once(store: AnyStore) -> None:
    waiting = [replace(WAITS, source=source, id=str(n)) for source in ("b", "a") for n in (3, 1, 2)]
    store.commit(Changes(AGENT, taken=(*waiting, IngestedRecord("a", "9"))))
    found, after = list[tuple[str, str]](), ("", "")
    while some := store.parked(AGENT, after, limit=2):
        found += [(one.source, one.id) for one in some]
        after = found[-1]
    assert sorted(found) == [(source, str(n)) for source in "ab" for n in (1, 2, 3)]


def test_working_memory_holds_what_was_lived_however_much_was_taken_in_since(make: Make) -> None:
    store = make(working_capacity=2)
    lived = [an_entry(n) for n in (1, 2, 3)]
    taken_in = [an_entry(n, source=SOURCE) for n in range(4, 40)]
    store.commit(Changes(AGENT, added=(*lived, *taken_in), episodic=(5,)))
    record = store.load(AGENT)
    assert record is not None
    assert [entry.id for entry in record.working] == [2, 3]
    assert [entry.id for entry in record.episodic] == [5]
    assert (record.perceived, record.last_id) == (39, 39)


def test_a_forgotten_memory_leaves_the_id_of_its_record_and_nothing_else(store: AnyStore) -> None:
    store.commit(Changes(AGENT, added=(an_entry(1, source=SOURCE),), taken=(KEPT, WAITS)))
    assert store.forget(AGENT, [1], by_user="root", timestamp=1.0).count == 1
    assert store.taken(AGENT, SOURCE, ["1", "2"]) == {"1": IngestedRecord(SOURCE, "1"), "2": WAITS}
    assert store.taken(AGENT, SOURCE, ["1"])["1"].forgotten


def test_forgetting_somebody_takes_what_waits_of_them_and_of_nobody_else(store: AnyStore) -> None:
    other = replace(WAITS, id="3", user_id="past:maren")
    store.commit(Changes(AGENT, taken=(WAITS, other)))
    gone = store.forget(AGENT, [], by_user="root", timestamp=1.0, told_by="past:bob")
    assert gone.count == 1
    assert store.taken(AGENT, SOURCE, ["2", "3"]) == {"2": IngestedRecord(SOURCE, "2"), "3": other}
    assert store.forget(AGENT, [], by_user="root", timestamp=1.0, told_by="past:bob").count == 0


def test_a_record_whose_entry_was_forgotten_meanwhile_is_forgotten_too(store: AnyStore) -> None:
    store.commit(Changes(AGENT, added=(an_entry(1), an_entry(2))))
    store.forget(AGENT, [1], by_user="root", timestamp=1.0)
    store.commit(Changes(AGENT, taken=(KEPT,)))
    assert store.taken(AGENT, SOURCE, ["1"])["1"].forgotten


def test_a_record_of_an_entry_that_never_was_is_refused_with_all_that_came_with_it(store: AnyStore) -> None:
    store.commit(Changes(AGENT, added=(an_entry(1),)))
    with pytest.raises(StoreError, match="has no entry 9"):
        store.commit(Changes(AGENT, added=(an_entry(2),), taken=(replace(KEPT, entry_id=9),)))
    assert (store.entries(AGENT, [2]), store.taken(AGENT, SOURCE, ["1"])) == ({}, {})


def test_a_link_may_say_that_one_replaces_the_other(store: AnyStore) -> None:
    link = Link(2, 1, LinkType.REPLACED, 1.0, 5.0)
    store.commit(Changes(AGENT, added=(an_entry(1), an_entry(2)), links=(link,)))
    assert store.links_of(AGENT, [1]) == [link]


def test_what_is_held_of_a_source_is_what_became_memories(store: AnyStore) -> None:
    entries = tuple(an_entry(n, source=SOURCE) for n in (1, 2))
    other = IngestedRecord("talk:other", "4", "ab", 2)
    store.commit(Changes(AGENT, added=entries, taken=(replace(KEPT, id="9"), KEPT, WAITS, other)))
    assert store.held(AGENT, SOURCE) == ["1", "9"]
    assert store.held("servnak", SOURCE) == []
