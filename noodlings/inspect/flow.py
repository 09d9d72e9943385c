"""What an answer was made of: the trace of a turn, put together again with the memories it refers to."""

from __future__ import annotations

from noodlings.inspect.left_out import left_out
from noodlings.inspect.look import Look
from noodlings.inspect.turns import recalled_in, turns
from noodlings.inspect.views import FlowView, TurnView
from noodlings.ports import Store
from noodlings.text import clean
from noodlings.values.memory import MemoryEntry
from noodlings.values.trace import Trace


def last_flow(look: Look, store: Store, threshold: float) -> FlowView:
    """The last turn that recalled something; for a player, the last such turn with this player.

    Args:
        threshold: least likeness at which a memory comes to mind for what is felt, 0…1.
    """
    hierarchical = look.agent.memory.hierarchical
    found = next(turns(look, store, lambda trace: bool(trace.recalled)), None)
    if found is None:
        return FlowView(look.agent_id, look.name, hierarchical, turn=None, recalled=(), left_out=(), hidden=0)
    trace, percept = found
    recalled, hidden = recalled_in(look, store, trace)
    return FlowView(
        agent=look.agent_id,
        name=look.name,
        hierarchical=hierarchical,
        turn=turn_view(look, trace, percept),
        recalled=recalled,
        left_out=() if percept is None else left_out(look, trace, percept, recalled, threshold),
        hidden=hidden,
    )


def turn_view(look: Look, trace: Trace, percept: MemoryEntry | None) -> TurnView:
    """One turn as it appears, without what was recalled."""
    forgotten, full = percept is None, look.caller.sees_all
    return TurnView(
        percept=None if percept is None else look.entry(percept),
        response=None if forgotten or trace.response is None else clean(trace.response),
        mood=look.state(trace.mood),
        voice=trace.voice,
        decision=clean(trace.decision if full else trace.decision.partition(" (")[0]),
        # After the colon stands what is the machine's: an address, a file. A player is told what failed.
        degraded=tuple(clean(words if full else words.partition(":")[0]) for words in trace.degraded),
    )
