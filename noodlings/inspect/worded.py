"""Which memories were put into words by the way: those that a transistor read, and whose words it added.

The voice notes what its own thought was made of; a transistor notes what it read, and read is not said. The
rule kept here: a memory counts only where words of its own came in with the transistor and are in the answer.
"""

from __future__ import annotations

from collections.abc import Mapping

from noodlings.recall.lexical import stems
from noodlings.values.memory import MemoryEntry
from noodlings.values.trace import Modulation, Trace

ENOUGH = 2
"""Words with a meaning of their own that must have come in; all, of a memory that has fewer."""


def worded(trace: Trace, entries: Mapping[int, MemoryEntry]) -> dict[int, Modulation]:
    """Entry id → the first transistor that put it into the answer.

    Args:
        trace: of the turn.
        entries: those that its transistors read and its percept, by id; those forgotten since are missing.
    """
    said = set(stems(trace.response or ""))
    found: dict[int, Modulation] = {}
    for made in trace.modulations:
        added = said & _added(trace, made, entries.get(trace.entry_id))
        for number in made.entries:
            entry = entries.get(number)
            own = set(stems(entry.user_text)) if entry is not None and number != trace.entry_id else set()
            if own and len(own & added) >= min(len(own), ENOUGH):
                found.setdefault(number, made)
    return found


def _added(trace: Trace, made: Modulation, percept: MemoryEntry | None) -> set[str]:
    """The words that came in with a transistor; those of what is answered prove nothing of a model's."""
    if made.how == "fused":
        known = stems(f"{trace.thought} {percept.user_text if percept else ''}")
        return set(stems(trace.response or "")) - set(known)
    return set(stems(made.after)) - set(stems(made.before))
