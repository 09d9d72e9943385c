"""A lens says how a transistor wants a thought coloured, for a voice to do it.

A model is told `direction` and shown what was read. A voice without a model has words of its own for each
`cue` that it knows, and uses `phrases` for the others. Transistors in data folders import it from here.
"""

from __future__ import annotations

from dataclasses import dataclass

from noodlings.values.audience import Audience, of_all
from noodlings.values.memory import MemoryEntry, Symbol


@dataclass(frozen=True, slots=True)
class Lens:
    """One transistor's part in a reply.

    Attributes:
        gain: how strong it is set, above 0, at most 1.
        strength: how much there is to add at this moment, above 0, at most 1.
        direction: how to change the thought: one or two sentences of our own to a model, never words from
            outside.
        cue: what colours it, as one word: a feeling, an appetite.
        notes: more about it, such as what is wanted.
        entries, symbols: the memories and symbols it is coloured by, the strongest first.
        phrases: sentences for a voice without a model that has none of its own.
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
