"""The meaning of a percept as a short vector, and how likely a meaning was to come next.

The vector is made from any text embedding, or from the words alone when there is none. The same meaning gives
the same vector in every process and on every machine (no `hash()`, no random numbers that a library may
change), and vectors from different sources are never compared.

The forecast is a mixture over what was heard lately: each of those meanings may come again, and is likelier
if it followed something like what was just heard. So repetition stops surprising, at once in the same words
and soon in others, and a broken pattern surprises although all its parts are known. The agent also learns how
sharp its forecast should be: if it hears the same thing to the letter, it comes to expect it to the letter.
After a silence the old surprises again (spontaneous recovery: Rankin et al. 2009, "Habituation revisited").
In form it is a cache over embeddings (Kuhn and De Mori 1990) with a share reserved for the new.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import compress
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from noodlings.errors import UserError
from noodlings.mind.packing import pack, unpack
from noodlings.stemming import stem
from noodlings.text import cached_by_text, clean
from noodlings.values.audience import OPEN, Audience, may_learn

SIZE = 128
"""Numbers in a short vector."""

WORD_VECTOR_SIZE = 512
"""Numbers in `word_vector`: unlike that of any common sentence embedding."""

Vector = npt.NDArray[np.float32]

_WORD = re.compile(r"\w+(?:['’]\w+)*")

_MAX_WORDS = 400  # more words add little to the meaning


def word_vector(text: str) -> Vector:
    """A unit vector of shape (512,) from the words of a text, stemmed and hashed with a sign.

    The stand-in for a sentence embedding (feature hashing: Weinberger et al. 2009). All zeros for no words.
    """
    vector = np.zeros(WORD_VECTOR_SIZE)
    for word in _WORD.findall(clean(text))[:_MAX_WORDS]:
        code = crc32(stem(word.lower()).encode())
        vector[(code >> 1) % WORD_VECTOR_SIZE] += 1.0 if code & 1 else -1.0
    return _unit(vector)


@cached_by_text(maxsize=8)
def _short_words(text: str) -> Vector | None:
    return _shortened(word_vector(text))  # worked out once for all who hear it


def short_vector(meaning: Any) -> Vector | None:
    """Any embedding, or the words of a text, as a unit vector of shape (128,); None where nothing was said.

    A random projection by signs keeps cosines to about ±0.09 (Achlioptas 2003), so that what an agent lately
    heard takes a few kilobytes. The numbers fit float16, in which they are stored.

    Raises:
        UserError: not a vector, or one of its numbers is not finite.
    """
    return _short_words(meaning) if isinstance(meaning, str) else _shortened(meaning)


def _shortened(meaning: Any) -> Vector | None:
    try:
        vector = np.asarray(meaning, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UserError(f"a meaning is a vector of numbers, not {meaning!r:.80}") from error
    if vector.ndim != 1 or not vector.size:
        raise UserError(f"a meaning is one vector, not an array of shape {vector.shape}")
    if not np.isfinite(vector).all():
        raise UserError("a meaning holds a number that is not finite")
    largest = np.abs(vector).max()
    if not largest:
        return None
    return _unit(vector / largest @ _projection(vector.size)).astype(np.float16).astype(np.float32)


def _unit(vector: npt.NDArray[np.float64]) -> Vector:
    length = float(np.linalg.norm(vector))
    return (vector / length if length else vector).astype(np.float32)


@cache
def _projection(size: int) -> npt.NDArray[np.float64]:
    """Signs of shape (size, 128). Raw bits of PCG64: numpy keeps those for good, its distributions not."""
    bits = np.random.PCG64(size).random_raw(size * SIZE // 64)
    signs = np.unpackbits(bits.astype("<u8").view(np.uint8)).reshape(size, SIZE)
    return signs.astype(np.float64) * 2.0 - 1.0


Vectors = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.float64]

CAPACITY = 32
"""How many meanings are kept."""
RECOVERY_SECONDS = 86_400.0
"""World time after which what was heard counts half."""
NEW_SHARE = 1.0
"""Weight of something new in the mixture, in meanings heard."""
NEW_LIKELIHOOD = 0.02
"""How likely any one meaning is, once something new comes, 0…1."""
ELSEWHERE = 0.02
"""Weight, in meanings heard, of one that followed something quite unlike what was just heard."""
ALIKE, EXACT = 2, 32
"""Powers that make a likelihood of a cosine: a paraphrase (about 0.7) is worth 0.5, or next to nothing."""
ATTENTION = 0.25
"""How fast the sharpness of the forecast follows how exactly the last ones came true, 0…1 a percept."""


@dataclass(frozen=True, slots=True, eq=False)
class Familiar:
    """Lately heard meanings, oldest first.

    Attributes:
        vectors: (n, 128), unit length. times: (n,), world seconds of each.
        exactness: how much the agent expects the same to the letter, 0…1.
        audiences: who may learn of each, (n,).
    """

    vectors: Vectors = field(default_factory=lambda: np.zeros((0, SIZE), dtype=np.float32))
    times: Numbers = field(default_factory=lambda: np.zeros(0))
    exactness: float = 0.0
    audiences: tuple[Audience, ...] = ()

    def hear(
        self, meant: Vector, now: float, audience: Audience = OPEN, listeners: frozenset[str] | None = None
    ) -> tuple[float, Familiar]:
        """How likely a meaning, (128,), was to come now, above 0 to 1; and the meanings with this one added.

        Args:
            audience: who may learn of it.
            listeners: who will see how surprising it was. What one of them may not learn of counts as never
                heard, or the surprise would give it away. None for nobody.
        """
        known = self if listeners is None else self._disclosed(listeners)
        likelihood, exactness = known._expected(meant, now)
        vectors = np.concatenate([self.vectors[1 - CAPACITY :], meant[None, :]])
        times = np.append(self.times[1 - CAPACITY :], now)
        vectors.flags.writeable = times.flags.writeable = False
        audiences = (*self.audiences[1 - CAPACITY :], audience)
        return likelihood, Familiar(vectors, times, exactness, audiences)

    def _expected(self, meant: Vector, now: float) -> tuple[float, float]:
        """How likely a meaning was to come now, and how exact the agent expects the next to be."""
        share = self._shares(now)
        cosine = _cosine(self.vectors, meant)
        alike = float(share @ cosine**ALIKE)
        exact = float(share @ cosine**EXACT)
        new = NEW_LIKELIHOOD * (1.0 - float(share.sum()))
        likelihood = alike + self.exactness * (exact - alike) + new
        to_the_letter = exact / (alike + NEW_LIKELIHOOD)  # 0 when nothing was foreseen
        exactness = self.exactness + ATTENTION * (to_the_letter - self.exactness)
        return min(likelihood, 1.0), exactness

    def _shares(self, now: float) -> Numbers:
        """The share of each kept meaning in the forecast, (n,); the rest to 1 is for something new."""
        followed = np.ones(len(self.times))  # what came before the oldest is not known
        if len(self.times) > 1:
            cosine = _cosine(self.vectors[:-1], self.vectors[-1])
            alike = cosine**ALIKE
            followed[1:] = alike + self.exactness * (cosine**EXACT - alike)
        remembered = np.exp2(np.minimum(self.times - now, 0.0) / RECOVERY_SECONDS)
        weight = remembered * (ELSEWHERE + followed)
        return np.asarray(weight / (weight.sum() + NEW_SHARE))

    def without(self, moments: Collection[float]) -> Familiar:
        """The meanings without those heard at these moments, in world seconds."""
        return self._where(~np.isin(self.times, list(moments)))

    def _disclosed(self, listeners: frozenset[str]) -> Familiar:
        known = [may_learn(listeners, audience) for audience in self.audiences]
        return self if all(known) else self._where(np.array(known, dtype=np.bool_))

    def _where(self, kept: npt.NDArray[np.bool_]) -> Familiar:
        vectors, times = self.vectors[kept], self.times[kept]
        vectors.flags.writeable = times.flags.writeable = False
        audiences = tuple(compress(self.audiences, kept))
        return Familiar(vectors, times, self.exactness, audiences)

    def as_dict(self, write: Callable[[Any], Any] = pack) -> dict[str, Any]:
        """JSON-compatible and exact; `write` makes JSON of a long array (see `MindState`)."""
        vectors = write(self.vectors.astype(np.float16))
        confined = {
            str(row): sorted(audience.witnesses)
            for row, audience in enumerate(self.audiences)
            if audience.confined
        }
        times = self.times.tolist()
        return {"vectors": vectors, "times": times, "exactness": self.exactness, "confined": confined}

    @classmethod
    def from_dict(cls, data: Any) -> Familiar:
        """Raises `UserError` when it is damaged."""
        if not isinstance(data, Mapping):
            raise UserError("a stored mind is damaged: familiar is missing")
        times = unpack(data, "times", (-1,))
        vectors = unpack(data, "vectors", (len(times), SIZE), np.float16, -1.0, 1.0).astype(np.float32)
        exactness = float(unpack(data, "exactness", (), low=0.0, high=1.0))
        confined = data.get("confined", {})  # missing in what was stored before it was noted
        if not isinstance(confined, Mapping) or not all(map(_are_ids, confined.values())):
            raise UserError("a stored mind is damaged: confined must say which ids know of which meaning")
        audiences = tuple(
            Audience(frozenset(confined[str(row)]), confined=True) if str(row) in confined else OPEN
            for row in range(len(times))
        )
        return cls(vectors[-CAPACITY:], times[-CAPACITY:], exactness, audiences[-CAPACITY:])


def _are_ids(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(user_id, str) for user_id in value)


def _cosine(vectors: Vectors, meant: Vector) -> Numbers:
    """Cosines of shape (n,), clipped to 0…1."""
    return np.asarray(np.minimum(np.maximum(vectors @ meant, 0.0), 1.0), dtype=np.float64)
