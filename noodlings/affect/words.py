"""What the words alone say about feeling: VADER's polarity, our own feeling words, and the emphasis.

The meaning of the sentence is left to the network (`noodlings.affect.appraisal`). VADER is by Hutto and
Gilbert, ICWSM 2014 (package vaderSentiment, MIT).

- Feeling words, their weights and the file format are in `feeling_words.txt`. A word under a negation ("not
  sad at all", "never felt lonely") is reported as denied and never as felt.
- Phrases with misleading words are first replaced by plain ones: somebody who is laughed at is not merry,
  and a biopsy that comes back positive is not good news. Only what is certain is replaced.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from noodlings.text import without_hasty_will

if TYPE_CHECKING:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer


_SOMEBODY = r"(me|us|him|her|them|you|my|our|his|their|your|everybody|everyone)"
# Jokes and the like are praised when they are laughed at.
_IN_FUN = r"(?!\s+(?:\w+\s+)?(?:jokes?|puns?|story|stories|antics|impressions?|comedy|cartoons?|tricks?)\b)"
_MEDICAL = r"\b(biopsy|scans?|tests?|results?|x-?rays?|screenings?|smears?)\b"
_CAME = r"(\W+(?:\w+\W+){0,3}?(?:came back|comes back|is back and|was|were|is|are))"

_STAND_FOR = (
    (re.compile(rf"\b(?:laugh|snigger|giggl|snicker|jeer)(?:e?[sd]|ing)? at {_SOMEBODY}\b{_IN_FUN}", re.I),
     r"humiliated \1"),
    (re.compile(rf"\b(?:made|makes?|making) (?:fun|a (?:fool|mockery|joke)) of {_SOMEBODY}\b", re.I),
     r"humiliated \1"),
    (re.compile(rf"(?<!pregnancy ){_MEDICAL}{_CAME}\s+positive\b(?!.*\bpregnan)", re.I), r"\1\2 terrible"),
    (re.compile(rf"{_MEDICAL}{_CAME}\s+negative\b", re.I), r"\1\2 fine"),
    (re.compile(r"\btested\s+positive\b", re.I), "is ill"),
    (re.compile(r"\btested\s+negative\b", re.I), "is healthy"),
    (re.compile(r"\b(?:want|wish|wished|wanted) to (?:die|be dead)\b", re.I), "am suicidal"),
)  # fmt: skip


def in_plain_words(text: str) -> str:
    """The text with misleading phrases replaced; for counting words, never for reading."""
    text = without_hasty_will(text)
    for phrase, plain in _STAND_FOR:
        text = phrase.sub(plain, text)
    return text


FEELINGS = ("fear", "sorrow", "boredom", "stirred", "calm")
"""What feeling words express; the last two are the directions of arousal."""

_CLAUSE_END = frozenset(".,;:!?")
# Also whatever ends in "n't"; the last two lines are hasty spellings of that.
# fmt: off
_NEGATIONS = frozenset((
    "not", "no", "never", "nor", "neither", "nobody", "nothing", "none", "without", "hardly", "barely",
    "cannot", "cant", "dont", "doesnt", "didnt", "isnt", "wasnt", "arent", "werent", "wont", "wouldnt",
    "couldnt", "shouldnt", "havent", "hasnt", "hadnt", "aint",
))
# fmt: on
_NEGATION_REACH = 3
"""How many words before a feeling word a negation may stand, as in VADER."""
# "not only sad", "can't stop crying": a negation before these denies nothing.
_DENIES_NOTHING = frozenset(("only", "just", "merely", "simply", "stop", "help"))
_STRONGER = frozenset(
    ("very", "so", "really", "extremely", "utterly", "terribly", "deeply", "absolutely", "such")
)
_WEAKER = frozenset(("slightly", "bit", "little", "somewhat", "rather", "kinda", "sorta", "mildly", "almost"))


def feelings_in(tokens: Sequence[str]) -> tuple[dict[str, float], dict[str, float]]:
    """How much of each feeling the words hold, felt and denied, 0…1, each closing a part of the gap to 1.

    Args:
        tokens: words, emoticons and punctuation marks in lower case; the marks end clauses.
    """
    felt_gap = dict.fromkeys(FEELINGS, 1.0)
    denied_gap = dict.fromkeys(FEELINGS, 1.0)
    at = 0
    while at < len(tokens):
        length, weights = _entry_at(tokens, at)
        before = _words_before(tokens, at)
        gap = denied_gap if _negated(before) else felt_gap
        for feeling, weight in weights.items():
            gap[feeling] *= 1.0 - min(weight * _emphasis(before), 1.0)
        at += length
    return {k: 1.0 - v for k, v in felt_gap.items()}, {k: 1.0 - v for k, v in denied_gap.items()}


def _entry_at(tokens: Sequence[str], at: int) -> tuple[int, Mapping[str, float]]:
    """The longest entry that begins here: how many words it takes, and the weight of each feeling."""
    lexicon = _lexicon()
    for length in range(min(lexicon.longest, len(tokens) - at), 0, -1):
        weights = lexicon.exact.get("_".join(tokens[at : at + length]))
        if weights is not None:
            return length, weights
    word = tokens[at]
    for end in range(len(word), 2, -1):
        weights = lexicon.beginnings.get(word[:end])
        if weights is not None:
            return 1, weights
    return 1, {}


def _words_before(tokens: Sequence[str], at: int) -> list[str]:
    """The words of the same clause just before, nearest first."""
    found: list[str] = []
    for word in reversed(tokens[max(at - _NEGATION_REACH, 0) : at]):
        if word[0] in _CLAUSE_END or word == "but":
            break
        found.append(word)
    return found


def _negated(before: Sequence[str]) -> bool:
    nearer = ""
    for word in before:
        if word in _NEGATIONS or word.endswith("n't"):
            return nearer not in _DENIES_NOTHING
        nearer = word
    return False


def _emphasis(before: Sequence[str]) -> float:
    if any(word in _WEAKER for word in before[:2]):
        return 0.6
    return 1.25 if any(word in _STRONGER for word in before[:2]) else 1.0


@dataclass(frozen=True, slots=True)
class _Lexicon:
    exact: Mapping[str, Mapping[str, float]]
    beginnings: Mapping[str, Mapping[str, float]]
    longest: int
    """Words in the longest phrase."""


@cache
def _lexicon() -> _Lexicon:
    exact: dict[str, dict[str, float]] = {}
    beginnings: dict[str, dict[str, float]] = {}
    for line in (resources.files("noodlings.affect") / "feeling_words.txt").read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        head, _, entries = line.partition(": ")
        feeling, weight = head.split()
        for entry in entries.split():
            table = beginnings if entry.endswith("*") else exact
            table.setdefault(entry.rstrip("*"), {})[feeling] = float(weight)
    return _Lexicon(exact, beginnings, max(entry.count("_") for entry in exact) + 1)


MAX_CHARACTERS = 1_000
"""How much is read of a text: what the embedding model sees. VADER takes time by the square of it."""

MOST_EMOJI = 50
"""How many of them VADER reads: to it each is up to six words."""

_TOKEN = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*|[:;=]['-]?[()]|[.,;:!?]+|[^\w\s]")
_WORD = re.compile(r"[^\W\d_]")
# Answers are not feelings, but VADER's lexicon has "no" as unpleasant and "ok" as pleasant.
_ANSWERS = ("no", "nope", "yes", "yeah", "yep", "ok", "okay", "sure")


@dataclass(frozen=True, slots=True)
class Reading:
    """What the words of a text say about feeling.

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
        return np.array(_in_order(self), dtype=np.float32)


FEATURES = tuple(field.name for field in fields(Reading))
_in_order = attrgetter(*FEATURES)


def read(text: str) -> Reading:
    """Read a text (cleaned by the caller); only its first `MAX_CHARACTERS` count."""
    text = in_plain_words(text[:MAX_CHARACTERS].replace("’", "'"))
    tokens = _TOKEN.findall(text)
    words = [token for token in tokens if _WORD.match(token)]
    vader = _vader()
    emoji = (at for at, sign in enumerate(text) if sign in vader.emojis)
    polarity = vader.polarity_scores(text[: next(islice(emoji, MOST_EMOJI, None), None)])
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
