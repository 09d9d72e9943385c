"""Entries for the tests of memory: plain ones, and what has been felt in them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from noodlings.memory.importance import INITIAL_STABILITY
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.memory import ImportanceParts, MemoryEntry
from tests.fakes import witnessed

ANXIOUS = Affect(-0.4, 0.8, 0.8, 0.1, 0.0)
WORRIED = Affect(-0.5, 0.7, 0.65, 0.15, 0.05)
JOYFUL = Affect(0.9, 0.75, 0.0, 0.0, 0.0)
SORROWFUL = Affect(-0.7, 0.35, 0.1, 0.85, 0.0)
BORED = Affect(-0.1, 0.2, 0.0, 0.0, 0.8)


def an_entry(number: int, importance: float = 0.5, **changes: Any) -> MemoryEntry:
    """The `number`th entry, at second `number`, of the importance given."""
    entry = MemoryEntry(
        id=number,
        timestamp=float(number),
        step=number,
        user_id="user_caity",
        user_text=f"line {number}",
        affect=NEUTRAL,
        surprise=0.25,
        encoded_importance=importance,
        parts=ImportanceParts(surprise=0.25),
        stability=INITIAL_STABILITY,
    )
    ids = changes.pop("audience", ())
    return witnessed(replace(entry, **changes), ids)


def remembered(number: int, importance: float = 0.5, **changes: Any) -> MemoryEntry:
    """An entry that somebody asked to remember."""
    return an_entry(number, importance, parts=ImportanceParts(remember=1.0), **changes)


def texts(entries: list[MemoryEntry]) -> list[str]:
    """What was said, in the order given."""
    return [entry.user_text for entry in entries]


def ids(entries: list[MemoryEntry]) -> list[int]:
    """Ids in the order given."""
    return [entry.id for entry in entries]
