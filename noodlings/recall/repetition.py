"""Whether a text repeats another one in part, or retells it.

Case, accents, punctuation, endings of words, and who says it of whom ("my", "your") do not count. In scripts
that put no spaces between words a character is taken as a word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from unicodedata import normalize
from urllib.parse import unquote

from noodlings.stemming import COMMON_WORDS, UNSPACED, ordinary_words, stem
from noodlings.text import unaccented, unescape

RUN = 5
"""Words in a row that are no coincidence, if one of them means something."""
ENOUGH = 3
"""The weight of words that are none, in a row but for those that mean nothing, or near each other. A word
that means something counts 1, one that is no ordinary English 2, a character as a word `CHARACTER`."""
CHARACTER = 0.75
SHARE = 0.5
"""Of the weight of a whole text, the least if its words are merely near each other."""
SPREAD = 1.5
"""How near: within so many times the words that the text has."""
SHORTEST = 8
"""Characters of a text that says something, whatever its words are; a character as a word counts twice."""

_CHARACTER = re.compile(f"[{UNSPACED}]")
_WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_SPELT = re.compile(r"_|\\[nrt]|(?<=[a-z])(?=[A-Z])")
"""Where words are apart in names of files and hashtags, and in what is JSON within a text."""
_RETOLD = {"i": "you", "me": "you", "my": "your", "mine": "yours", "am": "are", "was": "were"}


class Wording:
    """The words of a text, as they are compared; `names` are words that count nowhere, `unaccented`."""

    def __init__(self, text: str, names: Collection[str] = ()) -> None:
        said = unaccented(_SPELT.sub(" ", spelt_out(text)))
        weighed = [(word, _weight(word)) for word in _WORD.findall(said) if word not in names]
        words = [(stem(word) if weight else _RETOLD.get(word, word), weight) for word, weight in weighed]
        self._line = f" {' '.join(word for word, _ in words)} "
        self._telling = [word for word, weight in words if weight]
        self._weights = {word: weight for word, weight in words if weight}
        runs = _runs([word for word, _ in words], RUN)
        self._runs = {run for run in runs if not self._weights.keys().isdisjoint(run)}
        close = _runs(self._telling, 2) + _runs(self._telling, 3)
        self._runs.update(run for run in close if self._weight_of(set(run)) >= ENOUGH)

    def repeats(self, other: Wording) -> bool:
        """Whether so much of the other text stands here in one place that it tells of it."""
        whole = other._weight_of(other._weights)
        if whole and len(other._line) > SHORTEST + 2 and other._line in self._line:
            return True
        if not self._runs.isdisjoint(other._runs):
            return True
        needed = max(2, min(ENOUGH, whole), SHARE * whole)
        shared = self._weights.keys() & other._weights.keys()
        if other._weight_of(shared) < needed:
            return False
        span = max(4, int(SPREAD * len(other._weights)))
        places = [(place, word) for place, word in enumerate(self._telling) if word in shared]
        near, weight, first = Counter[str](), 0.0, 0
        for place, word in places:
            weight += 0 if near[word] else other._weights[word]
            near[word] += 1
            while place - places[first][0] >= span:  # it lies too far back to be in the same place
                gone = places[first][1]
                near[gone] -= 1
                weight -= 0 if near[gone] else other._weights[gone]
                first += 1
            if weight >= needed:
                return True
        return False

    def _weight_of(self, words: Collection[str]) -> float:
        return sum(self._weights[word] for word in words)


def spelt_out(text: str) -> str:
    """A text as one reads it, where it was written in a form of Unicode, JSON, HTML or an address."""
    escaped = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    return normalize("NFKC", unescape(unquote(escaped)))


def says_something(text: str) -> bool:
    """Whether a text is so long that it says something, whatever its words are."""
    return len(text) + len(_CHARACTER.findall(text)) > SHORTEST


def _weight(word: str) -> float:
    if _CHARACTER.match(word):
        return CHARACTER
    return 0 if len(word) < 2 or word in COMMON_WORDS else 1 if word in ordinary_words() else 2


def _runs(words: list[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + size]) for at in range(len(words) - size + 1)]
