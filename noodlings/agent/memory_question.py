"""The question that an agent asks its memory, made from what was just said.

Where that says little ("and then?"), the talk before it is added, and then what the agent wants.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from noodlings.recall.lexical import stems
from noodlings.reflection.relations import TALK_SECONDS
from noodlings.text import cached_by_text, clean
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import SAID, Kind, Percept
from noodlings.values.persona import Persona

ENOUGH_WORDS = 2
"""Meaningful words that make a question."""
TALK_LINES = 2
"""Lines of the talk that complete a question, the later ones first."""

_ASKING = re.compile(
    r"\b(?:(?:do|did|can|could|would|will) you (?:still |even |ever )?(?:remember|recall|know|think of)"
    r"|what (?:did|have|had|do) (?:i|we) (?:ever |just |already )?(?:tell|told|say|said|mention|mentioned)"
    r"(?: to)?(?: you)?"
    r"|(?:please |can you |could you )?(?:tell|remind) me(?: again)?"
    r"|who (?:told|said)(?: (?:you|it|so|that|this)){1,2}|says who|how (?:do|did|would) you know(?: that)?"
    r"|where did you (?:hear|learn|get)(?: (?:that|this|it))?"
    r"|remember when)\b(?: (?:about|of))?",
    re.I,
)
"""Words of asking somebody who remembers, which are not the topic."""
_MAY_ASK = re.compile(
    r"[?]|\b(?:wh(?:at|o|ose|ere|en|y|ich)|how|what'?s|who'?s|where'?s|when'?s|how'?s|remind|tell me|any|"
    r"(?:(?<=[.,;!–-] )|^)(?:(?:and|but|so|or) )?"
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|am) \w+)\b",
    re.I,
)
"""Words without which nothing is asked; with them something may be."""
_SENTENCE = re.compile(r"[^.!?…]+[.!?…]*")
_WORD = re.compile(r"\w")
TALK = SAID | {Kind.EVENT}


def question(percept: Percept, persona: Persona, talk: Sequence[MemoryEntry], goals: Iterable[str]) -> str:
    """The question to the memory, "" for none: arrivals and departures ask nothing.

    Args:
        percept: what was just perceived.
        persona: who asks; its name in a line asks for nothing.
        talk: what it perceived before, oldest first.
        goals: what it wants, the strongest first.
    """
    if percept.kind not in TALK:
        return ""
    woven = subject(uncalled(percept.text, persona))
    if _asks(percept.text) and stems(_ASKING.sub(" ", woven)):
        return woven  # the talk before would answer in place of what is asked about
    before = [
        uncalled(entry.user_text, persona)
        for entry in talk
        if entry.kind in TALK and 0.0 <= percept.timestamp - entry.timestamp <= TALK_SECONDS
    ]
    for more in (*before[: -TALK_LINES - 1 : -1], *goals):
        if len(stems(woven)) >= ENOUGH_WORDS:
            break
        woven = f"{more} {woven}".strip()
    return woven


def subject(text: str) -> str:
    """A question without the words of asking: "what did I tell you about my dog?" is about "my dog"."""
    bare = " ".join(_ASKING.sub(" ", text).split())
    return bare if stems(bare) else text


def uncalled(text: str, persona: Persona) -> str:
    """A text without the name of the person spoken to, before or after the words."""
    said = clean(text)
    for name in persona.called:
        folded = said.casefold()
        if folded.startswith(f"{name.casefold()},"):
            return said[len(name) + 1 :].strip()
        if folded.rstrip("?!. ").endswith(f", {name.casefold()}"):
            return said[: folded.rindex(",")].strip()
    return said


def _asks(text: str) -> bool:
    """Whether a line asks for something rather than telling it."""
    said = clean(text)
    return said.endswith("?") or _ASKING.match(said) is not None


def may_ask(text: str) -> bool:
    """Whether something in a line may be a question."""
    return _MAY_ASK.search(text) is not None


@cached_by_text(maxsize=1024)
def only_asks(text: str) -> bool:
    """Whether a line only asks: "I got it! And you?" tells something."""
    return all(map(_asks, filter(_WORD.search, _SENTENCE.findall(clean(text)))))
