"""What every `Embedder` promises, over each of them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from noodlings.embed.minilm import MiniLM
from noodlings.embed.openai import OpenAIEmbedder
from noodlings.ports import Embedder
from tests.embed.server import serving
from tests.fakes import HashingEmbedder

SENTENCES = [
    "Hello.",
    "The lighthouse keeper hums while he trims the wick, and nobody in the harbour knows the tune.",
    "Where did you leave the brass key?",
    "My brother sailed in spring.",
    "",
    "日本語 🙂 naïve",
]

_minilm = MiniLM()


@pytest.fixture(scope="module")
def remote() -> Iterator[OpenAIEmbedder]:
    with serving() as server:
        embedder = OpenAIEmbedder(server.settings())
        yield embedder
        embedder.close()


@pytest.fixture(params=["minilm", "openai", "hashing"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    if request.param == "openai":
        made: Embedder = request.getfixturevalue("remote")
        return made
    return _minilm if request.param == "minilm" else HashingEmbedder()


def test_vectors_are_unit_float32_of_the_stated_length(embedder: Embedder) -> None:
    vectors = embedder.embed(SENTENCES)
    assert vectors.shape == (len(SENTENCES), embedder.dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_nothing_gives_an_empty_array(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dimensions)


def test_order_is_kept_and_company_does_not_matter(embedder: Embedder) -> None:
    together = embedder.embed(SENTENCES * 5)
    alone = np.concatenate([embedder.embed([text]) for text in SENTENCES])
    np.testing.assert_allclose(together, np.tile(alone, (5, 1)), atol=1e-3)


def test_the_same_text_gives_the_same_vector(embedder: Embedder) -> None:
    np.testing.assert_array_equal(embedder.embed(SENTENCES), embedder.embed(SENTENCES))


@pytest.mark.slow
def test_threads_may_share_it(embedder: Embedder) -> None:
    expected = embedder.embed(SENTENCES)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: embedder.embed(SENTENCES), range(8)):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("text", ["\ud800 half a character", "\x1b[31mred", "word " * 5_000, "x" * 50_000])
def test_strange_and_endless_text_is_embedded(embedder: Embedder, text: str) -> None:
    vector = embedder.embed([text])[0]
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_texts_that_share_words_are_nearer(embedder: Embedder) -> None:
    key, same_key, sea = embedder.embed(
        ["I lost the brass key", "the brass key is lost", "gulls over the sea"]
    )
    assert key @ same_key > key @ sea
