"""Percepts are taken in in the order in which they came, and kept whoever waits for them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from noodlings.affect.appraisal import Appraisal, Appraiser
from noodlings.agent.agent import Agent
from noodlings.embed.queue import EmbeddingQueue
from noodlings.store.memory import MemoryStore
from noodlings.values.memory import Vector
from noodlings.values.percept import Percept
from tests.fakes import HashingEmbedder, LayeredHashingEmbedder

SOON = 10.0


class Slow(HashingEmbedder):
    """Embeds when a test opens its gate."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.begun = threading.Event()

    def embed(self, texts: Sequence[str]) -> Vector:
        """See `HashingEmbedder`."""
        self.begun.set()
        assert self.gate.wait(SOON)
        return super().embed(texts)


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
def meaning(slow: Slow) -> Iterator[EmbeddingQueue]:
    made = EmbeddingQueue(slow)
    yield made
    slow.gate.set()
    made.close()


def said(text: str) -> Percept:
    return Percept("user_caity", text, 1_000_000.0, addressed=True, present=frozenset({"user_caity"}))


async def test_a_line_that_is_known_does_not_overtake_one_that_is_not(
    make_agent: Callable[..., Agent], meaning: EmbeddingQueue, slow: Slow, store: MemoryStore
) -> None:
    agent = make_agent(heard=meaning)
    slow.gate.set()
    await agent.perceive(said("good morning"))
    slow.gate.clear()
    turns = [asyncio.create_task(agent.perceive(said(text))) for text in ("a new line", "good morning")]
    await asyncio.sleep(0)
    slow.gate.set()
    traces = await asyncio.gather(*turns)
    assert [entry.user_text for entry in store.load("phi").working] == [
        "good morning",
        "a new line",
        "good morning",
    ]
    assert [trace.entry_id for trace in traces] == sorted(trace.entry_id for trace in traces)
    assert all("embed" in trace.milliseconds for trace in traces)


async def test_other_agents_go_on_while_one_waits(
    make_agent: Callable[..., Agent], meaning: EmbeddingQueue, slow: Slow
) -> None:
    waiting = asyncio.create_task(make_agent(heard=meaning).perceive(said("hello")))
    await asyncio.to_thread(slow.begun.wait, SOON)
    trace = await make_agent("Servnak").perceive(said("hello"))
    assert trace.response
    assert not waiting.done()
    slow.gate.set()
    assert (await waiting).response


async def test_what_was_perceived_is_kept_although_nobody_waits_for_it(
    make_agent: Callable[..., Agent], meaning: EmbeddingQueue, slow: Slow, store: MemoryStore
) -> None:
    agent = make_agent(heard=meaning)
    turns = [asyncio.create_task(agent.perceive(said(text))) for text in ("first", "second")]
    await asyncio.to_thread(slow.begun.wait, SOON)
    for turn in turns:
        turn.cancel()
    await asyncio.wait(turns)
    assert all(turn.cancelled() for turn in turns)
    assert {entry.user_text for entry in store.load("phi").working} == {"first", "second"}


class Asked:
    """An appraiser that keeps what it is given."""

    def __init__(self) -> None:
        self.given: list[dict[str, Any]] = []

    def appraise(self, text: str, **given: Any) -> Appraisal:
        """As by the words alone."""
        self.given.append(given)
        return Appraiser().appraise(text)

    def let_go(self) -> None:
        """There is nothing to let go of."""


async def test_a_percept_goes_through_the_model_once_for_its_vector_and_its_feeling(
    make_agent: Callable[..., Agent],
) -> None:
    embedder, appraiser = LayeredHashingEmbedder(), Asked()
    heard = EmbeddingQueue(embedder)
    await make_agent(heard=heard, appraiser=appraiser).perceive(said("my dog died"))
    heard.close()
    assert [texts for _, texts in embedder.passes].count(["my dog died"]) == 1
    [given] = appraiser.given
    np.testing.assert_array_equal(given["understood"].vector, HashingEmbedder().embed(["my dog died"])[0])
    np.testing.assert_array_equal(given["understood"].layers, [11.0])


@pytest.mark.parametrize("heard", [EmbeddingQueue(), EmbeddingQueue(HashingEmbedder())])
async def test_without_layers_the_appraisal_goes_by_what_there_is(
    make_agent: Callable[..., Agent], heard: EmbeddingQueue
) -> None:
    appraiser = Asked()
    await make_agent(heard=heard, appraiser=appraiser).perceive(said("my dog died"))
    heard.close()
    understood = appraiser.given[0]["understood"]
    assert (understood is None) == (not heard.model)
    assert understood is None or understood.layers is None
