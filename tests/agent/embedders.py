"""Embedders that fail as a test wants it, and one who embeds when a test says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from noodlings.embed.queue import EmbeddingQueue
from noodlings.errors import NoodlingsError
from noodlings.values.memory import Vector
from tests.fakes import HashingEmbedder


class Flaky(HashingEmbedder):
    """Fails with the words that `refuses` gives for these texts; keeps what it was asked."""

    def __init__(self, refuses: Callable[[Sequence[str]], str] = lambda texts: "") -> None:
        self.refuses = refuses
        self.asked: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> Vector:
        """See `HashingEmbedder`."""
        self.asked.append(list(texts))
        why = self.refuses(texts)
        if why:
            raise NoodlingsError(why)
        return super().embed(texts)


class Unmeasured:
    """Does not know how long its vectors are before it has made one, as an endpoint does not."""

    name = "unmeasured"
    dimensions = 0

    def embed(self, texts: Sequence[str]) -> Vector:
        """See `HashingEmbedder`."""
        vectors = HashingEmbedder().embed(texts)
        self.dimensions = vectors.shape[1]
        return vectors


class Larger:
    """Another model, with longer vectors."""

    name = "larger"
    dimensions = 128

    def embed(self, texts: Sequence[str]) -> Vector:
        """Those of `HashingEmbedder` twice beside each other."""
        vectors = HashingEmbedder().embed(texts)
        return np.hstack([vectors, vectors]) / np.sqrt(np.float32(2.0))


class Time:
    """Monotonic seconds that a test lets pass."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        """The seconds now."""
        return self.now


class Still(EmbeddingQueue):
    """Embeds a backlog when a test says so, and never by itself; what somebody waits for as ever."""

    def work(self) -> float | None:
        """On the thread."""
        return 0.0 if self.embed_asked() else None

    def finish(self) -> None:
        """Everything there is to do by now."""
        while self.embed_backlog() == 0.0:
            pass


class Unthreaded(EmbeddingQueue):
    """Embeds nothing by itself."""

    def nudge(self) -> None:
        """Nobody is woken."""
