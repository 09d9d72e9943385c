"""World time runs forward, at its own speed, and never back."""

import asyncio

import pytest

from noodlings import clock as clock_module
from noodlings.app import build
from noodlings.clock import FURTHEST, LATEST, LEAST_LEFT, ManualClock, SystemClock, moment
from noodlings.config import Settings
from noodlings.errors import UserError
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.store.memory import MemoryStore
from noodlings.values.percept import Percept


@pytest.fixture
def wall(monkeypatch):
    """The wall clock, set by hand."""
    wall = ManualClock(1_000.0)
    monkeypatch.setattr(clock_module.time, "time", wall.now)
    return wall


def test_world_time_is_wall_time(wall):
    clock = SystemClock()
    wall.advance(7.0)
    assert clock.now() == 1_007.0


def test_a_faster_clock_starts_now_and_runs_ahead(wall):
    clock = SystemClock(speed=600.0)
    assert clock.now() == 1_000.0
    wall.advance(2.0)
    assert clock.now() == 2_200.0


@pytest.mark.parametrize(("not_before", "now"), [(0.0, 1_010.0), (999.0, 1_010.0), (5_000.0, 5_010.0)])
def test_a_clock_goes_on_where_another_was(wall, not_before, now):
    clock = SystemClock(not_before=not_before)
    wall.advance(10.0)
    assert clock.now() == now


def test_a_clock_that_was_fifty_years_ahead_once_does_not_keep_the_world_there(wall, tmp_path, caplog):
    fifty_years = 50 * 365 * 86_400.0

    def world(store):
        settings = Settings(store={"path": str(tmp_path)}, embedding={"model": "none"})
        return build(settings, store=store)

    async def tell(society, text):
        percept = Percept("user_caity", text, society.clock.now(), addressed=True)
        return await society.perceive("phi", percept)

    store = MemoryStore()
    asyncio.run(tell(world(store), "good morning"))
    wall.advance(fifty_years)
    asyncio.run(tell(world(store), "the clock of this computer is wrong"))
    wall.advance(60.0 - fifty_years)
    society = world(store)
    assert society.clock.now() == wall.now()
    assert "18250 days ahead of this computer's clock" in caplog.text
    asyncio.run(tell(society, "and now it is right"))
    assert society.agents["phi"].memory.now == wall.now()
    assert world(store).clock.now() == wall.now()


@pytest.mark.parametrize(("ahead", "speed"), [(FURTHEST, 1.0), (FURTHEST, 0.1), (50 * FURTHEST, 600.0)])
def test_what_a_faster_clock_can_have_left_behind_is_believed(wall, ahead, speed):
    assert SystemClock(speed, wall.now() + ahead).now() == wall.now() + ahead


def test_a_time_from_which_the_world_could_not_go_on_for_a_day_is_not_believed(wall, caplog):
    speed = 100_000.0
    assert SystemClock(speed, LATEST - 100.0).now() == wall.now()
    assert "ahead of this computer's clock" in caplog.text
    assert SystemClock(speed, LATEST - LEAST_LEFT * speed).now() == LATEST - LEAST_LEFT * speed


def test_world_time_stands_still_at_the_end_of_the_year_9999(wall):
    clock = SystemClock(100_000.0, LATEST - LEAST_LEFT * 100_000.0)
    wall.advance(2 * LEAST_LEFT)
    assert moment(clock.now()) == LATEST


WRONG_MOMENTS = [1e300, float("nan"), float("inf"), -1.0, "2025-11-15", "12", True, None, [1.0], 10**400]


@pytest.mark.parametrize("wrong", WRONG_MOMENTS)
def test_a_moment_that_no_calendar_holds_is_refused_wherever_it_comes_in(wrong):
    right = "it must be seconds since 1970-01-01 UTC, a number from 0 to 253402300799"
    for takes in (
        moment,
        lambda seconds: Percept("user_caity", "hello", seconds),
        lambda seconds: HierarchicalMemory().add(seconds, 1, "user_caity", "hello", None),
    ):
        with pytest.raises(UserError, match=right):
            takes(wrong)


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan")])
def test_a_clock_that_does_not_run_is_refused(speed):
    with pytest.raises(ValueError, match="above 0"):
        SystemClock(speed)


async def test_a_world_that_ran_fast_goes_on_from_there(wall, tmp_path):
    store = MemoryStore()

    def world(speed):
        settings = Settings(
            store={"path": str(tmp_path)}, embedding={"model": "none"}, world={"clock_speed": speed}
        )
        return build(settings, store=store)

    fast = world(600.0)
    wall.advance(60.0)
    insult = Percept("user_caity", "you are a worthless idiot", fast.clock.now(), addressed=True)
    await fast.perceive("phi", insult)
    slow = world(1.0)
    assert slow.clock.now() == insult.timestamp == 37_000.0
    hurt = slow.agents["phi"].mood.valence
    wall.advance(600.0)
    assert slow.agents["phi"].mood.valence > hurt + 0.05
