"""Of those who are ready at the same moment no two go on in the same pass of the event loop."""

from __future__ import annotations

import asyncio
from itertools import pairwise

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


def test_one_event_loop_may_come_after_another() -> None:
    in_turn = FairScheduler()

    async def crowd() -> None:
        await asyncio.gather(*(in_turn.turn() for _ in range(3)))

    asyncio.run(crowd())
    asyncio.run(crowd())
