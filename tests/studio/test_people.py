"""The people that somebody knows and its journal, each line with the memories behind it."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from noodlings.inspect import questions
from studio.app import Studio
from studio.panes import people
from studio.panes.base import Results
from studio.panes.people import People
from studio.remote import RemoteSource
from studio.source import Action
from studio.widgets.agents import AgentList
from tests.api.serving import served
from tests.memory.entries import an_entry
from tests.studio.talking import Talking, spoken_to
from tests.studio.village import HOSTILE, NOW, Village, looking, screen_of, society, until

pytestmark = pytest.mark.slow

DAY = 86_400.0
SAID = (
    "My sister Ruth is a nurse",
    "I live in Hull",
    "I hate thunder",
    "I have my driving test tomorrow",
    "I moved to Leeds",
    "I hate thunder!",
)


async def told(folder: Path) -> Talking:
    return Talking(folder, await spoken_to(SAID))


def lines(pane: People) -> list[str]:
    """The lines about whom the cursor is on."""
    return [str(option.prompt) for option in pane.query_one("#lines", OptionList).options]


def in_full(pane: People) -> int | None:
    """The memory that is shown in full."""
    return pane.detail.entry.id if pane.detail.entry else None


async def open_people(pilot: Pilot[None], app: Studio) -> People:
    """The pane once it has read who there is."""
    await pilot.press("minus")
    pane = app.query_one(People)
    await until(pilot, lambda: any("#" in line for line in lines(pane)))
    return pane


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_who_is_known_what_it_makes_of_them_and_what_is_planned(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with looking(await told(tmp_path), size) as (app, pilot):
        pane = await open_people(pilot, app)
        await until(pilot, lambda: "driving test" in screen_of(app) and "Ruth" in screen_of(app))
        screen = screen_of(app)
        assert "Caity" in screen
        assert "hardly acquainted" in screen
        assert "2 people" in screen
        assert "6 lines" in screen
        shown = lines(pane)
        assert any(line.startswith("ahead ") and "driving test" in line and "#4" in line for line in shown)
        assert any(line.startswith("dislikes ") and "#3 #6" in line for line in shown)
        # What was superseded is struck through before what replaced it.
        assert any("Hull → I moved to Leeds" in line for line in shown)
        struck = pane.query_one("#lines", OptionList).options[-1].prompt
        assert "Hull" in str(struck)
        assert any("strike" in str(span.style) for span in struck.spans)


async def test_enter_goes_to_the_lines_and_on_to_the_memory_and_escape_back(tmp_path: Path) -> None:
    async with looking(await told(tmp_path)) as (app, pilot):
        pane = await open_people(pilot, app)
        await until(pilot, lambda: any("driving test" in line for line in lines(pane)))
        rows = pane.query_one("#lines", OptionList)
        assert app.focused is pane.table
        await pilot.press("enter")
        assert app.focused is rows
        await pilot.press("home", *["down"] * [line[:5] for line in lines(pane)].index("ahead"))
        await until(pilot, lambda: in_full(pane) == 4)
        await pilot.press("enter")
        assert app.focused is pane.detail
        await pilot.press("escape")
        assert app.focused is rows
        await pilot.press("escape")
        assert app.focused is pane.table


async def test_left_and_right_lead_through_the_memories_behind_a_line(tmp_path: Path) -> None:
    async with looking(await told(tmp_path)) as (app, pilot):
        pane = await open_people(pilot, app)
        await until(pilot, lambda: any("#3 #6" in line for line in lines(pane)))
        at = next(at for at, line in enumerate(lines(pane)) if "#3 #6" in line)
        await pilot.press("enter", "home", *["down"] * at)
        await until(pilot, lambda: in_full(pane) == 3 and "memory 1 of 2" in screen_of(app))
        await pilot.press("right")
        await until(pilot, lambda: in_full(pane) == 6 and "memory 2 of 2" in screen_of(app))
        await pilot.press("right")
        await until(pilot, lambda: in_full(pane) == 3)
        await pilot.press("left")
        await until(pilot, lambda: in_full(pane) == 6)


async def test_j_shows_the_journal_day_by_day_and_people_again(tmp_path: Path) -> None:
    async with looking(await told(tmp_path)) as (app, pilot):
        pane = await open_people(pilot, app)
        await pilot.press("j")
        await until(pilot, lambda: "1970-01-12 Mon" in screen_of(app) and "one day, the" in screen_of(app))
        assert app.focused is pane.table
        assert any("driving test" in line and "#4" in line for line in lines(pane))
        await pilot.press("enter", "down")
        await until(pilot, lambda: in_full(pane) is not None)
        await pilot.press("j")
        await until(pilot, lambda: "2 people" in screen_of(app))


async def test_earlier_days_are_read_when_the_cursor_comes_to_the_last_one(tmp_path: Path) -> None:
    days = [
        an_entry(
            at, timestamp=NOW - DAY * (20 - at), user_text=f"I found {at} shells", encoded_importance=0.9
        )
        for at in range(1, 21)
    ]
    async with looking(Village(tmp_path, lambda: society(days))) as (app, pilot):
        await pilot.press("minus", "j")
        pane = app.query_one(People)
        await until(pilot, lambda: pane.table.count == people.DAYS)
        assert "14 days, the latest first …" in screen_of(app)
        await pilot.press("end")
        await until(pilot, lambda: pane.table.count == 20)
        assert pane.table.cursor == people.DAYS - 1
        assert "20 days, the latest first" in screen_of(app)


async def test_of_somebody_whom_nobody_talked_to_it_says_so(tmp_path: Path) -> None:
    async with looking(Village(tmp_path), agent="servnak") as (app, pilot):
        await pilot.press("minus")
        await until(pilot, lambda: "It knows nobody yet." in screen_of(app))
        await pilot.press("enter", "left", "right", "j")
        await until(pilot, lambda: "Nothing worth telling has happened yet." in screen_of(app))
        await pilot.press("n")
        await until(pilot, lambda: "studio · Maren" in screen_of(app) or "studio · Phi" in screen_of(app))


async def test_hostile_words_stay_words(tmp_path: Path) -> None:
    said = [an_entry(at, timestamp=NOW, user_text=f"I hate {text}") for at, text in enumerate(HOSTILE, 1)]
    async with looking(Village(tmp_path, lambda: society(said))) as (app, pilot):
        pane = await open_people(pilot, app)
        await until(pilot, lambda: any("[bold red]no markup[/]" in line for line in lines(pane)))
        assert not any(sign in line for line in lines(pane) for sign in "\x1b\x07\u202e\x9b")
        await pilot.press("j")
        await until(pilot, lambda: "1970-01-12" in screen_of(app))


async def test_what_was_forgotten_is_read_anew_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people, "REST", 1e9)
    source = await told(tmp_path)
    async with looking(source) as (app, pilot):
        pane = await open_people(pilot, app)
        await pilot.press("enter", "down")
        await until(pilot, lambda: in_full(pane) is not None)
        times = source.asked.count((questions.PEOPLE, {}))
        await pilot.press("x")
        await until(pilot, lambda: "Forget memory" in screen_of(app))
        await pilot.press("y")
        await until(pilot, lambda: source.asked.count((questions.PEOPLE, {})) > times)
        assert source.done[-1][0] is Action.FORGET


async def test_a_long_memory_is_not_read_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people, "REST", 1e9)
    source = await told(tmp_path)
    async with looking(source) as (app, pilot):
        await open_people(pilot, app)
        await until(pilot, lambda: "2 people" in screen_of(app))
        observed = source.asked.count((questions.OBSERVE, {}))
        source.tell("turn")
        await until(pilot, lambda: source.asked.count((questions.OBSERVE, {})) > observed)
        assert source.asked.count((questions.PEOPLE, {})) == 1
        app.query_one(AgentList).choose("maren")
        await until(pilot, lambda: source.asked.count((questions.PEOPLE, {})) == 2)


async def test_over_rest_a_player_sees_what_follows_from_its_own_lines(tmp_path: Path) -> None:
    player = {"role": "player", "token": "the-token-of-a-player", "user": "user_bram"}
    admin = {"role": "admin", "token": "the-token-of-the-admin"}
    with served(tmp_path, tokens=[admin, player]) as server:
        for user, text in (("user_caity", "I am allergic to nuts"), ("user_bram", "I hate thunder")):
            answer = server.client.post(
                "/api/agents/phi/perceive",
                json={"user_id": user, "text": text, "addressed": True},
                headers={"Authorization": f"Bearer {admin['token']}"},
            )
            assert answer.status_code == 200, answer.text
        app = Studio(RemoteSource(server.url, player["token"]), "phi")
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: "studio · Phi" in screen_of(app))
            await open_people(pilot, app)
            await until(pilot, lambda: "I hate thunder" in screen_of(app))
            assert "one person" in screen_of(app)
            assert "not yours to read" in screen_of(app)
            assert "nuts" not in screen_of(app)
            await pilot.press("j")
            await until(pilot, lambda: "one day, the latest first" in screen_of(app))
            assert "nuts" not in screen_of(app)


async def test_what_is_drawn_holds_while_the_cursor_is_ahead_and_when_lines_go(tmp_path: Path) -> None:
    async with looking(await told(tmp_path)) as (app, pilot):
        pane = await open_people(pilot, app)
        await until(pilot, lambda: any("driving test" in line for line in lines(pane)))
        await pilot.press("enter", "end")
        with pane.table.prevent(type(pane.table).Moved):
            pane.table.cursor = 1  # the pane is told of it only later
        pane.receive(Results())
        pane.action_evidence(1)
        pane.clear()
        pane.receive(Results())
        assert lines(pane) == []
