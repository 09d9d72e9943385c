"""Words as all of noodlings compares them: their stems, and those that say nothing by themselves.

Whatever is compared goes through the same functions, or it would not meet.
"""

from __future__ import annotations

import threading
from functools import lru_cache
from importlib import resources
from typing import Any

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
"""Words that search leaves out: they stand everywhere, and tell nothing."""

COMMON_WORDS = STOP_WORDS | frozenset(
    """
    across almost alone along already although always among another anybody anyone anything around away
    back behind came come comes coming done either else enough even ever every everybody everyone
    everything gave gets getting give gives goes going gone good gotten hardly hello hold keep kept knew
    know known knows least less like little look made make makes many maybe might much must near need
    neither never next nobody none nothing often onto others perhaps please quite rather really said
    says seem seems shall since somebody someone something sometimes somewhere soon still sure take
    takes tell thank thanks therefore thing things think though thought thus till together told took
    toward towards upon want wants well went whatever whether whoever whole within without word words
    yeah ah go hi hm mm oh ok uh um us
    """.split()  # noqa: SIM905 -- readable as it is
)
"""And those that, repeated in an answer, do not yet give away what was said."""

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u9fff\uac00-\ufaff\U00020000-\U0003ffff"
"""Thai, Lao, Burmese, Khmer, kana, Chinese characters, and Hangul, whose words have endings of all kinds: in
the brackets of a pattern. Where texts are compared, a character of these counts as a word."""

_own = threading.local()


@lru_cache(maxsize=1)
def ordinary_words() -> frozenset[str]:
    """Words of ordinary English, in small letters, which anybody may use: what an embedding model knows."""
    listed = resources.files("noodlings.embed") / "vocab.txt"
    return frozenset(listed.read_text(encoding="utf-8").split())


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The stem of an English word in small letters (Snowball: Porter 2001). Safe to call from any thread.

    Where PyStemmer is installed it does the work, in a twentieth of the time and with the same stems.
    """
    return str(_stemmer().stemWord(word))


def _stemmer() -> Any:
    """One for each thread: a stemmer keeps the word it works on in itself, and threads would mix theirs."""
    if not hasattr(_own, "stemmer"):
        from snowballstemmer import stemmer

        _own.stemmer = stemmer("english")
    return _own.stemmer
