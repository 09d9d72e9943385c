"""Phrases whose words mislead, and the plain words that they stand for.

Nobody who is laughed at is merry, and a biopsy that comes back positive is no good news. The rule it keeps:
only what is certain is put in other words; whatever may be meant well stays as it was said.
"""

from __future__ import annotations

import re

_SOMEBODY = r"(me|us|him|her|them|you|my|our|his|their|your|everybody|everyone)"
# What people make to be laughed at is rather praised by it.
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
    """The text with such phrases put in other words; for counting words, never for reading."""
    for phrase, plain in _STAND_FOR:
        text = phrase.sub(plain, text)
    return text
