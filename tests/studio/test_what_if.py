"""Another mood, another question: what would come to mind instead, with nothing stored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from noodlings.inspect import questions
from noodlings.inspect.questions import Question, V
from noodlings.inspect.recall import ArchiveView
from noodlings.store.memory import MemoryStore
from studio.app import Studio
from studio.panes.what_if import WhatIf
from studio.widgets.sliders import Sliders
from studio.widgets.table import Table
from tests.studio.talking import Talking, spoken_to
from tests.studio.village import looking, screen_of, until

pytestmark = pytest.mark.slow


@pytest.fixture
async def source(tmp_path: Path) -> Talking:
    return Talking(tmp_path, await spoken_to())


def remark(app: Studio, words: str) -> Callable[[], bool]:
    return lambda: words in screen_of(app)


async def to_what_if(app: Studio, pilot: Pilot[None]) -> WhatIf:
    await pilot.press("9")
    await until(pilot, remark(app, "come to mind"))
    return app.query_one(WhatIf)


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_it_begins_with_how_the_agent_feels(source: Talking, size: tuple[int, int]) -> None:
    mood = await source.ask(questions.MOOD, "phi")
    async with looking(source, size) as (app, pilot):
        pane = await to_what_if(app, pilot)
        assert pane.query_one(Sliders).values[0] == mood.affect.affect.valence
        assert all(f"{name} " in screen_of(app) for name in ("valence", "boredom", "mood counts"))


async def test_arrows_move_the_feeling_and_other_memories_come(source: Talking) -> None:
    async with looking(source) as (app, pilot):
        pane = await to_what_if(app, pilot)
        sliders = pane.query_one(Sliders)
        # As sad as can be: valence and the others to their ends, sorrow up.
        await pilot.press(*["left"] * 20, "down", "down", *["left"] * 10, "down", *["right"] * 10)
        assert sliders.values[0] == -1.0
        assert sliders.values[3] == 1.0
        sad = await source.ask(questions.ALIKE, "phi", affect=list(sliders.values[:5]), limit=10)
        expected = [one.entry.text[:25] for one in sad.entries]
        assert any("dog died" in text for text in expected)
        await until(pilot, lambda: f"{len(expected)} come to mind" in screen_of(app))
        assert all(text in screen_of(app) for text in expected)
        await pilot.press("backspace")
        feeling = (await source.ask(questions.MOOD, "phi")).affect.affect
        assert list(sliders.values[:5]) == feeling.as_list()


async def test_the_pointer_sets_a_slider(source: Talking) -> None:
    async with looking(source) as (app, pilot):
        pane = await to_what_if(app, pilot)
        sliders = pane.query_one(Sliders)
        await pilot.click(Sliders, offset=(13, 0))
        assert sliders.values[0] == -1.0
        await pilot.click(Sliders, offset=(sliders.size.width - 8, 2))
        assert sliders.values[2] > 0.9


async def test_a_question_is_asked_with_each_character_and_in_that_mood(source: Talking) -> None:
    async with looking(source) as (app, pilot):
        pane = await to_what_if(app, pilot)
        await pilot.press("slash", *"dog")
        await until(pilot, lambda: "dog died" in screen_of(app) and "new" in screen_of(app))
        asked = [how for question, how in source.asked if question is questions.RECALL]
        assert {how["query"] for how in asked} >= {"dog"}
        assert len(asked[-1]["mood"]) == 5
        await pilot.press("enter")
        assert pane.query_one(Table).has_focus
        await pilot.press("slash", "escape")
        assert pane.query_one(Sliders).has_focus


async def test_nothing_is_stored_and_nothing_reinforced(source: Talking) -> None:
    def kept(answer: dict[str, Any]) -> list[tuple[int, int]]:
        return [(entry.id, entry.recall_count) for entry in answer.entries]

    before = kept(await source.ask(questions.BROWSE, "phi", limit=100))
    async with looking(source) as (app, pilot):
        await to_what_if(app, pilot)
        await pilot.press(*["left"] * 5, "slash", *"dog")
        await until(pilot, lambda: any(question is questions.RECALL for question, _ in source.asked))
        await until(pilot, remark(app, "come to mind"))
        assert kept(await source.ask(questions.BROWSE, "phi", limit=100)) == before
        assert not source.done


class Loading(Talking):
    """A source whose memory is loaded bit by bit; a question waits for `found`."""

    def __init__(self, folder: Path, store: MemoryStore) -> None:
        super().__init__(folder, store)
        self.loaded = 2
        self.found = asyncio.Event()

    async def ask(self, question: Question[V], agent: str = "", **how: Any) -> V:
        answer = await super().ask(question, agent, **how)
        if question is questions.RECALL:
            await self.found.wait()
            return replace(answer, archive=self._far(answer.archive))
        return self._far(answer) if question is questions.ARCHIVE else answer

    def _far(self, archive: ArchiveView) -> ArchiveView:
        return replace(archive, entries=self.loaded, loaded=self.loaded == archive.perceived)


async def test_a_long_memory_says_how_far_it_is_loaded_and_is_looked_through_again(tmp_path: Path) -> None:
    source = Loading(tmp_path, await spoken_to())
    async with looking(source) as (app, pilot):
        await to_what_if(app, pilot)
        await pilot.press("slash", *"dog")
        await until(pilot, remark(app, "2 of 7 memories are loaded: looking …"))
        source.loaded = 5
        await until(pilot, remark(app, "5 of 7 memories are loaded: looking …"))
        source.found.set()
        await until(pilot, remark(app, "5 of 7 memories are loaded: feeling"))
        asked = [question for question, _ in source.asked].count(questions.RECALL)
        source.loaded = 7
        await until(pilot, lambda: "come to mind" in screen_of(app) and "loaded" not in screen_of(app))
        assert [question for question, _ in source.asked].count(questions.RECALL) == asked + 2
        source.asked.clear()
        await pilot.pause(1.2)
        assert questions.ARCHIVE not in [question for question, _ in source.asked]


async def test_a_pane_that_is_not_in_sight_does_not_ask_how_far_it_is(tmp_path: Path) -> None:
    source = Loading(tmp_path, await spoken_to())
    async with looking(source) as (app, pilot):
        await to_what_if(app, pilot)
        await pilot.press("slash", *"dog")
        await until(pilot, remark(app, "looking …"))
        await pilot.press("escape", "0")
        source.asked.clear()
        await pilot.pause(1.2)
        assert questions.ARCHIVE not in [question for question, _ in source.asked]
