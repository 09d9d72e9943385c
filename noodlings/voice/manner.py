"""How a game's mood colours what the offline voice says: a little, and never what is told of a memory.

Nervous is short, hyped is loud, frustrated is dry; chill is the character as it is. Comfort keeps its words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from noodlings.voice.compose import Draft
from noodlings.voice.hear import Heard

SHORT = 8
"""Words of somebody nervous; the first sentence may have more."""

_SENTENCE = re.compile(r".*?[.!?…]+[\"”')*]*(?=\s|$)")
_LOUD = re.compile(r"(?<![.…])\.(?=[\"”']?$)")
_ASKED_LOUDLY = re.compile(r"\?!+|!+\?")
_EXCLAIMED = re.compile(r"!+")


def in_manner(draft: Draft, named_mood: str, heard: Heard) -> Draft:
    """The draft as it sounds in a named mood; itself for a mood that colours nothing, or "" for none."""
    colour = _COLOURS.get(named_mood)
    return draft if colour is None or draft.told or heard.heavy else colour(draft)


def _nervous(draft: Draft) -> Draft:
    ends = [end.end() for end in _SENTENCE.finditer(draft.body)]
    whole = [draft.body[:end] for end in ends if draft.body.count("*", 0, end) % 2 == 0] or [draft.body]
    short = [said for said in whole if len(said.split()) <= SHORT]
    return replace(draft, body=short[-1] if short else whole[0], closing="")


def _hyped(draft: Draft) -> Draft:
    return replace(draft, body=_LOUD.sub("!", draft.body), closing=_LOUD.sub("!", draft.closing))


def _frustrated(draft: Draft) -> Draft:
    body = _EXCLAIMED.sub(".", _ASKED_LOUDLY.sub("?", draft.body))
    return replace(draft, body=body, opening="", closing="", gesture="")


_COLOURS: dict[str, Callable[[Draft], Draft]] = {
    "nervous": _nervous,
    "hyped": _hyped,
    "frustrated": _frustrated,
}
