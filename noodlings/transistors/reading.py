"""What transistors may read, and of what: the rules that all of them share.

A memory may colour a reply when somebody else did it, and when it is not the very thing that is answered.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from noodlings.memory.likeness import likeness
from noodlings.text import clean
from noodlings.transistors.base import ThoughtState
from noodlings.values.affect import Affect
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import Kind

HISTORY = 12
"""The most important episodic entries, of which a transistor reads so many."""
READ = 2
"""Entries or symbols that a transistor hands on at most: a reply is no inventory."""

NOTICEABLE = 0.25
"""A feeling weaker than this (0…1) colours nothing."""
FAINT = 0.4
"""What is left of the strength (0…1) of something that this moment does not touch."""

_PASSING = frozenset({Kind.THOUGHT, Kind.ARRIVE, Kind.LEAVE})


@dataclass(frozen=True, slots=True)
class Felt:
    """What colours a moment, and how strongly, 0…1."""

    affect: Affect
    strength: float

    @property
    def noticeable(self) -> bool:
        """Whether it colours anything."""
        return self.strength >= NOTICEABLE


def felt(state: ThoughtState) -> Felt:
    """The feeling about the percept or the mood, whichever there is more of.

    Of a mood only that counts by which it differs from the one that the character always returns to: its
    usual self is no colour.
    """
    affect, mood = state["affect"], state["mood"]
    unusual = _amount(mood) * (1.0 - likeness(mood, state["persona"].baseline))
    return Felt(affect, _amount(affect)) if _amount(affect) >= unusual else Felt(mood, unusual)


def _amount(affect: Affect) -> float:
    """How much there is of a feeling; boredom has little intensity, however much there is of it."""
    return max(affect.intensity, affect.boredom)


def readable(entries: Iterable[MemoryEntry], state: ThoughtState) -> list[MemoryEntry]:
    """Those of the entries that may colour this reply, in the same order."""
    persona, percept = state["persona"], state["percept"]
    own, text = {persona.id, f"agent_{persona.id}"}, clean(percept.text)
    return [
        entry
        for entry in entries
        if entry.kind not in _PASSING
        and entry.user_id not in own
        and not (entry.timestamp >= percept.timestamp and entry.user_text == text)
    ]
