"""A word for a feeling, such as "sorrowful", the same everywhere it is shown.

The intensity (`noodlings.values.affect.intensity`) decides whether anything is felt; the direction of the
affect, which feeling it is. So a little sorrow is still sorrow, only with a milder word.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from noodlings.values.affect import Affect, FloatArray, intensity

FELT = 0.15
"""Below this intensity nothing is felt worth a name."""
STRONG = 0.75
"""From this intensity on the stronger word is used."""
DROWSY = 0.3
"""Arousal up to which somebody who feels nothing is calm, not merely neutral."""

FAMILIES = ("joy", "calm", "fear", "anger", "sorrow", "boredom", "neutral", "unknown")
"""Families of feelings, in the order in which they are listed; "unknown" is a missing affect."""


@dataclass(frozen=True, slots=True)
class _Prototype:
    """One direction of feeling: its family, a word for a mild feeling, and one for a strong one."""

    family: str
    mild: str
    strong: str
    direction: tuple[float, float, float, float, float]
    """Valence, arousal (here −1…1 around rest), fear, sorrow, boredom."""


_PROTOTYPES = (
    _Prototype("joy", "content", "joyful", (1.0, 0.1, 0.0, 0.0, 0.0)),
    _Prototype("joy", "lively", "excited", (0.5, 0.9, 0.0, 0.0, 0.0)),
    _Prototype("calm", "calm", "serene", (0.5, -0.9, 0.0, 0.0, 0.0)),
    _Prototype("fear", "anxious", "afraid", (-0.5, 0.5, 0.9, 0.1, 0.0)),
    _Prototype("anger", "annoyed", "angry", (-0.7, 0.7, 0.0, 0.0, 0.0)),
    _Prototype("sorrow", "sad", "sorrowful", (-0.6, -0.1, 0.0, 0.8, 0.0)),
    _Prototype("sorrow", "unhappy", "miserable", (-1.0, -0.1, 0.0, 0.0, 0.0)),
    _Prototype("sorrow", "wistful", "wistful", (0.6, -0.1, 0.0, 0.8, 0.0)),
    _Prototype("boredom", "bored", "bored", (-0.2, -0.4, 0.0, 0.0, 0.9)),
)


def _directions(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(numbers / np.linalg.norm(numbers, axis=-1, keepdims=True))


_TABLE = _directions(np.array([prototype.direction for prototype in _PROTOTYPES]))  # (prototypes, 5)
_WORDS = [word for prototype in _PROTOTYPES for word in (prototype.mild, prototype.strong)]
_CALM = len(_WORDS)
_WORDS += ["calm", "neutral", "unknown"]
_FAMILY_OF = {word: p.family for p in _PROTOTYPES for word in (p.mild, p.strong)} | {"neutral": "neutral"}


def feeling(affect: Affect | None) -> str:
    """One word for what is felt: "joyful", "anxious", "calm", "neutral", …; "unknown" where there is none."""
    if affect is None:
        return "unknown"
    intensity = affect.intensity
    if intensity < FELT:
        return "calm" if affect.arousal <= DROWSY else "neutral"
    prototype = _nearest(affect)
    return prototype.strong if intensity >= STRONG else prototype.mild


def feelings(affects: FloatArray) -> list[str]:
    """The word for each of many affects, shape (n, 5); rows of NaN are unknown."""
    if len(affects) == 1:  # the usual case
        [one] = affects.tolist()
        return [feeling(None if math.isnan(one[0]) else Affect(*one))]
    felt = np.asarray(intensity(*affects.T))
    points = affects.copy()
    points[:, 1] = 2.0 * points[:, 1] - 1.0
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    nearest = np.argmax(points / np.where(lengths > 0.0, lengths, 1.0) @ _TABLE.T, axis=1)
    place = 2 * nearest + (felt >= STRONG)
    place[felt < FELT] = np.where(affects[felt < FELT, 1] <= DROWSY, _CALM, _CALM + 1)
    place[np.isnan(felt)] = _CALM + 2
    return [_WORDS[number] for number in place.tolist()]


def family(affect: Affect | None) -> str:
    """The family of a feeling, one of `FAMILIES`: "sorrow" for sad, unhappy, miserable and so on."""
    return family_of(feeling(affect))


def family_of(word: str) -> str:
    """The family of the word for a feeling; "unknown" for any other word."""
    return _FAMILY_OF.get(word, "unknown")


def _nearest(affect: Affect) -> _Prototype:
    """The prototype at the smallest angle. Only for affects of some intensity: at rest there is no angle."""
    point = affect.array()
    point[1] = 2.0 * point[1] - 1.0
    return _PROTOTYPES[int(np.argmax(_TABLE @ _directions(point)))]
