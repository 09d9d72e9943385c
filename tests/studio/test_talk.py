"""Speaking to an agent, and seeing its turn come about."""

from __future__ import annotations

from pathlib import Path

import pytest

from noodlings.inspect import questions
from studio.panes.talk import Line, Talk
from studio.source import Action
from tests.studio.talking import Talking, spoken_to
from tests.studio.village import Village, looking, screen_of, until

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_the_latest_words_are_there_and_what_is_typed_is_said(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    source = Talking(tmp_path, await spoken_to())
    async with looking(source, size) as (app, pilot):
        await pilot.press("9")
        await until(pilot, lambda: "do you remember my dog?" in screen_of(app))
        await pilot.press("slash", *"hi Phi", "enter")
        await until(pilot, lambda: bool(source.done))
        assert source.done == [(Action.SAY, "phi", {"text": "hi Phi"})]
        assert app.query_one(Line).value == ""


async def test_each_step_appears_when_it_is_done_and_the_whole_turn_at_the_end(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to())
    turn = await source.ask(questions.WHY, "phi", back=1)
    async with looking(source) as (app, pilot):
        await pilot.press("9")
        await until(pilot, lambda: "my dog?" in screen_of(app))
        source.tell("perceived")
        await until(pilot, lambda: "✓ heard and kept" in screen_of(app))
        assert "what comes to mind" not in screen_of(app)
        source.tell("recall")
        await until(pilot, lambda: "✓ what comes to mind" in screen_of(app))
        source.tell("something new", agent="maren")
        source.tell("turn", turn=turn)
        await until(pilot, lambda: "took ms" in screen_of(app))
        screen = screen_of(app)
        assert all(words in screen for words in ("felt", "surprise", "important", "in mind", "said"))
        assert "something new" not in screen
        assert turn.turn.response[:20] in screen


async def test_what_is_refused_comes_back_into_the_line_with_the_reason(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to())
    source.refusal = "a viewer reads, and changes nothing"
    async with looking(source) as (app, pilot):
        await pilot.press("9", "slash", *"hi", "enter")
        await until(pilot, lambda: app.query_one(Line).value == "hi")
        assert source.refusal in screen_of(app)


async def test_escape_gives_the_keys_back_and_silence_is_not_said(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to())
    async with looking(source) as (app, pilot):
        await pilot.press("9", "slash", "space", "enter", "escape", "right_square_bracket")
        assert not source.done
        assert type(app.pane) is not Talk


async def test_an_agent_that_heard_nothing(tmp_path: Path) -> None:
    async with looking(Village(tmp_path), agent="servnak") as (app, pilot):
        await pilot.press("9")
        await until(pilot, lambda: "SERVNAK has heard nothing yet." in screen_of(app))
