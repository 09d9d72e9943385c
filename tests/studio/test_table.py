"""The table by itself: it asks for what is in sight, whatever it is scrolled to, and holds nothing else."""

from __future__ import annotations

import pytest
from rich.text import Text
from textual.app import App, ComposeResult

from studio.widgets.table import Column, Table
from tests.studio.village import screen_of, until

pytestmark = pytest.mark.slow

COLUMNS = (
    Column("number", "no.", 4, "right"),
    Column("", "text", None),
    Column("extra", "extra", 8, min_table_width=40),
)


class Holder(App[None]):
    """A table, and what it said."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[object] = []

    def compose(self) -> ComposeResult:
        yield Table(COLUMNS)

    @property
    def table(self) -> Table:
        return self.query_one(Table)

    def on_table_needed(self, event: Table.Needed) -> None:
        self.said.append((event.first, event.last))
        self.table.add_rows({at: a_row(at) for at in range(event.first, event.last + 1)})

    def on_table_chosen(self) -> None:
        self.said.append(self.table.cursor)

    def on_table_sorted(self, event: Table.Sorted) -> None:
        self.said.append(event.key)


def a_row(at: int) -> tuple[Text, Text, Text]:
    return Text(str(at)), Text(f"row {at} " + "x" * 100), Text("more")


async def test_of_a_hundred_thousand_rows_only_those_in_sight_are_asked_for() -> None:
    app = Holder()
    async with app.run_test(size=(60, 12)) as pilot:
        app.table.begin(100_000)
        app.table.add_rows({0: a_row(0)})
        await pilot.pause()
        assert app.said == [(1, 10)]
        await pilot.press("end")
        await pilot.pause()
        assert app.said[-1] == (99_989, 99_999)
        assert "row 99999" in screen_of(app)
        await pilot.press("home", "pagedown")
        await pilot.pause()
        assert app.table.cursor == 10
        assert not app.table._missing()
        assert len(app.table._rows) < 40


async def test_nothing_is_wider_than_its_room_and_what_is_cut_says_so() -> None:
    app = Holder()
    async with app.run_test(size=(60, 12)) as pilot:
        app.table.begin(3)
        app.table.add_rows({at: a_row(at) for at in range(3)})
        await pilot.pause()
        lines = screen_of(app).split("\n")
        assert lines[0].split() == ["no.", "text", "extra"]
        assert lines[1].startswith(">   0 row 0 xxx")
        assert "x… more" in lines[1]
        await pilot.resize_terminal(30, 12)
        await until(pilot, lambda: "extra" not in screen_of(app))
        narrow = screen_of(app).split("\n")
        assert narrow[0].split() == ["no.", "text"]
        assert "more" not in narrow[1]
        assert narrow[1].rstrip().endswith("…")


async def test_a_row_that_has_not_come_is_drawn_as_dots() -> None:
    app = Holder()
    async with app.run_test(size=(60, 12)) as pilot:
        app.table.begin(2)
        await pilot.pause()
        assert screen_of(app).split("\n")[2].strip() == "…"


@pytest.mark.parametrize("count", [0, 1])
async def test_a_table_of_next_to_nothing_takes_every_key(count: int) -> None:
    app = Holder()
    async with app.run_test(size=(60, 12)) as pilot:
        app.table.begin(count)
        app.table.focus()
        await pilot.press("down", "up", "pagedown", "pageup", "end", "home", "enter")
        assert app.table.cursor == 0
        assert app.said.count(0) == count


async def test_clicks_choose_rows_and_titles() -> None:
    app = Holder()
    async with app.run_test(size=(60, 12)) as pilot:
        app.table.begin(5, "number", False)
        app.table.add_rows({at: a_row(at) for at in range(5)})
        await pilot.pause()
        assert "no.↑" in screen_of(app)
        await pilot.click(Table, offset=(2, 0))
        await pilot.click(Table, offset=(20, 0))
        await pilot.click(Table, offset=(20, 3))
        await pilot.click(Table, offset=(20, 3))
        assert app.said == ["number", 2]
        await pilot.click(Table, offset=(20, 11))
        assert app.table.cursor == 2
