"""What a memory means, as a vector: as it is kept beside its entry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class EntryVector:
    """The vector of an entry, or what became of the attempts to make one.

    An entry without any is still to be embedded.

    Attributes:
        entry_id: whose.
        model: the name of the model; vectors of two names never meet.
        vector: unit vector of shape (dimensions,), or None while there is none.
        attempts: how often it failed so far, 0 where there is a vector.
        reason: why it failed last, in words, or "".
    """

    entry_id: int
    model: str
    vector: Vector | None = None
    attempts: int = 0
    reason: str = ""
