"""Ranges of ids hold what was put into them, whatever the order."""

from hypothesis import given
from hypothesis import strategies as st

from noodlings.values.id_ranges import IdRanges

PAIRS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=8)


@given(PAIRS)
def test_they_hold_just_what_was_put_in_and_are_apart_and_in_order(pairs):
    ranges = IdRanges.of(pairs)
    wanted = {number for after, upto in pairs for number in range(after + 1, upto + 1)}
    assert {number for number in range(32) if number in ranges} == wanted
    flat = [end for pair in ranges.ranges for end in pair]
    assert flat == sorted(set(flat))
    assert IdRanges.of(ranges.ranges) == ranges


@given(PAIRS)
def test_the_first_gap_is_where_the_first_one_is_missing(pairs):
    ranges = IdRanges.of(pairs)
    assert all(number in ranges for number in range(1, ranges.first_gap + 1))
    assert ranges.first_gap + 1 not in ranges
