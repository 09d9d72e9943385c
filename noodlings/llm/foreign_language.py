"""Where a text changes from English to another language, by its script and its most frequent words.

It only finds what is plainly not English, and ignores loan words, names, noises and words in quotation marks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from importlib import resources

from noodlings.voice.words import tokens, words_for

FEWEST = 6
"""The fewest words of a sentence that is judged by its words."""
LETTERS = 6
"""The fewest letters of another script in a sentence that is in it, if most letters are."""

_NAMED = re.compile(
    r"\b(?:Arabic|Chinese|Mandarin|Cantonese|Czech|Danish|Dutch|Finnish|French|Gaelic|German|Greek|Hebrew|Hindi"
    r"|Hungarian|Irish|Italian|Japanese|Korean|Latin|Norwegian|Persian|Polish|Portuguese|Romanian|Russian"
    r"|Spanish|Swedish|Turkish|Ukrainian|Vietnamese|Welsh|languages?|translat\w+|bilingual)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“«][^\"”»]{0,400}[\"”»]")
_SENTENCE = re.compile(r"[^.!?…。！？\n]+[.!?…。！？\n]*")


def foreign_at(text: str, around: Iterable[str]) -> int | None:
    """Where the first sentence in another language begins in an answer; None without one.

    Args:
        around: what it answers and who speaks. If any of that is not English, or names a language, the answer
            may be in any language.
    """
    if any(_NAMED.search(other) or _is_foreign(other) for other in around):
        return None
    plain = _QUOTED.sub(lambda quoted: " " * len(quoted.group()), text)
    if not 2 * sum(map(str.isalpha, plain)) > sum(map(str.isalpha, text)):
        plain = text  # all of it is a quotation
    found = next((one.start() for one in _SENTENCE.finditer(plain) if _is_foreign(one.group())), None)
    return 0 if found is None and _is_foreign(plain) else found


def _is_foreign(text: str) -> bool:
    letters = [c for c in text if c.isalpha()][:500]
    strange = sum("LATIN" not in unicodedata.name(c, "") for c in letters)
    if letters and (strange == len(letters) or (strange >= LETTERS and 2 * strange > len(letters))):
        return True
    words = tokens(text)
    english = sum(word in words_for("common") for word in words)
    if len(words) < FEWEST:
        return False
    foreign = {word for word in words if word in _foreign_words() or not word.isascii()}
    return (len(foreign) >= 3 and len(foreign) > 1.5 * english) or (len(foreign) >= 2 and not english)


@lru_cache(maxsize=1)
def _foreign_words() -> frozenset[str]:
    """The most frequent words of other languages, without those that are English as well."""
    more = resources.files(__package__).joinpath("foreign_words.txt").read_text(encoding="utf-8").split()
    return (words_for("foreign") | frozenset(more)) - words_for("common")
