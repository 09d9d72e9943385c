"""What an agent has in mind, by the sort of feeling."""

from __future__ import annotations

from noodlings.affect.feeling import FAMILIES, family
from noodlings.inspect.look import Look, cut
from noodlings.inspect.rights import readable
from noodlings.inspect.views import AffectGroupsView, AffectGroupView
from noodlings.values.memory import MemoryEntry


def grouped(look: Look, limit: int | None) -> AffectGroupsView:
    """Groups in the order of `FAMILIES`, without empty ones; of each the `limit` most important."""
    kept, hidden = readable(look.caller, sorted(look.in_mind(), key=look.weight), lambda entry: entry)
    sorts: dict[str, list[MemoryEntry]] = {sort: [] for sort in FAMILIES}
    for entry in kept:
        sorts[family(entry.affect)].append(entry)
    return AffectGroupsView(
        agent=look.agent_id,
        name=look.name,
        hierarchical=look.agent.memory.hierarchical,
        groups=tuple(_group(look, sort, entries, limit) for sort, entries in sorts.items() if entries),
        total=len(kept),
        hidden=hidden,
    )


def _group(look: Look, sort: str, entries: list[MemoryEntry], limit: int | None) -> AffectGroupView:
    return AffectGroupView(
        family=sort,
        count=len(entries),
        average_importance=sum(look.figure(entry.importance) for entry in entries) / len(entries),
        entries=tuple(look.entry(entry) for entry in cut(entries, limit)),
    )
