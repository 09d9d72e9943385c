"""What a transistor reads of a character's mind: only what all who listen may learn of.

So whoever writes a transistor of their own cannot let out a secret, however they look for something.
"""

from __future__ import annotations

from typing import Any

from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.plain import PlainMemory
from noodlings.memory.subconscious import SubconsciousMemory
from noodlings.values.memory import MemoryEntry, Recalled, Symbol


class DisclosedMemories:
    """The `Memories` of an agent for those who listen.

    Args:
        memory: all that the agent has in mind.
        listeners: whoever hears what is made of it, ids.
    """

    def __init__(self, memory: HierarchicalMemory | PlainMemory, listeners: frozenset[str]) -> None:
        self._memory = memory
        self._listeners = listeners

    def recall_by_affect(
        self, current_affect: Any, top_k: int = 5, min_similarity: float = 0.7
    ) -> list[Recalled]:
        """See `Memories`."""
        return self._memory.recall_by_affect(current_affect, top_k, min_similarity, present=self._listeners)

    def retrieve_episodic(
        self, user_id: str | None = None, min_importance: float = 0.0, limit: int | None = 10
    ) -> list[MemoryEntry]:
        """See `Memories`."""
        return self._memory.retrieve_episodic(user_id, min_importance, limit, present=self._listeners)


class DisclosedSymbols:
    """The `Symbols` of an agent for those who listen; arguments as in `DisclosedMemories`."""

    def __init__(self, subconscious: SubconsciousMemory, listeners: frozenset[str]) -> None:
        self._subconscious = subconscious
        self._listeners = listeners

    def retrieve_by_affect(self, current_affect: Any, top_k: int = 3) -> list[Symbol]:
        """See `Symbols`."""
        return self._subconscious.retrieve_by_affect(current_affect, top_k, present=self._listeners)
