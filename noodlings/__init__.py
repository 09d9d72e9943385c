"""noodlings: memory and inner life for the characters of text worlds and agent simulations.

The public names are loaded when they are first used, so that `import noodlings` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noodlings.agent.society import Society as Society
    from noodlings.app import build as build
    from noodlings.bridge.list_wrapper import MemoryListWrapper as MemoryListWrapper
    from noodlings.bridge.transistors import AffectTransistor as AffectTransistor
    from noodlings.bridge.transistors import EgoTransistor as EgoTransistor
    from noodlings.bridge.transistors import GoalTransistor as GoalTransistor
    from noodlings.bridge.transistors import MemoryTransistor as MemoryTransistor
    from noodlings.bridge.transistors import SubconsciousTransistor as SubconsciousTransistor
    from noodlings.config import Settings as Settings
    from noodlings.config import load_settings as load_settings
    from noodlings.memory.hierarchical import HierarchicalMemory as HierarchicalMemory
    from noodlings.memory.subconscious import SubconsciousMemory as SubconsciousMemory
    from noodlings.transistors.base import CognitiveTransistor as CognitiveTransistor
    from noodlings.values.affect import Affect as Affect
    from noodlings.values.memory import MemoryEntry as MemoryEntry
    from noodlings.values.percept import Kind as Kind
    from noodlings.values.percept import Percept as Percept

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

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
