"""Hearsay: when somebody retells what they were told, the hearer learns who told it first.

Only ids are passed on, and only of what everybody who hears it may learn. What was in confidence stays so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from noodlings.ports import Store
from noodlings.recall.lexical import stems
from noodlings.values.audience import may_learn
from noodlings.values.memory import HEARSAY, MemoryEntry, Why, hearsay, written_by
from noodlings.values.percept import Kind, Percept
from noodlings.values.trace import Trace

SHARED_WORDS = 2
"""Words of a memory in what a model said, from which it counts as told."""
MOST_SOURCES = 5
LATEST_ANSWERS = 4
"""Latest answers of a character that are compared with a line."""
HEARD_SHARE = 0.5
"""Share of an answer's words that must be heard; the rest are gestures."""
LONGEST_CHAIN = 8
"""People in a chain; of longer chains the first ones are left out."""

_GESTURE = re.compile(r"\*[^*]*\*")
_TOLD = frozenset({Kind.SAY, Kind.EMOTE, Kind.WHISPER, Kind.FACT})


def with_sources(store: Store, percept: Percept, hearer: str) -> Percept:
    """Add its sources and its tier to what a character says, where that is one of its latest answers.

    It is recognised by its words, as a world may leave gestures out. Raises `StoreError`.
    """
    words = set(percept.text.split())
    for trace in store.traces(percept.user_id, LATEST_ANSWERS):
        answer = trace.response or ""
        spoken, whole = _GESTURE.sub(" ", answer).split(), answer.replace("*", "").split()
        if words <= set(whole) and len(words) > HEARD_SHARE * len(set(spoken)):
            entries = store.entries(trace.agent_id, _told_in(trace))
            chains = sources(trace, entries, percept.listeners | {hearer})
            more = {HEARSAY: [list(chain) for chain in chains]} if chains else {}
            return replace(percept, data=percept.data | more, tier=max(percept.tier, trace.audience.tier))
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
        repeated = trace.voice != "llm" or len(of & said) >= min(SHARED_WORDS, len(of) or SHARED_WORDS)
        own = entry.user_id == trace.agent_id or entry.kind not in _TOLD or written_by(entry)
        if repeated and not own and may_learn(frozenset(hearers), entry.audience):
            for before in hearsay(entry) or ((),):
                chains[(*before, entry.user_id)[-LONGEST_CHAIN:]] = None
    return tuple(chains)[:MOST_SOURCES]
