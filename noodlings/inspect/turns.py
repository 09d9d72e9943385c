"""Turns of an agent, looked back through: which of them a caller may know of, and what each recalled.

A trace holds ids only. Whatever was forgotten since appears as forgotten, and so does an answer to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from noodlings.inspect.look import Look
from noodlings.inspect.rights import may_read, readable
from noodlings.inspect.views import FlowEntryView
from noodlings.inspect.worded import worded
from noodlings.ports import Store
from noodlings.values.memory import MemoryEntry
from noodlings.values.trace import RecalledTrace, Trace

LOOKED_BACK = 1_000
"""How many turns back one is looked for."""
AT_ONCE = 50

Told = tuple[Trace, MemoryEntry | None]
"""A turn and what was perceived in it; None where that was forgotten since."""


def turns(look: Look, store: Store, wanted: Callable[[Trace], bool]) -> Iterator[Told]:
    """The turns that are wanted and that the caller may know of, the latest first."""
    before: int | None = None
    for _ in range(LOOKED_BACK // AT_ONCE):
        traces = store.traces(look.agent_id, AT_ONCE, before)
        found = [trace for trace in traces if wanted(trace)]
        percepts = store.entries(look.agent_id, [trace.entry_id for trace in found])
        for trace in found:
            percept = percepts.get(trace.entry_id)
            if look.caller.sees_all if percept is None else may_read(look.caller, percept):
                yield trace, percept
        if len(traces) < AT_ONCE:
            return
        before = traces[-1].entry_id


def recalled_in(look: Look, store: Store, trace: Trace) -> tuple[tuple[FlowEntryView, ...], int]:
    """What was in mind in a turn, oldest to newest, and how much of it the caller may not read.

    What a transistor alone brought in is among it where its words are in the answer: it came by that.
    """
    in_mind = {recalled.entry_id for recalled in trace.recalled}
    read = {number for made in trace.modulations for number in made.entries}
    entries = store.entries(look.agent_id, sorted(in_mind | read | {trace.entry_id}))
    told = worded(trace, entries)
    brought = [
        RecalledTrace(number, (made.transistor,), made.gain)
        for number, made in told.items()
        if number not in in_mind and may_read(look.caller, entries[number])
    ]
    kept, hidden = readable(look.caller, trace.recalled, lambda recalled: entries.get(recalled.entry_id))
    views = (
        FlowEntryView(
            id=recalled.entry_id,
            forgotten=recalled.entry_id not in entries,
            why=tuple(map(str, recalled.why)),
            score=look.figure(recalled.score),
            scores=look.figures(recalled.scores),
            used=recalled.used or recalled.entry_id in told,
            entry=look.entry(entries[recalled.entry_id]) if recalled.entry_id in entries else None,
        )
        for recalled in sorted([*kept, *brought], key=lambda recalled: recalled.entry_id)
    )
    return tuple(views), hidden
