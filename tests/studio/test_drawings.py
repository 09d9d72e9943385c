"""The small widgets by themselves: differences, plots, heat strips, sliders."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.text import Text
from textual.app import App, ComposeResult

from studio.widgets.heat import HeatStrip
from studio.widgets.marks import ADDED, REMOVED, differences, plot
from studio.widgets.sliders import Slider, Sliders
from tests.thorough import examples

WORDS = st.lists(st.sampled_from(["the", "dog", "[b]", "漢字", "barks"]), max_size=12).map(" ".join)


def test_what_came_and_what_went_is_marked_by_signs_and_by_style() -> None:
    shown = differences("the dog barks", "the old dog")
    assert shown.plain == "the {+old+} dog [−barks−]"
    styled = {shown.plain[span.start : span.end]: span.style for span in shown.spans}
    assert (styled["old"], styled["barks"]) == (ADDED, REMOVED)


@given(WORDS, WORDS)
def test_without_what_went_it_is_the_text_after(before: str, after: str) -> None:
    plain = differences(before, after).plain
    left = [part.split("−]", 1)[-1] for part in plain.split("[−")]
    kept = "".join(left).replace("{+", "").replace("+}", "").split()
    assert kept == after.split()


def test_hostile_text_is_cleaned_and_a_long_one_cut() -> None:
    shown = differences("\x1b[31mred\x07", "word " * 5_000)
    assert "\x1b" not in shown.plain
    assert len(shown.plain) < 5_000


VALUES = st.lists(st.floats(-3, 3), max_size=300)


@given(VALUES, st.integers(12, 120), st.integers(2, 20))
@settings(max_examples=examples(60))
def test_a_plot_never_leaves_its_room(values: Sequence[float], width: int, height: int) -> None:
    lines = plot(Text("title"), values, -1.0, 1.0, width, height)
    assert len(lines) == height + 1
    assert all(line.cell_len <= width for line in lines)


def test_a_plot_is_high_where_values_are_high() -> None:
    rising = [line.plain for line in plot(Text(), [0.0, 1.0], 0.0, 1.0, 30, 4)[1:]]
    assert rising[0][-1] not in " ·"
    assert rising[-1][7] not in " ·"
    assert [line[:5].strip() for line in rising] == ["1.0", "", "0.5", "0.0"]


class Shown(App[None]):
    """One strip and one set of sliders."""

    def __init__(self) -> None:
        super().__init__()
        self.strip = HeatStrip((("fast", 16), ("slow", 8)))
        self.sliders = Sliders((Slider("valence", -1.0), Slider("fear")))
        self.changes: list[Sequence[float]] = []

    def compose(self) -> ComposeResult:
        """One below the other."""
        yield self.strip
        yield self.sliders

    def on_sliders_changed(self) -> None:
        """Remember."""
        self.changes.append(self.sliders.values)


async def test_high_and_low_numbers_differ_by_more_than_colour() -> None:
    app = Shown()
    async with app.run_test(size=(60, 12)):
        app.strip.show([[-1.0, 1.0, *[0.0] * 22]])
        cells = app.strip.render().plain.splitlines()[1][5:]
        assert len({cells[0], cells[app.strip._cells_each], cells[2 * app.strip._cells_each]}) == 3
        assert app.strip.name_of(0) == "fast 1"
        assert app.strip.name_of(16) == "slow 1"


async def test_sliders_stay_in_their_range_and_tell_only_changes() -> None:
    app = Shown()
    async with app.run_test(size=(60, 12)) as pilot:
        app.sliders.set_values([-1.0, 0.95])
        app.sliders.focus()
        await pilot.press("left", "down", "right", "right")
        assert app.sliders.values == (-1.0, 1.0)
        assert app.changes == [(-1.0, 1.0)]
        await pilot.press("up", "right")
        assert app.sliders.values == (-0.9, 1.0)


async def test_the_pointer_takes_the_knob_along() -> None:
    app = Shown()
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.mouse_down(app.sliders, offset=(14, 1))
        await pilot.hover(app.sliders, offset=(50, 1))
        await pilot.mouse_up(app.sliders, offset=(50, 1))
        assert app.sliders.values[1] > 0.8
        before = app.sliders.values
        await pilot.hover(app.sliders, offset=(20, 1))
        assert app.sliders.values == before
