"""What waits for a vector: the newest first, failures in growing pauses and shrinking portions, then none."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from noodlings.embed.retry_queue import LONGEST_PAUSE, PATIENCE, RetryQueue, pause


def waiting_for(*ids: int) -> RetryQueue:
    waiting = RetryQueue()
    for entry_id in ids:
        waiting.add(entry_id)
    return waiting


def test_the_newest_come_first_and_each_once() -> None:
    waiting = waiting_for(1, 2, 3)
    assert waiting.take(0.0, 2) == [3, 2]
    waiting.add(4)
    assert waiting.take(0.0, 2) == [4, 1]
    assert waiting.take(0.0, 2) == []
    assert len(waiting) == 4
    waiting.done([1, 2, 3, 4])
    assert len(waiting) == 0


def test_pauses_grow_to_an_hour() -> None:
    pauses = [pause(attempts) for attempts in range(1, PATIENCE)]
    assert pauses[:4] == [1.0, 4.0, 16.0, 64.0]
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST_PAUSE
    assert 5 * 3_600 < sum(pauses) < 6 * 3_600


def test_what_failed_is_taken_again_after_its_pause_and_not_before() -> None:
    waiting = waiting_for(7)
    now = 100.0
    for attempts in range(1, PATIENCE):
        assert waiting.take(now, 8) == [7]
        assert waiting.fail([7], "no answer", now) == {7: attempts}
        assert waiting.again_at() == now + pause(attempts)
        assert waiting.take(now + pause(attempts) - 0.01, 8) == []
        now += pause(attempts)
    waiting.take(now, 8)
    assert waiting.fail([7], "no answer", now) == {7: PATIENCE}
    assert waiting.parked == {7: "no answer"}
    assert waiting.again_at() == math.inf
    assert waiting.take(math.inf, 8) == []
    assert len(waiting) == 0


def test_portions_of_what_failed_shrink_until_each_is_alone() -> None:
    waiting = waiting_for(*range(32))
    now = 0.0
    sizes: list[int] = []
    while len(waiting):
        ids = waiting.take(now, 32)
        if not ids:
            now = waiting.again_at()
            continue
        if not sizes or len(ids) < sizes[-1]:
            sizes.append(len(ids))
        if len(ids) > 1 or ids == [13]:
            waiting.fail(ids, "poison", now)
        else:
            waiting.done(ids)
    assert sizes == [32, 16, 8, 4, 2, 1]
    assert list(waiting.parked) == [13]


def test_fresh_ones_do_not_wait_for_failed_ones() -> None:
    waiting = waiting_for(1)
    waiting.take(0.0, 1)
    waiting.fail([1], "late", 0.0)
    waiting.add(2)
    assert waiting.again_at() == -math.inf
    assert waiting.take(10.0, 8) == [2]
    assert waiting.take(10.0, 8) == [1]


def test_what_was_parked_in_an_earlier_life_gets_one_more_try() -> None:
    waiting = RetryQueue()
    waiting.add(1, PATIENCE, "no answer")
    waiting.add(2, 3, "no answer")
    assert waiting.fail([1], "still none", 0.0) == {1: PATIENCE}
    assert waiting.fail([2], "still none", 0.0) == {2: 4}
    assert waiting.parked == {1: "still none"}


def test_what_is_done_is_gone_wherever_it_was() -> None:
    waiting = waiting_for(1, 2, 3, 4)
    waiting.take(0.0, 1)
    waiting.fail([3], "late", 0.0)
    waiting.add(5, PATIENCE)
    waiting.fail([5], "never", 0.0)
    assert waiting.parked
    waiting.done([1, 2, 3, 4, 5, 99])
    assert len(waiting) == 0
    assert not waiting.parked
    assert waiting.again_at() == math.inf


@given(st.lists(st.sampled_from(["add", "take", "fail", "done"]), max_size=60), st.integers(1, 5))
def test_nothing_is_lost_and_nothing_is_taken_twice(steps: list[str], most: int) -> None:
    waiting = RetryQueue()
    added, finished = 0, set[int]()
    taken: list[int] = []
    now = 0.0
    for step in steps:
        now += 3.0
        if step == "add":
            waiting.add(added)
            added += 1
        elif step == "take" and not taken:
            taken = waiting.take(now, most)
            assert len(set(taken)) == len(taken) <= most
            assert finished.isdisjoint(taken)
        elif step == "fail":
            waiting.fail(taken, "late", now)
            taken = []
        elif step == "done":
            waiting.done(taken)
            finished.update(taken)
            taken = []
        assert len(waiting) + len(waiting.parked) == added - len(finished)
