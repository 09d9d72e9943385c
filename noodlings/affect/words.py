"""What the words alone say about feeling: VADER's polarity, our own feeling words, and how it is said.

The rule it keeps: a feeling that is named and denied ("not sad at all") is reported as denied and never as
felt. Everything here is read off the surface; what the sentence means is for the network
(`noodlings.affect.regression`).

VADER: Hutto and Gilbert, ICWSM 2014 (package vaderSentiment, MIT).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from noodlings.affect.idioms import in_plain_words
from noodlings.affect.lexicon import feelings_in

if TYPE_CHECKING:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

MAX_CHARACTERS = 1_000
"""What is read of a text: about what the embedding model sees. VADER slows with the square of it."""

_TOKEN = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*|[:;=]['-]?[()]|[.,;:!?]+|[^\w\s]")
_WORD = re.compile(r"[^\W\d_]")
# Answers are no feelings: VADER's lexicon has "no" unpleasant and "ok" pleasant.
_ANSWERS = ("no", "nope", "yes", "yeah", "yep", "ok", "okay", "sure")


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read off the surface of a text.

    Attributes:
        compound: VADER's polarity of the whole, −1…1; positive, negative: the share of such words, 0…1.
        best, worst: the strongest word of either sign, in VADER's scale, 0…4 and −4…0.
        loaded: how much sentiment the words carry, regardless of sign: Σ|word|, folded by log(1 + x).
        fear, sorrow, boredom, stirred, calm: what our feeling words add up to, 0…1.
        denied_fear, denied_sorrow, denied_boredom: the same, of words under a negation.
        exclamations, questions: how many marks, at most 3. capitals: share of words that are shouted, 0…1.
        length: log(1 + number of words). trailing: "…" or "..." is in it, 0 or 1.
    """

    compound: float
    positive: float
    negative: float
    best: float
    worst: float
    loaded: float
    fear: float
    sorrow: float
    boredom: float
    stirred: float
    calm: float
    denied_fear: float
    denied_sorrow: float
    denied_boredom: float
    exclamations: float
    questions: float
    capitals: float
    length: float
    trailing: float

    def features(self) -> npt.NDArray[np.float32]:
        """Everything as numbers, shape (`len(FEATURES)`,), in the order of the attributes."""
        return np.array(astuple(self), dtype=np.float32)


FEATURES = tuple(field.name for field in fields(Reading))


def read(text: str) -> Reading:
    """Read a text (cleaned by the caller); only its first `MAX_CHARACTERS` count."""
    text = in_plain_words(text[:MAX_CHARACTERS].replace("’", "'"))
    tokens = _TOKEN.findall(text)
    words = [token for token in tokens if _WORD.match(token)]
    vader = _vader()
    polarity = vader.polarity_scores(text)
    loads = [vader.lexicon.get(token.lower(), 0.0) for token in tokens]
    felt, denied = feelings_in([token.lower() for token in tokens])
    return Reading(
        compound=polarity["compound"],
        positive=polarity["pos"],
        negative=polarity["neg"],
        best=max((0.0, *loads)),
        worst=min((0.0, *loads)),
        loaded=math.log1p(sum(map(abs, loads))),
        **felt,
        denied_fear=denied["fear"],
        denied_sorrow=denied["sorrow"],
        denied_boredom=denied["boredom"],
        exclamations=min(text.count("!"), 3),
        questions=min(text.count("?"), 3),
        capitals=_shouted(words),
        length=math.log1p(len(words)),
        trailing=float("..." in text or "…" in text),
    )


def _shouted(words: Sequence[str]) -> float:
    """The share of words in capitals; one letter ("I") is no shout, nor is "OK" alone."""
    long = [word for word in words if len(word) > 1]
    loud = sum(word.isupper() for word in long)
    return loud / len(long) if loud > 1 or any(len(word) > 3 and word.isupper() for word in long) else 0.0


@cache
def _vader() -> SentimentIntensityAnalyzer:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    analyzer = SentimentIntensityAnalyzer()
    analyzer.lexicon.update(dict.fromkeys(_ANSWERS, 0.0))
    return analyzer
