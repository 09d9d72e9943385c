"""What somebody said would happen is asked about when they come back, by the whole way of a turn."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.values.memory import Why
from noodlings.values.percept import Kind, Percept
from noodlings.values.trace import Trace

DAY = 86_400.0
ANN, BOB = "user_ann", "user_bob"
PLAN = "I have my driving test tomorrow, and I am scared of it"


def living(data: Path, clock: ManualClock) -> Society:
    return build(Settings(store={"path": str(data)}, embedding={"model": "none"}), clock=clock)


async def hear(
    society: Society, text: str, user: str = ANN, kind: Kind = Kind.SAY, present: tuple[str, ...] = ()
) -> Trace:
    heard = Percept(
        user, text, society.clock.now(), kind, addressed=True, present=frozenset({user, *present})
    )
    return await society.perceive("maren", heard)


def due(trace: Trace) -> list[int]:
    return [one.entry_id for one in trace.recalled if Why.DUE in one.why]


@pytest.mark.slow
async def test_who_comes_back_is_asked_once_how_it_went(tmp_path: Path) -> None:
    clock = ManualClock(20_000 * DAY + 1_000.0)
    with closing(living(tmp_path, clock)) as society:
        told = await hear(society, PLAN)
        clock.set(clock.now() + 60.0)
        assert due(await hear(society, "hello")) == []
    clock.set(clock.now() + 2 * DAY)
    with closing(living(tmp_path, clock)) as society:
        back = await hear(society, "arrives from the garden", kind=Kind.ARRIVE)
        assert due(back) == [told.entry_id]
        assert "driving test" in (back.response or "")
        assert [one.used for one in back.recalled if one.entry_id == told.entry_id] == [True]
        clock.set(clock.now() + 5.0)
        assert due(await hear(society, "hello")) == []
        clock.set(clock.now() + DAY)
        assert due(await hear(society, "hello")) == []


async def test_what_was_said_in_confidence_comes_up_only_in_confidence(tmp_path: Path) -> None:
    clock = ManualClock(20_000 * DAY + 1_000.0)
    with closing(living(tmp_path, clock)) as society:
        told = await hear(society, PLAN, kind=Kind.WHISPER)
        clock.set(clock.now() + 2 * DAY)
        before_bob = await hear(society, "hello", present=(BOB,))
        assert due(before_bob) == []
        assert "driving" not in (before_bob.response or "")
        clock.set(clock.now() + DAY)
        assert due(await hear(society, "hello")) == [told.entry_id]


async def test_nobody_is_asked_about_the_plans_of_others(tmp_path: Path) -> None:
    clock = ManualClock(20_000 * DAY + 1_000.0)
    with closing(living(tmp_path, clock)) as society:
        await hear(society, PLAN, present=(BOB,))
        await hear(society, "nice weather", user=BOB, present=(ANN,))
        clock.set(clock.now() + 2 * DAY)
        assert due(await hear(society, "hello", user=BOB)) == []


async def test_what_was_forgotten_never_comes_due(tmp_path: Path) -> None:
    clock = ManualClock(20_000 * DAY + 1_000.0)
    with closing(living(tmp_path, clock)) as society:
        told = await hear(society, PLAN)
        society.agents["maren"].forget([told.entry_id], ANN, clock.now())
        await hear(society, "nice weather")
        clock.set(clock.now() + 2 * DAY)
        back = await hear(society, "hello")
        assert due(back) == []
        assert "driving" not in (back.response or "")


async def test_of_a_funeral_nobody_asks_how_it_went(tmp_path: Path) -> None:
    clock = ManualClock(20_000 * DAY + 1_000.0)
    with closing(living(tmp_path, clock)) as society:
        told = await hear(society, "my mother's funeral is tomorrow")
        clock.set(clock.now() + 2 * DAY)
        back = await hear(society, "arrives from the garden", kind=Kind.ARRIVE)
        assert due(back) == [told.entry_id]
        assert "funeral" in (back.response or "")
        assert not any(said in (back.response or "") for said in ("harbour", "log", "come and gone"))


async def test_what_was_moved_in_other_words_is_asked_about_on_its_new_day(tmp_path: Path) -> None:
    clock = ManualClock(20_000 * DAY + 1_000.0)  # a Thursday
    with closing(living(tmp_path, clock)) as society:
        await hear(society, PLAN)
        moved = await hear(society, "it was moved to Monday")
        clock.set(clock.now() + 2 * DAY)
        assert due(await hear(society, "hello")) == []
        clock.set(clock.now() + 3 * DAY)
        assert due(await hear(society, "hello")) == [moved.entry_id]


async def test_coming_and_going_brings_up_one_thing_at_a_time(tmp_path: Path) -> None:
    clock = ManualClock(20_000 * DAY + 1_000.0)
    with closing(living(tmp_path, clock)) as society:
        await hear(society, PLAN)
        await hear(society, "I have my knee operation tomorrow")
        clock.set(clock.now() + 2 * DAY)
        found = []
        for _ in range(3):
            found += due(await hear(society, "arrives from the garden", kind=Kind.ARRIVE))
            clock.set(clock.now() + 10.0)
        assert len(found) == 1
