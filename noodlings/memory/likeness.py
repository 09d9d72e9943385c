"""Likeness of feeling: the only measure in the project of how alike two affects are.

Each metric turns an affect into features once, when an entry is encoded, so that comparing a whole stream is
a matrix product and a few vector operations. Every metric gives 0…1, clamped, and `MISSING` for a missing
affect (a row of NaN).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from noodlings.errors import UserError
from noodlings.values.affect import REST, Affect

Array = npt.NDArray[np.float64]
Row = tuple[float, ...]

_ZERO = np.zeros(())

MISSING = 0.5
NEUTRAL_INTENSITY = 0.05
"""Below this intensity a feeling is like no other."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One way to compare feelings.

    Attributes:
        name: as in the settings.
        width: numbers in a feature row.
        features: an affect as a row of `width` numbers, pure floats because rows come one at a time.
        compare: features (n, width) and one such row → likeness (n,), NaN where features are NaN.
    """

    name: str
    width: int
    features: Callable[[Affect], Row]
    compare: Callable[[Array, Row], Array]

    def alike(self, features: Array, affect: Affect, missing: Sequence[int] = ()) -> Array:
        """Likeness 0…1 of each feature row (n, width) to one affect; `MISSING` for rows of NaN.

        Args:
            missing: which rows are rows of NaN.
        """
        likeness = self.compare(features, self.features(affect))
        if missing:
            likeness[missing] = MISSING
        return likeness

    def row(self, affect: Affect | None) -> Row:
        """The features of an affect, NaN where there is none."""
        return (math.nan,) * self.width if affect is None else self.features(affect)


def _unit(v: float, a: float, f: float, s: float, b: float) -> Row:
    """Scaled to a hair less than length 1, so that no rounding lifts a product of two above 1; 0 stays 0."""
    length = math.hypot(v, a, f, s, b) * (1.0 + 1e-15) or 1.0
    return (v / length, a / length, f / length, s / length, b / length)


def _centred_features(affect: Affect) -> Row:
    felt = affect.intensity
    if felt < NEUTRAL_INTENSITY:
        return (0.0, 0.0, 0.0, 0.0, 0.0, NEUTRAL_INTENSITY**0.5)
    # Fear and sorrow tell feelings apart best; boredom colours more than it defines.
    direction = _unit(
        affect.valence, affect.arousal - REST[1], 1.2 * affect.fear, 1.2 * affect.sorrow, 0.8 * affect.boredom
    )
    return (*direction, felt**0.5)


def _centred_compare(features: Array, one: Row) -> Array:
    column, felt, direction = features[:, 5], one[5], np.array(one)
    direction[5] = 0.0  # one product with all columns is quicker than with the first five
    result = np.minimum(column, felt)
    result /= np.maximum(column, felt)
    result *= features.dot(direction)
    return _not_below_0(result)


def _cosine_features(affect: Affect) -> Row:
    return _unit(*affect.as_list())


def _cosine_compare(features: Array, one: Row) -> Array:
    return _not_below_0(features.dot(np.array(one)))


def _euclidean_features(affect: Affect) -> Row:
    return (affect.valence, 2.0 * affect.arousal - 1.0)


def _euclidean_compare(features: Array, one: Row) -> Array:
    return _not_below_0(1.0 - np.hypot(*(features - one).T) / math.sqrt(8.0))


def _not_below_0(likeness: Array) -> Array:
    return np.maximum(likeness, _ZERO, out=likeness)  # a third of the time of `clip`; NaN stays


METRICS = {
    metric.name: metric
    for metric in (
        # Cosine of the deviations from rest, times how far the weaker feeling reaches the stronger one.
        # Neutral is like nothing: the affect slots of a context then stay empty.
        Metric("centred", 6, _centred_features, _centred_compare),
        # Cosine of the raw numbers, as in noodleMUSH; the four axes without sign inflate it.
        Metric("cosine", 5, _cosine_features, _cosine_compare),
        # Distance in the valence–arousal plane, both −1…1, so that opposite corners are √8 apart.
        Metric("euclidean", 2, _euclidean_features, _euclidean_compare),
    )
}
DEFAULT_METRIC = "centred"


def metric_of(name: str) -> Metric:
    """The metric of this name. Raises `UserError` when there is none."""
    if name not in METRICS:
        raise UserError(f"there is no metric {name}; use one of: {', '.join(METRICS)}")
    return METRICS[name]


def likeness(one: Affect | None, other: Affect | None, metric: str = DEFAULT_METRIC) -> float:
    """How alike two feelings are, 0…1. Symmetric; 1 for equal non-neutral ones; `MISSING` without one."""
    if one is None or other is None:
        return MISSING
    chosen = METRICS[metric]
    return float(chosen.alike(np.array([chosen.features(other)]), one)[0])
