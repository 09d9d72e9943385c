"""One at a time: what threads do to one memory, each of them sees whole."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from noodlings.bridge.list_wrapper import MemoryListWrapper
from noodlings.memory.hierarchical import HierarchicalMemory, one_at_a_time
from tests.memory.entries import ANXIOUS, SORROWFUL

pytestmark = pytest.mark.slow

THREADS, LINES = 8, 150


@one_at_a_time(but=("outside",))
class Counter:
    """Counts who is inside at the same time."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.inside = self.most = 0
        self.meeting = threading.Barrier(2)

    def enter(self) -> None:
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.again()
        self.inside -= 1

    def again(self) -> None:
        assert self.inside == 1

    def outside(self) -> int:
        return self.meeting.wait(10)


def together(*tasks: Callable[[], Any]) -> list[Any]:
    """All at once, each in its thread; what one raises is raised here."""
    with ThreadPoolExecutor(len(tasks)) as pool:
        return [done.result(timeout=60) for done in [pool.submit(task) for task in tasks]]


def test_public_methods_run_alone_and_may_call_each_other() -> None:
    counter = Counter()
    together(*[lambda: [counter.enter() for _ in range(2_000)]] * THREADS)
    assert counter.most == 1


def test_what_is_named_does_not_wait_for_others() -> None:
    counter = Counter()
    assert sorted(together(counter.outside, counter.outside)) == [0, 1]


def test_every_line_that_threads_add_is_there_once() -> None:
    context = MemoryListWrapper(HierarchicalMemory(working_capacity=THREADS * LINES))

    def talk(name: str) -> None:
        for number in range(LINES):
            context.append({"user": name, "text": f"{name} {number}", "timestamp": float(number)})

    together(*[lambda name=f"user_{n}": talk(name) for n in range(THREADS)])
    assert context.hm.stats().perceived == len(context) == THREADS * LINES
    for n in range(THREADS):  # each in its own order, however they mixed
        said = [row["text"] for row in context if row["user"] == f"user_{n}"]
        assert said == [f"user_{n} {number}" for number in range(LINES)]
    assert [entry.user_text for entry in context.hm.retrieve_working()] == [row["text"] for row in context]


def test_a_host_cuts_recalls_and_dumps_in_one_thread_what_another_appends_to() -> None:
    class Host:
        talk = MemoryListWrapper.attribute()

    host: Any = Host()
    done = threading.Event()

    def hear() -> None:
        for number in range(600):
            felt = SORROWFUL.as_list() if number % 50 == 0 else []
            host.talk.append({"user": "caity", "text": f"line {number}", "affect": felt, "surprise": 0.5})
        done.set()

    def think() -> int:
        turns = 0
        while not done.is_set():
            turns += 1
            assert len(json.loads(json.dumps(host.talk[-10:]))) <= 10
            host.talk.hm.get_context_for_response("caity", ANXIOUS)
            for entry in host.talk.hm.retrieve_by_affect_similarity(SORROWFUL):
                assert int(entry.user_text.removeprefix("line ")) % 50 == 0
            host.talk = host.talk[-15:]
        return turns

    _, turns = together(hear, think)
    assert turns > 0
    hm = host.talk.hm
    assert hm.stats().perceived == 600
    assert {entry.user_text for entry in hm.retrieve_episodic(limit=None)} >= {"line 0", "line 300"}


def test_the_list_and_its_memory_agree_for_whoever_holds_the_lock() -> None:
    context = MemoryListWrapper()
    done = threading.Event()

    def change() -> None:
        for number in range(500):
            context.append({"text": str(number)})
            if number % 7 == 0:
                context.assign(context[-3:])
        done.set()

    def look() -> None:
        while not done.is_set():
            with context.lock:
                assert [row["text"] for row in context] == [
                    entry.user_text for entry in context.hm.retrieve_working()
                ]

    together(change, look)


def test_threads_that_come_first_at_once_share_one_list() -> None:
    class Host:
        talk = MemoryListWrapper.attribute()

    for _ in range(80):
        host: Any = Host()
        ready = threading.Barrier(4)

        def hear(host: Any = host, ready: threading.Barrier = ready) -> None:
            ready.wait(10)
            host.talk.append({"text": "first"})

        together(hear, hear, hear, hear)
        assert host.talk.hm.stats().perceived == 4


def test_an_error_lets_the_lock_go() -> None:
    memory = HierarchicalMemory()
    with pytest.raises(ValueError, match="last_n"):
        together(lambda: _refused(memory))
    assert together(memory.stats)[0].perceived == 0


def _refused(memory: HierarchicalMemory) -> None:
    try:
        memory.retrieve_working(-1)
    except Exception as error:
        raise ValueError(str(error)) from error
