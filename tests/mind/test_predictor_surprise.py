import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.mind.predictor import (
    BORROWED,
    BORROWED_WEIGHT,
    HISTORY,
    LEAST_USUAL,
    USUAL_SURPRISE,
    affect_error,
    calibrated,
    meaning_error,
    usual,
)
from tests.mind.streams import affects

nats = st.floats(0, 1e4)


@given(nats, nats, st.lists(nats, max_size=HISTORY))
def test_surprise_stays_in_range_and_grows_with_the_error(one, other, history):
    scale = usual(np.array(history))
    low, high = (calibrated(error, scale) for error in sorted([one, other]))
    assert 0.0 <= low <= high <= 1.0


def test_the_usual_is_a_little_surprising_and_twice_the_usual_much():
    assert calibrated(3.0, 3.0) == pytest.approx(USUAL_SURPRISE)
    assert calibrated(6.0, 3.0) > 0.75
    assert calibrated(0.0, 3.0) == 0.0


def test_the_scale_is_the_agents_own():
    calm, stormy = np.full(HISTORY, 1.0), np.full(HISTORY, 8.0)
    assert calibrated(5.0, usual(calm)) > 0.9
    assert calibrated(5.0, usual(stormy)) < 0.1


def test_a_new_agent_borrows_and_then_learns_what_is_usual():
    scales = [usual(np.full(count, 10.0)) for count in (0, 1, BORROWED_WEIGHT, 64)]
    assert scales[0] == BORROWED
    assert scales == sorted(scales)
    assert scales[2] == pytest.approx((BORROWED + 10.0) / 2)


def test_one_shock_does_not_shift_what_is_usual():
    assert usual(np.array([3.0] * 30 + [50.0])) == usual(np.array([3.0] * 31))


def test_no_life_is_so_still_that_a_nuance_startles():
    assert usual(np.zeros(HISTORY)) == LEAST_USUAL
    assert calibrated(0.3, LEAST_USUAL) < 0.01


@given(affects, affects)
def test_an_affect_error_is_a_distance(one, other):
    there, back = (affect_error(a.array(), b.array()) for a, b in [(one, other), (other, one)])
    assert there == back >= 0.0
    assert affect_error(one.array(), one.array()) == 0.0


def test_small_strays_cost_next_to_nothing_and_large_ones_in_proportion():
    rest = np.zeros(5)
    little, much, more = (affect_error(rest, np.array([v, 0, 0, 0, 0])) for v in (0.1, 0.8, 1.6))
    assert little < 0.15
    assert 1.8 < more / much < 2.6


def test_the_certain_costs_nothing():
    assert meaning_error(1.0) == 0.0
    assert meaning_error(0.01) > meaning_error(0.1) > 0.0
