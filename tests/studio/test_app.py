"""The application: who is looked at, which pane, and what is said when something goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from noodlings.errors import NoodlingsError
from noodlings.inspect import questions
from noodlings.inspect.questions import Question, V
from studio.app import Studio
from studio.dialogs import bindings_of, named_bindings
from studio.panes import PANE_KEYS, PANES
from studio.panes.episodic import Episodic
from studio.panes.flow import Flow
from studio.panes.people import People
from studio.source import DISCONNECTED, RECONNECTED, SourceEvent, Unreachable
from studio.theme import THEMES
from studio.widgets.agents import AgentList
from studio.widgets.inputs import LineInput
from tests.studio.village import Village, looking, screen_of, until

pytestmark = pytest.mark.slow


@pytest.fixture
def source(tmp_path: Path) -> Village:
    return Village(tmp_path)


async def go_to(pilot: Pilot[None], at: int) -> None:
    """Show a pane by its number, from where a number is a key and no text."""
    pilot.app.query_one(AgentList).query_one("OptionList").focus()
    await pilot.press(PANE_KEYS[at])


async def test_everybody_is_at_the_left_and_the_first_pane_in_sight_of_which_a_picture_is_made(
    source: Village, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with looking(source) as (app, pilot):
        await until(pilot, lambda: "answer 149" in screen_of(app))
        screen = screen_of(app)
        assert all(name in screen for name in ("Phi", "Maren", "SERVNAK", "valence", "surprise", "[Talk]"))
        await pilot.press("f12")
        await until(pilot, lambda: bool(list(tmp_path.glob("*.svg"))))


async def test_the_agent_that_was_asked_for_is_looked_at_first(source: Village) -> None:
    async with looking(source, agent="servnak") as (app, pilot):
        await until(pilot, lambda: app.query_one(AgentList).chosen == "servnak")
        assert "studio · SERVNAK" in screen_of(app)


async def test_keys_lead_from_agent_to_agent(source: Village) -> None:
    async with looking(source) as (app, pilot):
        column = app.query_one(AgentList)
        await until(pilot, lambda: column.chosen == "phi")
        await pilot.press("0", "n")
        assert column.chosen == "servnak"
        await until(pilot, lambda: "0 of 20" in screen_of(app))
        await pilot.press("n", "N", "N")
        assert column.chosen == "phi"
        await until(pilot, lambda: "20 of 20" in screen_of(app))


async def test_brackets_and_clicks_lead_from_pane_to_pane_and_to_an_agent(source: Village) -> None:
    async with looking(source) as (app, pilot):
        app.query_one(AgentList).query_one("OptionList").focus()
        await pilot.press("1", "right_square_bracket")
        assert app.pane is app.query_one(Flow)
        await pilot.press("left_square_bracket", "left_square_bracket")
        assert app.pane is app.query_one(People)
        await pilot.click("TabBar", offset=(23, 0))
        assert type(app.pane) is Episodic
        await pilot.click("AgentList OptionList", offset=(4, 1))
        await until(pilot, lambda: "studio · Maren" in screen_of(app))


async def test_each_set_of_colours(source: Village) -> None:
    async with looking(source) as (app, pilot):
        seen = []
        for _ in THEMES:
            await pilot.press("t")
            seen.append((app.theme, app.ansi_theme.ansi_colors[3]))
        assert [name for name, _ in seen] == ["paper", "safe", "dusk"]
        assert len({str(yellow) for _, yellow in seen}) == len(THEMES)


async def test_the_palette_knows_panes_agents_and_colours(source: Village) -> None:
    async with looking(source) as (app, pilot):
        await until(pilot, lambda: bool(app.query_one(AgentList).ids))
        commands = {command.title: command for command in app.get_system_commands(app.screen)}
        assert {"Show Episodic", "Look at Maren", "Colours: safe", "Refresh", "Quit"} <= commands.keys()
        commands["Show Episodic"].callback()
        commands["Look at Maren"].callback()
        commands["Colours: safe"].callback()
        await until(pilot, lambda: "studio · Maren" in screen_of(app))
        assert (type(app.pane), app.theme) == (Episodic, "safe")
        app.query_one(AgentList).choose("phi")
        await until(pilot, lambda: app.query_one(Episodic).detail.entry is not None)
        await pilot.press("ctrl+p", *"forget")
        await until(
            pilot, lambda: "x delete in Episodic" in screen_of(app) and "/ in What if" not in screen_of(app)
        )
        await pilot.press("enter")
        await until(pilot, lambda: "Forget memory" in screen_of(app))
        await pilot.press("n")
        commands["Speak"].callback()  # shows the pane that it belongs to
        await until(pilot, lambda: isinstance(app.focused, LineInput))


async def test_names_are_no_markup_in_the_palette(source: Village, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "[/x] [B]old[/] [$primary] [@click=app.quit]y[/]"
    async with looking(source) as (app, pilot):
        agents = app.query_one(AgentList)
        await until(pilot, lambda: bool(agents.ids))
        monkeypatch.setattr(agents, "name_of", lambda agent: name)
        await pilot.press("ctrl+p", *"Look at")
        await until(pilot, lambda: f"Look at {name}" in screen_of(app))


async def test_a_number_leads_to_every_pane_which_has_help_and_its_keys_there_and_in_the_palette(
    source: Village,
) -> None:
    async with looking(source, (100, 80)) as (app, pilot):
        for at, pane in enumerate(PANES):
            await go_to(pilot, at)
            assert type(app.pane) is pane
            assert f"[{pane.TITLE}]" in screen_of(app)
            named = {
                binding.description for binding in named_bindings([*bindings_of(pane), *Studio.BINDINGS])
            }
            assert named <= {command.title for command in app.get_system_commands(app.screen)}
            app.query_one(AgentList).query_one("OptionList").focus()
            await pilot.press("question_mark")
            await until(pilot, lambda: "Escape closes this" in screen_of(app))
            shown = screen_of(app)
            assert "Everywhere" in shown
            assert " ".join(pane.ABOUT.split()[:4]) in shown
            assert all(name in shown for name in named)
            await pilot.press("escape")
            assert "Everywhere" not in screen_of(app)


async def test_any_small_size_is_drawn_and_changed_to_and_the_left_column_goes(source: Village) -> None:
    async with looking(source, (60, 20)) as (app, pilot):
        for size in ((60, 20), (10, 3)):  # each pane is drawn on a large terminal by a test of its own
            await pilot.resize_terminal(*size)
            for at in range(len(PANES)):
                await go_to(pilot, at)
                await until(pilot, lambda rows=size[1]: len(screen_of(app).split("\n")) == rows)
            assert app.query_one(AgentList).region.width == 0
            await pilot.resize_terminal(120, 40)
            await until(pilot, lambda: app.query_one(AgentList).region.width == 24)


class Failing(Village):
    """Refuses everything from some moment on."""

    refuses: NoodlingsError | None = None

    async def ask(self, question: Question[V], agent: str = "", **how: Any) -> V:
        if self.refuses is not None:
            raise self.refuses
        return await super().ask(question, agent, **how)


async def test_a_refusal_is_said_in_words_and_what_was_drawn_stays(tmp_path: Path) -> None:
    source = Failing(tmp_path)
    async with looking(source) as (app, pilot):
        await until(pilot, lambda: "answer 149" in screen_of(app))
        source.refuses = Unreachable("the server is [b]gone[/b]")
        await pilot.press("r")
        await until(pilot, lambda: "the server is [b]gone[/b]" in screen_of(app))
        assert "answer 149" in screen_of(app)
        source.refuses = None
        await pilot.press("r")
        await until(pilot, lambda: "gone" not in screen_of(app))


class Signing(Village):
    """Tells what the test lets it tell."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.signs: asyncio.Queue[SourceEvent] = asyncio.Queue()
        self.asked: list[tuple[Question[Any], str]] = []

    async def events(self) -> AsyncIterator[SourceEvent]:
        while True:
            yield await self.signs.get()

    async def ask(self, question: Question[V], agent: str = "", **how: Any) -> V:
        self.asked.append((question, agent))
        return await super().ask(question, agent, **how)


async def test_losing_the_source_is_said_and_finding_it_reads_anew(tmp_path: Path) -> None:
    source = Signing(tmp_path)
    async with looking(source) as (app, pilot):
        assert "● live" in screen_of(app)
        await source.signs.put(SourceEvent(step=DISCONNECTED, reason="refused"))
        await until(pilot, lambda: "reconnecting" in screen_of(app))
        source.asked.clear()
        await source.signs.put(SourceEvent(step=RECONNECTED))
        await until(pilot, lambda: (questions.BROWSE, "phi") in source.asked)
        assert "reconnecting" not in screen_of(app)


async def test_many_signs_are_read_once(tmp_path: Path) -> None:
    source = Signing(tmp_path)
    async with looking(source) as (_, pilot):
        await until(pilot, lambda: source.asked.count((questions.OBSERVE, "servnak")) >= 1)
        await pilot.pause(0.3)
        source.asked.clear()
        for _ in range(50):
            await source.signs.put(SourceEvent("phi"))
        await until(pilot, lambda: (questions.OBSERVE, "servnak") in source.asked)
        await pilot.pause(0.5)
        assert source.asked.count((questions.AGENTS, "")) <= 3


async def test_leaving_lets_go_of_the_source(tmp_path: Path) -> None:
    closed = []

    class Closing(Village):
        async def close(self) -> None:
            closed.append(True)
            await super().close()

    app = Studio(Closing(tmp_path))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("q")
    assert closed
