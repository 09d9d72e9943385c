"""An embedder that fails is asked once; words do from there on, and it is said."""

import numpy as np

from noodlings.embed.queue import EmbeddingQueue
from noodlings.errors import NoodlingsError
from tests.fakes import HashingEmbedder


class Broken:
    """An embedder whose model was deleted."""

    name, dimensions, asked = "broken", 64, 0

    def embed(self, texts):
        self.asked += 1
        raise NoodlingsError("the embedding model is not installed")


async def test_a_vector_comes_from_the_embedder():
    vector = await EmbeddingQueue(HashingEmbedder()).vector("my dog")
    assert np.array_equal(vector, HashingEmbedder().embed(["my dog"])[0])


async def test_nothing_said_or_no_embedder_means_no_vector():
    assert await EmbeddingQueue(HashingEmbedder()).vector("") is None
    assert await EmbeddingQueue().vector("my dog") is None


async def test_a_broken_embedder_is_asked_once_and_warns_once(caplog):
    embedder = Broken()
    meaning = EmbeddingQueue(embedder)
    assert [await meaning.vector("my dog") for _ in range(5)] == [None] * 5
    assert embedder.asked == 1
    assert meaning.failed == "the embedding model is not installed"
    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 1


async def test_the_trace_says_that_words_had_to_do(make_agent, clock):
    from noodlings.values.percept import Percept

    agent = make_agent(heard=EmbeddingQueue(Broken()))
    trace = await agent.perceive(Percept("caity", "hello", clock.now(), addressed=True))
    assert trace.degraded == ("judged by words only: the embedding model is not installed",)
    assert trace.response


async def test_what_many_hear_is_embedded_once():
    """A room with three characters pays once for a line, and a failure is not remembered as an answer."""
    asked: list[str] = []

    class Counting(HashingEmbedder):
        def embed(self, texts):
            asked.extend(texts)
            if len(asked) == 1:
                raise NoodlingsError("not yet")
            return super().embed(texts)

    meaning = EmbeddingQueue(Counting(), local=False)
    assert await meaning.vector("hello") is None
    first, again = await meaning.vector("hello"), await meaning.vector("hello")
    assert first is again
    assert not first.flags.writeable
    assert asked == ["hello", "hello"]
    meaning.let_go()
    assert await meaning.vector("hello") is not first
