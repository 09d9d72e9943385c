"""World time runs forward, at its own speed, and never back."""

import pytest

from noodlings import clock as clock_module
from noodlings.app import build
from noodlings.clock import ManualClock, SystemClock
from noodlings.config import Settings
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
