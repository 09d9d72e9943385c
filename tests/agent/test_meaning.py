"""An embedder that fails is asked once; words do from there on, and it is said."""

import numpy as np

from noodlings.agent.meaning import Meaning
from noodlings.errors import NoodlingsError
from tests.fakes import HashingEmbedder


class Broken:
    """An embedder whose model was deleted."""

    name, dimensions, asked = "broken", 64, 0

    def embed(self, texts):
        self.asked += 1
        raise NoodlingsError("the embedding model is not installed")


def test_a_vector_comes_from_the_embedder():
    vector = Meaning(HashingEmbedder()).vector("my dog")
    assert np.array_equal(vector, HashingEmbedder().embed(["my dog"])[0])


def test_nothing_said_or_no_embedder_means_no_vector():
    assert Meaning(HashingEmbedder()).vector("") is None
    assert Meaning().vector("my dog") is None
    assert Meaning.of("my dog", None).shape == (512,)


def test_a_broken_embedder_is_asked_once_and_warns_once(caplog):
    embedder = Broken()
    meaning = Meaning(embedder)
    assert [meaning.vector("my dog") for _ in range(5)] == [None] * 5
    assert embedder.asked == 1
    assert meaning.failed == "the embedding model is not installed"
    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 1


async def test_the_trace_says_that_words_had_to_do(make_agent, clock):
    from noodlings.values.percept import Percept

    agent = make_agent(meaning=Meaning(Broken()))
    trace = await agent.perceive(Percept("caity", "hello", clock.now(), addressed=True))
    assert trace.degraded == ("words alone: the embedding model is not installed",)
    assert trace.response
