"""Embedding in the background: on a thread of its own, everybody in turn, and questions in between."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import closing

import pytest

from noodlings.agent.agent import Agent
from noodlings.agent.archive import AgentArchive
from noodlings.embed.queue import MOST_WAITING, QUIET_SECONDS, TOGETHER, EmbeddingQueue
from noodlings.errors import NoodlingsError
from noodlings.store.memory import MemoryStore
from noodlings.values.memory import Vector
from noodlings.values.percept import Percept
from tests.agent.archives import Make, commit, counts, filled, said, wake
from tests.agent.embedders import Flaky, Still, Time, Unthreaded
from tests.fakes import HashingEmbedder

SOON = 10.0
"""Real seconds within which another thread does its work, however busy the machine is."""


def test_a_thread_embeds_what_there_is_and_ends_with_its_owner(
    store: MemoryStore, make_archive: Make
) -> None:
    others = set(threading.enumerate())
    done = threading.Event()
    by: list[str] = []

    def note(texts: object) -> str:
        by.append(threading.current_thread().name)
        return ""

    embedder = Flaky(note)
    embedding = EmbeddingQueue(embedder)
    archive = make_archive(embedding)
    embedding.nudge()
    embedding.nudge()
    keep = store.keep_vectors

    def kept(*arguments: object) -> None:
        keep(*arguments)  # type: ignore[arg-type]
        done.set()

    store.keep_vectors = kept  # type: ignore[method-assign]
    archive.kept(commit(store, said(1, "boat")))
    assert done.wait(SOON)
    embedding.close()
    assert counts(archive) == (1, 0, 0)
    assert by == ["embedding"]
    assert set(threading.enumerate()) <= others
    embedding.nudge()
    embedding.close()
    assert set(threading.enumerate()) <= others


def test_everybody_has_their_turn(store: MemoryStore, make_archive: Make, time: Time) -> None:
    filled(store, 70)
    embedder = Flaky()
    embedding = Still(embedder, monotonic=time)
    archives = [wake(make_archive(embedding)) for _ in range(2)]
    embedding.embed_backlog()
    embedding.embed_backlog()
    assert [counts(archive)[0] for archive in archives] == [TOGETHER, TOGETHER]


async def test_who_waits_for_vectors_is_told_how_many_there_are(
    store: MemoryStore, make_archive: Make
) -> None:
    filled(store, 40)
    embedding = EmbeddingQueue(Flaky())
    archive = make_archive(embedding)
    seen: list[int] = []
    await archive.embedded(seen.append)
    embedding.close()
    assert counts(archive) == (40, 0, 0)
    assert seen == sorted(seen)


async def test_nobody_waits_for_vectors_where_there_is_no_model(
    store: MemoryStore, make_archive: Make
) -> None:
    filled(store, 3)
    archive = make_archive(EmbeddingQueue())
    await archive.embedded(lambda count: None)
    assert archive.loaded


async def test_what_comes_too_fast_is_kept_by_its_words_and_embedded_later(
    make_agent: Callable[..., Agent], store: MemoryStore
) -> None:
    may_go, done = threading.Event(), threading.Event()

    class Busy(HashingEmbedder):
        def embed(self, texts: Sequence[str]) -> Vector:
            may_go.wait(SOON)
            return super().embed(texts)

    embedding = EmbeddingQueue(Busy())
    archive = AgentArchive("phi", store, embedding)
    keep = store.keep_vectors

    def kept(*arguments: object) -> None:
        keep(*arguments)  # type: ignore[arg-type]
        done.set()

    store.keep_vectors = kept  # type: ignore[method-assign]
    agent = make_agent(heard=embedding, archive=archive)
    with closing(embedding):
        others = [asyncio.ensure_future(embedding.vector(f"line {one}")) for one in range(MOST_WAITING)]
        await asyncio.sleep(0)
        assert embedding.waiting == MOST_WAITING
        trace = await agent.perceive(Percept("user_caity", "my dog died", 1_000_000.0, depth=1))
        assert trace.degraded == ("judged by words only: too many texts are waiting to be embedded",)
        assert store.load("phi").working[0].user_text == "my dog died"  # type: ignore[union-attr]
        may_go.set()
        assert all(vector is not None for vector in await asyncio.gather(*others))
        assert await asyncio.to_thread(done.wait, SOON)
    assert counts(archive) == (1, 0, 0)


def test_in_an_idle_one_nothing_is_embedded(store: MemoryStore, make_archive: Make, time: Time) -> None:
    filled(store, 3)
    embedding = Still(Flaky(), idle=True, monotonic=time)
    archive = wake(make_archive(embedding))
    assert embedding.embed_backlog() is None
    assert counts(archive) == (0, 3, 0)


async def test_a_model_that_is_gone_for_good_is_not_tried_again(
    store: MemoryStore, make_archive: Make, time: Time, caplog: pytest.LogCaptureFixture
) -> None:
    filled(store, 70)
    embedder = Flaky(lambda texts: "the model file is gone")
    embedding = Still(embedder, monotonic=time)
    archive = wake(make_archive(embedding))
    embedding.finish()
    time.now += 3_600.0
    embedding.finish()
    assert await embedding.vector("hello") is None
    assert len(embedder.asked) == 1
    assert archive.state().reason == "the model file is gone"
    assert counts(archive) == (0, 70, 0)
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        "embedding failed; until it works again, search is by words only: the model file is gone"
    ]


async def test_a_local_model_answers_a_question_at_once(time: Time) -> None:
    embedding = Still(Flaky(), monotonic=time)
    vector = await embedding.question("my dog")
    assert vector is not None
    assert await embedding.question("") is None


async def test_what_turns_wait_for_comes_before_what_others_ask(time: Time) -> None:
    embedder = Flaky()
    embedding = Unthreaded(embedder, monotonic=time)
    asked = [asyncio.ensure_future(embedding.question(f"who is {one}?", patient=True)) for one in range(3)]
    await asyncio.sleep(0)
    heard = [asyncio.ensure_future(embedding.vector(text)) for text in ("my dog", "my cat", "who is 2?")]
    await asyncio.sleep(0)
    while embedding.embed_asked():
        pass
    assert embedder.asked == [["my dog", "my cat", "who is 2?"], ["who is 0?"], ["who is 1?"], ["who is 2?"]]
    assert all(vector is not None for vector in await asyncio.gather(*asked, *heard))


async def test_what_was_said_is_embedded_anew_for_whoever_searches_for_it(time: Time) -> None:
    """Else the time of a search would tell whether somebody had said just this, in confidence even."""
    embedder = Flaky()
    embedding = Still(embedder, monotonic=time)
    for patient in (False, True, True, False):
        assert await embedding.vector("I stole the ring", patient=patient) is not None
    assert embedder.asked == [["I stole the ring"]] * 3


async def test_an_endpoint_is_asked_for_all_of_them_together(time: Time) -> None:
    embedder = Flaky()
    embedding = Unthreaded(embedder, local=False, monotonic=time)
    asked = [asyncio.ensure_future(embedding.vector(f"who is {one}?", patient=True)) for one in range(3)]
    await asyncio.sleep(0)
    assert embedding.embed_asked()
    assert embedder.asked == [["who is 0?", "who is 1?", "who is 2?"]]
    assert all(vector is not None for vector in await asyncio.gather(*asked))


async def test_a_question_to_an_endpoint_goes_over_the_thread_and_is_waited_for() -> None:
    by: list[str] = []

    def note(texts: object) -> str:
        by.append(threading.current_thread().name)
        return ""

    embedding = EmbeddingQueue(Flaky(note), local=False)
    vector = await embedding.question("my dog")
    embedding.close()
    assert vector is not None
    assert by == ["embedding"]


async def test_an_endpoint_that_does_not_answer_in_time_leaves_it_to_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("noodlings.embed.queue.QUESTION_SECONDS", 0.01)
    answer = threading.Event()

    def hold(texts: object) -> str:
        answer.wait(SOON)
        return ""

    embedding = EmbeddingQueue(Flaky(hold), local=False)
    assert await embedding.question("my dog") is None
    assert await embedding.question("my cat") is None  # it waits behind the first, and is given up
    answer.set()
    embedding.close()


async def test_an_endpoint_that_failed_is_left_in_peace_for_a_while(time: Time) -> None:
    embedder = Flaky(lambda texts: "it cannot be reached")
    embedding = EmbeddingQueue(embedder, local=False, monotonic=time)
    for _ in range(3):
        assert await embedding.question("my dog") is None
    assert len(embedder.asked) == 1
    time.now += QUIET_SECONDS
    embedder.refuses = lambda texts: ""
    assert await embedding.question("my dog") is not None
    embedding.close()


def test_what_breaks_on_the_thread_is_logged_and_does_not_end_it(
    time: Time, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("noodlings.embed.queue.QUIET_SECONDS", 0.0)
    embedding = EmbeddingQueue(Flaky(), monotonic=time)
    again = threading.Event()
    tries: list[int] = []

    def work() -> None:
        tries.append(1)
        if len(tries) > 1:
            again.set()
            return
        raise NoodlingsError("the disk is full")

    monkeypatch.setattr(embedding, "work", work)
    embedding.nudge()
    assert again.wait(SOON)
    embedding.close()
    assert "embedding failed and will go on in a while: the disk is full" in caplog.text


def test_it_lets_go_of_its_model_in_the_end() -> None:
    let_go: list[int] = []
    EmbeddingQueue(Flaky(), release=lambda: let_go.append(1)).close()
    assert let_go == [1]
