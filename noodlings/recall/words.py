"""The words of a text as search sees them: folded, stemmed, without those that say nothing.

Entries and queries go through the same function, or they would not meet.
"""

from __future__ import annotations

import re
from functools import lru_cache

from snowballstemmer import stemmer

STOP_WORDS = frozenset(
    """
    a about above after again against all am an and any are aren as at be because been before being below
    between both but by can cannot could couldn d did didn do does doesn doing don down during each few for
    from further get got had hadn has hasn have haven having he her here hers herself him himself his how i
    if in into is isn it its itself just ll m me more most mustn my myself no nor not of off on once only or
    other ought our ours ourselves out over own re s same shan she should shouldn so some such t than that
    the their theirs them themselves then there these they this those through to too under until up ve very
    was wasn we were weren what when where which while who whom whose why will with won would wouldn you
    your yours yourself yourselves also
    """.split()  # noqa: SIM905 -- readable as it is
)

_WORD = re.compile(r"\w+")
_STEMMER = stemmer("english")


def stems(text: str) -> list[str]:
    """The stemmed words of a text in their order, repeats kept, stop words left out."""
    return [_stem(word) for word in _WORD.findall(text.casefold()) if word not in STOP_WORDS]


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    return str(_STEMMER.stemWord(word))
