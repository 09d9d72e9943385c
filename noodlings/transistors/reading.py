"""What transistors may read, and of what: the rules that all of them share.

A memory may colour a reply when somebody else did it, when it is not the very thing that is answered, and
when no one who listens would learn something private by it.
"""

from __future__ import annotations

from collections.abc import Iterable

from noodlings.text import clean
from noodlings.transistors.base import ThoughtState
from noodlings.values.affect import Affect
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import Kind

HISTORY = 12
"""The most important episodic entries, of which a transistor reads so many."""
READ = 2
"""Entries or symbols that a transistor hands on at most: a reply is no inventory."""

_PASSING = frozenset({Kind.THOUGHT, Kind.ARRIVE, Kind.LEAVE})


def felt(state: ThoughtState) -> Affect:
    """What colours this moment: the feeling about the percept or the mood, whichever there is more of."""
    affect, mood = state["affect"], state["mood"]
    return affect if affect.intensity >= mood.intensity else mood


def listeners(state: ThoughtState) -> frozenset[str]:
    """Whoever hears the reply, ids."""
    return state["present"] | {state["percept"].user_id}


def readable(entries: Iterable[MemoryEntry], state: ThoughtState) -> list[MemoryEntry]:
    """Those of the entries that may colour this reply, in the same order."""
    persona, percept, hear = state["persona"], state["percept"], listeners(state)
    own, text = {persona.id, f"agent_{persona.id}"}, clean(percept.text)
    return [
        entry
        for entry in entries
        if entry.kind not in _PASSING
        and entry.user_id not in own
        and entry.known_to(hear)
        and not (entry.timestamp >= percept.timestamp and entry.user_text == text)
    ]
