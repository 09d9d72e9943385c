"""The numbers of a mind over its last turns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from noodlings.inspect import questions
from noodlings.inspect.questions import Question, V
from studio.panes.state import State
from studio.widgets.heat import HeatStrip
from tests.studio.talking import Talking, spoken_to
from tests.studio.village import Village, looking, screen_of, until

pytestmark = pytest.mark.slow


class Moving(Talking):
    """A mind whose first number is another one each time it is asked."""

    step = 0

    async def ask(self, question: Question[V], agent: str = "", **how: Any) -> V:
        """As ever, but for that number."""
        answer = await super().ask(question, agent, **how)
        if question is questions.OBSERVE:
            return replace(answer, fast=(self.step / 10, *answer.fast[1:]))
        return answer


class Moodless(Talking):
    """A server that tells nothing of past moods."""

    async def ask(self, question: Question[V], agent: str = "", **how: Any) -> V:
        """As ever, but for these."""
        answer = await super().ask(question, agent, **how)
        return replace(answer, valences=()) if question is questions.MOOD else answer


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_words_and_plots_are_there_and_the_numbers_on_demand(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    source = Talking(tmp_path, await spoken_to())
    mind = await source.ask(questions.OBSERVE, "phi")
    async with looking(source, size) as (app, pilot):
        await pilot.press("8")
        await until(pilot, lambda: "one line" in screen_of(app))
        words = " ".join(str(app.query_one("#in-words").render()).split())
        assert mind.affect.feeling in words
        assert f"expects {mind.expected.feeling}" in words
        assert "; ".join(mind.goals) in words
        assert "all of it" in words
        assert "▲" not in screen_of(app)
        assert "v shows the forty numbers" in screen_of(app)
        await pilot.press("v")
        await until(pilot, lambda: "surprise" in screen_of(app) and "▲" in screen_of(app))
        screen = screen_of(app)
        assert all(
            words in screen for words in ("fast", "medium", "slow", "mood, valence", "+1.0", "−1.0", "▲")
        )
        assert "only the state of now is known so far" in screen or size[0] == 80


async def test_states_are_collected_turn_by_turn_in_sight_or_not(tmp_path: Path) -> None:
    source = Moving(tmp_path, await spoken_to())
    async with looking(source, (140, 40)) as (app, pilot):
        await until(pilot, lambda: "phi" in app.query_one(State)._states)
        asked = len(source.asked)
        for step in (3, 7):
            source.step = step
            source.tell("turn")
            await until(pilot, lambda: len(source.asked) > asked + 3)
            await until(pilot, lambda: app.query_one(State)._states["phi"][0][0] == source.step / 10)
        await pilot.press("8")
        await until(pilot, lambda: "moved a little" in screen_of(app) or "moved a lot" in screen_of(app))
        await pilot.press("v")
        await until(pilot, lambda: "3 states seen" in screen_of(app))
        assert "fast 1 +0.70" in screen_of(app)
        assert "−2" in screen_of(app)


async def test_arrows_and_the_pointer_choose_a_number(tmp_path: Path) -> None:
    async with looking(Talking(tmp_path, await spoken_to())) as (app, pilot):
        await pilot.press("8", "v")
        strip = app.query_one(HeatStrip)
        await until(pilot, lambda: "fast 1 " in screen_of(app))
        await pilot.press("right", "right")
        await until(pilot, lambda: "fast 3 " in screen_of(app))
        await pilot.press("left", "left", "left")
        await until(pilot, lambda: "slow 8 " in screen_of(app))
        await pilot.click(HeatStrip, offset=(strip._left(20), 1))
        await until(pilot, lambda: "medium 5 " in screen_of(app))


async def test_turns_of_which_no_mood_is_told_have_no_plots(tmp_path: Path) -> None:
    source = Moodless(tmp_path, await spoken_to())
    assert (await source.ask(questions.OBSERVE, "phi")).surprises
    async with looking(source) as (app, pilot):
        await pilot.press("8")
        await until(pilot, lambda: "No turn yet" in screen_of(app))


async def test_an_agent_without_a_turn_has_a_state_and_no_plots(tmp_path: Path) -> None:
    async with looking(Village(tmp_path), agent="servnak") as (app, pilot):
        await pilot.press("8")
        await until(pilot, lambda: "No turn yet" in screen_of(app))
        assert "fast" in screen_of(app)
