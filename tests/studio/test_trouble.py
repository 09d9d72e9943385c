"""What cannot be read is said whole, and of when what is shown is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from noodlings.errors import Forbidden, NoodlingsError
from noodlings.inspect import questions
from noodlings.inspect.questions import Question, V
from studio.panes import PANE_KEYS
from studio.panes.stats import Stats
from studio.source import DISCONNECTED, RECONNECTED, Action, SourceEvent, Unreachable
from studio.widgets.agents import AgentList
from tests.studio.talking import Talking, spoken_to
from tests.studio.village import looking, screen_of, until

pytestmark = pytest.mark.slow

SENTENCE = "This needs a token: the header Authorization: Bearer … Pass it with --token or NOODLINGS_TOKEN."


class Troubled(Talking):
    """Refuses everything, or one question, with the words of `error` while there is one."""

    error: NoodlingsError | None = None
    only: Question[Any] | None = None

    async def ask(self, question: Question[V], agent: str = "", **how: Any) -> V:
        """As ever, or refused."""
        if self.error is not None and self.only in (None, question):
            raise self.error
        return await super().ask(question, agent, **how)

    async def act(self, action: Action, agent: str, **how: Any) -> Mapping[str, Any]:
        """As ever, or refused."""
        if self.error is not None:
            raise self.error
        return await super().act(action, agent, **how)


def words_of(screen: str) -> str:
    """What stands right of everybody, as running text."""
    return " ".join(" ".join(line[24:] for line in screen.split("\n")).split())


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_a_refusal_is_said_whole_and_nobody_pretends_to_reconnect(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    source = Troubled(tmp_path, await spoken_to())
    async with looking(source, size) as (app, pilot):
        await pilot.press("0")
        await until(pilot, lambda: "7 of 20" in screen_of(app))
        source.error = Forbidden(SENTENCE)
        await source._signs.put(SourceEvent(step=DISCONNECTED, reason="the stream is refused (401)"))
        await pilot.press("r")
        await until(pilot, lambda: SENTENCE in words_of(screen_of(app)))
        assert "✕ refused" in screen_of(app)
        assert "reconnecting" not in screen_of(app)
        assert "7 of 20" in screen_of(app)


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_the_words_for_one_pane_stand_in_it_whole(tmp_path: Path, size: tuple[int, int]) -> None:
    source = Troubled(tmp_path, await spoken_to())
    source.only = questions.BROWSE
    async with looking(source, size) as (app, pilot):
        source.error = NoodlingsError(SENTENCE)
        await pilot.press("1")
        await until(pilot, lambda: SENTENCE in words_of(screen_of(app)))
        source.error = None
        await pilot.press("r")
        await until(pilot, lambda: "! This needs" not in screen_of(app) and "my dog?" in screen_of(app))


async def test_figures_stay_whole_with_the_time_they_are_of(tmp_path: Path) -> None:
    source = Troubled(tmp_path, await spoken_to())
    async with looking(source) as (app, pilot):
        await pilot.press("0")
        await until(pilot, lambda: "7 of 20" in screen_of(app))
        source.error = Unreachable("http://127.0.0.1:9 does not answer")
        await source._signs.put(SourceEvent(step=DISCONNECTED, reason="refused"))
        await until(pilot, lambda: "↻ reconnecting" in screen_of(app))
        assert "Stats is as of " in screen_of(app)
        await pilot.press("3", "0")
        await until(pilot, lambda: "does not answer" in screen_of(app))
        assert all(
            words in screen_of(app) for words in ("7 of 20", "episodic", "importance of what is in mind")
        )
        await pilot.press("5")
        assert "Nothing has been read yet." in screen_of(app)
        await pilot.press("0")
        await until(pilot, lambda: "Stats is as of " in screen_of(app))
        app.query_one(AgentList).choose("maren")
        await until(pilot, lambda: "Nothing has been read yet." in screen_of(app))
        app.query_one(AgentList).choose("phi")
        source.error = None
        await source._signs.put(SourceEvent(step=RECONNECTED))
        await pilot.press("0")
        await until(pilot, lambda: "as of" not in screen_of(app) and "does not" not in screen_of(app))
        assert app.query_one(Stats)


class Reserved(Talking):
    """Tells of Phi, and of everybody else no more than that there is somebody."""

    async def ask(self, question: Question[V], agent: str = "", **how: Any) -> V:
        """As ever of Phi, else refused."""
        if agent not in ("", "phi"):
            raise NoodlingsError("of them nothing is told")
        return await super().ask(question, agent, **how)


async def test_of_the_agent_before_nothing_stays_where_nothing_is_told_of_the_next(tmp_path: Path) -> None:
    source = Reserved(tmp_path, await spoken_to())
    untold = []
    async with looking(source, agent="servnak") as (app, pilot):
        app.query_one(AgentList).choose("maren")
        for key in PANE_KEYS:
            await pilot.press(key)
            await until(pilot, lambda: "of them nothing is told" in words_of(screen_of(app)))
            untold.append(await at_rest(pilot))
    async with looking(source) as (app, pilot):
        for key, words in zip(PANE_KEYS, untold, strict=True):
            await pilot.press(key)
            await until(pilot, lambda words=words: len(words_of(screen_of(app))) > len(words))
        app.query_one(AgentList).choose("maren")
        for key, words in zip(PANE_KEYS, untold, strict=True):
            await pilot.press(key)
            await until(pilot, lambda words=words: words_of(screen_of(app)) == words)


async def at_rest(pilot: Pilot[None]) -> str:
    """The words once nothing moves any more: what is waited for may be drawn before the rest is."""
    seen, before = words_of(screen_of(pilot.app)), ""
    while seen != before:
        await pilot.pause()
        seen, before = words_of(screen_of(pilot.app)), seen
    return seen


async def test_what_a_refusal_says_is_no_markup(tmp_path: Path) -> None:
    source = Troubled(tmp_path, await spoken_to())
    async with looking(source) as (app, pilot):
        await pilot.press("3")
        await until(pilot, lambda: "my dog?" in screen_of(app))
        source.error = Forbidden("[b]eve[/b] may not [@click=app.quit]pin[/] this [/nothing]")
        await pilot.press("p", "r")  # read again now, and not in ten seconds: it is said above the pane, too
        await until(pilot, lambda: str(source.error) in " ".join(screen_of(app).split()))


async def test_what_was_not_heard_is_no_error_any_more_once_one_is_heard_again(tmp_path: Path) -> None:
    source = Troubled(tmp_path, await spoken_to())
    async with looking(source) as (app, pilot):
        await pilot.press("1", "slash", *"hi")
        source.error = Unreachable("http://127.0.0.1:9 does not answer")
        await pilot.press("enter")
        await until(pilot, lambda: "! http://127.0.0.1:9 does not answer" in screen_of(app))
        source.error = None
        await source._signs.put(SourceEvent(step=RECONNECTED))
        await until(pilot, lambda: "! http" not in screen_of(app))
