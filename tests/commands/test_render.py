import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from commands.render import Flowing, TextColumn, TextRows, heading, quiet
from noodlings.affect.feeling import FAMILIES
from noodlings.drawing.marks import ago, bar, cut, feeling_style, level, measure, words
from noodlings.drawing.screen import render

anything = st.text(max_size=60) | st.text("漢🎉é \x1b[31m\u202e\u200b", max_size=60)


def lines(view: object, width: int) -> list[str]:
    return render(view, width).split("\n")  # type: ignore[arg-type]


def widest(view: object, width: int) -> int:
    return max(cell_len(line) for line in lines(view, width))


@pytest.mark.parametrize(
    ("value", "drawn"),
    [(0.0, "········"), (0.5, "████····"), (0.56, "████▌···"), (1.0, "████████"), (0.001, "▏·······")],
)
def test_a_bar_is_drawn_to_an_eighth_of_a_cell(value: float, drawn: str) -> None:
    assert bar(value, 8).plain == drawn


@given(st.floats(-1, 2), st.integers(1, 40))
def test_a_bar_always_has_its_width(value: float, width: int) -> None:
    assert cell_len(bar(value, width).plain) == width


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_larger_value_never_has_the_shorter_bar(one: float, other: float) -> None:
    less, more = sorted((one, other))
    assert bar(less, 8).plain.count("█") <= bar(more, 8).plain.count("█")
    assert level(less) <= level(more)


def test_a_bar_never_stands_without_its_number() -> None:
    assert measure(0.924, 8).plain == "███████▍ 0.92"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "now"),
        (42.9, "42 s ago"),
        (60, "1 min ago"),
        (3_599, "59 min ago"),
        (7_200, "2 h ago"),
        (86_400 * 3, "3 d ago"),
        (86_400 * 20, "2 wk ago"),
        (86_400 * 100, "3 mo ago"),
        (86_400 * 800, "2 y ago"),
        (31_557_600 * 5_000, "5,000 y ago"),
    ],
)
def test_times_are_told_in_the_largest_unit_that_fits(seconds: float, said: str) -> None:
    assert ago(seconds) == said


@given(anything, st.integers(1, 30))
def test_cutting_counts_cells_not_characters(text: str, width: int) -> None:
    whole = words(text)
    short = cut(whole, width)
    assert short.cell_len <= width
    assert short.plain == whole.plain or short.plain.endswith("…")
    assert cut(whole, width, pad=True).cell_len == width


def test_a_wide_character_is_not_halved() -> None:
    assert cut(Text("漢字漢字"), 4).plain == "漢…"


def test_markup_and_escapes_are_only_text() -> None:
    assert words("[bold]x[/bold]\x1b[31m y\x07").plain == "[bold]x[/bold] y"


TABLE = (
    TextColumn("#", 5, "right", leaves=True),
    TextColumn("who"),
    TextColumn("more", optional=True),
    TextColumn("what", None),
)


@given(
    st.lists(st.tuples(anything, anything, anything, anything), max_size=5),
    st.sampled_from([1, 7, 20, 40, 80, 200]),
)
def test_rows_fit_whatever_they_hold(rows: list[tuple[str, str, str, str]], width: int) -> None:
    view = TextRows(TABLE, [[words(cell) for cell in row] for row in rows])
    assert widest(view, width) <= width


def test_columns_are_aligned_over_wide_characters() -> None:
    view = TextRows(
        TABLE, [[words(c) for c in row] for row in (("1", "漢字", "x", "one"), ("234", "bo", "", "two"))]
    )
    assert lines(view, 80) == [
        "    #  who   more  what",
        "    1  漢字  x     one",
        "  234  bo          two",
    ]


def test_optional_columns_go_first_and_the_open_one_goes_below_at_last() -> None:
    view = TextRows(
        TABLE, [[words(c) for c in ("1", "caity", "extra", "the dog")], [Text()] * 3 + [words("woof")]]
    )
    assert "extra" in render(view, 80)
    assert lines(view, 60) == ["  #  who    what", "  1  caity  the dog", "            woof"]
    assert lines(view, 30) == ["  1  caity", "    the dog", "    woof"]


def test_a_row_that_goes_on_stays_with_its_row_where_cells_are_stacked() -> None:
    view = TextRows(
        TABLE, [[words(c) for c in row] for row in (("1", "bo", "", "the dog"), ("", "also", "", ""))]
    )
    assert lines(view, 24) == ["  1  bo", "     also", "    the dog"]


@given(st.lists(anything, min_size=1, max_size=9), st.sampled_from([3, 40, 80]))
def test_flowing_parts_fit(parts: list[str], width: int) -> None:
    assert widest(Flowing([words(part) for part in parts]), width) <= width


def test_a_remark_keeps_its_indent() -> None:
    assert lines(quiet("one two three"), 10) == ["  one two", "  three"]


def test_a_heading_breaks_before_its_note() -> None:
    assert lines(heading("PHI", "memory", "all 20"), 80) == ["PHI · memory   all 20"]
    assert lines(heading("PHI", "memory", "all 20"), 14) == ["PHI · memory", "all 20"]


def test_every_sort_of_feeling_has_its_own_colour() -> None:
    assert len({feeling_style(sort) for sort in FAMILIES}) == len(FAMILIES)
