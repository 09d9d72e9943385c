"""The thought before and after each transistor."""

from __future__ import annotations

from pathlib import Path

import pytest

from noodlings.app import build
from noodlings.config import load_settings
from noodlings.inspect import questions
from noodlings.store.memory import MemoryStore
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Percept
from studio.panes.transistors import Transistors
from studio.widgets.lines import StatusLine
from tests.llm.server import chat, serving
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
        assert "1 before the last answer" in screen_of(app)
        assert "one by one" in screen_of(app)
        assert "fused" not in screen_of(app)
        await pilot.press("comma")
        await until(pilot, lambda: "no answer before this one" in screen_of(app))
        assert "somebody at the door" in screen_of(app)
        await pilot.press("full_stop")
        await until(pilot, lambda: "We won" in screen_of(app))
        assert "the last answer" in str(app.query_one(Transistors).query_one(StatusLine).render())


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


async def test_m_shows_what_the_model_was_asked_and_the_banner_that_it_answers(tmp_path: Path) -> None:
    async with serving(chat("mew, says the model.")) as server:
        llm = server.settings()
        society = build(load_settings(None, embedding={"model": "none"}, llm=llm), store=MemoryStore())
        told = Percept("user_caity", "[bold]hello[/bold] there", society.clock.now(), addressed=True)
        await society.perceive("phi", told)
        async with looking(Village(tmp_path, lambda: society), (200, 60)) as (app, pilot):
            await until(pilot, lambda: "model answers · ● live" in screen_of(app))
            await pilot.press("7")
            await until(pilot, lambda: "thought" in screen_of(app))
            await pilot.press("m")
            await until(pilot, lambda: "tokens sent" in screen_of(app))
            screen = screen_of(app)
            assert "1  reply  m" in screen
            assert "system" in screen
            assert server.asked[0]["messages"][0]["content"].split("\n")[0][:60] in screen
            await pilot.press("m")
            await until(pilot, lambda: "mew, says the model." in screen_of(app))
            assert "tokens sent" not in screen_of(app)


async def test_who_may_not_see_a_prompt_is_told_so_once_and_sees_the_turn(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to(("There is somebody at the door",)))
    source._caller = Caller("user_caity", "caity", Role.PLAYER)
    async with looking(source, (120, 40)) as (app, pilot):
        await until(pilot, lambda: "offline voice · ● live" in screen_of(app))
        await pilot.press("7")
        await until(pilot, lambda: "thought" in screen_of(app))
        await pilot.press("m")
        await until(pilot, lambda: "prompt also holds what others said" in screen_of(app))
        assert "There is somebody at the door" in screen_of(app)
