"""Small drawings of numbers: as wide as they are asked to be, and true to what they show."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from noodlings.drawing.marks import signed_bar
from noodlings.values.affect import AXES as ALL_AXES
from noodlings.values.affect import Affect
from studio.widgets.marks import AXES, axis_bars, histogram, signed_number, spark

SHARES = st.floats(0.0, 1.0)
AFFECTS = st.builds(Affect, st.floats(-1.0, 1.0), SHARES, SHARES, SHARES, SHARES)


def test_the_axes_are_those_of_an_affect() -> None:
    assert AXES == ALL_AXES


@given(st.lists(SHARES, max_size=30), st.integers(1, 20))
def test_a_spark_is_as_wide_as_asked_and_ends_with_the_latest(values: list[float], width: int) -> None:
    drawn = spark(values, width).plain
    assert len(drawn) == width
    assert drawn.count("·") == max(width - len(values), 0)
    if values:
        assert drawn[-1] == spark(values[-1:], 1).plain


@given(st.floats(-1.0, 1.0), st.integers(1, 20).map(lambda half: 2 * half + 1))
def test_a_signed_bar_grows_from_the_middle(value: float, width: int) -> None:
    drawn = signed_bar(value, width).plain
    assert len(drawn) == width
    assert drawn[width // 2] == "│"
    left, right = drawn[: width // 2], drawn[width // 2 + 1 :]
    assert (set(left) != {"·"}) == (value < 0)
    assert (set(right) != {"·"}) == (value > 0)


@given(AFFECTS, st.integers(20, 60))
def test_the_five_axes_have_a_line_each_with_their_number(affect: Affect, width: int) -> None:
    lines = [line.plain for line in axis_bars(affect, width)]
    assert [line.split()[0] for line in lines] == list(AXES)
    assert {len(line) for line in lines} == {width}
    assert lines[0].endswith(signed_number(affect.valence))
    assert lines[2].endswith(f"{affect.fear:.2f}")


@given(st.lists(st.integers(0, 500), min_size=1, max_size=10), st.integers(20, 80), st.integers(3, 12))
def test_columns_stand_over_their_names_and_fit(counts: list[int], width: int, height: int) -> None:
    names = [str(at) for at in range(len(counts))]
    lines = histogram(counts, names, width, height).plain.split("\n")
    assert len(lines) == height + 2
    assert max(map(len, lines)) <= width
    assert lines[-1].split() == names
    each = max(width // len(counts), 2)
    for at, count in enumerate(counts):
        stands = [line[at * each : at * each + 1] for line in lines[:height]]
        assert any(sign in "▁▂▃▄▅▆▇█" for sign in stands if sign.strip()) == (count > 0) or count == 0
