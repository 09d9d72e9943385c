"""In which order memories are leafed through."""

from __future__ import annotations

from enum import StrEnum


class Order(StrEnum):
    """What memories can be sorted by; among equals the later one counts as more."""

    WHEN = "when"
    IMPORTANCE = "importance"
    WHO = "who"
    """By the id of whoever said it; in mind, by the name as shown."""
    TEXT = "text"
    STRENGTH = "strength"
    """Computed when asked, so only what is in mind can be sorted by it."""
    FEELING = "feeling"
    """In mind only, like strength."""


STORED = (Order.WHEN, Order.IMPORTANCE, Order.WHO, Order.TEXT)
"""What everything that was ever perceived can be sorted by."""
