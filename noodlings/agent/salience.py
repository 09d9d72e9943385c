"""Identity salience: how much a percept touches who the agent is."""

from __future__ import annotations

import re

from noodlings.values.persona import Persona

NAMED = 0.15
"""Its name is in it."""
TOUCHED = 0.5
"""One of the things its sense of self hangs on is in it; each further one closes half of what is left."""


def identity_salience(text: str, persona: Persona) -> float:
    """0…1: nothing of the agent in it, to full of what it is.

    Being merely named counts little, or every greeting would be about one's self.
    """
    words = set(re.findall(r"[\w'-]+", text.casefold()))
    names = {name.casefold() for name in (persona.name, persona.id, *persona.aliases)}
    named = any(_mentions(words, text, name) for name in names)
    touched = sum(
        _mentions(words, text, word) for word in persona.identity_words if word.casefold() not in names
    )
    left = (1.0 - TOUCHED) ** min(touched, 4) * (1.0 - NAMED if named else 1.0)
    return 1.0 - left


def _mentions(words: set[str], text: str, phrase: str) -> bool:
    folded = phrase.casefold()
    return folded in text.casefold() if " " in folded else folded in words
