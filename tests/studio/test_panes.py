"""Every key of the panes of memory, driven over a society that remembers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from studio.panes.affect import Affect
from studio.panes.detail import Detail
from studio.panes.episodic import Episodic
from studio.panes.working import Working
from studio.source import Action
from studio.widgets.inputs import LineInput
from studio.widgets.scatter import Scatter
from studio.widgets.table import Table
from tests.studio.village import HOSTILE, Village, looking, memories, screen_of, until

pytestmark = pytest.mark.slow


@pytest.fixture
def source(tmp_path: Path) -> Village:
    return Village(tmp_path)


def up_to_date(pane: Episodic) -> bool:
    """Whether the rows in view are those of the latest order and filter."""
    return not pane._outdated and not pane.table._missing()


def texts(table: Table) -> list[str]:
    """What stands in the column of texts, of the rows that are there."""
    return [table._rows[at][4].plain for at in sorted(table._rows)]


async def test_stats_shows_the_fill_and_the_columns(source: Village) -> None:
    async with looking(source) as (app, pilot):
        await pilot.press("0")
        await until(pilot, lambda: "150 memories" in screen_of(app))
        screen = screen_of(app)
        assert "20 of 20" in screen
        assert "150 of" in screen
        assert "1 pinned" in screen
        await pilot.press("n")
        await until(pilot, lambda: "0 memories" in screen_of(app))


async def test_working_memory_ends_with_the_latest_under_the_cursor(source: Village) -> None:
    async with looking(source, size=(80, 24)) as (app, pilot):
        await pilot.press("3")
        table = app.query_one("Working Table", Table)
        await until(pilot, lambda: table.count == 20 and table.cursor == 19)
        await until(pilot, lambda: "#150" in screen_of(app) or "red" in screen_of(app))
        await pilot.press("home")
        assert table.cursor == 0
        await pilot.press("pagedown", "down", "up")
        assert 0 < table.cursor < 19
        await pilot.press("end")
        assert table.cursor == 19


async def test_enter_goes_over_to_the_memory_in_full_and_along_its_links(source: Village) -> None:
    async with looking(source, agent="maren") as (app, pilot):
        await pilot.press("3")
        pane = app.query_one(Working)
        await until(pilot, lambda: "links 2" in screen_of(app))
        assert pane.detail.entry is not None
        assert pane.detail.entry.id == 3
        await pilot.press("enter")
        assert isinstance(app.focused, Detail)
        await pilot.press("tab", "enter")
        await until(pilot, lambda: pane.detail.entry is not None and pane.detail.entry.id != 3)


async def test_episodic_memory_is_sorted_by_keys_and_titles(source: Village) -> None:
    async with looking(source, size=(140, 40)) as (app, pilot):
        await pilot.press("4")
        pane = app.query_one(Episodic)
        await until(pilot, lambda: up_to_date(pane) and pane.table.count == 150)
        assert "by importance ↓" in screen_of(app)
        for order in ("strength ↓", "feeling ↑", "who ↑", "text ↑", "when ↓", "importance ↓"):
            await pilot.press("s")
            await until(pilot, lambda order=order: f"by {order}" in screen_of(app))
        await pilot.press("S")
        await until(pilot, lambda: "by importance ↑" in screen_of(app))
        await pilot.click("#episodic-table", offset=(45, 0))
        await until(pilot, lambda: "by text ↑" in screen_of(app))
        await pilot.click("#episodic-table", offset=(45, 0))
        await until(pilot, lambda: "by text ↓" in screen_of(app))


async def test_the_filter_narrows_with_each_letter(source: Village) -> None:
    async with looking(source) as (app, pilot):
        await pilot.press("4", "slash")
        pane = app.query_one(Episodic)
        await pilot.press(*"memory 12")
        await until(pilot, lambda: up_to_date(pane) and pane.table.count == 11)
        assert "11 found" in screen_of(app)
        await pilot.press("space", "o")
        await until(pilot, lambda: up_to_date(pane) and pane.table.count == 1)
        await pilot.press(*"xx")
        await until(pilot, lambda: "No matches" in screen_of(app))
        assert pane.detail.entry is None
        await pilot.press("escape")
        await until(pilot, lambda: up_to_date(pane) and pane.table.count == 150)
        assert pane.query_one(LineInput).value == ""
        assert app.focused is pane.table


async def test_everything_is_loaded_as_one_scrolls(source: Village) -> None:
    async with looking(source) as (app, pilot):
        await pilot.press("4")
        pane = app.query_one(Episodic)
        await until(pilot, lambda: up_to_date(pane) and pane.table.count == 150)
        await pilot.press("e")
        await until(pilot, lambda: up_to_date(pane) and "ever perceived" in screen_of(app))
        assert "by when ↓" in screen_of(app)
        assert len(texts(pane.table)) < 150
        await pilot.press("end")
        await until(pilot, lambda: up_to_date(pane) and texts(pane.table)[-1] == "memory 1 of a wolf")
        await pilot.click("#episodic-table", offset=(16, 0))
        if "strength" in screen_of(app):
            assert "known only for what" in screen_of(app)
        await pilot.press("s")
        await until(pilot, lambda: "by importance" in screen_of(app))
        await pilot.press("e")
        await until(pilot, lambda: "in episodic memory" in screen_of(app))


async def test_a_second_click_on_a_row_opens_it(source: Village) -> None:
    async with looking(source) as (app, pilot):
        await pilot.press("4")
        pane = app.query_one(Episodic)
        await until(pilot, lambda: up_to_date(pane))
        await pilot.click("#episodic-table", offset=(30, 4))
        assert pane.table.cursor == 3
        await pilot.click("#episodic-table", offset=(30, 4))
        assert app.focused is pane.detail


async def test_what_is_done_to_a_memory_goes_to_the_source(source: Village, tmp_path: Path) -> None:
    async with looking(source, agent="maren") as (app, pilot):
        await pilot.press("4")
        pane = app.query_one(Episodic)
        await until(pilot, lambda: pane.detail.entry is not None)
        assert pane.detail.entry is not None
        entry = pane.detail.entry.id
        await pilot.press("p")
        await until(pilot, lambda: source.done == [(Action.PIN, "maren", {"entry": entry, "pinned": True})])
        source.done.clear()

        await pilot.press("x")
        await until(pilot, lambda: "cannot be undone" in screen_of(app))
        await pilot.press("n")
        await pilot.press("delete")
        await until(pilot, lambda: "cannot be undone" in screen_of(app))
        await pilot.click("#no")
        assert source.done == []
        await pilot.press("x")
        await until(pilot, lambda: "cannot be undone" in screen_of(app))
        await pilot.press("y")
        await until(pilot, lambda: source.done == [(Action.FORGET, "maren", {"entry": entry})])
        source.done.clear()

        await pilot.press("i")
        await until(pilot, lambda: "Importance of memory" in screen_of(app))
        await pilot.press(*["backspace"] * 6, *"1.5", "enter")
        assert source.done == []
        await pilot.press(*["backspace"] * 3, *"0.9", "enter")
        how = {"entry": entry, "value": 0.9}
        await until(pilot, lambda: source.done == [(Action.IMPORTANCE, "maren", how)])
        source.done.clear()
        await pilot.press("i")
        await until(pilot, lambda: "Importance of memory" in screen_of(app))
        await pilot.press(*["backspace"] * 6, "enter")
        await until(pilot, lambda: source.done[0][2]["value"] is None)


async def test_the_note_of_a_memory_is_opened(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("# What Phi noted\n\nA wolf.", encoding="utf-8")
    most_important = max(memories(), key=lambda entry: (entry.importance, entry.id)).id
    source = Village(tmp_path, notes={most_important: note})
    async with looking(source) as (app, pilot):
        await pilot.press("4")
        pane = app.query_one(Episodic)
        await until(pilot, lambda: pane.detail.entry is not None)
        await pilot.press("o")
        await until(pilot, lambda: "What Phi noted" in screen_of(app))
        await pilot.press("escape", "down")
        await until(pilot, lambda: pane.detail.entry.id != most_important)
        await pilot.press("o")
        await until(pilot, lambda: "There is no note of" in screen_of(app))


async def test_without_a_memory_there_is_nothing_to_do(source: Village) -> None:
    async with looking(source, agent="servnak") as (app, pilot):
        await until(pilot, lambda: "studio · SERVNAK" in screen_of(app))
        for pane in "345":
            await pilot.press(pane)
            await pilot.press("p", "x", "i", "o", "enter", "down", "up", "end", "s", "s")
        assert source.done == []
        assert "Nothing is in mind yet" in screen_of(app)


async def test_affect_is_walked_through_and_clicked(source: Village) -> None:
    async with looking(source) as (app, pilot):
        await pilot.press("5")
        pane = app.query_one(Affect)
        await until(pilot, lambda: "150 that matter" in screen_of(app))
        assert all(word in screen_of(app) for word in ("excited", "low", "calm", "◆", "◇", "joy"))
        assert pane.detail.entry is None
        await pilot.press("up")
        await until(pilot, lambda: pane.detail.entry is not None)
        assert pane.detail.entry is not None
        first = pane.detail.entry.affect.valence
        await pilot.press("left", "left")
        await until(pilot, lambda: pane.detail.entry.affect.valence < first)
        await pilot.press("right", "down", "up")
        scatter = app.query_one(Scatter)
        await pilot.click(Scatter, offset=scatter._cells()[7])
        assert scatter.chosen == 7
        cells = scatter._cells()
        assert len(set(cells)) == len(cells) == 150
        corners = re.findall(r"\b(?:tense|excited|low|calm) (\d+)", screen_of(app))
        assert sum(map(int, corners)) == 150
        await pilot.resize_terminal(60, 16)
        await until(pilot, lambda: "more beneath others" in screen_of(app))


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_hostile_text_is_shown_as_it_is_and_does_nothing(
    source: Village, size: tuple[int, int]
) -> None:
    async with looking(source, size=size) as (app, pilot):
        for pane in "345":
            await pilot.press(pane)
            if pane == "4":
                await pilot.press("e")
            for _ in HOSTILE:
                await pilot.press("down" if pane == "4" else "up")
                await pilot.pause()
                screen = screen_of(app)
                assert not any(sign in screen for sign in "\x1b\x00\x07\x9b\u202e\u202c")
            if pane == "3" and size == (200, 60):
                assert "[bold red]no markup[/]" in screen_of(app)
        assert app.is_running
