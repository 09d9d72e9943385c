"""Leafing through what is in mind: sorted by any column, narrowed by a few words, page by page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from noodlings.affect.feeling import feeling
from noodlings.errors import UserError
from noodlings.inspect.look import Look
from noodlings.inspect.views import EntriesView
from noodlings.values.caller import shown_name
from noodlings.values.memory import MemoryEntry


class Order(StrEnum):
    """What memories can be sorted by; among equals the later one counts as more."""

    WHEN = "when"
    IMPORTANCE = "importance"
    STRENGTH = "strength"
    FEELING = "feeling"
    WHO = "who"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Page:
    """Which memories.

    Attributes:
        order, falling: how they are sorted; falling is the most, the latest, or Z first.
        containing: only those with these characters in what was said, answered or felt, or in the name of
            whoever said it; case does not matter.
        limit: at least 1; offset: at least 0.
    """

    order: Order = Order.IMPORTANCE
    falling: bool = True
    containing: str = ""
    limit: int = 100
    offset: int = 0


FIRST = Page()


def browse_mind(look: Look, page: Page) -> EntriesView:
    """One page of episodic memory."""
    entries = look.agent.memory.retrieve_episodic(limit=None)
    wanted = page.containing.casefold().strip()
    if wanted:
        entries = [entry for entry in entries if wanted in _searched(look, entry)]
    value = _values(look)[_order(page.order)]
    entries = sorted(entries, key=lambda entry: (value(entry), entry.id), reverse=page.falling)
    return look.page("episodic", entries, page.limit, page.offset)


def _order(name: str) -> Order:
    try:
        return Order(name)
    except ValueError:
        raise UserError(f"memories are sorted by {', '.join(Order)}, not by {name!r:.40}") from None


def _values(look: Look) -> dict[Order, Callable[[MemoryEntry], float | str]]:
    return {
        Order.WHEN: lambda entry: entry.timestamp,
        Order.IMPORTANCE: lambda entry: entry.importance,
        Order.STRENGTH: lambda entry: look.agent.memory.strength(entry, look.now),
        Order.FEELING: lambda entry: feeling(entry.affect),
        Order.WHO: lambda entry: shown_name(entry.user_id, look.names).casefold(),
        Order.TEXT: lambda entry: entry.user_text.casefold(),
    }


def _searched(look: Look, entry: MemoryEntry) -> str:
    name = shown_name(entry.user_id, look.names)
    return "\n".join((entry.user_text, entry.response or "", feeling(entry.affect), name)).casefold()
