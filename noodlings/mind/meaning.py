"""What was meant, as a short vector: from any text embedding, or from the words alone when there is none.

The rules it keeps: the same meaning gives the same vector in every process and on every machine (no `hash()`,
no random numbers that a library may change), and vectors that came from different sources never meet.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt
from snowballstemmer import stemmer

from noodlings.errors import UserError
from noodlings.text import clean

SIZE = 128
"""Numbers in a short vector."""

WORD_VECTOR_SIZE = 512
"""Numbers in `word_vector`: unlike that of any common sentence embedding."""

Vector = npt.NDArray[np.float32]

_WORD = re.compile(r"\w+(?:['’]\w+)*")

# A longer text says nothing new about what is meant, but would cost more.
_MAX_WORDS = 400


def word_vector(text: str) -> Vector:
    """A unit vector of shape (512,) from the words of a text, stemmed and hashed with a sign.

    The stand-in for a sentence embedding (feature hashing: Weinberger et al. 2009). All zeros for no words.
    """
    vector = np.zeros(WORD_VECTOR_SIZE)
    for word in _WORD.findall(clean(text))[:_MAX_WORDS]:
        code = crc32(_stem(word.lower()).encode())
        vector[(code >> 1) % WORD_VECTOR_SIZE] += 1.0 if code & 1 else -1.0
    return _unit(vector)


def short_vector(meaning: Any) -> Vector | None:
    """Any embedding as a unit vector of shape (128,); None when it is all zeros (nothing was said).

    A random projection by signs keeps cosines to about ±0.09 (Achlioptas 2003), so that what an agent lately
    heard takes a few kilobytes. The numbers fit float16, in which they are stored.

    Raises:
        UserError: not a vector, or one of its numbers is not finite.
    """
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


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    """By a stemmer of its own: a shared one keeps the word in itself, and threads would mix them."""
    return str(stemmer("english").stemWord(word))


@cache
def _projection(size: int) -> npt.NDArray[np.float64]:
    """Signs of shape (size, 128). Raw bits of PCG64: numpy keeps those for good, its distributions not."""
    bits = np.random.PCG64(size).random_raw(size * SIZE // 64)
    signs = np.unpackbits(bits.astype("<u8").view(np.uint8)).reshape(size, SIZE)
    return signs.astype(np.float64) * 2.0 - 1.0
