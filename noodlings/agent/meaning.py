"""What a text means, as a vector: by an embedder that may fail, which is said once."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress

from noodlings.agent.vectors import Vectors
from noodlings.errors import NoodlingsError
from noodlings.mind.meaning import word_vector
from noodlings.ports import Embedder
from noodlings.values.memory import Vector

log = logging.getLogger(__name__)


class Meaning:
    """An embedder that all agents of a society share, safe to ask from several threads.

    The first failure is one clear warning in the log, and every trace says that words had to do.

    Args:
        embedder: None where words must do anyway.
        lasting: a failure lasts, so it is not asked again: a model file that is not there. An endpoint that
            cannot be reached may be there a minute later.

    Attributes:
        failed: why there are no vectors now, in words, or "".
    """

    def __init__(self, embedder: Embedder | None = None, lasting: bool = True) -> None:
        self._embedder = embedder
        self._lasting = lasting
        self._vectors = Vectors(self.embed)
        self.failed = ""

    @property
    def model(self) -> str:
        """The name of the model, "" without one; vectors of two names never meet."""
        return "" if self._embedder is None else self._embedder.name

    @property
    def gave_up(self) -> bool:
        """Whether there is an embedder that is not asked any more."""
        return self._lasting and bool(self.failed)

    @property
    def dimensions(self) -> int:
        """Length of a vector; 0 without an embedder, or where only an answer will tell."""
        return 0 if self._embedder is None else self._embedder.dimensions

    @property
    def waiting(self) -> int:
        """How many texts wait for their vector."""
        return self._vectors.waiting

    async def vector(self, text: str) -> Vector | None:
        """The sentence vector of a text, or None where there is no embedder or nothing was said.

        What one says the whole room hears, and mostly it is what each then asks its memory: so the latest are
        kept, and of these it is had at once, as None is; for another one everything else goes on meanwhile.
        """
        if self._embedder is None or not text or self.gave_up:
            return None
        try:
            return await self._vectors.of(text)
        except NoodlingsError:
            return None

    def let_go(self) -> None:
        """Keep no text any longer than it takes."""
        self._vectors.let_go()

    def warm(self) -> None:
        """Load the model, on any thread."""
        if self._embedder is not None:
            with suppress(NoodlingsError):  # of which `embed` has told the log
                self.embed(["good morning"])

    def close(self) -> None:
        """There are no vectors of texts any more; what is being made is waited for."""
        self._vectors.close()

    def embed(self, texts: Sequence[str]) -> Vector:
        """Unit vectors of shape (len(texts), dimensions).

        Raises:
            NoodlingsError: there are none, and why.
        """
        if self._embedder is None:
            raise NoodlingsError("there is no embedding model")
        if self.gave_up:
            raise NoodlingsError(self.failed)
        try:
            vectors = self._embedder.embed(texts)
        except NoodlingsError as error:
            failed_before, self.failed = self.failed, str(error)
            if not failed_before:
                log.warning("no sentence vectors from here on, words must do: %s", error)
            raise
        if self.failed:
            log.warning("there are sentence vectors again")
            self.failed = ""
        return vectors

    @staticmethod
    def of(text: str, vector: Vector | None) -> Vector:
        """What an expectation compares: the sentence vector, else one made of the words."""
        return word_vector(text) if vector is None else vector
