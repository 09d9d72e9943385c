"""The ego transistor: it keeps the character itself, by the moments that touched who it is."""

from __future__ import annotations

from collections.abc import Sequence

from noodlings.transistors.base import CognitiveTransistor, ThoughtState
from noodlings.transistors.reading import FAINT, HISTORY, READ, readable
from noodlings.values.lens import Lens

DEFINING = 0.5
"""Identity salience from which a moment is one that defines, 0…1."""

_DIRECTION = (
    "Let the thought be one that only this character would have: by what it stands for, and by the moments "
    "that touched who it is. It does not introduce itself."
)


class EgoTransistor(CognitiveTransistor):
    """Nothing to add where no moment touched who it is: neither this one nor one that it remembers."""

    name = "ego"

    def lens(self, state: ThoughtState) -> Lens | None:
        """The defining moments and the identity words in them, as strong as the most defining one.

        Faint where only old moments speak and this one touches nothing.
        """
        past = readable(state["memory"].retrieve_episodic(limit=HISTORY), state)
        defining = sorted(
            (entry for entry in past if entry.identity_salience >= DEFINING),
            key=lambda entry: (-entry.identity_salience, -entry.importance, -entry.id),
        )[:READ]
        percept, persona = state["percept"], state["persona"]
        names = {name.casefold() for name in (persona.id, persona.name, *persona.aliases)}
        own = [
            word for word in persona.identity_words if word.casefold() not in names
        ]  # being called is nothing
        words = _named(own, percept.text)
        now = max(percept.identity_salience, DEFINING if words else 0.0)
        if now < DEFINING and not defining:
            return None
        strength = max([now, *(entry.identity_salience for entry in defining)])
        if now < DEFINING:
            strength *= FAINT
        words += _named(own, " ".join(entry.user_text for entry in defining))
        notes = tuple(dict.fromkeys(words))
        return self.seen(_DIRECTION, strength, cue=notes[0] if notes else "", notes=notes, entries=defining)


def _named(words: Sequence[str], text: str) -> list[str]:
    """Those of the words that stand in a text, as words of their own."""
    spaced = f" {''.join(c if c.isalnum() else ' ' for c in text.casefold())} "
    return [word for word in words if f" {word.casefold()} " in spaced]
