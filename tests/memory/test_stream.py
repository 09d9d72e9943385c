"""A stream answers everything as a plain dict of entries would, whatever was put in, replaced and dropped."""

from __future__ import annotations

import tracemalloc
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from noodlings.memory.importance import strength_of
from noodlings.memory.likeness import METRICS, likeness
from noodlings.memory.stream import Floats, Mask, Stream
from noodlings.values.affect import Affect
from noodlings.values.audience import may_learn
from noodlings.values.memory import ImportanceParts, MemoryEntry
from noodlings.values.percept import Kind
from tests.memory.entries import ANXIOUS, JOYFUL, an_entry, ids, remembered
from tests.store.records import entries, same
from tests.thorough import examples

CENTRED = METRICS["centred"]
USERS = ("user_caity", "user_micha", "agent_phi")
NOW = 1e6

users = st.sampled_from(USERS)
small_entries = st.builds(
    an_entry,
    st.integers(1, 60),
    st.sampled_from([0.1, 0.5, 0.9]),
    user_id=users,
    user_text=st.sampled_from(["hello", "my dog died"]),
    affect=st.sampled_from([None, ANXIOUS, JOYFUL]),
    parts=st.sampled_from([ImportanceParts(), ImportanceParts(remember=1.0)]),
    override=st.sampled_from([None, 0.0, 0.5]),
    phenomenal_state=st.sampled_from([None, np.zeros(40, np.float32), np.ones(40, np.float32)]),
    kind=st.sampled_from([Kind.SAY, Kind.WHISPER]),
    audience=st.frozensets(users, max_size=2),
    pinned=st.booleans(),
    last_recalled=st.sampled_from([None, 5e5]),
    extra=st.sampled_from([{}, {"stage_cue": "sighs"}]),
)
CAPACITIES = st.sampled_from([1, 5, 16, 17, 40])


def naive_top(kept: list[MemoryEntry], key: Callable[[MemoryEntry], Any], limit: int) -> list[int]:
    best_first = sorted(kept, key=lambda entry: (key(entry), entry.id), reverse=True)
    return ids(best_first[:limit])


class StreamMachine(RuleBasedStateMachine):
    """A stream beside a dict."""

    @initialize(capacity=CAPACITIES)
    def begin(self, capacity: int) -> None:
        self.stream = Stream(capacity, CENTRED)
        self.model: dict[int, MemoryEntry] = {}

    @rule(entry=small_entries)
    def put(self, entry: MemoryEntry) -> None:
        if entry.id not in self.model and len(self.model) == self.stream.capacity:
            with pytest.raises(IndexError):
                self.stream.put(entry)
        else:
            self.stream.put(entry)
            self.model[entry.id] = entry

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        entry_id = data.draw(st.sampled_from(sorted(self.model)))
        self.stream.drop(entry_id)
        del self.model[entry_id]

    @rule()
    def drop_what_is_not_here(self) -> None:
        with pytest.raises(KeyError):
            self.stream.drop(1_000)

    @precondition(lambda self: len(self.model) > 3)
    @rule()
    def clear(self) -> None:
        self.stream.clear()
        self.model.clear()

    @rule(count=st.none() | st.integers(0, 50), user=users)
    def newest(self, count: int | None, user: str) -> None:
        expected = sorted(self.model)
        rows = self.stream.newest(count)
        assert ids(self.stream.entries(rows)) == (expected if count is None else expected[::-1][:count][::-1])
        said = [entry_id for entry_id in expected if self.model[entry_id].user_id == user]
        rows = self.stream.newest(count, self.stream.said_by(user))
        assert ids(self.stream.entries(rows)) == (said if count is None else said[::-1][:count][::-1])

    @rule(limit=st.integers(-1, 50), user=st.none() | users)
    def top(self, limit: int, user: str | None) -> None:
        kept = [entry for entry in self.model.values() if user in (None, entry.user_id)]
        mask = None if user is None else self.stream.said_by(user)
        rows = self.stream.top(self.stream.importances(), limit, mask)
        best = naive_top(kept, lambda entry: entry.importance, max(limit, 0))
        assert ids(self.stream.entries(rows)) == best

    @rule(present=st.frozensets(users), without=st.lists(st.integers(1, 60), max_size=4))
    def allowed(self, present: frozenset[str], without: list[int]) -> None:
        self._same_mask(self.stream.known_to(present), lambda entry: may_learn(present, entry.audience))
        self._same_mask(
            self.stream.allowed(present, without),
            lambda entry: may_learn(present, entry.audience) and entry.id not in without,
        )

    @invariant()
    def holds_the_same(self) -> None:
        assert len(self.stream) == len(self.model)
        assert self.stream.full is (len(self.model) >= self.stream.capacity)
        assert sorted(self.stream.ids.tolist()) == sorted(self.model)
        for entry_id in (1, 2, 30, *self.model):
            assert (entry_id in self.stream) is (entry_id in self.model)
            assert same(self.stream.get(entry_id), self.model.get(entry_id))

    @invariant()
    def columns_agree(self) -> None:
        self._same_mask(self.stream.pinned, lambda entry: entry.pinned)
        self._same_mask(self.stream.held, lambda entry: entry.held)
        self._same_mask(self.stream.said_by(USERS[0]), lambda entry: entry.user_id == USERS[0])
        self._same(self.stream.importances(), lambda entry: entry.importance)
        self._same(self.stream.strengths(NOW), lambda entry: strength_of(entry, NOW))
        self._same(self.stream.likeness(ANXIOUS), lambda entry: likeness(entry.affect, ANXIOUS))

    def _same(self, column: Floats, value: Callable[[MemoryEntry], float]) -> None:
        expected = [value(self.model[entry_id]) for entry_id in self.stream.ids.tolist()]
        assert column.tolist() == pytest.approx(expected, abs=1e-12)

    def _same_mask(self, mask: Mask, value: Callable[[MemoryEntry], bool]) -> None:
        assert mask.tolist() == [value(self.model[entry_id]) for entry_id in self.stream.ids.tolist()]


StreamMachine.TestCase.settings = settings(max_examples=examples(40), stateful_step_count=40)
TestStream = StreamMachine.TestCase


@pytest.mark.slow
@given(entries)
def test_an_entry_comes_out_as_it_went_in(entry: MemoryEntry) -> None:
    if entry.phenomenal_state is not None:
        entry = replace(entry, phenomenal_state=np.clip(entry.phenomenal_state, -9, 9).astype(np.float32))
    stream = Stream(3, CENTRED)
    stream.put(an_entry(-1))
    stream.put(entry)
    stream.drop(-1)
    out = stream.get(entry.id)
    assert same(out, entry)
    assert (type(out.pinned), type(out.id), type(out.recall_count)) == (bool, int, int)


def test_what_was_read_does_not_change_with_the_stream() -> None:
    stream = Stream(2, CENTRED)
    stream.put(an_entry(1, phenomenal_state=np.ones(40, np.float32)))
    read = stream.get(1)
    stream.put(an_entry(1, phenomenal_state=np.zeros(40, np.float32)))
    assert read.phenomenal_state.tolist() == [1.0] * 40


@settings(max_examples=examples(20))
@given(st.integers(1, 30), st.integers(0, 2**32))
def test_the_top_of_a_long_stream_is_that_of_a_full_sort(limit: int, seed: int) -> None:
    scores = np.random.default_rng(seed).integers(0, 40, 700) / 40.0  # many ties
    stream = long_stream()
    order = sorted(range(700), key=lambda row: (-scores[row], -stream.ids[row]))
    assert stream.top(scores, limit).tolist() == order[:limit]
    odd = np.arange(700) % 2 == 1
    assert stream.top(scores, limit, odd).tolist() == [row for row in order if odd[row]][:limit]


def test_more_than_all_of_a_long_stream_is_all_of_it() -> None:
    stream = long_stream()
    assert len(stream.top(stream.importances(), 10_000)) == 700


def long_stream(kept: list[Stream] = []) -> Stream:  # noqa: B006 -- filled once for all examples
    if not kept:
        kept.append(Stream(700, CENTRED))
        for number in range(700):
            kept[0].put(an_entry((number * 37) % 701))
    return kept[0]


def test_room_is_taken_when_it_is_needed() -> None:
    tracemalloc.start()
    try:
        stream = Stream(1_000_000, CENTRED)
        assert len(stream) == 0
        assert tracemalloc.get_traced_memory()[0] < 50_000
    finally:
        tracemalloc.stop()


def test_a_row_is_reused_after_it_was_let_go() -> None:
    stream = Stream(2, CENTRED)
    for number in range(1, 1_000):
        if stream.full:
            stream.drop(number - 2)
        stream.put(remembered(number) if number % 2 else an_entry(number))
    assert sorted(stream.ids.tolist()) == [998, 999]
    assert dict(zip(stream.ids.tolist(), stream.held.tolist(), strict=True)) == {998: False, 999: True}


def test_nothing_of_what_was_dropped_is_held_on_to() -> None:
    class Ghost:
        pass

    ghosts = {number: Ghost() for number in range(4)}
    seen = {number: weakref.ref(ghost) for number, ghost in ghosts.items()}
    stream = Stream(4, CENTRED)
    for number in range(4):
        stream.put(an_entry(number, extra={"ghost": ghosts.pop(number)}))
    stream.drop(3)
    stream.drop(0)
    assert [seen[number]() is None for number in range(4)] == [True, False, False, True]
    stream.clear()
    assert all(ghost() is None for ghost in seen.values())


def test_a_secret_is_told_before_those_alone_who_witnessed_it() -> None:
    stream = Stream(4, CENTRED)
    stream.put(an_entry(1, user_id="a", kind=Kind.WHISPER, audience=frozenset({"b"})))
    stream.put(an_entry(2, user_id="b", kind=Kind.WHISPER, audience=frozenset({"a"})))
    stream.put(an_entry(3, user_id="c", kind=Kind.WHISPER))
    stream.put(an_entry(4, user_id="c", audience=frozenset({"b"})))  # said aloud
    assert stream.known_to(frozenset({"a", "b"})).tolist() == [True, True, False, True]
    assert stream.known_to(frozenset({"c"})).tolist() == [False, False, True, True]
    assert stream.known_to(frozenset({"a", "c"})).tolist() == [False, False, False, True]
    assert stream.known_to(frozenset()).tolist() == [False, False, False, True]  # a mistake tells nothing
    assert stream.known_to(None).tolist() == [True] * 4


def test_a_missing_feeling_lies_in_the_middle() -> None:
    stream = Stream(2, METRICS["euclidean"])
    stream.put(an_entry(1, affect=None))
    stream.put(an_entry(2, affect=Affect(1.0, 1.0)))
    assert stream.likeness(Affect(-1.0, 0.0)).tolist() == [0.5, 0.0]
