"""Of those who are ready at the same moment no two go on in the same pass of the event loop."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from noodlings.scheduling import BETWEEN, FairScheduler


async def test_one_goes_on_after_another_and_whoever_else_is_ready_comes_in_between() -> None:
    in_turn, seen = FairScheduler(), list[str]()

    async def compute(name: str) -> None:
        await in_turn.turn()
        seen.append(name)

    async def read(passes: int) -> None:
        for number in range(passes):
            seen.append(f"pass {number}")
            await asyncio.sleep(0)

    await asyncio.gather(read(16), *(compute(name) for name in "abc"))
    computed = [at for at, one in enumerate(seen) if one in "abc"]
    assert [seen[at] for at in computed] == ["a", "b", "c"]
    assert all(later > earlier + BETWEEN for earlier, later in pairwise(computed))


async def test_nobody_gives_way_where_nobody_else_is_there() -> None:
    in_turn = FairScheduler()
    coming = in_turn.turn()
    try:
        coming.send(None)
    except StopIteration:
        return
    raise AssertionError("it gave way")


async def test_whoever_stops_waiting_is_passed_over() -> None:
    in_turn, seen = FairScheduler(), list[str]()

    async def compute(name: str) -> None:
        await in_turn.turn()
        seen.append(name)

    tasks = [asyncio.create_task(compute(name)) for name in "abc"]
    await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.wait(tasks)
    assert seen == ["a", "c"]


async def test_whoever_comes_with_much_does_not_go_before_others() -> None:
    in_turn, seen = FairScheduler(), list[str]()

    async def compute(caller: str) -> None:
        await in_turn.turn(caller)
        seen.append(caller)

    await asyncio.gather(*(compute(caller) for caller in "aaaaabbc"))
    assert "".join(seen) == "aabcabaa"


@pytest.mark.parametrize("passes", range(4 * (BETWEEN + 2)))
async def test_whenever_one_stops_waiting_the_others_go_on(passes: int) -> None:
    """Also at the moment at which its turn has come."""
    in_turn = FairScheduler()
    tasks = [asyncio.create_task(in_turn.turn(caller)) for caller in "abc"]
    for _ in range(passes):
        await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.wait_for(asyncio.gather(tasks[0], tasks[2]), 10)
    await asyncio.wait_for(in_turn.turn(), 10)


def test_one_event_loop_may_come_after_another() -> None:
    in_turn = FairScheduler()

    async def crowd() -> None:
        await asyncio.gather(*(in_turn.turn() for _ in range(3)))

    asyncio.run(crowd())
    asyncio.run(crowd())
