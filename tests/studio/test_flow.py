"""What an answer was made of, and what nearly was part of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from noodlings.inspect import questions
from noodlings.inspect.reasons import REASONS, SEARCHED, in_groups, reason_of, score_of
from noodlings.inspect.views import FlowEntryView
from studio.panes.flow import Flow
from studio.panes.why_lines import fit_text, reason_text
from studio.widgets.table import Table
from tests.studio.talking import Talking, spoken_to
from tests.studio.village import Village, looking, screen_of, until

pytestmark = pytest.mark.slow

SIZES = [(80, 24), (200, 60)]


@pytest.mark.parametrize("size", SIZES)
async def test_every_memory_in_mind_stands_there_with_its_why_and_score(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    source = Talking(tmp_path, await spoken_to())
    flow = await source.ask(questions.FLOW, "phi")
    assert flow.recalled
    async with looking(source, size) as (app, pilot):
        await pilot.press("2")
        await until(pilot, lambda: "in mind" in screen_of(app))
        screen = screen_of(app)
        assert "do you remember my dog?" in screen
        assert f"{len(flow.recalled)} in mind" in screen
        table = app.query_one(Flow).query_one(Table)
        assert table.count == len(flow.recalled) + len(flow.left_out) + bool(flow.left_out)
        first = in_groups(flow.recalled)[0]
        assert reason_text(reason_of(first)) in screen
        assert f"{score_of(first):.2f}" in screen
        assert "bar: fits its reason, 0–1" in screen


def test_memories_stand_by_reason_what_was_used_first_and_to_be_recent_is_the_last_of_all() -> None:
    def one(number: int, score: float, *why: str, used: bool = False) -> FlowEntryView:
        scores = dict.fromkeys(why, score)
        return FlowEntryView(number, False, why, score, scores, used, None)

    recent = one(1, 1.0, "recent")
    shared = one(2, 0.9, "recent", "affect")
    weak, used = one(3, 0.2, "semantic", "lexical", used=True), one(4, 0.1, "lexical", used=True)
    strong = one(5, 0.8, "lexical")
    important, ego = one(6, 0.95, "important"), one(7, 0.5, "ego")
    found = in_groups([recent, shared, important, ego, strong, used, weak])
    assert [view.id for view in found] == [3, 4, 5, 7, 6, 2, 1]
    bars = [fit_text(view).plain for view in (recent, ego, important)]
    assert bars[:2] == ["", ""]  # they hold or do not: no bar, however high the score
    assert bars[2].endswith(" 0.95")


async def test_what_nearly_came_is_told_of_the_last_answer_alone_and_by_how_little(tmp_path: Path) -> None:
    source = Talking(
        tmp_path, await spoken_to((*[f"I am so happy today, it is day {n}!!" for n in range(14)],))
    )
    flow = await source.ask(questions.FLOW, "phi")
    assert flow.left_out
    async with looking(source, (120, 50)) as (app, pilot):
        await pilot.press("2")
        await until(pilot, lambda: "Nearly came to mind" in screen_of(app))
        await until(pilot, lambda: f"{len(flow.left_out)} nearly" in screen_of(app))
        await pilot.press("end")
        await until(pilot, lambda: "left out:" in screen_of(app))
        assert "enough" in screen_of(app)
        await pilot.press("comma")
        await until(pilot, lambda: "1 before the last answer" in screen_of(app))
        assert "Nearly came to mind" not in screen_of(app)
        assert "nearly" not in str(app.query_one(Flow).query_one("#figures").render())


async def test_the_memory_under_the_cursor_is_shown_with_each_of_its_reasons(tmp_path: Path) -> None:
    source = Talking(tmp_path, await spoken_to())
    flow = await source.ask(questions.FLOW, "phi")
    rows = in_groups(flow.recalled)
    many = next(at for at, one in enumerate(rows) if len(one.scores) > 1)
    async with looking(source) as (app, pilot):
        await pilot.press("2")
        pane = app.query_one(Flow)
        await until(pilot, lambda: pane.query_one(Table).count > 0)
        await pilot.press("home", *["down"] * many)
        await until(pilot, lambda: pane.detail.entry is not None)
        assert pane.detail.entry is not None
        assert pane.detail.entry.id == rows[many].id
        reasons = str(pane.query_one("#reasons").render())
        assert all(SEARCHED.get(name, REASONS.get(name)) in reasons for name in rows[many].scores)


async def test_why_takes_the_room_that_texts_leave(tmp_path: Path) -> None:
    source = Talking(
        tmp_path, await spoken_to((*[f"I am so happy today, it is day {n}!!" for n in range(14)],))
    )
    async with looking(source, (200, 60)) as (app, pilot):
        await pilot.press("2")
        await until(pilot, lambda: "in mind" in screen_of(app))
        table = app.query_one(Flow).query_one(Table)
        whys = [row[1].plain for row in table._rows.values()]
        assert all(why in screen_of(app) for why in whys)
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "…" in screen_of(app))
        assert "I am so happy" in screen_of(app)


async def test_an_agent_that_never_answered_has_no_flow(tmp_path: Path) -> None:
    async with looking(Village(tmp_path), agent="servnak") as (app, pilot):
        await pilot.press("2")
        await until(pilot, lambda: "Nothing was said yet" in screen_of(app))


async def test_nothing_of_one_agent_stays_with_another(tmp_path: Path) -> None:
    async with looking(Talking(tmp_path, await spoken_to())) as (app, pilot):
        await pilot.press("2")
        await until(pilot, lambda: "my dog?" in screen_of(app))
        await pilot.press("n")
        await until(pilot, lambda: "Nothing was said yet" in screen_of(app))
        assert "dog" not in screen_of(app)
