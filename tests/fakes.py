"""Stand-ins that several tests share: small, deterministic, held to the same contracts as the real."""

from __future__ import annotations

import re
from collections.abc import Sequence
from zlib import crc32

import numpy as np
import numpy.typing as npt


class HashingEmbedder:
    """An `Embedder` of words alone: texts are near when they share words. 64 numbers, no model."""

    name = "hashing-64"
    dimensions = 64

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Each word adds its own fixed random direction; an empty text is one word of its own."""
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            words = re.findall(r"\w+", text.lower()) or [""]
            seeds = (crc32(word.encode("utf-8", "replace")) for word in words)
            total = sum(np.random.default_rng(seed).normal(size=self.dimensions) for seed in seeds)
            vectors[row] = total / np.linalg.norm(total)
        return vectors
