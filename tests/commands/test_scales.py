"""Bars between two ends, and rows of columns: true to their numbers at every width."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from commands.scales import MARK, WIDEST, Course, Scale, Scales, columns, gauge
from noodlings.drawing.screen import render

units = st.floats(0, 1)
signed = st.floats(-1, 1)
odd = st.integers(1, 30).map(lambda half: 2 * half + 1)
names = st.text(st.characters(codec="ascii", categories=["L"]), min_size=1, max_size=12)


def scale(value, mark=None, **changes):
    return Scale("fear", value, mark, (f"{value:.2f}",), **changes)


@pytest.mark.parametrize(
    ("value", "mark", "drawn"),
    [
        (0.0, None, "·········"),
        (1e-9, None, "▏········"),
        (0.5, None, "████▌····"),
        (1.0, None, "█████████"),
        (0.5, 0.0, "┃███▌····"),
        (0.0, 1.0, "········┃"),
    ],
)
def test_a_bar_grows_from_the_left(value, mark, drawn):
    assert gauge(scale(value, mark), 9).plain == drawn


@pytest.mark.parametrize(
    ("value", "mark", "drawn"),
    [
        (0.0, None, "····│····"),
        (1.0, None, "····│████"),
        (-1.0, None, "████│····"),
        (-0.5, None, "··██│····"),
        (0.5, None, "····│██··"),
        (-1e-9, None, "···▕│····"),
        (-0.375, None, "··▐█│····"),
        (-0.5, 0.0, "··██┃····"),
        (0.5, -1.0, "┃···│██··"),
        (0.5, 1.0, "····│██·┃"),
    ],
)
def test_a_signed_bar_grows_from_the_middle(value, mark, drawn):
    assert gauge(scale(value, mark, signed=True), 9).plain == drawn


@given(signed, signed, odd)
def test_a_bar_is_as_long_as_it_is_asked_to_be(value, mark, width):
    for drawn in (scale(value, mark, signed=True), scale(abs(value), abs(mark))):
        bar = gauge(drawn, width).plain
        assert cell_len(bar) == len(bar) == width
        assert bar.count(MARK) == 1


@given(units, units, odd)
def test_more_is_never_shorter(one, other, width):
    low, high = sorted((one, other))
    filled = [gauge(scale(value), width).plain.count("█") for value in (low, high)]
    assert filled == sorted(filled)


@pytest.mark.slow
@given(
    st.lists(st.tuples(names, units, st.tuples(names, names)), min_size=1, max_size=4), st.integers(20, 130)
)
def test_scales_fit_every_width_and_keep_their_numbers(rows, width):
    scales = [Scale(name, value, None, (f"{value:.2f}", "0.50"), ends) for name, value, ends in rows]
    lines = render(Scales(scales, ("now", "usual"))).split("\n")
    assert len(lines) == len(rows) + 1
    narrow = render(Scales(scales, ("now", "usual")), width).split("\n")
    assert max(map(cell_len, narrow)) <= width
    assert all(line == line.rstrip() for line in narrow)
    if width >= 40:
        assert all(f"{value:.2f}" in "\n".join(narrow) for _, value, _ in rows)
        assert max(line.count("█") + line.count("·") for line in narrow) <= WIDEST


def test_common_ends_stand_above_the_bars_or_below_all():
    scales = [Scale("curiosity", 0.5, None, ("0.50",))]
    wide = render(Scales(scales, ("now",), ("sated", "starving")), 60).split("\n")
    assert wide[0].split() == ["sated", "starving", "now"]
    assert wide[0].index("starving") + len("starving") == wide[1].index("  0.50")
    narrow = render(Scales(scales, ("now",), ("sated", "starving")), 30).split("\n")
    assert narrow[0].split() == ["now"]
    assert narrow[-1] == "  · sated … █ starving"


@given(st.lists(units, min_size=1, max_size=80), st.integers(24, 120))
@example([number / 80 for number in range(80)], 60)
def test_a_course_shows_the_latest_that_fit(shares, width):
    lines = render(Course("valence", shares, "+0.10", ("low", "high"), since=1.0), width).split("\n")
    shown = lines[0].split("  ")[2].partition("→")[0]
    assert shown
    assert columns(shares).endswith(shown)
    assert max(map(cell_len, lines)) <= width
    meaning = " ".join("\n".join(lines).split())
    assert ("one turn" if len(shown) == 1 else f"the last {len(shown)} turns") in meaning
    assert "▁ low … █ high" in meaning
