"""Text → affect, without a language model: explicit words, and where there is a sentence vector, its meaning.

The rule it keeps: nothing is made up. What is not there stays at rest, a feeling that is named and denied is
not felt, a grief said without one sad word is still a grief, and politeness does not cover it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from noodlings.affect.words import Reading, read
from noodlings.text import clean
from noodlings.values.affect import Affect

ADDRESSED_AROUSAL = 0.04
"""How much more awake somebody is who is spoken to."""


@dataclass(frozen=True, slots=True)
class Appraisal:
    """What is felt about a text.

    Attributes:
        affect: the feeling.
        confidence: how sure that is, 0…1.
        by: "words", or "words+vector" where the meaning of the sentence counted too.
    """

    affect: Affect
    confidence: float
    by: str


class Appraiser:
    """Appraises one text after the other; it keeps nothing between them and may be shared by threads."""

    def appraise(
        self, text: str, *, addressed: bool = False, vector: npt.NDArray[Any] | None = None
    ) -> Appraisal:
        """What is felt about `text`.

        Args:
            addressed: it was meant for whoever feels it.
            vector: the text as the local embedder gives it, shape (384,).
        """
        reading = read(clean(text))
        affect, confidence = _by_words(reading)
        if addressed:
            affect = _more_awake(affect)
        return Appraisal(affect, confidence, "words")


def _by_words(reading: Reading) -> tuple[Affect, float]:
    """Rules of thumb over the explicit words, and how sure they are.

    Pain goes before politeness: the share of valence that fear and sorrow claim is not left to cheerful
    words. VADER gives one faint word ("ok") .3 of 1, so its polarity counts with the power 1.5.
    """
    pain = max(reading.fear, reading.sorrow)
    polarity = abs(reading.compound) ** 1.5 * (1.0 if reading.compound > 0 else -1.0)
    valence = 0.8 * polarity * (1.0 - pain) - 0.75 * pain - 0.3 * reading.boredom
    arousal = (
        0.5
        + 0.15 * abs(polarity)
        + 0.04 * reading.exclamations
        + 0.25 * reading.capitals
        + 0.25 * reading.stirred
        + 0.25 * reading.fear
        - 0.1 * reading.sorrow
        - 0.25 * reading.boredom
        - 0.25 * reading.calm
    )
    evidence = max(abs(reading.compound), pain, reading.boredom)
    affect = Affect.clamped(valence, arousal, reading.fear, reading.sorrow, reading.boredom)
    return affect, 0.2 + 0.4 * evidence


def _more_awake(affect: Affect) -> Affect:
    return Affect.clamped(
        affect.valence, affect.arousal + ADDRESSED_AROUSAL, affect.fear, affect.sorrow, affect.boredom
    )
