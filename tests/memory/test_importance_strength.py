"""Strength: fades with age and never to nothing; use slows it down, spaced use more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.memory.importance import (
    DAY,
    FLOOR,
    INITIAL_STABILITY,
    reinforced,
    retention,
    strength,
    strength_of,
)
from tests.memory.entries import an_entry

ages = st.floats(-1e9, 1e12)
stabilities = st.floats(1.0, 1e12)
unit = st.floats(0, 1)


def strength_after(recalls: list[float], now: float) -> float:
    """Of an entry of importance 1 at second 0 that was recalled at these moments."""
    stability, last = INITIAL_STABILITY, 0.0
    for moment in recalls:
        stability, last = reinforced(stability, moment - last), moment
    return float(strength(1.0, now - last, stability))


@given(stabilities)
def test_a_tenth_is_gone_after_the_stability(stability: float) -> None:
    assert retention(0.0, stability) == 1.0
    assert retention(stability, stability) == pytest.approx(0.9)
    assert retention(9 * stability, stability) == pytest.approx(0.5)


def test_a_new_memory_keeps_nine_tenths_of_its_freshness_for_a_week() -> None:
    assert retention(7 * DAY, INITIAL_STABILITY) == pytest.approx(0.9)
    assert strength(1.0, 7 * DAY, INITIAL_STABILITY) == pytest.approx(0.96)


@given(unit, ages, stabilities)
def test_time_makes_fainter_but_not_trivial(importance: float, age: float, stability: float) -> None:
    now = strength(importance, age, stability)
    assert importance * FLOOR <= now <= importance
    assert strength(importance, age + DAY, stability) <= now
    assert strength(importance, 1e18, stability) == pytest.approx(0.6 * importance, rel=1e-3)


@given(unit, st.floats(-1e12, 0), stabilities)
def test_what_lies_in_the_future_counts_as_now(importance: float, age: float, stability: float) -> None:
    assert strength(importance, age, stability) == pytest.approx(importance)
    assert reinforced(stability, age) == stability


@given(st.lists(st.tuples(unit, ages, stabilities), min_size=1, max_size=5))
def test_arrays_and_numbers_agree(rows: list[tuple[float, float, float]]) -> None:
    columns = np.array(rows).T
    assert strength(*columns).tolist() == [float(strength(*row)) for row in rows]


def test_spaced_recalls_beat_massed_ones() -> None:
    spaced, massed = [day * DAY for day in range(1, 11)], [10 * DAY - 60 + 6 * k for k in range(10)]
    for later in (20 * DAY, 100 * DAY):
        assert strength_after(spaced, later) > strength_after(massed, later) > strength_after([], later)


def test_recalling_a_hundred_times_in_a_minute_is_recalling_once() -> None:
    once = strength_after([DAY], 30 * DAY)
    often = strength_after([DAY + 0.6 * k for k in range(100)], 30 * DAY)
    assert often == pytest.approx(once, rel=1e-4)


def test_a_recall_after_a_week_makes_fade_a_third_more_slowly() -> None:
    assert reinforced(INITIAL_STABILITY, INITIAL_STABILITY) == pytest.approx(1.3 * INITIAL_STABILITY)


@given(st.lists(st.floats(0, 1e9), max_size=50))
def test_all_recalls_together_gain_at_most_a_third_of_the_time_that_passed(gaps: list[float]) -> None:
    stability = INITIAL_STABILITY
    for gap in gaps:
        longer = reinforced(stability, gap)
        assert longer >= stability
        stability = longer
    assert stability <= (INITIAL_STABILITY + sum(gaps) / 3) * (1 + 1e-9)


def test_an_entry_fades_from_when_it_happened_or_was_last_recalled() -> None:
    told, recalled = an_entry(0, 0.8), an_entry(0, 0.8, last_recalled=30 * DAY)
    assert strength_of(told, 0.0) == pytest.approx(0.8)
    assert strength_of(told, 37 * DAY) < strength_of(recalled, 37 * DAY) == pytest.approx(0.8 * 0.96)


def test_an_override_decides_how_strong_an_entry_is() -> None:
    assert strength_of(an_entry(0, 0.2, override=0.9), 0.0) == pytest.approx(0.9)
