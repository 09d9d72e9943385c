"""Names that a person would take for one another, though they are not the same: Phı, Ph1 and ΡΗΙ for Phi.

A name is compared by what it looks like. It is no transliteration: Мария looks like no Latin name. The
letters are those of Unicode's confusables (UTS 39) in scripts with capitals like Latin ones; names of several
scripts are refused elsewhere. That list lacks small capitals, which the names of characters tell.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from noodlings.text import folded

_MIXED_WITH_OTHERS = frozenset(("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "MODIFIER", ""))
"""First words of Unicode names of letters that are mixed with other scripts, and look like none of them."""
_LATIN = re.compile(
    r"LATIN (?:(?:SMALL|CAPITAL) LETTER|LETTER SMALL CAPITAL|SMALL CAPITAL LETTER) "
    r"(?:DOTLESS |SCRIPT |INSULAR |LONG |BARRED |BLACKLETTER )?([A-Z])(?: WITH .*| BAR)?"
)
# Greek, Cyrillic, Armenian, Coptic, Cherokee and Lisu.
_ALIKE = {
    "a": "αΑаАⲀᎪꓮɑ",
    "b": "ΒВЬⲂᏴꓐ",
    "c": "сСϹⲤᏟꓚ",
    "d": "ԁᎠꓓ",
    "e": "ΕеЕⲈᎬꓰɛ",
    "f": "Ϝքꓝ",
    "g": "ԌցᏀꓖ",
    "h": "ΗНнһհⲎᎻꓧ",
    "i": "ιіӏΙІӀⲒᎥᏆꓲɩƖ",
    "j": "ϳͿјЈᎫꓙ",
    "k": "κΚкКⲔᏦꓗĸ",
    "l": "Ꮮꓡǀ",
    "m": "ΜмМϺⲘᎷꓟ",
    "n": "ηΝոⲚꓠ",
    "o": "οσΟоОօՕⲞꓳᴑ",
    "p": "φɸᏢꓑǷƿ",
    "Ρ": "ρрРⲢ",
    "q": "ԛզ",
    "r": "ᎡꓣƦꭇ",
    "s": "ѕЅՏᏚᏕꓢ",
    "t": "τΤтТⲦᎢꓔ",
    "u": "υսՍꓴ",
    "v": "νѵѴᏙꓦ",
    "w": "ωѡԝԜաᎳꓪ",
    "x": "χΧхХⲬꓫ",
    "y": "γΥуУүҮⲨᎩꓬɣ",
    "z": "ΖᏃꓜ",
}
"""By Latin letter. A rho looks like a p, and whoever knows its alphabet reads an r."""
_APOSTROPHES = "’‘ʼʹꞌ"
_LETTERS = {other: letter for letter, others in (*_ALIKE.items(), ("'", _APOSTROPHES)) for other in others}
_ABOVE_OR_BELOW = 200
"""Combining classes of accents; below are strokes through letters (1), and marks that make other letters."""


_READINGS = [str.maketrans({"0": "o", "1": i, "I": i, "Ρ": rho}) for i in "il" for rho in "pr"]


def mixes_alphabets(name: str) -> bool:
    """Whether a name has letters of scripts that are not written together: one Cyrillic letter in "Bоb"."""
    # An "ª" is written among Latin letters.
    letters = filter(str.isalpha, unicodedata.normalize("NFKC", name))
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in letters}
    return len(scripts - _MIXED_WITH_OTHERS) > 1


def is_mistakable(name: str, others: Iterable[str]) -> bool:
    """Whether a name is one of the others, in letters of any case or width, or looks like one of them."""
    called, seen = folded(name), looks(name)
    return any(called == folded(other) or seen & looks(other) for other in others)


@lru_cache(maxsize=1_024)
def looks(name: str) -> frozenset[str]:
    """What a name looks like, in small letters; names that have one of these in common look alike.

    There are several for a name with a capital I or a 1, which look like an i and an l, or with a rho.
    """
    if not name.isascii():
        name = "".join(map(_letter, filter(_is_seen, unicodedata.normalize("NFKD", name))))
    return frozenset(_small(name.translate(reading)) for reading in _READINGS)


def _is_seen(character: str) -> bool:
    if unicodedata.category(character) == "Lm" and character not in _APOSTROPHES:
        return False  # a modifier letter is hardly more than an accent
    accent = unicodedata.combining(character)
    return accent != 1 and accent < _ABOVE_OR_BELOW


@lru_cache(maxsize=1_024)
def _letter(character: str) -> str:
    """The Latin letter that a character looks like, else itself."""
    if character.isascii():
        return character
    found = _LETTERS.get(character) or _LETTERS.get(character.upper())
    if found is None and (latin := _LATIN.fullmatch(unicodedata.name(character, ""))):
        found = latin[1].lower()
    return found or character


def _small(plain: str) -> str:
    """In small letters; two that look like one are one."""
    return unicodedata.normalize("NFC", plain.casefold()).replace("rn", "m").replace("vv", "w")
