"""What was lately meant, and so how likely a meaning was to come next.

The forecast is a mixture over what was heard lately: each of those may come again, likelier when it followed
something like what was just heard. So repetition stops surprising, in the same words at once and in others
soon, and a broken pattern surprises although all its parts are known. How sharp the forecast is, the agent
learns too: one that hears the same to the letter comes to expect it to the letter. After a silence habit
fades and the old surprises again (spontaneous recovery: Rankin et al. 2009, "Habituation revisited").

In form it is a cache over embeddings (Kuhn and De Mori 1990) with a share kept back for the new.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from noodlings.errors import UserError
from noodlings.mind.meaning import SIZE, Vector
from noodlings.mind.packing import pack, unpack

Vectors = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.float64]

CAPACITY = 32
"""How many meanings are kept."""

RECOVERY_SECONDS = 86_400.0
"""World time after which what was heard counts half."""

NEW_SHARE = 1.0
"""Weight of 'something new' in the mixture, in meanings heard."""

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
    """

    vectors: Vectors = field(default_factory=lambda: np.zeros((0, SIZE), dtype=np.float32))
    times: Numbers = field(default_factory=lambda: np.zeros(0))
    exactness: float = 0.0

    def hear(self, meant: Vector, now: float) -> tuple[float, Familiar]:
        """How likely a meaning, (128,), was to come now, above 0 to 1; and with it among the rest."""
        share = self._shares(now)
        cosine = _cosine(self.vectors, meant)
        alike = float(share @ cosine**ALIKE)
        exact = float(share @ cosine**EXACT)
        new = NEW_LIKELIHOOD * (1.0 - float(share.sum()))
        likelihood = alike + self.exactness * (exact - alike) + new

        vectors = np.concatenate([self.vectors[1 - CAPACITY :], meant[None, :]])
        times = np.append(self.times[1 - CAPACITY :], now)
        vectors.flags.writeable = times.flags.writeable = False
        to_the_letter = exact / (alike + NEW_LIKELIHOOD)  # of what was foreseen; 0 when nothing was
        exactness = self.exactness + ATTENTION * (to_the_letter - self.exactness)
        return min(likelihood, 1.0), Familiar(vectors, times, exactness)

    def _shares(self, now: float) -> Numbers:
        """Of each kept meaning in the forecast of the next one, (n,); what lacks to 1 is left for the new."""
        followed = np.ones(
            len(self.times)
        )  # what came before the oldest is forgotten: nothing speaks against it
        if len(self.times) > 1:
            cosine = _cosine(self.vectors[:-1], self.vectors[-1])
            alike = cosine**ALIKE
            followed[1:] = alike + self.exactness * (cosine**EXACT - alike)
        remembered = np.exp2(np.minimum(self.times - now, 0.0) / RECOVERY_SECONDS)
        weight = remembered * (ELSEWHERE + followed)
        return np.asarray(weight / (weight.sum() + NEW_SHARE))

    def without(self, moments: Collection[float]) -> Familiar:
        """Without what was heard at these moments, in world seconds."""
        kept = ~np.isin(self.times, list(moments))
        vectors, times = self.vectors[kept], self.times[kept]
        vectors.flags.writeable = times.flags.writeable = False
        return Familiar(vectors, times, self.exactness)

    def as_dict(self, write: Callable[[Any], Any] = pack) -> dict[str, Any]:
        """JSON-compatible and exact; `write` makes JSON of a long array (see `MindState`)."""
        vectors = write(self.vectors.astype(np.float16))
        return {"vectors": vectors, "times": self.times.tolist(), "exactness": self.exactness}

    @classmethod
    def from_dict(cls, data: Any) -> Familiar:
        """Raises `UserError` when it is damaged."""
        if not isinstance(data, Mapping):
            raise UserError("a stored mind is damaged: familiar is missing")
        times = unpack(data, "times", (-1,))
        vectors = unpack(data, "vectors", (len(times), SIZE), np.float16, -1.0, 1.0).astype(np.float32)
        exactness = float(unpack(data, "exactness", (), low=0.0, high=1.0))
        return cls(vectors[-CAPACITY:], times[-CAPACITY:], exactness)


def _cosine(vectors: Vectors, meant: Vector) -> Numbers:
    """Cosines of shape (n,), where what points away counts as unlike: 0…1."""
    return np.asarray(np.minimum(np.maximum(vectors @ meant, 0.0), 1.0), dtype=np.float64)
