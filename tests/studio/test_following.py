"""A link that was followed leads somewhere where one stays, until one goes back or moves on."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from studio.panes.episodic import Episodic
from studio.panes.memory_pane import MemoryPane
from studio.panes.subconscious import Subconscious
from studio.source import Action
from tests.studio.talking import Talking, spoken_to
from tests.studio.village import Village, looking, screen_of, until

pytestmark = pytest.mark.slow


def shown(pane: MemoryPane) -> int | None:
    """The memory that stands there in full."""
    return None if pane.detail.entry is None else int(pane.detail.entry.id)


def more_asked(source: Talking, count: int) -> bool:
    """Whether more was asked than that."""
    return len(source.asked) > count


async def followed(app: Any, pilot: Any) -> tuple[MemoryPane, int, int]:
    """Go along a link: the pane, the memory under the cursor, and the one that is shown now."""
    pane = app.pane
    await until(pilot, lambda: bool(pane.query_one("#links").option_count))
    before = shown(pane)
    assert before is not None
    await pilot.press("enter", "enter", "enter")
    await until(pilot, lambda: shown(pane) not in (before, None))
    after = shown(pane)
    assert after is not None
    return pane, before, after


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_it_stays_when_everything_is_read_again_and_says_where_one_is(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    source = Talking(tmp_path, await spoken_to())
    async with looking(source, size) as (app, pilot):
        for key in "346":
            app.query_one("AgentList OptionList").focus()
            await pilot.press(key)
            pane, before, after = await followed(app, pilot)
            assert f"from #{before}" in screen_of(app)
            for _ in range(2):
                asked = len(source.asked)
                await pilot.press("r")
                await until(pilot, partial(more_asked, source, asked + 3))
                await pilot.pause(0.1)
                assert shown(pane) == after
            await pilot.press("escape")
            await until(pilot, lambda pane=pane, before=before: shown(pane) == before)
            assert f"from #{before}" not in screen_of(app)


async def test_keys_are_about_the_memory_that_is_shown(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to())
    async with looking(source) as (app, pilot):
        await pilot.press("4")
        pane, before, after = await followed(app, pilot)
        await pilot.press("r")
        await pilot.pause(0.4)
        await pilot.press("p")
        await until(pilot, lambda: bool(source.done))
        assert source.done == [(Action.PIN, "phi", {"entry": after, "pinned": True})]
        source.done.clear()
        await pilot.press("x")
        await until(pilot, lambda: f"Forget memory {after}" in screen_of(app))
        await pilot.press("y")
        await until(pilot, lambda: source.done == [(Action.FORGET, "phi", {"entry": after})])
        await until(pilot, lambda: shown(pane) == before)


async def test_moving_the_cursor_or_choosing_its_row_goes_back(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to())
    async with looking(source) as (app, pilot):
        await pilot.press("4")
        pane, before, _ = await followed(app, pilot)
        assert isinstance(pane, Episodic)
        pane.table.focus()
        await pilot.press("enter")
        await until(pilot, lambda: shown(pane) == before)
        pane.table.focus()
        pane, before, _ = await followed(app, pilot)
        pane.query_one("Table").focus()
        await pilot.press("down")
        await until(pilot, lambda: shown(pane) not in (before, None))
        assert "esc goes back" not in screen_of(app)


async def test_escape_leads_from_the_memory_to_all_of_them(tmp_path: Path) -> None:
    async with looking(Village(tmp_path), agent="maren") as (app, pilot):
        await pilot.press("4")
        pane = app.query_one(Episodic)
        await until(pilot, lambda: shown(pane) is not None)
        await pilot.press("enter")
        assert app.focused is pane.detail
        await pilot.press("escape")
        assert app.screen.focused is pane.table


async def test_another_symbol_is_chosen_and_its_memory_shown(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to())
    async with looking(source) as (app, pilot):
        await pilot.press("6")
        pane = app.query_one(Subconscious)
        await until(pilot, lambda: shown(pane) is not None)
        first = shown(pane)
        await pilot.press("down")
        await until(pilot, lambda: shown(pane) not in (first, None))
