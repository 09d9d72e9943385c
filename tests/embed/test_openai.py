"""The remote embedder's own promises: whatever the endpoint does is one error in words, without the key."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from noodlings.embed import openai
from noodlings.embed.openai import AT_ONCE, MAX_CHARACTERS, OpenAIEmbedder
from noodlings.errors import NoodlingsError, UserError
from tests.embed.server import KEY, Answer, Server, serving, vectors


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def embedder(server: Server) -> Iterator[OpenAIEmbedder]:
    made = OpenAIEmbedder(server.settings())
    yield made
    made.close()


def test_the_model_and_the_key_are_sent_and_long_texts_are_cut(
    server: Server, embedder: OpenAIEmbedder
) -> None:
    embedder.embed(["hello", "x" * 50_000])
    assert server.asked == [
        {"model": "m", "input": ["hello", "x" * MAX_CHARACTERS], "encoding_format": "float"}
    ]
    assert server.keys == [f"Bearer {KEY}"]
    assert embedder.name == "openai:m"


def test_its_dimensions_are_known_with_the_first_answer(embedder: OpenAIEmbedder) -> None:
    assert embedder.dimensions == 0
    assert embedder.embed(["hello"]).shape == (1, embedder.dimensions) == (1, 64)


def test_many_texts_are_sent_in_portions_and_come_back_in_order(
    server: Server, embedder: OpenAIEmbedder
) -> None:
    texts = [f"line {number}" for number in range(AT_ONCE * 2 + 1)]
    found = embedder.embed(texts)
    assert [len(asked["input"]) for asked in server.asked] == [AT_ONCE, AT_ONCE, 1]
    for at in (0, AT_ONCE, AT_ONCE * 2):
        np.testing.assert_array_equal(found[at], embedder.embed([texts[at]])[0])


BROKEN = {
    "the API key was refused": Answer(b"{}", 401),
    "no such model": Answer(b"{}", 404),
    "an error on its side": Answer(b"oops", 503),
    "too many requests": Answer(b"{}", 429),
    "it answered 400$": Answer(json.dumps({"error": {"message": f"no {KEY}"}}).encode(), 400),
    "is not JSON": Answer(b"<html>"),
    "contains no vectors": Answer(b'{"data": [{"index": 0}]}'),
    "its answer contains": Answer(b"[]"),
    "2 vectors for 1 texts": vectors([[1.0, 0.0], [0.0, 1.0]]),
    "zero or not finite": vectors([[0.0, 0.0]]),
    "empty, zero": vectors([[]]),
    "or not finite": Answer(vectors([[math.nan, 1.0]]).body),
    "no vectors; check": vectors([[10**400, 1.0]]),
    "broke off": Answer(vectors([[1.0, 0.0]]).body, cut=True),
}


@pytest.mark.parametrize("said", BROKEN)
def test_whatever_goes_wrong_is_one_error_in_words(
    server: Server, embedder: OpenAIEmbedder, said: str
) -> None:
    server.answer = lambda asked: BROKEN[said]
    with pytest.raises(NoodlingsError, match=said) as caught:
        embedder.embed(["hello"])
    assert str(caught.value).startswith(f"the embeddings at http://127.0.0.1:{server.port}/v1: ")
    assert KEY not in str(caught.value)


def test_vectors_of_another_length_are_refused(server: Server, embedder: OpenAIEmbedder) -> None:
    embedder.embed(["hello"])
    server.answer = lambda asked: vectors([[1.0, 0.0, 0.0]])
    with pytest.raises(NoodlingsError, match="its vectors now have 3 numbers, but had 64"):
        embedder.embed(["hello"])


def test_an_answer_without_an_end_is_not_read_to_its_end(
    server: Server, embedder: OpenAIEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai, "LARGEST_ANSWER", 1_000)
    server.answer = lambda asked: vectors([[1.0] * 1_000])
    with pytest.raises(NoodlingsError, match="larger than 1,000 bytes"):
        embedder.embed(["hello"])


def test_an_endpoint_that_dawdles_is_late(
    server: Server, embedder: OpenAIEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder.embed(["hello"])
    monkeypatch.setattr(openai, "TIMEOUT_SECONDS", -1.0)
    with pytest.raises(NoodlingsError, match="did not answer within 30 s"):
        embedder.embed(["hello"])


def test_an_endpoint_that_is_not_there_is_said_so_and_asked_again(server: Server) -> None:
    settings = server.settings()
    gone = OpenAIEmbedder(settings.model_copy(update={"base_url": "http://127.0.0.1:9/v1"}))
    with pytest.raises(NoodlingsError, match="it cannot be reached"):
        gone.embed(["hello"])
    gone.close()
    there = OpenAIEmbedder(settings)
    server.answer, healthy = lambda asked: Answer(b"{}", 503), server.answer
    with pytest.raises(NoodlingsError):
        there.embed(["hello"])
    server.answer = healthy
    assert there.embed(["hello"]).shape == (1, 64)
    there.close()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"base_url": ""}, "embedding.base_url is ''"),
        ({"base_url": "ftp://x"}, "must be a web address"),
        ({"name": ""}, "embedding.name is empty"),
    ],
)
def test_settings_that_lead_nowhere_are_refused(server: Server, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        OpenAIEmbedder(server.settings(**changes))
