"""What an answer was made of: the trace of a turn, put together again with the memories it refers to.

A trace holds ids only. Whatever was forgotten since appears as forgotten, and so does an answer to it.
"""

from __future__ import annotations

from noodlings.inspect.look import Look, felt
from noodlings.inspect.rights import may_read, readable
from noodlings.inspect.views import FlowEntryView, FlowView, TurnView
from noodlings.ports import Store
from noodlings.text import clean
from noodlings.values.memory import MemoryEntry
from noodlings.values.trace import Trace

TURNS_LOOKED_BACK = 1_000
"""How many turns back the last one that recalled something is looked for."""
TURNS_AT_ONCE = 50


def last_flow(look: Look, store: Store) -> FlowView:
    """The last turn that recalled something; for a player, the last such turn with this player."""
    hierarchical = look.agent.memory.hierarchical
    found = _last_turn(look, store)
    if found is None:
        return FlowView(look.agent_id, look.name, hierarchical, turn=None, recalled=(), hidden=0)
    trace, percept = found
    entries = store.entries(look.agent_id, [recalled.entry_id for recalled in trace.recalled])
    kept, hidden = readable(look.caller, trace.recalled, lambda recalled: entries.get(recalled.entry_id))
    return FlowView(
        agent=look.agent_id,
        name=look.name,
        hierarchical=hierarchical,
        turn=_turn(look, trace, percept),
        recalled=tuple(
            FlowEntryView(
                id=recalled.entry_id,
                forgotten=recalled.entry_id not in entries,
                why=tuple(map(str, recalled.why)),
                score=recalled.score,
                scores=dict(recalled.scores),
                used=recalled.used,
                entry=look.entry(entries[recalled.entry_id]) if recalled.entry_id in entries else None,
            )
            for recalled in kept
        ),
        hidden=hidden,
    )


def _last_turn(look: Look, store: Store) -> tuple[Trace, MemoryEntry | None] | None:
    before: int | None = None
    for _ in range(TURNS_LOOKED_BACK // TURNS_AT_ONCE):
        traces = store.traces(look.agent_id, TURNS_AT_ONCE, before)
        turns = [trace for trace in traces if trace.recalled]
        percepts = store.entries(look.agent_id, [trace.entry_id for trace in turns])
        for trace in turns:
            percept = percepts.get(trace.entry_id)
            if look.caller.sees_all if percept is None else may_read(look.caller, percept):
                return trace, percept
        if len(traces) < TURNS_AT_ONCE:
            return None
        before = traces[-1].entry_id
    return None


def _turn(look: Look, trace: Trace, percept: MemoryEntry | None) -> TurnView:
    forgotten = percept is None
    return TurnView(
        percept=None if percept is None else look.entry(percept),
        response=None if forgotten or trace.response is None else clean(trace.response),
        mood=felt(trace.mood),
        voice=trace.voice,
        decision=clean(trace.decision),
        degraded=tuple(clean(words) for words in trace.degraded),
    )
