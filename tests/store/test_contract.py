"""The contract of the port `Store`, of the archive and of the world's shelf, over every adapter."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import StoreError
from noodlings.ports import AgentState, Changes, EntryColumns, Store
from noodlings.store.documents import LARGEST
from noodlings.values.memory import EntryVector, MemoryEntry
from noodlings.values.trace import Trace
from tests.store.either import AnyStore, Make, filled, ids, the_entry
from tests.store.records import AGENT, a_trace, an_entry, entries, json_data, same, traces

NUMBERS = count()


def test_both_are_stores(store: AnyStore) -> None:
    port: Store = store
    assert port.agents() == []


def test_an_agent_that_was_never_stored_is_none_and_has_nothing(store: AnyStore) -> None:
    assert store.load(AGENT) is None
    assert store.traces(AGENT, 5) == []
    assert store.entries(AGENT, [1]) == {}
    assert store.archive(AGENT) == []


def test_an_agent_is_there_from_its_first_commit_on(store: AnyStore) -> None:
    store.commit(Changes(AGENT))
    record = store.load(AGENT)
    assert record is not None
    assert record.state == AgentState(AGENT, {})
    assert (record.working, record.episodic, record.perceived, record.last_id) == ((), (), 0, 0)


def test_a_fingerprint_is_of_the_text_alone(store: AnyStore) -> None:
    assert store.fingerprint("hm") == store.fingerprint("hm") != store.fingerprint("hm ")
    assert len(store.fingerprint("")) == 32


def test_agents_are_sorted_and_kept_apart(store: AnyStore) -> None:
    for agent_id in ("servnak", "callie", "Äl"):
        store.commit(Changes(agent_id, added=(an_entry(1, f"of {agent_id}"),)))
    assert store.agents() == ["callie", "servnak", "Äl"]
    assert store.entries("callie", [1])[1].user_text == "of callie"
    store.forget("callie", [1], by_user="admin", timestamp=1.0)
    assert store.entries("servnak", [1])[1].user_text == "of servnak"


@given(entries)
def test_any_entry_comes_back_as_it_was(lasting: AnyStore, entry: MemoryEntry) -> None:
    agent_id = f"agent {next(NUMBERS)}"
    lasting.commit(Changes(agent_id, added=(entry,), episodic=(entry.id,)))
    record = lasting.load(agent_id)
    assert record is not None
    assert same(lasting.entries(agent_id, [entry.id])[entry.id], entry)
    # What a source tells was never lived.
    assert len(record.working) == (not entry.source)
    assert all(same(one, entry) for one in record.working)
    assert same(record.episodic[0], entry)
    assert record.last_id == entry.id


@given(traces, json_data)
def test_any_trace_and_state_come_back_as_they_were(
    lasting: AnyStore, trace: Trace, data: dict[str, Any]
) -> None:
    agent_id = f"agent {next(NUMBERS)}"
    trace = replace(trace, agent_id=agent_id)
    state = AgentState(agent_id, data)
    lasting.commit(Changes(agent_id, added=(an_entry(trace.entry_id),), state=state, trace=trace))
    record = lasting.load(agent_id)
    assert record is not None
    assert lasting.traces(agent_id) == [trace]
    assert record.state == state


def test_working_is_the_latest_and_counts_are_of_the_whole_archive(make: Make) -> None:
    store = filled(make(working_capacity=3), 7)
    record = store.load(AGENT)
    assert record is not None
    assert ids(record.working) == [5, 6, 7]
    assert (record.perceived, record.consolidated, record.last_id) == (7, 0, 7)


def test_twenty_are_working_unless_said_otherwise(store: AnyStore) -> None:
    record = filled(store, 25).load(AGENT)
    assert record is not None
    assert ids(record.working) == list(range(6, 26))


def test_membership_comes_and_goes_and_what_was_consolidated_stays_counted(store: AnyStore) -> None:
    store.commit(Changes(AGENT, added=tuple(an_entry(number) for number in (1, 2, 3, 4)), episodic=(3, 4)))
    store.commit(Changes(AGENT, episodic=(1,)))
    store.commit(Changes(AGENT, evicted=(3,)))
    record = store.load(AGENT)
    assert record is not None
    assert ids(record.episodic) == [1, 4]
    assert record.consolidated == 3
    assert 3 in store.entries(AGENT, [3])


def test_an_update_writes_the_history_of_an_entry_and_nothing_it_was_encoded_with(store: AnyStore) -> None:
    entry = an_entry(1, "my dog died", phenomenal_state=np.ones(40), extra={"task": "talk"})
    store.commit(Changes(AGENT, added=(entry,), episodic=(1,)))
    history: dict[str, Any] = {
        "response": "I AM SORRY",
        "override": 0.75,
        "override_by": "response",
        "pinned": True,
        "recall_count": 2,
        "last_recalled": 5_000.0,
        "stability": 90.0,
    }
    changed = replace(entry, **history)
    store.commit(Changes(AGENT, updated=(replace(changed, encoded_importance=0.0, user_text="hello"),)))
    assert same(the_entry(store, 1), changed)
    record = store.load(AGENT)
    assert record is not None
    assert ids(record.episodic) == [1]


def test_the_state_is_left_alone_unless_there_is_a_new_one(store: AnyStore) -> None:
    data: dict[str, Any] = {"mood": [0.5, 0.5], "said": ["HELLO"]}
    store.commit(Changes(AGENT, state=AgentState(AGENT, data)))
    data["said"].append("kept outside")
    store.commit(Changes(AGENT, added=(an_entry(1),)))
    record = store.load(AGENT)
    assert record is not None
    assert record.state.data == {"mood": [0.5, 0.5], "said": ["HELLO"]}


def test_traces_come_newest_first_and_below_an_id(store: AnyStore) -> None:
    filled(store, 5)
    for number in (1, 2, 3, 5):
        store.commit(Changes(AGENT, trace=a_trace(number)))
    assert [trace.entry_id for trace in store.traces(AGENT)] == [5]
    assert [trace.entry_id for trace in store.traces(AGENT, 10)] == [5, 3, 2, 1]
    assert [trace.entry_id for trace in store.traces(AGENT, 2, before=5)] == [3, 2]
    assert store.traces(AGENT, 2, before=1) == []
    assert store.traces(AGENT, 0) == store.traces(AGENT, -1) == []
    assert [trace.entry_id for trace in store.traces(AGENT, before=10**30)] == [5]


def test_the_largest_id_is_an_id_like_any_other(store: AnyStore) -> None:
    store.commit(Changes(AGENT, added=(an_entry(LARGEST),), trace=a_trace(LARGEST)))
    assert ids(store.archive(AGENT)) == list(store.entries(AGENT, [LARGEST])) == [LARGEST]
    assert [trace.entry_id for trace in store.traces(AGENT)] == [LARGEST]


def test_a_turn_that_is_traced_again_has_its_later_trace(store: AnyStore) -> None:
    filled(store, 1)
    store.commit(Changes(AGENT, trace=a_trace(1, response=None)))
    store.commit(Changes(AGENT, trace=a_trace(1, response="YES")))
    assert [trace.response for trace in store.traces(AGENT, 9)] == ["YES"]


def test_traces_are_kept_for_the_latest_percepts_only(
    store: AnyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("noodlings.store.writing.KEPT_TRACES", 3)
    for number in range(1, 8):
        store.commit(Changes(AGENT, added=(an_entry(number),), trace=a_trace(number)))
    assert [trace.entry_id for trace in store.traces(AGENT, 99)] == [7, 6, 5]
    store.commit(Changes("servnak", added=(an_entry(1),), trace=replace(a_trace(1), agent_id="servnak")))
    assert len(store.traces("servnak", 9)) == 1


def test_entries_are_found_by_id_and_what_does_not_exist_is_missing(store: AnyStore) -> None:
    filled(store, 1_200)
    assert store.entries(AGENT, []) == {}
    assert ids(store.entries(AGENT, [3, 1, 3, 9_999, -1, 10**30]).values()) in ([1, 3], [3, 1])
    assert len(store.entries(AGENT, range(5_000))) == 1_200


def test_the_archive_is_read_in_pages(store: AnyStore) -> None:
    filled(store, 12)
    assert ids(store.archive(AGENT, limit=5)) == [1, 2, 3, 4, 5]
    assert ids(store.archive(AGENT, 5, 5)) == [6, 7, 8, 9, 10]
    assert ids(store.archive(AGENT, after_id=10, limit=5)) == [11, 12]
    assert store.archive(AGENT, 12) == store.archive(AGENT, 0, 0) == store.archive(AGENT, 0, -1) == []


@given(entry=entries)
def test_what_search_looks_at_comes_in_columns_and_is_that_of_whole_entries(
    lasting: AnyStore, entry: MemoryEntry
) -> None:
    entry = replace(entry, id=next(NUMBERS) + 1)
    vector = EntryVector(entry.id, "small", np.array([0.6, 0.8], np.float32))
    agent = f"columns-{entry.id}"
    lasting.commit(Changes(agent, added=(entry,), vectors=(vector,) if entry.id % 2 else ()))
    columns = lasting.columns(agent, "small")
    [back] = lasting.archive(agent)
    expected = EntryColumns.of([back], {entry.id: vector} if entry.id % 2 else {})
    for field in fields(EntryColumns):
        found, wanted = getattr(columns, field.name), getattr(expected, field.name)
        if field.name in ("audiences", "tags", "tried"):
            assert {key: value for key, value in found.items() if value} == {
                key: value for key, value in wanted.items() if value
            }
        else:
            np.testing.assert_array_equal(list(found), list(wanted), field.name)
    assert not lasting.columns(agent, "small", entry.id).ids
    assert not list(lasting.columns(agent, "another").vectors)


@pytest.mark.parametrize(
    "broken",
    [
        {"added": (an_entry(3), an_entry(1))},
        {"added": (an_entry(3), an_entry(3))},
        {"added": (an_entry(3), an_entry(4, timestamp=math.nan))},
        {"added": (an_entry(3),), "updated": (an_entry(99),)},
        {"added": (an_entry(3),), "episodic": (99,)},
        {"added": (an_entry(3),), "evicted": (99,)},
        {"added": (an_entry(3),), "trace": a_trace(99)},
        {"added": (an_entry(3),), "trace": replace(a_trace(3), agent_id="servnak")},
        {"added": (an_entry(3),), "state": AgentState(AGENT, {"mood": math.nan})},
        {"added": (an_entry(3),), "state": AgentState("servnak")},
    ],
)
def test_changes_with_a_mistake_in_them_are_refused_whole(store: AnyStore, broken: dict[str, Any]) -> None:
    filled(store, 2)
    state = AgentState(AGENT, {"mood": 1})
    store.commit(Changes(AGENT, episodic=(2,), state=state, trace=a_trace(2)))
    whole: dict[str, Any] = {
        "episodic": (1, 3),
        "evicted": (2,),
        "state": AgentState(AGENT),
        "trace": a_trace(1),
    }
    with pytest.raises(StoreError):
        store.commit(Changes(AGENT, **(whole | broken)))
    record = store.load(AGENT)
    assert record is not None
    assert ids(record.working) == [1, 2]
    assert ids(record.episodic) == [2]
    assert record.state == state
    assert [trace.entry_id for trace in store.traces(AGENT, 9)] == [2]
    store.commit(Changes(AGENT, added=(an_entry(3),)))
    assert ids(store.archive(AGENT)) == [1, 2, 3]


def test_a_first_commit_that_is_refused_leaves_no_agent(store: AnyStore) -> None:
    with pytest.raises(StoreError):
        store.commit(Changes(AGENT, updated=(an_entry(1),)))
    assert store.agents() == []
    assert store.load(AGENT) is None


def test_who_told_what_is_known_of_the_whole_archive(store: AnyStore) -> None:
    others = tuple(
        an_entry(number, user_id="user_bob" if number % 3 else "user_caity") for number in range(1, 40)
    )
    store.commit(Changes(AGENT, added=others))
    store.commit(Changes("servnak", added=(an_entry(77, user_id="user_caity"),)))
    assert store.told_by(AGENT, "user_caity") == list(range(3, 40, 3))
    assert store.told_by(AGENT, "user_nobody") == store.told_by("nobody", "user_caity") == []


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), json_data)
def test_the_world_keeps_what_it_is_given(lasting: AnyStore, key: str, value: dict[str, Any]) -> None:
    lasting.world_set(key, {"old": 1})
    lasting.world_set(key, value)
    assert lasting.world_get(key) == value


def test_the_world_has_nothing_under_other_keys_and_refuses_what_is_not_data(store: AnyStore) -> None:
    assert store.world_get("rooms") is None
    store.world_set("rooms", {"phi": "library"})
    for mistake in (math.nan, {1, 2}, "\udc00"):
        with pytest.raises(StoreError):
            store.world_set("rooms", mistake)
    assert store.world_get("rooms") == {"phi": "library"}
