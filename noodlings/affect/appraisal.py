"""Text to affect without a language model, from the words and, if known, the meaning of the sentence.

What the text does not express stays at rest, a feeling that is named and denied is not felt, and grief
without a single sad word is still grief.

The mapping is a network with one hidden layer, run in numpy. `weights.npz` is made by `tools/affect/fit.py`
and holds three networks: over the words alone, over words and sentence vector, and over words and the layers
of the embedding model, which is the best. It also records what the weights were fitted on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

from noodlings.affect.good_news import good_news
from noodlings.affect.network import LAYERS_SIZE, VECTOR_SIZE, Array, Network, network_of
from noodlings.affect.significance import significance
from noodlings.affect.words import Reading, read
from noodlings.ports import Understood
from noodlings.text import clean
from noodlings.values.affect import AXES, REST, Affect

WEIGHTS = "weights.npz"
HALF = 0.35
"""How far from rest a rating must lie to become half of a full feeling. See `felt`."""
FARTHEST = 4.0
"""The largest distance from rest that `rated` gives."""

_ZERO = np.array(REST)
_UNIT = np.array([1.0, 0.5, 1.0, 1.0, 1.0])
"""Arousal has half the room to either side."""


def felt(rated: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """From distances from rest, as people rate them, to affect, shapes (..., 5).

    People keep to the middle of their scale, and a regression even more; so the way to our axes, of which the
    whole range is used, is a Hill curve, x² / (x² + HALF²) with the sign of x: small distances, mostly error,
    become smaller, and large ones approach 1. Fear, sorrow and boredom are not below 0.
    """
    squared = rated * rated
    curved = np.sign(rated) * squared / (squared + HALF**2)
    curved[..., 2:] = np.maximum(curved[..., 2:], 0.0)
    return np.asarray(_ZERO + _UNIT * curved)


def rated(felt: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """The inverse of `felt`: from affect to distances from rest of at most `FARTHEST`."""
    curved = (felt - _ZERO) / _UNIT
    share = np.minimum(np.abs(curved), FARTHEST**2 / (FARTHEST**2 + HALF**2))
    return np.asarray(np.sign(curved) * HALF * np.sqrt(share / (1.0 - share)))


@dataclass(frozen=True, slots=True)
class Regression:
    """The networks and where they come from.

    Attributes:
        by_words: over the features of `noodlings.affect.words` alone.
        by_meaning: over these and the sentence vector.
        by_layers: over these and the layers of the embedding model.
        provenance: data, licences, sizes, figures, script, seed, and the embedding model.
    """

    by_words: Network
    by_meaning: Network
    by_layers: Network
    provenance: Mapping[str, Any]


@cache
def shipped() -> Regression:
    """The weights that come with noodlings, read once."""
    with (resources.files("noodlings.affect") / WEIGHTS).open("rb") as file, np.load(file) as arrays:
        return Regression(
            by_words=network_of(arrays, "words"),
            by_meaning=network_of(arrays, "meaning"),
            by_layers=network_of(arrays, "layers"),
            provenance=json.loads(bytes(arrays["provenance"]).decode()),
        )


ADDRESSED = 0.1
"""How much more arousing it is to be spoken to, as a rating: at rest, .04 of arousal."""
SHOUTED = 0.2
"""How much a text all in capitals adds to that. A rule, since in the raters' data capitals are headlines."""
GOOD_NEWS = 0.35
"""Valence, as a rating, that good news has at least: half of a full feeling. The networks hear nothing in it,
or only the trouble that is over."""
CLEARLY_BAD = -0.2
"""Valence, as a rating, below which only a trouble that is over can be good news."""
IS_NEWS = 0.15
"""Significance below which nothing is news, and is not looked through."""
FELT_AS_A_LINE, KEPT_AS_A_LINE = 0.9, 0.5
"""How much the valence and the significance of a line that somebody says count beside those of its text."""
PLAINLY_FELT = 0.5
"""Valence of a text, as a rating to either side, from which that of the line counts only half."""
MOURNED = 0.65
"""Sorrow in the words from which good news in them changes nothing."""
BARE_EXCLAMATION = 0.5
"""What is left of arousal that only punctuation shows: rare in the raters' prose, common in a chat."""

_AROUSAL = AXES.index("arousal")
WORDS, WORDS_AND_VECTOR, WORDS_AND_LAYERS = "words", "words+vector", "words+layers"


@dataclass(frozen=True, slots=True)
class Appraisal:
    """What is felt about a text.

    Attributes:
        by: "words"; "words+vector" or "words+layers" if the meaning of the sentence counted too.
        significance: see `noodlings.affect.significance`, 0…1.
    """

    affect: Affect
    by: str
    significance: float


class Appraiser:
    """Appraises texts; may be shared by threads.

    A whole room hears each line, so the appraisal of the latest text is cached.
    """

    def __init__(self) -> None:
        self._latest: dict[tuple[bool, bool], tuple[str, Understood | None, Appraisal]] = {}

    def appraise(
        self, text: str, *, addressed: bool = False, said: bool = False, understood: Understood | None = None
    ) -> Appraisal:
        """What is felt about `text`.

        Args:
            addressed: it was meant for whoever feels it.
            said: somebody says or does it; then what it is as a line counts, too.
            understood: the text by `noodlings.embed.minilm.MiniLM`. A vector of another shape than (384,) is
                another model's and is not used; without layers, (2688,), the vector must do.
        """
        kept = self._latest.get((addressed, said))
        if kept is not None and kept[0] == text and kept[1] is understood:
            return kept[2]
        appraisal = self._read(text, addressed, said, understood)
        self._latest[addressed, said] = text, understood, appraisal
        return appraisal

    def let_go(self) -> None:
        """Empty the cache."""
        self._latest.clear()

    def _read(self, text: str, addressed: bool, said: bool, understood: Understood | None) -> Appraisal:
        cleaned = clean(text)
        reading = read(cleaned)
        vector, layers = (None, None) if understood is None else (understood.vector, understood.layers)
        meant = vector if vector is not None and vector.shape == (VECTOR_SIZE,) else None
        rating, by = _rating(reading, meant, layers)
        rating = _without_denied(rating, reading)
        worth = significance(reading, meant)
        valence = rating[0]
        if said and understood is not None and (line := understood.reading) is not None:
            share = 0.5 if abs(valence) > PLAINLY_FELT else FELT_AS_A_LINE
            rating[0] += share * (line.valence - valence)
            worth += KEPT_AS_A_LINE * (line.significance - worth)
        if worth >= IS_NEWS and reading.sorrow < MOURNED:
            news = good_news(cleaned)
            if news == "over" or (news == "new" and valence > CLEARLY_BAD):
                rating[0] = max(rating[0], GOOD_NEWS)
        if meant is None and not _any_feeling(reading):
            rating[_AROUSAL] *= BARE_EXCLAMATION
        rating[_AROUSAL] += ADDRESSED * addressed + SHOUTED * reading.capitals
        return Appraisal(Affect.of(felt(rating)), by, worth)


def _rating(reading: Reading, vector: Array | None, layers: Array | None) -> tuple[Array, str]:
    """The rating by the network that uses most of what is known, shape (5,), and the name of that."""
    features, vectors = reading.features(), None
    if vector is None:
        network, by = shipped().by_words, WORDS
    elif layers is None or layers.shape != (LAYERS_SIZE,):
        network, by, vectors = shipped().by_meaning, WORDS_AND_VECTOR, vector[None]
    else:  # of which the layers are features as well
        network, by, features = shipped().by_layers, WORDS_AND_LAYERS, np.concatenate([features, layers])
    return network(network.inputs(features[None], vectors))[0], by


def _without_denied(rating: npt.NDArray[Any], reading: Reading) -> npt.NDArray[Any]:
    """The rating without denied feelings, and without the unpleasant valence that they explain."""
    denied = np.array([0.0, 0.0, reading.denied_fear, reading.denied_sorrow, reading.denied_boredom])
    named = np.array([0.0, 0.0, reading.fear, reading.sorrow, reading.boredom])
    denied[named > 0] = 0.0  # "not afraid, but terrified": what is also named is felt
    rating = rating * (1.0 - denied)
    if not named.any():
        rating[0] = max(rating[0], rating[0] * (1.0 - denied.max()))
    return rating


def _any_feeling(reading: Reading) -> bool:
    ours = (reading.fear, reading.sorrow, reading.boredom, reading.stirred, reading.calm)
    return any(ours) or reading.loaded > 0 or reading.capitals > 0
