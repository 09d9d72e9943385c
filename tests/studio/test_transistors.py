"""The thought before and after each transistor."""

from __future__ import annotations

from pathlib import Path

import pytest

from noodlings.inspect import questions
from studio.panes.transistors import Transistors
from studio.widgets.lines import Remark
from tests.studio.talking import Talking, spoken_to
from tests.studio.village import Village, looking, screen_of, until

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_each_transistor_stands_there_with_its_gain_and_what_it_changed(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    source = Talking(tmp_path, await spoken_to(("There is somebody at the door and I am scared",)))
    why = await source.ask(questions.WHY, "phi", back=1)
    changed = [made for made in why.modulations if made.before != made.after]
    assert changed
    async with looking(source, size) as (app, pilot):
        await pilot.press("7")
        await until(pilot, lambda: "thought" in screen_of(app))
        screen = screen_of(app)
        assert f"gain {'█' * int(why.modulations[0].gain * 6)}" in screen
        assert "{+" in screen
        if size[1] > 40:
            assert all(made.transistor in screen for made in why.modulations)


async def test_comma_goes_back_a_turn_and_the_first_one_is_the_last_stop(tmp_path: Path) -> None:
    source = Talking(
        tmp_path,
        await spoken_to(("There is somebody at the door and I am scared", "We won the tournament!!")),
    )
    async with looking(source) as (app, pilot):
        await pilot.press("7")
        await until(pilot, lambda: "We won" in screen_of(app))
        await pilot.press("comma")
        await until(pilot, lambda: "somebody at the door" in screen_of(app))
        assert "2 turns back" in screen_of(app)
        assert "one by one" in screen_of(app)
        assert "fused" not in screen_of(app)
        await pilot.press("comma")
        await until(pilot, lambda: "no turn before this one" in screen_of(app))
        assert "somebody at the door" in screen_of(app)
        await pilot.press("full_stop")
        await until(pilot, lambda: "We won" in screen_of(app))
        assert "last turn" in str(app.query_one(Transistors).query_one(Remark).render())


async def test_an_agent_that_said_nothing_shows_its_gains(tmp_path: Path) -> None:
    async with looking(Village(tmp_path), agent="servnak") as (app, pilot):
        await pilot.press("7")
        await until(pilot, lambda: "said nothing yet" in screen_of(app))
        assert "affect" in screen_of(app)
        assert "one by one, without a model" in screen_of(app)


async def test_hostile_words_are_only_words(tmp_path: Path) -> None:
    source = Talking(
        tmp_path, await spoken_to(("[bold]shout[/bold] \x1b[31mred\x1b[0m [@click=app.quit]x[/]",))
    )
    async with looking(source) as (app, pilot):
        await pilot.press("7")
        await until(pilot, lambda: "[bold]shout[/bold]" in screen_of(app))
        assert "\x1b" not in screen_of(app)
