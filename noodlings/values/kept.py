"""What is kept of an agent, whole: as it is exported, and taken in elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from noodlings.values.memory import MemoryEntry, Symbol


@dataclass(frozen=True, slots=True)
class KeptAgent:
    """An agent beside its memories.

    Attributes:
        agent_id: its id.
        last_id: the highest number that a memory of it ever had; none is given twice.
        state: see `noodlings.ports.AgentState.data`.
        last_symbol_id: the highest number that a symbol of it ever had.
    """

    agent_id: str
    last_id: int = 0
    state: dict[str, Any] = field(default_factory=dict)
    last_symbol_id: int = 0


@dataclass(frozen=True, slots=True)
class KeptEntry:
    """A memory, whether it is in episodic memory, and whether it ever was."""

    entry: MemoryEntry
    episodic: bool = False
    consolidated: bool = False


@dataclass(frozen=True, slots=True)
class KeptSymbol:
    """A symbol, and whether it left the subconscious."""

    symbol: Symbol
    faded: bool = False
