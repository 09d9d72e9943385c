"""What a text means, as a vector: by the local embedder, or by its words alone once that has failed."""

from __future__ import annotations

import logging

import numpy as np
import numpy.typing as npt

from noodlings.errors import NoodlingsError
from noodlings.mind.meaning import word_vector
from noodlings.ports import Embedder

log = logging.getLogger(__name__)

Vector = npt.NDArray[np.float32]


class Meaning:
    """The embedder that all agents of a society share.

    It runs in the way of an event, so it must be a local one. When it fails it is not asked again: one clear
    warning in the log, and every trace says that words had to do.

    Attributes:
        failed: why there are no vectors, in words, or "".
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder
        self.failed = ""

    def vector(self, text: str) -> Vector | None:
        """The sentence vector of a text, or None where there is no embedder or nothing was said."""
        if self._embedder is None or not text:
            return None
        try:
            vector: Vector = self._embedder.embed([text])[0]
        except NoodlingsError as error:
            self._embedder = None
            self.failed = str(error)
            log.warning("no sentence vectors from here on, words must do: %s", error)
            return None
        return vector

    @staticmethod
    def of(text: str, vector: Vector | None) -> Vector:
        """What an expectation compares: the sentence vector, else one made of the words."""
        return word_vector(text) if vector is None else vector
