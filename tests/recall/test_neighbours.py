import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.recall.neighbours import AFTER, BEFORE, TALK_GAP, Neighbours
from tests.recall.archives import append_row, neighbours_of


def talk_of(*moments):
    """Moments are seconds, or (seconds, place)."""
    neighbours = Neighbours()
    for moment in moments:
        timestamp, place = moment if isinstance(moment, tuple) else (moment, "")
        append_row(neighbours, timestamp, place)
    return neighbours


def test_the_two_lines_before_and_the_one_after():
    neighbours = talk_of(0, 1, 2, 3, 4)
    assert neighbours_of(neighbours, 2) == [(1.0, 2), (BEFORE[0], 1), (BEFORE[1], 0), (AFTER, 3)]


def test_the_first_and_the_last_line_have_fewer():
    neighbours = talk_of(0, 1, 2)
    assert [row for _, row in neighbours_of(neighbours, 0)] == [0, 1]
    assert [row for _, row in neighbours_of(neighbours, 2)] == [2, 1, 0]


def test_a_long_silence_ends_a_talk():
    neighbours = talk_of(0, TALK_GAP, 2 * TALK_GAP + 1)
    assert [row for _, row in neighbours_of(neighbours, 1)] == [1, 0]
    assert neighbours_of(neighbours, 2) == [(1.0, 2)]


def test_elsewhere_is_another_talk():
    neighbours = talk_of((0, "mill"), (1, "inn"), (2, "inn"))
    assert neighbours_of(neighbours, 0) == [(1.0, 0)]
    assert [row for _, row in neighbours_of(neighbours, 1)] == [1, 2]


@given(
    st.lists(st.tuples(st.sampled_from([1.0, 9_999.0]), st.floats(0, 1, width=32)), min_size=1, max_size=30)
)
def test_what_is_gathered_is_what_is_of_a_row(steps):
    neighbours = Neighbours()
    now = 0.0
    for step, _ in steps:
        now += step
        append_row(neighbours, now, "")
    values = np.array([value for _, value in steps], np.float32)
    expected = [sum(w * values[s] for w, s in neighbours_of(neighbours, row)) for row in range(len(values))]
    assert neighbours.gather(values) == pytest.approx(expected, abs=1e-5)
    some = np.arange(0, len(values), 2)
    assert neighbours.gather(values, some) == pytest.approx(np.array(expected)[some], abs=1e-5)
    assert set(neighbours.around(some)) == {row for at in some for _, row in neighbours_of(neighbours, at)}


@given(
    st.lists(
        st.tuples(st.sampled_from([1.0, 9_999.0]), st.sampled_from(["", "inn"]), st.booleans()), max_size=20
    )
)
def test_those_whose_neighbour_a_row_is(steps):
    neighbours, now = Neighbours(), 0.0
    for step, place, aside in steps:
        now += step
        append_row(neighbours, now, place, aside)
    for row in range(len(steps)):
        assert set(neighbours.whose(np.array([row])).tolist()) == {
            other
            for other in range(len(steps))
            if row in [near for _, near in neighbours_of(neighbours, other)]
        }


def test_what_stands_aside_interrupts_no_talk():
    neighbours = Neighbours()
    for number, aside in enumerate([False, True, False, True, True, False]):
        append_row(neighbours, float(number), "", aside)
    assert neighbours_of(neighbours, 5) == [(1.0, 5), (BEFORE[0], 2), (BEFORE[1], 0)]
    assert neighbours_of(neighbours, 2) == [(1.0, 2), (BEFORE[0], 0), (AFTER, 5)]
    assert neighbours_of(neighbours, 3) == [(1.0, 3)]


@given(
    st.lists(
        st.tuples(st.sampled_from([1.0, 9_999.0]), st.booleans(), st.booleans()), min_size=1, max_size=20
    )
)
def test_some_rows_have_the_neighbours_that_they_had_alone(steps):
    whole, alone, now = Neighbours(), Neighbours(), 0.0
    for step, aside, taken in steps:
        now += step
        append_row(whole, now, "", aside)
        if taken:
            append_row(alone, now, "", aside)
    rows = np.flatnonzero([taken for *_, taken in steps])
    part = whole.only(rows)
    assert [neighbours_of(part, row) for row in range(len(rows))] == [
        neighbours_of(alone, row) for row in range(len(rows))
    ]


@given(st.integers(1, 20), st.data())
def test_what_is_spread_is_what_is_gathered(count, data):
    neighbours = talk_of(*range(count))
    row = data.draw(st.integers(0, count - 1))
    spread = np.zeros(count + 1, np.float32)
    for places, values in neighbours.spread(np.array([row]), np.ones(1, np.float32)):
        spread[places] += values
    alone = np.zeros(count, np.float32)
    alone[row] = 1.0
    assert spread[:-1] == pytest.approx(neighbours.gather(alone), abs=1e-6)
