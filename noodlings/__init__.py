"""noodlings: memory and inner life for the characters of text worlds and agent simulations.

The public names are loaded when they are first used, so that `import noodlings` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noodlings.agent.society import Society
    from noodlings.app import build
    from noodlings.bridge.list_wrapper import MemoryListWrapper
    from noodlings.bridge.transistors import (
        AffectTransistor,
        EgoTransistor,
        GoalTransistor,
        MemoryTransistor,
        SubconsciousTransistor,
    )
    from noodlings.config import Settings, load_settings
    from noodlings.memory.hierarchical import HierarchicalMemory
    from noodlings.memory.subconscious import SubconsciousMemory
    from noodlings.transistors.base import CognitiveTransistor
    from noodlings.values.affect import Affect
    from noodlings.values.memory import MemoryEntry
    from noodlings.values.percept import Kind, Percept

__version__ = "0.4.0"

_HOMES = {
    "Affect": "noodlings.values.affect",
    "AffectTransistor": "noodlings.bridge.transistors",
    "CognitiveTransistor": "noodlings.transistors.base",
    "EgoTransistor": "noodlings.bridge.transistors",
    "GoalTransistor": "noodlings.bridge.transistors",
    "HierarchicalMemory": "noodlings.memory.hierarchical",
    "Kind": "noodlings.values.percept",
    "MemoryEntry": "noodlings.values.memory",
    "MemoryListWrapper": "noodlings.bridge.list_wrapper",
    "MemoryTransistor": "noodlings.bridge.transistors",
    "Percept": "noodlings.values.percept",
    "Settings": "noodlings.config",
    "Society": "noodlings.agent.society",
    "SubconsciousMemory": "noodlings.memory.subconscious",
    "SubconsciousTransistor": "noodlings.bridge.transistors",
    "build": "noodlings.app",
    "load_settings": "noodlings.config",
}

__all__ = [
    "Affect",
    "AffectTransistor",
    "CognitiveTransistor",
    "EgoTransistor",
    "GoalTransistor",
    "HierarchicalMemory",
    "Kind",
    "MemoryEntry",
    "MemoryListWrapper",
    "MemoryTransistor",
    "Percept",
    "Settings",
    "Society",
    "SubconsciousMemory",
    "SubconsciousTransistor",
    "build",
    "load_settings",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
