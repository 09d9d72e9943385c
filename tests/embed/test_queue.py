"""Vectors made on a thread: in order, together, once for all who ask; and the loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from noodlings.embed.queue import KEPT, TOGETHER_CHARACTERS, EmbeddingQueue
from noodlings.errors import NoodlingsError
from noodlings.values.memory import Vector
from tests.fakes import HashingEmbedder, LayeredHashingEmbedder

SOON = 10.0
"""Real seconds within which another thread does its work, however busy the machine is."""


class Held(HashingEmbedder):
    """Embeds when a test opens its gate; keeps what it was asked, and who asked."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.begun = threading.Event()
        self.asked: list[list[str]] = []
        self.threads: set[threading.Thread] = set()
        self.error: Exception | None = None

    def embed(self, texts: Sequence[str]) -> Vector:
        """See `HashingEmbedder`."""
        self.asked.append(list(texts))
        self.threads.add(threading.current_thread())
        self.begun.set()
        assert self.gate.wait(SOON)
        if self.error is not None:
            raise self.error
        return super().embed(texts)


class NothingToDo:
    """A backlog of no texts; something may happen while it is asked for some."""

    def __init__(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        self._meanwhile = meanwhile

    def take(self, now: float, most: int) -> dict[int, str]:
        """None."""
        self._meanwhile()
        return {}

    def keep(self, vectors: Mapping[int, Vector], now: float) -> None:
        """Never, as nothing was taken."""
        raise AssertionError

    def fail(self, ids: Sequence[int], reason: str, now: float) -> None:
        """Never, as nothing was taken."""
        raise AssertionError

    def again_at(self) -> float:
        """Never."""
        return math.inf


@pytest.fixture
def held() -> Held:
    return Held()


@pytest.fixture
def queue(held: Held) -> Iterator[EmbeddingQueue]:
    made = EmbeddingQueue(held, local=False)
    yield made
    held.gate.set()
    made.close()


def asking(queue: EmbeddingQueue, *texts: str) -> list[asyncio.Task[Vector | None]]:
    return [asyncio.create_task(queue.vector(text)) for text in texts]


async def under_way(held: Held) -> None:
    """Until the thread has taken the first text."""
    assert await asyncio.to_thread(held.begun.wait, SOON)


async def test_the_loop_goes_on_while_a_vector_is_made(queue: EmbeddingQueue, held: Held) -> None:
    (asked,) = asking(queue, "my dog")
    await under_way(held)
    await asyncio.sleep(0)
    assert not asked.done()
    held.gate.set()
    vector = await asked
    assert np.array_equal(vector, HashingEmbedder().embed(["my dog"])[0])
    assert not vector.flags.writeable
    assert threading.current_thread() not in held.threads


async def test_what_waits_at_the_same_moment_is_embedded_together_and_in_order(
    queue: EmbeddingQueue, held: Held
) -> None:
    first = asking(queue, "one")
    await under_way(held)
    long = "x" * TOGETHER_CHARACTERS
    rest = asking(queue, "two", "three", "two", "four", long, "five")
    await asyncio.sleep(0)
    assert queue.waiting == 6
    order: list[int] = []
    for number, task in enumerate([*first, *rest]):
        task.add_done_callback(lambda _, number=number: order.append(number))
    held.gate.set()
    found = await asyncio.gather(*first, *rest)
    assert held.asked == [["one"], ["two", "three", "four"], [long], ["five"]]
    assert found[1] is found[3]
    assert queue.waiting == 0
    assert order == [0, 1, 3, 2, 4, 5, 6]
    for text, vector in zip(["one", "two", "three", "two", "four", long, "five"], found, strict=True):
        assert np.array_equal(vector, HashingEmbedder().embed([text])[0])


async def test_not_more_than_eight_are_embedded_together(queue: EmbeddingQueue, held: Held) -> None:
    first = asking(queue, "one")
    await under_way(held)
    rest = asking(queue, *(f"line {number}" for number in range(20)))
    await asyncio.sleep(0)
    held.gate.set()
    await asyncio.gather(*first, *rest)
    assert [len(texts) for texts in held.asked] == [1, 8, 8, 4]


async def test_speakers_take_turns_however_much_one_of_them_said(queue: EmbeddingQueue, held: Held) -> None:
    first = asking(queue, "one")
    await under_way(held)
    said = [("bob", f"line {number}") for number in range(20)] + [("ann", "my dog"), ("ann", "my cat")]
    rest = [asyncio.create_task(queue.vector(text, by=by)) for by, text in said]
    await asyncio.sleep(0)
    held.gate.set()
    await asyncio.gather(*first, *rest)
    assert held.asked[1][:5] == ["line 0", "my dog", "line 1", "my cat", "line 2"]


@pytest.mark.parametrize(
    ("said", "batches"),
    [
        ([*(("bob", f"{number} {'x' * TOGETHER_CHARACTERS}") for number in range(6)), ("ann", "my dog")], 2),
        ([*((f"user_{number % 8}", f"line {number}") for number in range(32)), ("ann", "my dog")], 3),
    ],
    ids=["long", "many"],
)
async def test_whoever_was_served_lets_others_go_first(
    queue: EmbeddingQueue, held: Held, said: list[tuple[str, str]], batches: int
) -> None:
    first = asking(queue, "one")
    await under_way(held)
    rest = [asyncio.create_task(queue.vector(text, by=by)) for by, text in said]
    await asyncio.sleep(0)
    held.gate.set()
    await asyncio.gather(*first, *rest)
    assert "my dog" in [text for texts in held.asked[1 : 1 + batches] for text in texts]


async def test_what_is_kept_is_there_without_giving_way(queue: EmbeddingQueue, held: Held) -> None:
    held.gate.set()
    first = await queue.vector("my dog")
    again = queue.vector("my dog")
    with pytest.raises(StopIteration) as found:
        again.send(None)
    assert found.value.value is first
    for number in range(KEPT):
        await queue.vector(f"line {number}")
    assert await queue.vector("my dog") is not first


async def test_what_somebody_else_said_is_embedded_anew(queue: EmbeddingQueue, held: Held) -> None:
    held.gate.set()
    for by in ("user_bob", "user_ann", "user_bob"):
        await queue.vector("the vault is under the mill", by=by)
    assert held.asked == [["the vault is under the mill"]] * 2


async def test_nothing_is_kept_that_was_asked_before_it_let_go(queue: EmbeddingQueue, held: Held) -> None:
    (asked,) = asking(queue, "my secret")
    await under_way(held)
    queue.let_go()
    held.gate.set()
    await asked
    await queue.vector("my secret")
    assert held.asked == [["my secret"], ["my secret"]]


async def test_where_it_failed_words_must_do_until_it_works(queue: EmbeddingQueue, held: Held) -> None:
    held.error = NoodlingsError("not yet")
    held.gate.set()
    assert await asyncio.gather(*asking(queue, "one", "two")) == [None, None]
    assert queue.failed == queue.trouble == "not yet"
    held.error = None
    assert (await queue.vector("one")).shape == (64,)
    assert queue.failed == ""


async def test_what_nobody_waits_for_any_more_is_not_embedded(queue: EmbeddingQueue, held: Held) -> None:
    (first,) = asking(queue, "one")
    await under_way(held)
    left, last = asking(queue, "two", "three")
    await asyncio.sleep(0)
    left.cancel()
    await asyncio.wait([left])
    held.gate.set()
    await asyncio.gather(first, last)
    assert held.asked == [["one"], ["three"]]


async def test_whoever_stops_waiting_takes_nothing_from_others(queue: EmbeddingQueue, held: Held) -> None:
    mine, yours = asking(queue, "my dog", "my dog")
    await under_way(held)
    mine.cancel()
    held.gate.set()
    assert (await yours).shape == (64,)
    assert mine.cancelled()


async def test_in_the_end_whoever_waits_is_told(queue: EmbeddingQueue, held: Held) -> None:
    asked = asking(queue, "one", "two")
    await under_way(held)
    closing = asyncio.create_task(asyncio.to_thread(queue.close))
    assert await asyncio.gather(*asked) == [None, None]
    held.gate.set()
    await closing
    assert await queue.vector("three") is None
    assert not [thread for thread in held.threads if thread.is_alive()]


def test_one_event_loop_may_come_after_another(queue: EmbeddingQueue, held: Held) -> None:
    held.gate.set()

    async def crowd(*texts: str) -> None:
        await asyncio.gather(*asking(queue, *texts))

    asyncio.run(crowd("one", "two"))
    asyncio.run(crowd("three", "four"))


async def test_what_an_embedder_tells_beside_the_vector_comes_with_it_from_one_pass() -> None:
    embedder = LayeredHashingEmbedder()
    queue = EmbeddingQueue(embedder)
    understood = await queue.understood("my dog")
    np.testing.assert_array_equal(understood.vector, HashingEmbedder().embed(["my dog"])[0])
    np.testing.assert_array_equal(understood.layers, [6.0])
    assert not understood.layers.flags.writeable
    assert await queue.question("my dog") is understood.vector
    assert embedder.passes == [("read", ["my dog"])]
    queue.close()


async def test_of_an_embedder_of_vectors_alone_there_is_nothing_else() -> None:
    queue = EmbeddingQueue(HashingEmbedder())
    assert (await queue.understood("my dog")).layers is None
    queue.close()


def test_two_threads_may_look_for_a_backlog_at_once(queue: EmbeddingQueue) -> None:
    with ThreadPoolExecutor(1, "other") as other:
        order: list[str] = []
        second = NothingToDo(lambda: order.append(threading.current_thread().name))
        first = NothingToDo(lambda: order.append(str(other.submit(queue.embed_backlog).result(SOON))))
        queue.watch(first)
        queue.watch(second)
        assert queue.embed_backlog() is None
    assert order == ["other_0", "None"]
