"""Affect: what an agent feels, as five numbers; and the only definition of how intense that is.

The axes, in this order everywhere (arrays, JSON, the database):

    valence  −1…1   unpleasant to pleasant, 0 is neither
    arousal   0…1   asleep to frantic, 0.5 is ordinary wakefulness
    fear      0…1
    sorrow    0…1
    boredom   0…1
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, make_dataclass
from typing import TYPE_CHECKING, Any, SupportsFloat, TypeVar

from noodlings.errors import UserError

if TYPE_CHECKING:  # the studio shows values without numpy
    import numpy as np
    import numpy.typing as npt

    FloatArray = npt.NDArray[np.floating[Any]]
else:
    FloatArray = Any

T = TypeVar("T")


def builder(cls: type[T]) -> Callable[..., T]:
    """Makes a frozen, slotted dataclass from all its fields, in order, in a fifth of the time of `__init__`.

    It fills an unfrozen subclass with the same slots and then changes its class to `cls`, without the
    `__post_init__` of `cls`. So it is only for values that were validated before.
    """

    def become(made: Any) -> None:
        made.__class__ = cls

    names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
    filled: Any = make_dataclass("_Filled", names, namespace={"__post_init__": become}, eq=False, repr=False)
    thawed = {"__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    methods = {"__slots__": (), "__init__": filled.__init__, "__post_init__": become}
    return type(f"_{cls.__name__}Built", (cls,), methods | thawed)


AXES = ("valence", "arousal", "fear", "sorrow", "boredom")
REST = (0.0, 0.5, 0.0, 0.0, 0.0)
"""The neutral affect: nothing felt, ordinarily awake."""


def _in_range(v: float, a: float, f: float, s: float, b: float) -> bool:
    """NaN fails every comparison."""
    return -1.0 <= v <= 1.0 and 0.0 <= a <= 1.0 and 0.0 <= f <= 1.0 and 0.0 <= s <= 1.0 and 0.0 <= b <= 1.0


@dataclass(frozen=True, slots=True)
class Affect:
    """What is felt at one moment. Raises `UserError` for a number out of the ranges above."""

    valence: float = 0.0
    arousal: float = 0.5
    fear: float = 0.0
    sorrow: float = 0.0
    boredom: float = 0.0

    def __post_init__(self) -> None:
        if not _in_range(*self.as_list()):
            raise UserError(f"an affect is out of range (valence −1…1, the others 0…1): {self.as_list()}")

    @classmethod
    def of(cls, numbers: Sequence[SupportsFloat] | FloatArray | Affect | Any) -> Affect:
        """From five numbers in the order of the axes: a list, a numpy or mlx array of shape (5,) or (1, 5).

        Values beyond the range are clamped (older bridges overshoot); NaN, infinity and any other shape
        raise `UserError`.
        """
        if isinstance(numbers, Affect):
            return numbers
        five = _five_floats(numbers)
        if not _in_range(*five):
            if not all(map(math.isfinite, five)):
                raise UserError(f"affect must be finite numbers, not {five}")
            five = [_within(five[0], -1.0), *(_within(number, 0.0) for number in five[1:])]
        return _build(*five)

    def array(self) -> npt.NDArray[np.float64]:
        """Shape (5,), in the order of the axes."""
        import numpy as np

        return np.array(self.as_list())

    def as_list(self) -> list[float]:
        """The five numbers in the order of the axes."""
        return [self.valence, self.arousal, self.fear, self.sorrow, self.boredom]

    def __getitem__(self, place: Any) -> Any:  # hosts read it as a list
        return self.as_list()[place]

    def __len__(self) -> int:
        return len(AXES)

    @property
    def intensity(self) -> float:
        return float(intensity(self.valence, self.arousal, self.fear, self.sorrow, self.boredom))


NEUTRAL = Affect()
_build = builder(Affect)


def _within(number: float, low: float) -> float:
    return low if number < low else 1.0 if number > 1.0 else number


def _five_floats(numbers: Any) -> list[float]:
    """Five floats from a sequence or an array (numpy, mlx) of shape (5,) or (1, 5)."""
    try:
        listed = numbers.tolist() if hasattr(numbers, "tolist") else list(numbers)
        if len(listed) == 1:
            listed = list(listed[0])
        floats = list(map(float, listed))
    except (TypeError, ValueError, OverflowError):
        raise UserError(f"affect must be five numbers ({', '.join(AXES)}), not {numbers!r:.80}") from None
    if len(floats) != len(AXES):
        raise UserError(f"affect must be five numbers ({', '.join(AXES)}), not {len(floats)}")
    return floats


def arousal_from_signed(arousal: float) -> float:
    """Arousal given as −1…1 (0 is rest, as in the circumplex) as the 0…1 that is used here. Clamped."""
    return min(max((arousal + 1.0) / 2.0, 0.0), 1.0)


def intensity(valence: Any, arousal: Any, fear: Any, sorrow: Any, boredom: Any) -> Any:
    """How much feeling there is, 0…1; for floats or arrays of one shape.

        1 − (1 − 0.9·|valence|)(1 − 0.6·wakefulness)(1 − fear)(1 − sorrow)(1 − 0.3·boredom)

    Each axis closes a part of the gap that the others leave: one strong feeling is enough, fear and sorrow
    together are more than fear alone, and nothing exceeds 1. Wakefulness is arousal above rest, 0…1. It
    counts less than the rest, because loud does not mean important, and boredom least.
    """
    above_rest = 2.0 * arousal - 1.0
    wakefulness = (above_rest + abs(above_rest)) / 2.0
    return 1.0 - (
        (1.0 - 0.9 * abs(valence))
        * (1.0 - 0.6 * wakefulness)
        * (1.0 - fear)
        * (1.0 - sorrow)
        * (1.0 - 0.3 * boredom)
    )
