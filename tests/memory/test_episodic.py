"""Episodic memory: who is let in, who leaves, and how its entries are found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noodlings.memory import episodic
from noodlings.memory.episodic import EpisodicMemory
from noodlings.memory.importance import DAY
from noodlings.memory.likeness import METRICS
from noodlings.values.affect import Affect
from noodlings.values.memory import MemoryEntry, Why
from tests.memory.entries import ANXIOUS, JOYFUL, WORRIED, an_entry, ids, remembered
from tests.thorough import examples

NOW = 100.0


def memory_of(*entries: MemoryEntry, capacity: int | None = None) -> EpisodicMemory:
    memory = EpisodicMemory(capacity or len(entries), METRICS["centred"], threshold=0.3)
    for entry in entries:
        memory.put(entry)
    return memory


@pytest.mark.parametrize(
    ("entry", "admitted"),
    [
        (an_entry(1, 0.31), True),
        (an_entry(1, 0.3), False),
        (an_entry(1, 0.29), False),
        (an_entry(1, 0.1, override=0.4), True),
        (an_entry(1, 0.9, override=0.1), False),
        (an_entry(1, 0.0, pinned=True), True),
        (remembered(1, 0.0), True),
    ],
)
def test_what_is_above_the_threshold_or_held_is_let_in(entry: MemoryEntry, admitted: bool) -> None:
    assert memory_of(capacity=1).admits(entry) is admitted


def test_the_weakest_leaves_not_the_oldest() -> None:
    memory = memory_of(an_entry(1, 0.9), an_entry(2, 0.4), an_entry(3, 0.6))
    assert memory.leaver(an_entry(4, 0.5), NOW) == 2


def test_it_is_strength_that_decides_so_age_and_use_count() -> None:
    year = 365 * DAY
    faded, fresh = an_entry(1, 0.5), an_entry(2, 0.4, timestamp=year)
    newcomer = an_entry(3, 0.9, timestamp=year)
    assert memory_of(faded, fresh).leaver(newcomer, year) == 1
    recalled = an_entry(1, 0.5, last_recalled=year)
    assert memory_of(recalled, fresh).leaver(newcomer, year) == 2
    often_recalled = an_entry(1, 0.5, stability=10 * year)
    assert memory_of(often_recalled, fresh).leaver(newcomer, year) == 2


def test_of_equally_weak_ones_the_oldest_leaves() -> None:
    same_age = [an_entry(number, 0.5, timestamp=0.0) for number in (7, 3, 5)]
    assert memory_of(*same_age).leaver(an_entry(8, 0.6, timestamp=0.0), NOW) == 3


def test_a_newcomer_that_is_weakest_leaves_at_once_and_one_that_is_as_strong_stays() -> None:
    memory = memory_of(an_entry(1, 0.5, timestamp=0.0), an_entry(2, 0.6, timestamp=0.0))
    assert memory.leaver(an_entry(3, 0.49, timestamp=0.0), NOW) == 3
    assert memory.leaver(an_entry(3, 0.5, timestamp=0.0), NOW) == 1


@pytest.mark.parametrize("hold", [lambda: an_entry(1, 0.1, pinned=True), lambda: remembered(1, 0.1)])
def test_what_is_held_stays_however_weak(hold) -> None:
    memory = memory_of(hold(), an_entry(2, 0.8), an_entry(3, 0.9))
    assert memory.leaver(an_entry(4, 0.85), NOW) == 2
    assert memory.leaver(an_entry(4, 0.2), NOW) == 4


def test_a_newcomer_that_is_held_comes_in_however_weak() -> None:
    memory = memory_of(an_entry(1, 0.9), an_entry(2, 0.8))
    assert memory.leaver(an_entry(3, 0.0, pinned=True), NOW) == 2
    assert memory.leaver(remembered(3, 0.0), NOW) == 2


def test_when_everything_is_held_the_newcomer_leaves() -> None:
    memory = memory_of(an_entry(1, 0.1, pinned=True), remembered(2, 0.1))
    assert memory.all_held
    assert memory.leaver(an_entry(3, 1.0, pinned=True), NOW) == 3


def test_all_is_held_only_when_there_is_no_room_either() -> None:
    assert not memory_of(an_entry(1, pinned=True), capacity=2).all_held
    assert not memory_of(an_entry(1, pinned=True), an_entry(2)).all_held


def test_important_entries_come_first_and_of_equal_ones_the_newer() -> None:
    memory = memory_of(an_entry(1, 0.5), an_entry(2, 0.9), an_entry(3, 0.5), an_entry(4, 0.1, override=0.7))
    assert ids(memory.important(10, 0.0, None, memory.known_to(None))) == [2, 4, 3, 1]
    assert ids(memory.important(None, 0.0, None, memory.known_to(None))) == [2, 4, 3, 1]
    assert ids(memory.important(3, 0.0, None, memory.known_to(None))) == [2, 4, 3]
    assert ids(memory.important(10, 0.5, None, memory.known_to(None))) == [2, 4, 3, 1]
    assert ids(memory.important(10, 0.51, None, memory.known_to(None))) == [2, 4]
    assert ids(memory.important(0, 0.0, None, memory.known_to(None))) == []


def test_important_entries_of_one_user() -> None:
    memory = memory_of(an_entry(1, 0.9, user_id="a"), an_entry(2, 0.5, user_id="b"), an_entry(3, user_id="b"))
    assert ids(memory.important(10, 0.0, "b", memory.known_to(None))) == [3, 2]
    assert ids(memory.important(10, 0.0, "nobody", memory.known_to(None))) == []


def test_what_is_recalled_for_its_importance_is_not_recalled_again() -> None:
    memory = memory_of(an_entry(1, 0.9), an_entry(2, 0.6), an_entry(3, 0.8), an_entry(4, 0.7))
    allowed = np.array([True, True, False, True])
    found = memory.recall_important(2, None, allowed)
    assert [(one.entry.id, one.why, one.score, one.scores) for one in found] == [
        (1, (Why.IMPORTANT,), 0.9, {"important": 0.9}),
        (4, (Why.IMPORTANT,), 0.7, {"important": 0.7}),
    ]
    assert allowed.tolist() == [False, True, False, False]


def test_recall_by_feeling_brings_the_most_alike_first_and_nothing_that_is_not_alike() -> None:
    memory = memory_of(
        an_entry(1, affect=WORRIED), an_entry(2, affect=JOYFUL), an_entry(3, affect=ANXIOUS), an_entry(4)
    )
    found = memory.recall_alike(ANXIOUS, 5, 0.7, memory.known_to(None))
    assert [one.entry.id for one in found] == [3, 1]
    assert found[0].score == pytest.approx(1.0)
    assert 0.7 <= found[1].score < 1.0
    assert found[1].scores == {"affect": found[1].score}
    assert found[1].why == (Why.AFFECT,)
    assert ids(memory.alike(ANXIOUS, 5, 0.7)) == [3, 1]
    assert ids(memory.alike(ANXIOUS, 1, 0.7)) == [3]
    assert [one.entry.id for one in memory.recall_alike(ANXIOUS, 5, 0.7, ~(memory.ids == 3))] == [1]


def test_exactly_as_alike_as_asked_is_alike_enough() -> None:
    memory = EpisodicMemory(2, METRICS["euclidean"], 0.3)
    memory.put(an_entry(1, affect=None))
    assert ids(memory.alike(Affect(), 5, 0.5)) == [1]
    assert [one.entry.id for one in memory.recall_alike(Affect(), 5, 0.5, memory.known_to(None))] == [1]
    assert ids(memory.alike(Affect(), 5, 0.51)) == []


@pytest.mark.slow
@given(st.integers(0, 10_000))
@settings(max_examples=examples(20))
def test_who_leaves_a_large_memory_is_who_is_weakest_of_all(seed: int) -> None:
    random = np.random.default_rng(seed)
    large, looked_at_whole = (EpisodicMemory(40, METRICS["centred"], 0.3) for _ in range(2))
    now = 1_000.0
    with pytest.MonkeyPatch.context() as patch:
        for number in range(1, 200):
            patch.setattr(episodic, "_WEAKEST", 5)
            now += float(random.choice([1.0, 3_600.0, 30 * DAY, -DAY]))
            entry = an_entry(
                number, float(random.choice([0.3, 0.5, 0.9])), timestamp=now - random.uniform(0, DAY)
            )
            if not large.full:
                large.put(entry)
                looked_at_whole.put(entry)
                continue
            kept = large.get(int(random.choice(large.ids)))
            assert kept is not None
            recalled = replace(
                kept, pinned=bool(random.integers(9) == 0), last_recalled=now, stability=9 * DAY
            )
            large.put(recalled)
            looked_at_whole.put(recalled)
            leaver = large.leaver(entry, now)
            patch.setattr(episodic, "_WEAKEST", 100)
            assert leaver == looked_at_whole.leaver(entry, now)
            if leaver != entry.id:
                for memory in (large, looked_at_whole):
                    memory.drop(leaver)
                    memory.put(entry)
