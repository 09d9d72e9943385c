"""Text → affect, without a language model: explicit words, and where there is a sentence vector, its meaning.

The rule it keeps: nothing is made up. What is not there stays at rest, a feeling that is named and denied is
not felt, a grief said without one sad word is still a grief, and politeness does not cover it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from noodlings.affect.regression import VECTOR_SIZE, felt, shipped
from noodlings.affect.words import Reading, read
from noodlings.text import clean
from noodlings.values.affect import AXES, Affect

ADDRESSED = 0.1
"""How much more arousing it is to be spoken to, as a rating: at rest, .04 of arousal."""
SHOUTED = 0.2
"""How much a text all in capitals adds to that. A rule, since in the raters' data capitals are headlines."""
BARE_EXCLAMATION = 0.5
"""What is left of arousal that only the punctuation shows: rare in the raters' prose, habit in a chat."""

_AROUSAL = AXES.index("arousal")
WORDS, WORDS_AND_VECTOR = "words", "words+vector"


@dataclass(frozen=True, slots=True)
class Appraisal:
    """What is felt about a text.

    Attributes:
        affect: the feeling.
        confidence: the chance that the sign of the valence is right, 0.5…1, from how far the method was off
            where people had rated texts. Of a text that says nothing of feeling it is about a half.
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
            vector: the text as `noodlings.embed.minilm.MiniLM` gives it, shape (384,). One of another shape
                is another model's and is not used; `by` says so.
        """
        reading = read(clean(text))
        meant = vector if vector is not None and vector.shape == (VECTOR_SIZE,) else None
        regression = shipped()
        network = regression.by_words if meant is None else regression.by_meaning
        inputs = network.inputs(reading.features()[None], None if meant is None else meant[None])
        rating = _without_denied(network(inputs)[0], reading)
        if meant is None and not _any_feeling(reading):
            rating[_AROUSAL] *= BARE_EXCLAMATION
        rating[_AROUSAL] += ADDRESSED * addressed + SHOUTED * reading.capitals
        confidence = chance_of_sign(float(rating[0]), float(network.error))
        return Appraisal(Affect.of(felt(rating)), confidence, WORDS if meant is None else WORDS_AND_VECTOR)


def _without_denied(rating: npt.NDArray[Any], reading: Reading) -> npt.NDArray[Any]:
    """Takes back what is named only to be denied, and of an unpleasant valence as much as that explains."""
    denied = np.array([0.0, 0.0, reading.denied_fear, reading.denied_sorrow, reading.denied_boredom])
    named = np.array([0.0, 0.0, reading.fear, reading.sorrow, reading.boredom])
    denied[named > 0] = 0.0  # "not afraid, but terrified": what is also named is felt
    rating = rating * (1.0 - denied)
    if not named.any():
        rating[0] = max(rating[0], rating[0] * (1.0 - denied.max()))
    return rating


def _any_feeling(reading: Reading) -> bool:
    """Whether any word at all speaks of feeling, or is shouted."""
    ours = (reading.fear, reading.sorrow, reading.boredom, reading.stirred, reading.calm)
    return any(ours) or reading.loaded > 0 or reading.capitals > 0


def chance_of_sign(valence: float, error: float) -> float:
    """How likely a valence that is off by about `error` has the right sign, 0.5…1: Φ(|valence| / error)."""
    return 0.5 * (1.0 + math.erf(abs(valence) / error / math.sqrt(2.0)))
