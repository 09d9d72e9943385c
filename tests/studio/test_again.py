"""Where nothing happens it is read again all the same, and nothing that one is about is disturbed by it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import OptionList

from noodlings.inspect import questions
from noodlings.inspect.questions import Question, V
from studio import app as application
from studio.panes import what_if
from studio.panes.episodic import Episodic
from studio.panes.subconscious import Subconscious
from studio.panes.talk import Talk
from studio.panes.what_if import WhatIf
from studio.panes.working import Working
from studio.widgets.inputs import LineInput
from studio.widgets.lines import StatusLine
from studio.widgets.table import Table
from tests.studio.talking import Talking, spoken_to
from tests.studio.village import Village, looking, screen_of, until

pytestmark = pytest.mark.slow


class Ageing(Talking):
    """Somebody whose mood is another one at each reading, and whose memories are a minute older."""

    readings = 0

    async def ask(self, question: Question[V], agent: str = "", **how: Any) -> V:
        """As ever, but for that."""
        answer = await super().ask(question, agent, **how)
        if question is questions.AGENTS:
            self.readings += 1
            agents = (
                replace(one, mood=replace(one.mood, feeling=f"mood {self.readings}")) for one in answer.agents
            )
            return replace(answer, agents=tuple(agents))
        if question is questions.WORKING:
            entries = (replace(entry, age=60.0 * self.readings) for entry in answer.entries)
            return replace(answer, entries=tuple(entries))
        return answer


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Again comes soon."""
    monkeypatch.setattr(application, "MAX_REFRESH_SECONDS", 0.05)
    monkeypatch.setattr(application, "MIN_REFRESH_SECONDS", 0.01)


@pytest.mark.usefixtures("soon")
async def test_moods_and_ages_go_on_without_a_sign_and_minds_are_not_asked(tmp_path: Path) -> None:
    source = Ageing(tmp_path, await spoken_to())
    async with looking(source) as (app, pilot):
        await pilot.press("3")
        await until(pilot, lambda: "mood 3" in screen_of(app))
        await until(pilot, lambda: f"{source.readings} min" in screen_of(app))
        source.asked.clear()
        before = source.readings
        await until(pilot, lambda: source.readings > before + 2)
        assert questions.OBSERVE not in {question for question, _ in source.asked}
        assert {question for question, _ in source.asked} == {questions.AGENTS, questions.WORKING}


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("pane", [Working, Episodic])
async def test_cursor_and_scrolling_stay_in_a_table(tmp_path: Path, pane: type[Working | Episodic]) -> None:
    source = Village(tmp_path)
    async with looking(source, (80, 24)) as (app, pilot):
        await pilot.press("3" if pane is Working else "4")
        table = app.query_one(pane).query_one(Table)
        await until(pilot, lambda: table.count > 10 and not table._missing())
        await pilot.press("home", "down", "down")
        table.scroll_to(y=9, animate=False)  # as with a wheel: the cursor is no longer in sight
        await again(pilot, source)
        assert (table.cursor, table.scroll_offset.y) == (2, 9)


async def test_rows_that_come_while_somebody_scrolls_do_not_pull_them_back(tmp_path: Path) -> None:
    async with looking(Village(tmp_path), (80, 24)) as (app, pilot):
        await pilot.press("4")
        table = app.query_one(Episodic).query_one(Table)
        await until(pilot, lambda: table.count > 10 and not table._missing())
        table.begin(table.count)
        table.scroll_to(y=9, animate=False)  # as with a wheel, before the rows are drawn
        await pilot.pause()
        assert (table.cursor, table.scroll_offset.y) == (0, 9)


@pytest.mark.usefixtures("soon")
async def test_what_is_half_typed_stays(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to())
    async with looking(source) as (app, pilot):
        for key in "41":
            app.query_one("AgentList OptionList").focus()
            await pilot.press(key, "slash", *"dog", "left")
            await again(pilot, source)
            typed = app.pane.query_one(LineInput)
            assert (typed.value, typed.cursor_position, app.focused) == ("dog", 2, typed)


@pytest.mark.usefixtures("soon")
async def test_a_question_of_what_if_is_answered_again_without_a_word_about_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(what_if, "POLL_SECONDS", 60.0)  # how far it is loaded is not asked meanwhile
    source = Talking(tmp_path, await spoken_to())
    async with looking(source) as (app, pilot):
        await pilot.press("9")
        await until(pilot, lambda: "come to mind" in screen_of(app))
        await pilot.press("slash", *"dog")
        remark = app.query_one(WhatIf).query_one(StatusLine)
        await until(
            pilot,
            lambda: (
                app.query_one(WhatIf).query_one(LineInput).value == "dog" and "looking" not in screen_of(app)
            ),
        )
        said: list[str] = []
        remark.show = lambda text, warning=False: said.append(text)  # type: ignore[method-assign]
        await again(pilot, source)
        assert app.query_one(WhatIf).query_one(LineInput).value == "dog"
        assert not any("looking" in words for words in said)


@pytest.mark.usefixtures("soon")
async def test_one_may_read_further_up_in_talk(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to())
    async with looking(source, (80, 14)) as (app, pilot):
        await pilot.press("1")
        log = app.query_one(Talk).query_one("#lines", OptionList)
        await until(pilot, lambda: log.max_scroll_y > 2 and log.scroll_offset.y == log.max_scroll_y)
        log.scroll_to(y=0, animate=False)
        await again(pilot, source)
        assert log.scroll_offset.y == 0


@pytest.mark.usefixtures("soon")
async def test_the_chosen_symbol_and_what_is_in_sight_stay(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to())
    async with looking(source, (80, 16)) as (app, pilot):
        await pilot.press("6")
        listed = app.query_one(Subconscious).query_one("#symbols", OptionList)
        await until(pilot, lambda: listed.option_count > 2)
        await pilot.press("down")
        listed.scroll_to(y=listed.max_scroll_y, animate=False)
        await pilot.pause()
        seen = listed.scroll_offset.y
        assert seen > 0
        await again(pilot, source)
        assert (listed.highlighted, listed.scroll_offset.y) == (1, seen)


async def again(pilot: Any, source: Village) -> None:
    """Wait until it was read twice more."""
    seen: list[Question[Any]] = []
    asked = source.ask

    async def ask(question: Question[V], agent: str = "", **how: Any) -> V:
        if question is questions.AGENTS:
            seen.append(question)
        return await asked(question, agent, **how)

    source.ask = ask  # type: ignore[method-assign]
    await until(pilot, lambda: len(seen) > 2)
