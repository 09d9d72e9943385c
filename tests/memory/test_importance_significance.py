"""Significance in importance: what matters is kept without feeling, and what is repeated wears off."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import UserError
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.importance import about_something
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import Percept

UNIT = st.floats(0.0, 1.0)


def remembered(
    memory: HierarchicalMemory, text: str, significance: float | None, user: str = "ann", felt: object = None
) -> MemoryEntry:
    percept = Percept(user, text, 0.0)
    return memory.remember(percept, step=1, affect=felt, significance=significance)


def test_what_is_worth_keeping_becomes_episodic_without_any_feeling() -> None:
    memory = HierarchicalMemory()
    assert remembered(memory, "the spare key is under the pot", 0.8).importance > 0.3
    assert remembered(memory, "mm", 0.05).importance < 0.1
    assert [entry.user_text for entry in memory.retrieve_episodic()] == ["the spare key is under the pot"]


@given(UNIT, UNIT)
def test_a_feeling_about_a_trifle_counts_less_and_never_more(intensity: float, significance: float) -> None:
    assert 0.0 <= about_something(intensity, significance) <= intensity
    assert about_something(intensity, 1.0) == pytest.approx(intensity)


def test_where_nobody_appraised_the_words_a_feeling_counts_whole() -> None:
    memory, felt = HierarchicalMemory(), [-0.9, 0.8, 0.0, 0.9, 0.0]
    assert (
        remembered(memory, "one", None, felt=felt).importance
        > remembered(memory, "two", 0.0, felt=felt).importance
    )


def test_the_same_words_of_the_same_person_wear_off() -> None:
    memory = HierarchicalMemory()
    values = [remembered(memory, "The door squeaks!", 0.9).importance for _ in range(500)]
    assert values[0] > 0.3 > values[3]
    assert values == sorted(values, reverse=True)
    assert len(memory.retrieve_episodic(limit=None)) <= 3


def test_what_others_said_does_not_wear_it_off() -> None:
    memory = HierarchicalMemory()
    first = remembered(memory, "my house is on fire", 0.9).importance
    assert remembered(memory, "my house is on fire", 0.9, user="bob").importance == first
    assert remembered(memory, "MY HOUSE is on fire", 0.9).importance < first


@pytest.mark.parametrize("wrong", [float("nan"), -0.1, 1.5, "much"])
def test_a_significance_out_of_range_is_refused(wrong: object) -> None:
    with pytest.raises(UserError, match="significance"):
        remembered(HierarchicalMemory(), "hello", wrong)  # type: ignore[arg-type]
