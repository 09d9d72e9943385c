"""Ranking: one score out of several, with the weights of them all in one place, and the best rows by it.

How the weights were found, and what was tried beside them, is in docs/decisions/0008-search.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from noodlings.recall.neighbours import Numbers, Rows


@dataclass(frozen=True, slots=True)
class Weights:
    """Points that each component, 0…1, brings; a score is the points reached out of all there are.

    Attributes:
        meaning: nearness of the vectors, with neighbours. Without vectors the words get these points too.
        words: the share of the question's words that stand there or next to it, by their rarity.
        speaker: said by whom the question names. About a fifth of a match: it decides between people, and a
            line of somebody else about them still comes.
        date: from the day, month or year that the question names.
        time: a question for a time, and a line that holds one.
        length: how much a line says at all, by the logarithm of its words: "Wow, thanks!" is near everything
            and answers nothing.
        asker: told by whoever asks, in bits: the rarer their lines are among all, the more it says that one
            is theirs (see `noodlings.recall.search.BITS`).
        importance: in force. Among lines that have nothing to do with each other, what mattered is what is
            asked for; in a talk that goes on it says less than the words do.
    """

    meaning: float = 10.0
    words: float = 10.0
    speaker: float = 2.0
    date: float = 3.0
    time: float = 2.0
    length: float = 3.0
    asker: float = 0.0
    importance: float = 0.0

    @property
    def total(self) -> float:
        return float(sum(_POINTS(self)))

    def toward(self, other: Weights, share: float) -> Weights:
        """Weights between these and others: `share` 0 gives these, 1 the others."""
        pairs = zip(_POINTS(self), _POINTS(other), strict=True)
        return Weights(*((1.0 - share) * mine + share * theirs for mine, theirs in pairs))


_POINTS = attrgetter(*Weights.__slots__)
DEFAULT_WEIGHTS = Weights()
"""For a talk whose lines go on from each other."""
LOOSE_WEIGHTS = Weights(words=3.0, length=1.0, asker=2.5, importance=4.0)
"""For lines that have nothing to do with those around them, as in a busy room."""

EVIDENCE = ("meaning", "words", "date")
"""Components that suffice to find an entry; the others only decide between entries that have one of these."""


def combine(parts: Mapping[str, Numbers], weights: Weights = DEFAULT_WEIGHTS) -> Numbers:
    """The components of each row as one score, 0…1; −1 for rows without any evidence.

    Args:
        parts: component name → shape (n,), 0…1; "words" is always there.
    """
    points = {name: float(getattr(weights, name)) for name in parts}
    if "meaning" not in parts:
        points["words"] += weights.meaning
    total = weights.total
    scores = np.zeros(len(parts["words"]), np.float32)
    room = np.empty_like(scores)
    for name, part in parts.items():
        scores += np.multiply(part, np.float32(points[name] / total), out=room)
    evidence = [parts[name] for name in EVIDENCE if name in parts]
    np.maximum.reduce(evidence, out=room)
    scores[room <= 0.0] = -1.0
    return scores


def best_rows(scores: Numbers, limit: int) -> Rows:
    """Indices of the `limit` highest scores, highest first; of equal ones the earlier index first.

    Only what reaches the lowest score of the result is ever sorted. NaN is not allowed.
    """
    count = len(scores)
    limit = min(limit, count)
    if limit <= 0:
        return np.empty(0, np.intp)
    bound = np.partition(scores, count - limit)[count - limit]
    few = np.flatnonzero(scores >= bound)
    return few[np.argsort(-scores[few], kind="stable")[:limit]]
