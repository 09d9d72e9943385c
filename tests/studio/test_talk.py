"""Speaking to an agent, what was said before, and why each answer was given."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import OptionList

from noodlings.errors import NotFound
from noodlings.inspect import questions
from noodlings.inspect.questions import Question
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Kind, Percept
from studio.app import Studio
from studio.panes.flow import Flow
from studio.panes.talk import Talk
from studio.panes.transistors import Transistors
from studio.source import RECONNECTED, Action, SourceEvent
from studio.widgets.inputs import LineInput
from tests.studio.talking import NOW, SAID, Talking, spoken_to
from tests.studio.village import Village, looking, screen_of, until

pytestmark = pytest.mark.slow

DOG, LAST = SAID[0], SAID[-1]


def told(app: Studio) -> str:
    """What stands beside the talk."""
    return str(app.query_one(Talk).query_one("#why-text").render())


def thought(app: Studio) -> str:
    """The thought that stands there."""
    return told(app).partition("thought")[2]


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_it_opens_on_the_talk_so_far_with_the_why_of_the_last_answer(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    source = Talking(tmp_path, await spoken_to())
    why = await source.ask(questions.WHY, "phi", back=1)
    async with looking(source, size) as (app, pilot):
        await until(pilot, lambda: "put into words" in screen_of(app))
        screen = screen_of(app)
        assert LAST in screen
        assert f"{len(why.recalled)} came to mind" in screen
        assert "the last answer" in screen
        assert (DOG[:20] in screen) or size[1] == 24
        await pilot.press("slash", *"hi Phi", "enter")
        await until(pilot, lambda: bool(source.done))
        assert source.done == [(Action.SAY, "phi", {"text": "hi Phi"})]
        assert app.query_one(LineInput).value == ""


async def test_one_answer_is_looked_at_in_every_pane_that_shows_one(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to())
    async with looking(source, (140, 50)) as (app, pilot):
        await until(pilot, lambda: "put into words" in screen_of(app))
        await pilot.press("comma", "comma")
        await until(pilot, lambda: "2 before the last answer" in screen_of(app))
        await pilot.press("2")
        flow = app.query_one(Flow)
        await until(pilot, lambda: "what time is it?" in str(flow.query_one("#exchange").render()))
        assert "2 before the last answer" in screen_of(app)
        await pilot.press("comma", "7")
        await until(pilot, lambda: "3 before the last answer" in screen_of(app))
        assert SAID[3] in screen_of(app)
        assert type(app.pane) is Transistors
        await pilot.press(*["full_stop"] * 3)
        await until(pilot, lambda: "the last answer" in screen_of(app) and LAST in screen_of(app))
        await pilot.press("full_stop")
        await until(pilot, lambda: "There is no answer after this one." in screen_of(app))
        await pilot.press("1", *["comma"] * (len(SAID) + 1))
        await until(pilot, lambda: "There is no answer before this one." in screen_of(app))
        await until(pilot, lambda: f"{len(SAID) - 1} before the last answer" in screen_of(app))
        await pilot.press("n", "N")
        await until(pilot, lambda: "the last answer" in screen_of(app))


async def test_arrows_walk_from_line_to_line_and_enter_shows_each_memory(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to())
    async with looking(source, (140, 50)) as (app, pilot):
        await until(pilot, lambda: "put into words" in told(app))
        before = told(app)
        await pilot.press("up")
        await until(pilot, lambda: told(app) != before and "1 before the last answer" in screen_of(app))
        assert f"▸ caity {SAID[-2]}"[:12] in screen_of(app)
        await pilot.press("enter")
        assert type(app.pane) is Flow


async def test_whoever_reads_an_older_answer_stays_there_when_another_one_comes(tmp_path: Path) -> None:
    store = await spoken_to(SAID[:3])
    source = Talking(tmp_path, store)
    async with looking(source, (140, 50)) as (app, pilot):
        await until(pilot, lambda: "the last answer" in screen_of(app))
        await pilot.press("comma")
        await until(pilot, lambda: "1 before the last answer" in screen_of(app))
        talk, was = app.query_one(Talk).conversation, thought(app)
        here = talk.chosen
        source.tell("perceived")
        await pilot.pause(0.3)
        assert thought(app) == was
        await source.close()
        with closing(source._build(store)) as society:
            await society.perceive("phi", Percept("user_caity", SAID[3], NOW, Kind.SAY, addressed=True))
        source.tell("turn")
        await until(pilot, lambda: "2 before the last answer" in screen_of(app))
        assert SAID[3] in screen_of(app)
        assert (talk.chosen, thought(app)) == (here, was)


async def test_lines_of_long_ago_are_read_as_one_walks_up(tmp_path: Path) -> None:
    async with looking(Village(tmp_path)) as (app, pilot):
        listed = app.query_one(Talk).query_one("#lines", OptionList)
        await until(pilot, lambda: listed.option_count == 60)
        await pilot.press("home")
        await until(pilot, lambda: listed.option_count == 120)
        assert listed.highlighted == 60
        await pilot.press("comma", "home")
        await until(pilot, lambda: listed.option_count == 150)
        await pilot.press("home")
        await until(
            pilot, lambda: "▸ bram memory 1 of" in screen_of(app) or "▸ caity memory 1 of" in screen_of(app)
        )
        assert "no trace of it is kept" in told(app)


async def test_commas_alone_lead_beyond_what_was_read(tmp_path: Path) -> None:
    async with looking(Village(tmp_path)) as (app, pilot):
        listed = app.query_one(Talk).query_one("#lines", OptionList)
        await until(pilot, lambda: listed.option_count == 60)
        talk = app.query_one(Talk).conversation
        talk.choose(talk.answered[0])
        await pilot.press("comma")
        await until(pilot, lambda: listed.option_count == 120)
        await until(pilot, lambda: talk.chosen == 89 and "answer 89" in screen_of(app))


class Forgetful(Talking):
    """Forgets one memory: it is in no list any more, and asked for by its number it is not found."""

    gone = 0

    async def ask(self, question: Question, agent: str = "", **how: object) -> object:
        """As ever, without that memory."""
        if question is questions.TURN and how["entry_id"] == self.gone:
            raise NotFound("Phi has no such memory that you could read.")
        answer = await super().ask(question, agent, **how)
        if question is questions.BROWSE:
            return replace(answer, entries=tuple(one for one in answer.entries if one.id != self.gone))
        return answer


async def test_a_line_that_is_forgotten_is_left_and_nothing_of_it_stays(tmp_path: Path) -> None:
    source = Forgetful(tmp_path, await spoken_to())
    async with looking(source, (140, 50)) as (app, pilot):
        await until(pilot, lambda: "the last answer" in screen_of(app))
        await pilot.press("comma", "comma")
        await until(pilot, lambda: "2 before the last answer" in screen_of(app))
        talk, was = app.query_one(Talk).conversation, thought(app)
        source.gone = talk.chosen or 0
        await pilot.press("r")
        await until(pilot, lambda: talk.at is None and "before the last" not in screen_of(app))
        await until(pilot, lambda: thought(app) != was)
        assert app.query_one(Talk).query_one("#lines", OptionList).option_count == len(SAID) - 1


async def test_each_step_appears_when_it_is_done_and_the_whole_turn_at_the_end(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to())
    turn = await source.ask(questions.WHY, "phi", back=1)
    async with looking(source) as (app, pilot):
        await until(pilot, lambda: "took ms" in screen_of(app))
        source.tell("perceived")
        await until(pilot, lambda: "✓ heard and kept" in screen_of(app))
        assert "what comes to mind" not in screen_of(app)
        source.tell("recall")
        await until(pilot, lambda: "✓ what comes to mind" in screen_of(app))
        source.tell("something new", agent="maren")
        source.tell("turn", turn=turn)
        await until(pilot, lambda: "took ms" in screen_of(app))
        screen = screen_of(app)
        assert all(words in screen for words in ("felt", "surprise", "importance", "thought", "coloured"))
        assert "something new" not in screen


async def test_a_turn_that_ended_with_its_server_is_not_waited_for(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to())
    async with looking(source) as (app, pilot):
        await until(pilot, lambda: "took ms" in screen_of(app))
        source.tell("perceived")
        await until(pilot, lambda: "✓ heard and kept" in screen_of(app))
        source._signs.put_nowait(SourceEvent(step=RECONNECTED))
        await until(pilot, lambda: "took ms" in screen_of(app))


async def test_silence_after_ones_own_words_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Talking(tmp_path, await spoken_to())
    turn = await source.ask(questions.WHY, "phi", back=1)
    assert turn.turn is not None
    silent = replace(turn, turn=replace(turn.turn, response=None, decision="it has nothing to say"))
    async with looking(source) as (app, pilot):
        await until(pilot, lambda: "took ms" in screen_of(app))
        await pilot.press("slash", *LAST, "enter")
        await until(pilot, lambda: bool(source.done))
        ask = source.ask

        async def asked_after(question: Any, agent: str = "", **how: Any) -> Any:
            """What the store says is silent as well, or the next refresh would show an answer again."""
            return (
                silent if question in (questions.WHY, questions.TURN) else await ask(question, agent, **how)
            )

        monkeypatch.setattr(source, "ask", asked_after)
        source.tell("turn", turn=silent)
        await until(pilot, lambda: "It said nothing." in screen_of(app))
        assert "it has nothing to say" in screen_of(app)


async def test_what_is_refused_comes_back_into_the_line_with_the_reason(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to())
    source.refusal = "a viewer reads, and changes nothing"
    async with looking(source) as (app, pilot):
        await pilot.press("1", "slash", *"hi", "enter")
        await until(pilot, lambda: app.query_one(LineInput).value == "hi")
        assert source.refusal in screen_of(app)


async def test_escape_gives_the_keys_back_and_silence_is_not_said(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to())
    async with looking(source) as (app, pilot):
        await pilot.press("1", "slash", "space", "enter", "escape", "right_square_bracket")
        assert not source.done
        assert type(app.pane) is not Talk


async def test_a_player_sees_its_own_talk_alone(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to())
    source._caller = Caller("user_bram", "bram", Role.PLAYER)
    async with looking(source) as (app, pilot):
        await until(pilot, lambda: "Phi has heard nothing yet." in screen_of(app))
        for pane in "127":
            await pilot.press(pane, "comma")
            await pilot.pause(0.1)
            assert not any(words in screen_of(app) for words in ("dog", "tournament", "time is it"))


async def test_an_agent_that_heard_nothing(tmp_path: Path) -> None:
    async with looking(Village(tmp_path), agent="servnak") as (app, pilot):
        await until(pilot, lambda: "SERVNAK has heard nothing yet." in screen_of(app))


async def test_where_nothing_can_be_said_nothing_is_typed(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to())
    source.changeable = False
    async with looking(source, (80, 24)) as (app, pilot):
        await until(pilot, lambda: "read-only; to speak" in screen_of(app))
        await pilot.press("slash", *"hi")
        assert app.query_one(LineInput).value == ""
        assert "/ Speak" not in screen_of(app)
