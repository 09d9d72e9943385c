"""The forms of English verbs, as far as the offline voice needs them: "lives" is a form of "live".

Irregular verbs stand in `lexicon.yaml`, regular ones as bare forms beside them. The rule it keeps: what is in
neither list has no form but the one it was typed in.
"""

from __future__ import annotations

import re
from functools import lru_cache

from noodlings.voice.lexicon import phrases_for, words_for

_NO_PAST = re.compile(
    r".*eed$|^(?:bed|red|shed|sled|hundred|sacred|naked|wicked|kindred|beloved|bobsled|ted)$"
)


@lru_cache(maxsize=1)
def irregular() -> dict[str, str]:
    """Past by base: "go" has "went"."""
    return dict(pair.split() for pair in phrases_for("irregular"))


@lru_cache(maxsize=1)
def bases() -> frozenset[str]:
    """All bare forms that are known."""
    return words_for("regular") | irregular().keys()


def third_of(word: str) -> str:
    """The base of a form in -s ("lives", "cries", "goes"), or "" where it is none."""
    if not word.endswith("s") or word.endswith("ss"):
        return ""
    found = (
        word[:-1],
        word[:-2] if word.endswith("es") else "",
        f"{word[:-3]}y" if word[-3:] == "ies" else "",
    )
    return next((base for base in found if base in bases()), "")


def is_past(word: str) -> bool:
    """Whether it can be a past: "went", "died"; not "bed"."""
    return word in _pasts() or (len(word) > 3 and word.endswith("ed") and not _NO_PAST.match(word))


def past_of(base: str) -> str:
    """ "went" of "go", "hugged" of "hug", "carried" of "carry"."""
    if base in irregular():
        return irregular()[base]
    if base.endswith("y") and base[-2:-1] not in tuple("aeiou"):
        return f"{base[:-1]}ied"
    if re.fullmatch(r"[^aeiou]*[aeiou][bdgmnprt]", base):  # hug, nod, pet
        return f"{base}{base[-1]}ed"
    return f"{base}{'d' if base.endswith('e') else 'ed'}"


@lru_cache(maxsize=1)
def _pasts() -> frozenset[str]:
    return frozenset(irregular().values())
