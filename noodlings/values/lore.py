"""Who may know a fact of the world, and when it holds.

The scope is kept with the memory of the fact. It is checked whenever the fact may come to mind, against the
character's present recipe and the world's clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from noodlings.text import folded
from noodlings.values.memory import MemoryEntry, given
from noodlings.values.persona import Persona

LORE = "lore"
"""The key of the scope in the extra data of an entry."""
WORLD = ("world", "")
"""The circle of everybody."""
CIRCLES = ("world", "faction", "profession", "character")


@dataclass(frozen=True, slots=True)
class LoreScope:
    """Who may know a fact, and when it holds.

    Attributes:
        circles: kind and folded name of each circle whose members may know it.
        since, until: world time, both included; None for no limit.
    """

    circles: frozenset[tuple[str, str]]
    since: float | None = None
    until: float | None = None

    def meant_for(self, persona: Persona) -> bool:
        """Whether a character may know it, while it holds."""
        return not self.circles.isdisjoint(circles_of(persona))

    def admits(self, persona: Persona, now: float) -> bool:
        """Whether a character may know it at a moment of world time."""
        return (
            self.meant_for(persona)
            and (self.since is None or self.since <= now)
            and (self.until is None or now <= self.until)
        )

    def data(self) -> dict[str, Any]:
        """As it is kept (JSON-compatible)."""
        return {LORE: {"for": sorted(map(list, self.circles)), "from": self.since, "until": self.until}}


def circles_of(persona: Persona) -> frozenset[tuple[str, str]]:
    return frozenset(
        {
            WORLD,
            *(("character", folded(name)) for name in (persona.id, persona.name)),
            *(("faction", folded(name)) for name in persona.factions),
            *([("profession", folded(persona.profession))] if persona.profession else []),
        }
    )


def scope_of(entry: MemoryEntry) -> LoreScope:
    """The scope of a fact; without one, nobody may know it."""
    kept = given(entry, LORE)
    try:
        circles = frozenset((str(kind), str(name)) for kind, name in kept["for"])
        since, until = (None if kept[key] is None else float(kept[key]) for key in ("from", "until"))
    except (KeyError, TypeError, ValueError):
        return LoreScope(frozenset())
    return LoreScope(circles, since, until)
