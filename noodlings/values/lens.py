"""A lens says how a transistor wants a thought coloured, for a voice to do it.

It says what and never how: a model is told `direction` and shown what was read; a voice without a model has
words of its own for what it knows (`cue`), and uses `phrases` for what it does not. Transistors in data
folders import it from here.
"""

from __future__ import annotations

from dataclasses import dataclass

from noodlings.values.audience import Audience, of_all
from noodlings.values.memory import MemoryEntry, Symbol


@dataclass(frozen=True, slots=True)
class Lens:
    """One transistor's part in a reply.

    Attributes:
        transistor: whose.
        gain: how strong it is set, above 0, at most 1.
        strength: how much there is to add at this moment, above 0, at most 1.
        direction: what is to become of the thought: one or two sentences of our own to a model. Words from
            outside never stand in it.
        cue: what colours it, as one word: a feeling, an appetite.
        notes: more of that in words, such as what is wanted.
        entries, symbols: the memories and symbols it is coloured by, the strongest first.
        phrases: sentences that a voice without a model may put in where it knows no others.
    """

    transistor: str
    gain: float
    strength: float
    direction: str
    cue: str = ""
    notes: tuple[str, ...] = ()
    entries: tuple[MemoryEntry, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    phrases: tuple[str, ...] = ()

    @property
    def audience(self) -> Audience:
        """Who may learn of all that it is coloured by."""
        return of_all((*self.entries, *self.symbols))
