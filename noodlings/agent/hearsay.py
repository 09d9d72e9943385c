"""Hearsay: when somebody tells what they were told, whoever hears it can say whose word it first was.

What goes with the telling is ids, not words, and only of what all who hear it may learn.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from noodlings.recall.lexical import stems
from noodlings.values.audience import may_learn
from noodlings.values.memory import MemoryEntry, Why, hearsay, written_by
from noodlings.values.percept import Kind
from noodlings.values.trace import Trace

REPEATED = 2
"""So many words of a memory that a model had in mind, in what it said, and it told that memory."""
SOURCES = 5
"""Of one telling, at most."""
HANDS = 8
"""Through which it went, at most; of longer chains the first ones are left out."""

_TOLD = frozenset({Kind.SAY, Kind.EMOTE, Kind.WHISPER})


def told_in(trace: Trace) -> list[int]:
    """Ids of the memories that may have been put into words in a turn.

    The offline voice knows which; of a model only what came to mind for more than being recent.
    """
    used = [found.entry_id for found in trace.recalled if found.used]
    if used or trace.voice != "llm":
        return used
    return [found.entry_id for found in trace.recalled if found.why != (Why.RECENT,)]


def sources(
    trace: Trace, entries: Mapping[int, MemoryEntry], hearers: Collection[str]
) -> tuple[tuple[str, ...], ...]:
    """From whom an agent had what it told in a turn: of each the ids from the first to tell it to the one who
    told the agent. Nothing of what it knew by itself, or was written into it.

    Args:
        entries: those of `told_in` by id, as they are by now.
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
