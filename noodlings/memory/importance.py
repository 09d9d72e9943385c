"""Importance: how much a percept matters, decided once, when it is encoded.

The value at encoding is kept for good. What comes later (a response, a hand) is a separate override on the
entry, so that one can always see both.
"""

from __future__ import annotations

import math

from noodlings.config import ImportanceWeights
from noodlings.values.memory import ImportanceParts

DEFAULT_WEIGHTS = ImportanceWeights()

INTENSITY_POWER = 1.5


def importance(parts: ImportanceParts, weights: ImportanceWeights = DEFAULT_WEIGHTS) -> float:
    """How much a moment matters, 0…1.

        importance = 1 − Π over k of (1 − weight_k · part_k),  with intensity to the power of 1.5

    A noisy-or (Pearl 1988, Probabilistic Reasoning in Intelligent Systems, section 4.3.2): each component
    independently closes a part of the gap to 1. So one strong component is enough, several add up without
    passing 1, none can cancel another, and a weight reads as "what this alone makes of a moment at its
    fullest". A weighted mean, by contrast, calls a death unimportant because nobody had answered yet. The
    power is ours: mild feelings are the stuff of every line, and matter less than their share of a grief.

    Args:
        parts: the components, each 0…1.
        weights: the weight of each component, 0…1 (`memory.importance` in the settings).
    """
    return 1.0 - (
        (1.0 - weights.surprise * parts.surprise)
        * (1.0 - weights.intensity * math.pow(parts.intensity, INTENSITY_POWER))
        * (1.0 - weights.salience * parts.salience)
        * (1.0 - weights.addressed * parts.addressed)
        * (1.0 - weights.answered * parts.answered)
        * (1.0 - weights.remember * parts.remember)
    )
