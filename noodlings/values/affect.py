"""Affect: what an agent feels, as five numbers; and the one definition of how intense that is.

The axes, in this order everywhere (arrays, JSON, the database):

    valence  −1…1   unpleasant to pleasant, 0 is neither
    arousal   0…1   asleep to frantic, 0.5 is ordinary wakefulness
    fear      0…1
    sorrow    0…1
    boredom   0…1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, SupportsFloat

import numpy as np
import numpy.typing as npt

from noodlings.errors import UserError

FloatArray = npt.NDArray[np.floating[Any]]

AXES = ("valence", "arousal", "fear", "sorrow", "boredom")
REST = (0.0, 0.5, 0.0, 0.0, 0.0)
"""The neutral affect: nothing felt, ordinarily awake."""

# How far each axis, at its extreme, makes a moment intense. Arousal counts only above rest (being sleepy is
# not a storm), and less than the rest: loud is not yet important. Boredom is a weak feeling.
_INTENSITY = np.array([0.9, 0.6, 1.0, 1.0, 0.3])


@dataclass(frozen=True, slots=True)
class Affect:
    """What is felt at one moment. See the module for axes and ranges; out of range is refused."""

    valence: float = 0.0
    arousal: float = 0.5
    fear: float = 0.0
    sorrow: float = 0.0
    boredom: float = 0.0

    def __post_init__(self) -> None:
        for axis in AXES:
            value = getattr(self, axis)
            low = -1.0 if axis == "valence" else 0.0
            if not low <= value <= 1.0:  # NaN fails this too
                raise UserError(f"{axis} is {value!r}: it must lie between {low:g} and 1")

    @classmethod
    def of(cls, numbers: Sequence[SupportsFloat] | FloatArray | Affect | Any) -> Affect:
        """From five numbers in the order of the axes: a list, a numpy or mlx array of shape (5,) or (1, 5).

        Values beyond the range are clamped (older bridges overshoot); NaN, infinity and any other shape
        raise `UserError`.
        """
        return numbers if isinstance(numbers, Affect) else cls(*affect_array(numbers).tolist())

    @classmethod
    def clamped(
        cls,
        valence: float = 0.0,
        arousal: float = 0.5,
        fear: float = 0.0,
        sorrow: float = 0.0,
        boredom: float = 0.0,
    ) -> Affect:
        """The nearest affect within range."""
        return cls.of([valence, arousal, fear, sorrow, boredom])

    def array(self) -> npt.NDArray[np.float64]:
        """Shape (5,), in the order of the axes."""
        return np.array([self.valence, self.arousal, self.fear, self.sorrow, self.boredom])

    def as_list(self) -> list[float]:
        """The five numbers in the order of the axes."""
        return [self.valence, self.arousal, self.fear, self.sorrow, self.boredom]

    @property
    def intensity(self) -> float:
        """How much feeling there is, 0…1. See `intensity`."""
        return float(intensity(self.array()))


NEUTRAL = Affect()


def affect_array(numbers: Any) -> npt.NDArray[np.float64]:
    """Five numbers from outside as an array of shape (5,), clamped to the range of each axis.

    Raises:
        UserError: not five numbers, or one of them is NaN or infinite.
    """
    try:
        array = np.asarray(numbers, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UserError(f"affect must be five numbers ({', '.join(AXES)}), not {numbers!r:.80}") from error
    if array.shape == (1, 5):
        array = array[0]
    if array.shape != (5,):
        raise UserError(f"affect must be five numbers ({', '.join(AXES)}), not an array of shape {array.shape}")
    if not np.isfinite(array).all():
        raise UserError(f"affect holds a value that is not finite: {array.tolist()}")
    return np.clip(array, (-1.0, 0.0, 0.0, 0.0, 0.0), 1.0)


def arousal_from_signed(arousal: float) -> float:
    """Arousal given as −1…1 (0 is rest, as in the circumplex) as the 0…1 that is used here. Clamped."""
    return min(max((arousal + 1.0) / 2.0, 0.0), 1.0)


def intensity(affect: FloatArray) -> FloatArray:
    """How much feeling there is, 0…1, for affects of shape (..., 5). The only definition in the project.

    The strongest axis decides, and each of the others closes a part of the gap that is left:
    1 − Π(1 − wᵢ·|xᵢ|), with arousal counted from rest upward. So fear and sorrow together are more than
    fear alone, one strong feeling is enough, and nothing exceeds 1.
    """
    strength = np.abs(affect)
    strength[..., 1] = np.clip(2.0 * affect[..., 1] - 1.0, 0.0, None)
    return np.asarray(1.0 - np.prod(1.0 - _INTENSITY * strength, axis=-1))
