"""Hearsay: when somebody retells what they were told, the hearer learns who told it first.

Only ids are passed on, and only of what everybody who hears it may learn.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from noodlings.ports import Store
from noodlings.recall.lexical import stems
from noodlings.values.audience import may_learn
from noodlings.values.memory import HEARSAY, MemoryEntry, Why, hearsay, written_by
from noodlings.values.percept import Kind, Percept
from noodlings.values.trace import Trace

REPEATED = 2
"""So many words of a memory that a model had in mind, in what it said, and it told that memory."""
SOURCES = 5
"""Of one telling, at most."""
LATEST = 4
"""Answers of a character among which one that is heard is looked for."""
MOSTLY = 0.5
"""Share of the words of an answer that are heard at least; the rest are gestures."""
HANDS = 8
"""Through which it went, at most; of longer chains the first ones are left out."""

_TOLD = frozenset({Kind.SAY, Kind.EMOTE, Kind.WHISPER})


def with_sources(store: Store, percept: Percept, hearer: str) -> Percept:
    """Add its sources to what a character says, where that is one of its latest answers.

    It is recognised by its words, as a world may leave gestures out. Raises `StoreError`.
    """
    words = set(percept.text.split())
    for trace in store.traces(percept.user_id, LATEST):
        answer = set((trace.response or "").replace("*", "").split())
        if words <= answer and len(words) > MOSTLY * len(answer):
            entries = store.entries(trace.agent_id, _told_in(trace))
            chains = sources(trace, entries, percept.listeners | {hearer})
            more = {HEARSAY: [list(chain) for chain in chains]} if chains else {}
            return replace(percept, data=percept.data | more)
    return percept


def _told_in(trace: Trace) -> list[int]:
    """Ids of the memories that may have been put into words in a turn.

    The offline voice tells which; for a model these are all that came to mind and are not merely recent.
    """
    used = [found.entry_id for found in trace.recalled if found.used]
    if used or trace.voice != "llm":
        return used
    return [found.entry_id for found in trace.recalled if found.why != (Why.RECENT,)]


def sources(
    trace: Trace, entries: Mapping[int, MemoryEntry], hearers: Collection[str]
) -> tuple[tuple[str, ...], ...]:
    """The chains of people through whom an agent had what it told in a turn, each from the first teller on.

    Args:
        entries: what may have been told, by id.
        hearers: ids of all who hear it told.
    """
    said, chains = set(stems(trace.response or "")), dict[tuple[str, ...], None]()
    for entry in entries.values():
        of = set(stems(entry.user_text))
        repeated = trace.voice != "llm" or len(of & said) >= min(REPEATED, len(of) or REPEATED)
        own = entry.user_id == trace.agent_id or entry.kind not in _TOLD or written_by(entry)
        if repeated and not own and may_learn(frozenset(hearers), entry.audience):
            for before in hearsay(entry) or ((),):
                chains[(*before, entry.user_id)[-HANDS:]] = None
    return tuple(chains)[:SOURCES]
