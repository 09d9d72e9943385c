"""Sentence vectors from an OpenAI-compatible endpoint: LM Studio, Ollama, vLLM, OpenAI.

Every failure becomes a `NoodlingsError` that names the endpoint and never the key. A call blocks, so it
belongs on a thread of its own. The library is imported with the first call.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from noodlings.config import EmbeddingSettings
from noodlings.connections import on_this_machine
from noodlings.errors import NoodlingsError, UserError
from noodlings.llm.endpoint import NO_KEY, address, failure
from noodlings.text import clean

if TYPE_CHECKING:
    from openai import OpenAI

TIMEOUT_SECONDS = 30.0
MAX_CHARACTERS = 4_000
"""What is sent of one text; models read a few hundred words and refuse far longer texts."""
AT_ONCE = 32
"""Texts of one call; some servers take no more."""
LARGEST_ANSWER = 64_000_000
"""Bytes that are read of an answer."""

_LATE = f"it did not answer within {TIMEOUT_SECONDS:g} s"
_NOTHING = "."  # an empty text is refused by several servers

Vectors = npt.NDArray[np.float32]


class OpenAIEmbedder:
    """The port `Embedder` over an endpoint. Safe to share between threads.

    Raises:
        UserError: the endpoint is no web address, or no model is named.
    """

    def __init__(self, settings: EmbeddingSettings) -> None:
        if not settings.name:
            raise UserError("embedding.name is empty: set it to a model at embedding.base_url")
        self.name = f"openai:{settings.name}"
        self._endpoint = f"the embeddings at {address(settings.base_url, 'embedding.base_url')}"
        self._settings = settings
        self._key = settings.api_key.get_secret_value()
        self._connecting = threading.Lock()
        self._client: OpenAI | None = None
        self.dimensions = 0  # before the endpoint has answered for the first time

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32 of shape (len(texts), dimensions), in the order of the texts.

        Raises:
            NoodlingsError: it cannot be reached, refuses, is late, or answers without vectors of one length.
        """
        sent = [clean(text)[:MAX_CHARACTERS] or _NOTHING for text in texts]
        portions = [self._ask(sent[at : at + AT_ONCE]) for at in range(0, len(sent), AT_ONCE)]
        return np.concatenate(portions) if portions else np.empty((0, self.dimensions), np.float32)

    def close(self) -> None:
        with self._connecting:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _ask(self, texts: list[str]) -> Vectors:
        try:
            vectors = _vectors(self._answer(texts), len(texts))
            if self.dimensions not in (0, vectors.shape[1]):
                raise NoodlingsError(
                    f"its vectors now have {vectors.shape[1]} numbers, but had {self.dimensions} before"
                )
        except NoodlingsError as error:
            raise NoodlingsError(f"{self._endpoint}: {error}") from None
        self.dimensions = vectors.shape[1]
        return vectors

    def _answer(self, texts: list[str]) -> Any:
        """The answer of the endpoint, parsed from JSON."""
        import openai

        body = bytearray()
        until = time.monotonic() + TIMEOUT_SECONDS
        try:
            call = self._connection().embeddings.with_streaming_response.create(
                model=self._settings.name, input=texts, encoding_format="float"
            )
            with call as response:
                for piece in response.iter_bytes():
                    body += piece
                    if len(body) > LARGEST_ANSWER:
                        raise NoodlingsError(f"its answer is larger than {LARGEST_ANSWER:,} bytes")
                    if time.monotonic() > until:
                        raise NoodlingsError(_LATE)
        except NoodlingsError:
            raise
        except openai.APITimeoutError:
            raise NoodlingsError(_LATE) from None
        except Exception as error:  # noqa: BLE001 -- the library does not wrap errors of its transport
            # The message of a server may quote what was sent, which is somebody's memory.
            raise NoodlingsError(failure(error, openai)) from None
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise NoodlingsError("its answer is not JSON") from None

    def _connection(self) -> OpenAI:
        """The client, made with the first call: from then on its connections are kept open."""
        from openai import DefaultHttpxClient, OpenAI

        local = on_this_machine(self._settings.base_url)
        with self._connecting:
            if self._client is None:
                self._client = OpenAI(
                    base_url=self._settings.base_url,
                    api_key=self._key or NO_KEY,
                    timeout=TIMEOUT_SECONDS,
                    max_retries=0,  # whoever asks tries again, in its own time
                    # By a proxy of the environment, or a redirection, it would not stay on this machine.
                    http_client=DefaultHttpxClient(follow_redirects=not local, trust_env=not local),
                )
            return self._client


def _vectors(answer: Any, count: int) -> Vectors:
    """The vectors of an answer in the order of the texts, each of length 1."""
    try:
        items = sorted(answer["data"], key=lambda item: item["index"])
        if [item["index"] for item in items] != list(range(count)):
            raise NoodlingsError(f"it returned {len(items)} vectors for {count} texts")
        vectors = np.asarray([item["embedding"] for item in items], np.float64)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise NoodlingsError("its answer contains no vectors; check embedding.name") from None
    lengths = np.linalg.norm(vectors, axis=1) if vectors.ndim == 2 and vectors.shape[1] else np.zeros(1)
    if not (np.isfinite(lengths).all() and lengths.all()):
        raise NoodlingsError("its answer contains a vector that is empty, zero or not finite")
    return (vectors / lengths[:, np.newaxis]).astype(np.float32)
