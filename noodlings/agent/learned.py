"""What was read or is known of the world, as it comes to mind: only where something is asked. What is known
of people also comes when it is touched upon.

Lore comes to mind only if the recipe lets the character know it and it is valid now by the world's clock.
What a newer version of its source has replaced does not come.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from noodlings.agent.archive import AgentArchive
from noodlings.recall.filters import Filters
from noodlings.recall.search import Hit
from noodlings.values.audience import Tier
from noodlings.values.lore import scope_of
from noodlings.values.memory import WITHDRAWN, LinkType, MemoryEntry, given
from noodlings.values.percept import NO_JOURNAL, NOT_LIVED, Kind, Percept
from noodlings.values.persona import Persona

MOST = 3
"""Entries that come to mind for one question."""
LOOKED_AT = 100
"""Hits to choose from, as some may be unknown or not valid now."""
TYPICAL, USUAL = 10, 0.25
"""Hits to compare the best ones with; the evidence of a missing one."""
STANDS_OUT = 0.56
"""Evidence, plus twice its excess over the usual, from which a hit is an answer (`benchmarks/lore`)."""

FACTS = frozenset({Kind.FACT})
_ASKS = re.compile(
    r"\?|\b(?:tell|teach|remind) (?:me|us)\b|\b(?:wonder|want to know|like to know)\b"
    r"|^\W*(?:\w+, )?(?:who|what|where|when|why|how|which|is|are|was|were|do|does|did|has|have|can|will)\b",
    re.IGNORECASE,
)


async def learned(
    archive: AgentArchive, question: str, tier: Tier, percept: Percept, persona: Persona
) -> list[tuple[Hit, MemoryEntry]]:
    """What answers a question, best first; where nothing is asked, only facts about people.

    Args:
        tier: the highest among what the question is made of.
    """
    asks = _ASKS.search(percept.text) is not None
    among = Filters(kinds=NOT_LIVED & NO_JOURNAL if asks else FACTS, present=percept.listeners)
    if not archive.index.latest(among, 1):
        return []
    hits = await archive.search(question, among, tier, limit=LOOKED_AT)
    if not asks:
        hits = sorted(hits, key=_evidence, reverse=True)[: 2 * TYPICAL]
    entries = archive.entries([hit.entry_id for hit in hits])
    known = [hit for hit in hits if _is_known(entries, hit.entry_id, persona, percept.timestamp)]
    known = sorted(known, key=_evidence, reverse=True)[: 2 * TYPICAL]
    replaced = former([hit.entry_id for hit in known], archive, among)
    found = [hit for hit in known if hit.entry_id not in replaced]
    others = [_evidence(hit) for hit in found[MOST:TYPICAL]]
    usual = (sum(others) + USUAL * (TYPICAL - MOST - len(others))) / (TYPICAL - MOST)
    best = [hit for hit in found[:MOST] if 3.0 * _evidence(hit) - 2.0 * usual >= STANDS_OUT]
    return [(hit, entries[hit.entry_id]) for hit in best]


def former(ids: Collection[int], archive: AgentArchive, among: Filters) -> set[int]:
    """Those of some entries that a later one has replaced, as far as that one is among those that pass."""
    links = archive.links_of(ids)
    replaced = [link for link in links if link.type is LinkType.REPLACED and link.target in ids]
    newer = archive.entries([link.source for link in replaced])
    return {link.target for link in replaced if (new := newer.get(link.source)) and among.admits(new)}


def _evidence(hit: Hit) -> float:
    """How well a hit answers: by its meaning and the words it shares with the question."""
    meaning, words = hit.scores.get("meaning"), hit.scores["words"]
    return 2.0 * words if meaning is None else meaning + 0.3 * words


def _is_known(entries: Mapping[int, MemoryEntry], entry_id: int, persona: Persona, now: float) -> bool:
    entry = entries.get(entry_id)
    if entry is None or given(entry, WITHDRAWN):
        return False
    return entry.kind is not Kind.KNOWN or scope_of(entry).admits(persona, now)
