"""Leaving while an answer is on its way: nothing is drawn on a screen that is gone, and nothing waits."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from noodlings.inspect import questions
from noodlings.inspect.questions import Question, V
from studio.app import Studio
from studio.widgets.agents import AgentList
from tests.studio.village import Village, screen_of, until

pytestmark = pytest.mark.slow


class Late(Village):
    """Answers one question only when the screen is gone; `asked` is set when it is waited for."""

    app: Studio

    def __init__(self, folder: Path, question: Question[Any]) -> None:
        super().__init__(folder)
        self.asked = asyncio.Event()
        self._late = question

    async def ask(self, question: Question[V], agent: str = "", **how: Any) -> V:
        answer = await super().ask(question, agent, **how)
        if question is self._late:
            parts = (self.app.query_one(AgentList), self.app.pane)
            self.asked.set()
            while any(part.children for part in parts):  # noqa: ASYNC110 — no event tells of it
                await asyncio.sleep(0.005)  # the screen needs the time
        return answer


@pytest.mark.parametrize(
    ("question", "keys"),
    [
        (questions.AGENTS, []),
        (questions.OBSERVE, []),
        (questions.STATS, ["0"]),
        (questions.WHY, []),
        (questions.BROWSE, ["4"]),
        (questions.LINKS, ["3"]),
        (questions.MOOD, ["9"]),
        (questions.ALIKE, ["9"]),
        (questions.RECALL, ["9", "slash", "w"]),
    ],
)
async def test_an_answer_that_comes_while_one_leaves_is_not_drawn(
    tmp_path: Path, question: Question[Any], keys: list[str]
) -> None:
    source = Late(tmp_path, question)
    source.app = app = Studio(source, "phi")
    async with asyncio.timeout(60), app.run_test(size=(100, 30)) as pilot:
        if keys:
            await until(pilot, lambda: "Phi" in screen_of(app))
            await pilot.press(*keys)
        await source.asked.wait()
    # The screen goes with the block.


async def test_leaving_by_a_key_during_a_slow_search(tmp_path: Path) -> None:
    source = Late(tmp_path, questions.RECALL)
    source.app = app = Studio(source, "phi")
    async with asyncio.timeout(60), app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "Phi" in screen_of(app))
        await pilot.press("9", "slash", "w")
        await source.asked.wait()
        await pilot.press("escape", "q")
    assert app.return_code == 0
