"""Mood in recall: of memories that fit about equally well, those that felt alike come to mind sooner.

Mood only lifts what is already near the best match, by a bounded amount, and pushes nothing down. The less
feeling there is in the mood or in the memory, the less it lifts. A feeling that all of them share is no cue,
so only what feels more like the mood than most is lifted.

`emotional_similarity` and `combined_score` are the older rule, a weighted sum over the valence–arousal plane,
for callers who know it; search uses `congruence` and `lift`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from noodlings.memory.likeness import likeness
from noodlings.values.affect import Affect

Array = npt.NDArray[np.floating[Any]]

DEFAULT_WEIGHT = 0.3
"""How much mood may count, 0…1, where nothing else is said."""
REACH = 0.6
"""How far below the best score (0…1) mood still lifts anything, at weight 1; at the default .18."""


def emotional_similarity(one: Affect | None, other: Affect | None) -> float:
    """How near two feelings are in the valence–arousal plane, 0…1.

    1.0 for the same, 0.0 for opposite corners, 0.5 where one is missing.
    """
    return likeness(one, other, "euclidean")


def combined_score(
    semantic_distance: float,
    emotional_similarity: float,
    semantic_weight: float = 0.7,
    emotion_weight: float = 0.3,
) -> float:
    """A distance of unit vectors (0…2, less is nearer) and a likeness of feeling (0…1) as one score.

    The distance becomes 1 − distance / 2, not below 0; the weighted sum is not normalised.
    """
    semantic_similarity = min(max(1.0 - semantic_distance / 2.0, 0.0), 1.0)
    return semantic_weight * semantic_similarity + emotion_weight * emotional_similarity


def congruence(mood: Affect, affects: Array) -> Array:
    """How much of the mood's feeling there is in each memory, 0…1.

    The memory's feeling along the direction of the mood, times the intensity of the mood: 0 where either is
    neutral, unknown, or where they point apart.

    Args:
        affects: shape (n, 5), rows of NaN where nothing is known.
    """
    direction = _felt(mood.array())
    length = math.sqrt(direction @ direction)
    if length == 0.0:
        return np.zeros(len(affects))
    along = _felt(affects) @ (direction / length)
    along[np.isnan(along)] = 0.0
    return np.asarray(mood.intensity * np.minimum(np.maximum(along, 0.0), 1.0))


def lift(scores: Array, congruent: Array, weight: float) -> Array:
    """What mood adds to scores (0…1), never more than its reach, `weight * REACH`.

    As much as a memory is more congruent than the median of all; in full for the best match, fading with the
    square to nothing where the reach ends: what meaning is clear about keeps its order.

    Args:
        scores, congruent: shape (n,).
        weight: 0…1.
    """
    reach = weight * REACH
    if not len(scores) or reach == 0.0:
        return np.zeros(len(scores))
    gaps = np.asarray(scores.max() - scores, np.float64)
    near = np.maximum(reach - gaps, 0.0) / reach
    distinct = np.minimum(np.maximum(congruent - _median(congruent), 0.0), 1.0)
    return np.asarray(reach * near**2 * distinct)


def _median(values: Array) -> float:
    """As `numpy.median`, which takes as long as all the rest of a lift."""
    rising = np.sort(values)
    return float(rising[(len(rising) - 1) // 2] + rising[len(rising) // 2]) / 2.0


def _felt(affects: Array) -> Array:
    """Affects (..., 5) as distances from rest; sleepiness is no feeling."""
    felt = np.array(affects, np.float64)
    felt[..., 1] = np.maximum(2.0 * felt[..., 1] - 1.0, 0.0)
    return felt
