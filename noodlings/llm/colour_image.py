"""What of a symbol may surface: one thing out of its image, never the whole of it nor what it stands for."""

from __future__ import annotations

import re

from noodlings.llm.lexicon import tokens, topic_stems, words_for
from noodlings.values.memory import Symbol

LONGEST = 4
"""Words of a thing, its article aside."""

_NAMED = re.compile(r"\b(an?|the) ([a-z][a-z'’-]*(?: [a-z][a-z'’-]*){0,5})", re.I)
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
    """A thing with its article, "a cold tide"; "" where none can be told apart from what happened."""
    event = topic_stems(tokens(symbol.literal_event))
    things = [(m.group(1).lower(), _thing(m.group(2))) for m in _NAMED.finditer(symbol.symbolic_encoding)]
    for articles in (("a", "an"), ("the",)):
        for article, thing in things:
            if article in articles and thing and not topic_stems(tokens(thing)) & event:
                return f"{article} {thing}"
    return ""


def _thing(text: str) -> str:
    """The words up to the first that is no part of the thing."""
    words: list[str] = []
    for word in text.lower().split()[: LONGEST + 1]:
        verb = bool(words) and (bool(_VERBAL.fullmatch(word)) or word in words_for("verbs"))
        if word in _ENDS or verb:
            break
        words.append(word)
    return " ".join(words) if 0 < len(words) <= LONGEST else ""
