"""Symbols beside the events they stand for."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import OptionList

from noodlings.inspect import questions
from studio.panes.subconscious import Subconscious
from tests.studio.talking import Talking, spoken_to
from tests.studio.village import Village, looking, screen_of, until

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_image_and_event_are_both_there(tmp_path: Path, size: tuple[int, int]) -> None:
    source = Talking(tmp_path, await spoken_to())
    symbol = (await source.ask(questions.SYMBOLS, "phi")).symbols[0]
    async with looking(source, size) as (app, pilot):
        await pilot.press("6")
        await until(pilot, lambda: symbol.image in screen_of(app))
        screen = screen_of(app)
        assert symbol.event[:20] in screen
        assert f"{symbol.salience:.2f}" in screen
        assert "of 100 symbols" in screen


async def test_the_memory_behind_a_symbol_is_shown_and_enter_goes_there(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to())
    symbols = (await source.ask(questions.SYMBOLS, "phi")).symbols
    async with looking(source) as (app, pilot):
        await pilot.press("6")
        pane = app.query_one(Subconscious)
        listed = pane.query_one("#symbols", OptionList)
        await until(pilot, lambda: listed.option_count == len(symbols))
        await pilot.press("down")
        await until(pilot, lambda: bool(pane.detail.entry and pane.detail.entry.id == symbols[1].entry_id))
        await pilot.press("enter")
        assert pane.detail.has_focus


async def test_m_asks_for_what_the_feeling_of_now_brings_back(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to())
    async with looking(source) as (app, pilot):
        await pilot.press("6")
        await until(pilot, lambda: "the latest first" in screen_of(app))
        await pilot.press("m")
        await until(pilot, lambda: "brought back by feeling" in screen_of(app))
        assert (questions.SYMBOLS, {"similar": True}) in source.asked
        await pilot.press("m")
        await until(pilot, lambda: "the latest first" in screen_of(app))


async def test_without_symbols_it_says_so(tmp_path: Path) -> None:
    async with looking(Village(tmp_path), agent="servnak") as (app, pilot):
        await pilot.press("6")
        await until(pilot, lambda: "no moment has been intense enough" in screen_of(app))
