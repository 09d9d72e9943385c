"""What sort of thing a question asks for, and whether a line tells such a thing: a name, a place, a time.

"What is my dog called?" is answered by the line that names it rather than by another about the dog. The rule
it keeps: it only chooses between memories that fit anyway, and makes none of them up.
"""

from __future__ import annotations

import re
from enum import Enum

from noodlings.voice.lexicon import tokens

_FEELINGS = r"(?:alive|dead|ok|okay|well|all right|alright|better|sad|happy|angry|afraid|upset|ill|sick)"


class Sought(Enum):
    """A sort of answer: how the question sounds, and how the line that tells it."""

    NAME = (r"\bname\b|\bcalled\b|^who(?:'s| is| are| was)\b", r"\b(?:called|named|names?|name's)\b")
    PLACE = (
        r"\bwhere\b",
        r"\b(?:in|at|near|under|behind|on|to|from|inside|outside|beside|between|next|across|by|here)\b",
    )
    AGE = (
        r"\bhow old\b",
        r"\b(?:years?|months?|weeks?|days?) old\b|\baged?\b|\bborn\b|\bbirthday\b|\bturned\b",
    )
    COLOUR = (
        r"\bwhat colou?r\b",
        r"\bcolou?rs?\b|\b(?:red|blue|green|yellow|black|white|brown|gr[ae]y|orange|purple|pink|golden|ginger)\b",
    )
    STATE = (
        rf"^(?:and |so )?how(?:'s| is| are| was| were) (?!you\b|it going\b)|^(?:is|are|was) .*\b{_FEELINGS}$"
        r"|^(?:do|does|did) .* still\b|^why is\b|^what(?:'s| has)? happened\b|^(?:how )?did .* die$",
        r"",
    )
    LATEST = (r"\b(?:i|we|he|she|they|\w+) just (?:say|said|tell|told|ask)\b|\blast thing\b", r"")

    def __init__(self, asked: str, told: str) -> None:
        self._asked = re.compile(asked)
        self._told = re.compile(told)

    def told_by(self, text: str) -> bool:
        """Whether a line can be the answer."""
        named = self is Sought.NAME and _A_NAME.search(text) is not None
        return named or self._told.search(" ".join(tokens(text))) is not None


def sought(question: str) -> Sought | None:
    """What a question asks for, where that is one of these."""
    line = " ".join(tokens(question))
    return next((kind for kind in Sought if kind._asked.search(line)), None)


def asks_when(question: str) -> bool:
    """Whether it asks for the time of something."""
    return re.search(r"\bwhen\b|\bhow long ago\b|\bwhat day\b", question, re.I) is not None


def days_meant(question: str) -> int | None:
    """How many days back a question looks ("what did I tell you yesterday?"), or None where it says none."""
    found = re.search(r"\b(yesterday|today|this (?:morning|afternoon|evening))\W*$", question, re.I)
    return None if found is None else int(found.group(1).lower() == "yesterday")


def goes_on(text: str) -> bool:
    """Whether a line is about what the line before it was about: "his name is Rex"."""
    return (tokens(text) or [""])[0] in _LEANING


# A capital inside of a sentence: "my brother Marco".
_A_NAME = re.compile(r"(?<![.!?…]) (?!I\b)[A-Z]\w+")
_LEANING = frozenset(
    {"he", "she", "it", "they", "his", "her", "its", "their", "he's", "she's", "it's", "they're"}
)
