"""What hosts keep: a memory with something of everything in it, and the endings of the files for it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from noodlings.bridge.host_rows import Row
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.saved import MARK_KEY as KEY
from noodlings.values.percept import Kind
from tests.memory.entries import ANXIOUS, JOYFUL, SORROWFUL

KINDS = [".json", ".db", ".sqlite", ".SQLITE3"]


def unmarked(rows: Iterable[Row]) -> list[Row]:
    """The rows as a host made them, without what they carry of the memory."""
    return [{name: value for name, value in row.items() if name != KEY} for row in rows]


def rich_memory() -> HierarchicalMemory:
    """Something of everything that an entry may hold."""
    memory = HierarchicalMemory(working_capacity=3)
    state = np.linspace(-1, 1, 40)
    memory.add(1.5, 1, "caity", "My dog died", SORROWFUL, state, 0.9, "Oh no.", 0.7, data={"a": [1, None]})
    memory.add(2, 2, "micha", "psst", ANXIOUS, kind=Kind.WHISPER, audience={"caity", "phi"}, place="hall")
    kept = memory.add(3, 3, "caity", "Nimm Äpfel 🍎", None, remember=True, addressed=True)
    memory.pin(kept)
    memory.set_importance(memory.add(4, 4, "caity", "ok", JOYFUL), 0.95)
    memory.reinforce([1], 90_000.0)
    for number in range(3):
        memory.add(5.0 + number, 5 + number, "caity", f"hm {number}", [])
    return memory
