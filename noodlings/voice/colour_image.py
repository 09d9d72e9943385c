"""What of a symbol may surface: one thing out of its image, never the whole of it nor what it stands for."""

from __future__ import annotations

import re

from noodlings.values.memory import Symbol
from noodlings.voice.lexicon import tokens, topic_stems, words_for

LONGEST = 4
"""Words of a thing, its article aside."""

_NAMED = re.compile(r"(?=\b(an?|the) ((?:[a-z][a-z'’-]*(?: |\b)){1,8}))", re.I)
_WITHIN = re.compile(r"\b(?:under|in|into|of|through|on|like|with|from|as) ([a-z][a-z'’-]{2,})\b", re.I)
_FIRST = re.compile(r"^((?:[a-z][a-z'’-]*(?: |\b)){1,8})", re.I)
_ENDS = frozenset(
    re.findall(
        r"\w+",
        "a an the my your his her its our their this that these those in on at of to into onto from with "
        "without under over above below behind before between beside across through along around against "
        "among near off out up down by for like as than and or but while when where which who whose until "
        "so not no is are was were has have had be being been left gone stands lies hangs it",
    )
)
_VERBAL = re.compile(r".*[aeiouy].*(?:ing|ed|ly)$|.*[^s'’u]s$")


def image_of(symbol: Symbol) -> str:
    """A thing, "a cold tide" or "hornets"; "" where none can be told apart from what happened."""
    event = topic_stems(tokens(symbol.literal_event))
    image = symbol.symbolic_encoding
    found = [(m.group(1).lower(), _thing(m.group(2))) for m in _NAMED.finditer(image)]
    first = _FIRST.match(image)
    things = [("", _thing(first.group(1)))] if first and _is_bare(first.group(1)) else []
    for articles in (("a", "an"), ("the",)):
        things += [(article, thing) for article, thing in found if article in articles]
    things += [("", m.group(1).lower()) for m in _WITHIN.finditer(image) if m.group(1).lower() not in _ENDS]
    for article, thing in things:
        if thing and not topic_stems(tokens(thing)) & event:
            return f"{article} {thing}".strip()
    return ""


def _is_bare(text: str) -> bool:
    """Whether an image begins with a thing that needs no article: hornets, wet wool."""
    first = text.split()[0].lower()
    return not (first in _ENDS or first in words_for("common") or first.endswith(("ing", "ly")))


def _thing(text: str) -> str:
    """The words up to the first that is no part of the thing; "a ring of salt" is one."""
    words: list[str] = []
    for word in text.lower().split():
        joins = word == "of" and bool(words)
        verb = (
            bool(words)
            and words[-1] != "of"
            and (bool(_VERBAL.fullmatch(word)) or word in words_for("verbs"))
        )
        if len(words) > LONGEST or (word in _ENDS and not joins) or verb:
            break
        words.append(word)
    if words and words[-1] == "of":
        words.pop()
    return " ".join(words) if len(words) <= LONGEST else ""
