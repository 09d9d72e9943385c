"""What was lately meant, and so how likely a meaning was to come next.

The forecast is a mixture over what was heard lately: each of those may come again, likelier when it followed
something like what was just heard. So repetition stops surprising, in the same words at once and in others
soon, and a broken pattern surprises although both its parts are known. After a silence the habit fades and
the old surprises again (spontaneous recovery: Rankin et al. 2009, "Habituation revisited").

The mixture is a cache over embeddings (Kuhn and De Mori 1990) with a Chinese-restaurant share for the new.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from noodlings.errors import UserError
from noodlings.mind.meaning import SIZE, Vector
from noodlings.mind.packing import pack, unpack

Vectors = npt.NDArray[np.float32]
Times = npt.NDArray[np.float64]

CAPACITY = 32
"""How many meanings are kept."""

RECOVERY_SECONDS = 86_400.0
"""World time after which what was heard counts half."""

NEW_SHARE = 1.0
"""Weight of 'something new' in the mixture, in meanings heard."""

NEW_LIKENESS = 0.02
"""What anything new is worth: the likelihood of the least expected, 0…1."""

ANYWHERE = 0.1
"""Weight of a meaning that followed something quite unlike what was just heard, 0…1."""


@dataclass(frozen=True, slots=True, eq=False)
class Familiar:
    """Lately heard meanings, oldest first.

    Attributes:
        vectors: (n, 64), unit length; None before the first.
        times: (n,), world seconds of each.
    """

    vectors: Vectors = field(default_factory=lambda: np.zeros((0, SIZE), dtype=np.float32))
    times: Times = field(default_factory=lambda: np.zeros(0))

    def likelihood(self, meant: Vector, now: float) -> float:
        """How likely a meaning, (64,), was to be next: `NEW_LIKENESS` (nothing like it was expected) to 1."""
        if not len(self.vectors):
            return NEW_LIKENESS
        alike = _likeness(self.vectors @ meant)
        led_here = np.zeros(len(self.vectors))
        led_here[1:] = _likeness(self.vectors[:-1] @ self.vectors[-1])
        kept = np.exp2(np.minimum(self.times - now, 0.0) / RECOVERY_SECONDS)
        weight = kept * (ANYWHERE + led_here)
        return float((weight @ alike + NEW_SHARE * NEW_LIKENESS) / (weight.sum() + NEW_SHARE))

    def heard(self, meant: Vector, now: float) -> Familiar:
        """With one more meaning; the oldest leaves when there are too many."""
        vectors = np.concatenate([self.vectors[1 - CAPACITY :], meant[None, :]])
        times = np.append(self.times[1 - CAPACITY :], now)
        vectors.flags.writeable = times.flags.writeable = False
        return Familiar(vectors, times)

    def as_dict(self) -> dict[str, Any]:
        """JSON-compatible and exact."""
        return {"vectors": pack(self.vectors), "times": self.times.tolist()}

    @classmethod
    def from_dict(cls, data: Any) -> Familiar:
        """Raises `UserError` when it is damaged."""
        if not isinstance(data, Mapping):
            raise UserError("a stored mind is damaged: familiar is missing")
        times = unpack(data, "times", (-1,))
        return cls(unpack(data, "vectors", (len(times), SIZE), np.float32), times)


def _likeness(cosine: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Cosine as a likelihood: unlike is 0, and the middle counts less than half."""
    return np.asarray(np.maximum(cosine, 0.0), dtype=np.float64) ** 2
