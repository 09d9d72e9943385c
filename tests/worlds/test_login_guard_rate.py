import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.connections import Rate


def test_some_go_at_once_then_each_waits_for_its_turn():
    pace = Rate(per_second=4, at_once=3, now=100)
    assert [pace.wait(100) for _ in range(3)] == [0, 0, 0]
    assert pace.wait(100) == pytest.approx(0.25)
    assert pace.wait(100.25) == pytest.approx(0.25)


def test_a_pause_gives_back_no_more_than_what_may_go_at_once():
    pace = Rate(per_second=1, at_once=2, now=0)
    assert [pace.wait(1_000) > 0 for _ in range(3)] == [False, False, True]


@given(st.floats(0.1, 100), st.integers(1, 50), st.integers(1, 200))
def test_whoever_waits_as_told_goes_at_the_pace(per_second, at_once, lines):
    pace, now = Rate(per_second, at_once, 0), 0.0
    for _ in range(lines):
        now += pace.wait(now)
    assert now == pytest.approx(max(lines - at_once, 0) / per_second)
