"""Good news that is told without a glad word, see `good_news.yaml`.

It counts where it is told as a fact: not where it is denied, asked, wished, or depends on something.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Literal

from noodlings.affect.words import MAX_CHARACTERS
from noodlings.validation import yaml_of

_SENTENCE = re.compile(r"[^.!?…]+[.!?…]*")
_CLAUSE = re.compile(r"[^,;:()]+")
_KIN = (
    "(?:my|our) (?:(?:little|big|eldest|youngest) )?(?:son|daughter|wife|husband|brother|sister|mother|father"
    "|mum|mom|dad|boy|girl|kids?|child|children|partner|nephew|niece|cousin|uncle|aunt|grandson|granddaughter"
    "|gran|grandad)"
)
_ME = rf"\b(?:i|we|we've|i've|{_KIN}) (?:(?:just|finally|actually|have|has|was|were|got|been) )*"
_NOT_SO = re.compile(
    r"\b(?:not|no|never|nobody|hardly|without|cannot|\w+n't|dont|didnt|wasnt|isnt|havent|hasnt|wont|cant"
    r"|if|unless|until|till|whether|when|once|before|wish|hope|hopes|hoping|want|wants|wanted|would|could|should"
    r"|might|may|maybe|perhaps|almost|nearly|pretend|dreamt|dreamed|imagine|trying|try|tried|used to"
    r"|ask|asked|say|lied|lie|wrong)\b"
)
"""Words before it in the clause by which it is no fact."""

_SPOILT = re.compile(r"\b(?:but|died|dead|killed|left (?:me|us)|lost|stolen|taken|gone|blind|buried)\b")
"""Words anywhere in the sentence by which it is no good news."""

GoodNews = Literal["over", "new", ""]


def good_news(text: str) -> GoodNews:
    """The good news in a text (cleaned by the caller): a trouble that is "over", something "new", or "".

    As in `read`, only its first `MAX_CHARACTERS` count.
    """
    found: GoodNews = ""
    for sentence in _SENTENCE.findall(text[:MAX_CHARACTERS].replace("’", "'").casefold()):
        if not sentence.rstrip().endswith("?") and not _SPOILT.search(sentence):
            for clause in _CLAUSE.findall(sentence.rstrip(".!… ")):
                told = _told(" ".join(clause.split()))
                found = "over" if "over" in (told, found) else told or found
    return found


def _told(clause: str) -> GoodNews:
    match = _patterns().search(clause)
    if match is None or _NOT_SO.search(clause, 0, match.start()) is not None:
        return ""
    return "over" if match["over"] is not None else "new"


@cache
def _patterns() -> re.Pattern[str]:
    kinds: dict[str, list[str]] = yaml_of(resources.files(__package__) / "good_news.yaml")
    alternatives = (f"(?P<{kind}>{'|'.join(patterns)})" for kind, patterns in kinds.items())
    return re.compile("|".join(alternatives).replace("{me}", _ME).replace("{kin}", _KIN))
