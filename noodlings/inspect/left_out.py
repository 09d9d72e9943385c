"""What an answer nearly drew on: the memories that came closest to being in mind, and what they lacked.

A trace keeps what was recalled, not what was passed over, so this is asked of the memory as it is now: only
for importance and feeling, where the order is the same as in the turn. What was perceived since is no part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from noodlings.inspect.look import Look, by_importance
from noodlings.inspect.rights import may_read
from noodlings.inspect.views import FlowEntryView, LeftOutView
from noodlings.values.audience import may_learn
from noodlings.values.memory import MemoryEntry, Recalled, Why
from noodlings.values.trace import Trace

NEAREST = 3
"""Of each reason."""


def left_out(
    look: Look, trace: Trace, percept: MemoryEntry, recalled: Sequence[FlowEntryView], threshold: float
) -> tuple[LeftOutView, ...]:
    """The nearest misses of a turn, those that lacked least first, each once.

    Args:
        percept: what was perceived in the turn.
        recalled: what was in mind, as far as the caller may read it; nothing else is compared with.
        threshold: least likeness at which a memory comes to mind for what was felt, 0…1.
    """
    known = {one.id for one in recalled}

    def nearest(why: Why, found: Iterable[Recalled], least: float) -> list[LeftOutView]:
        missed = (
            LeftOutView(
                str(why), look.figure(one.score), look.figure(max(least, one.score)), look.entry(one.entry)
            )
            for one in found
            if one.score > 0 and one.entry.id not in known and _could_have_been(look, one.entry, percept)
        )
        return list(islice(missed, NEAREST))

    found = look.agent.memory.recall_by_affect(trace.affect, max(len(look.in_mind()), 1), 0.0)
    missed = nearest(Why.AFFECT, found, _least(recalled, Why.AFFECT, threshold))
    if any(Why.IMPORTANT in one.scores for one in recalled):  # else whatever there was came to mind
        missed += nearest(Why.IMPORTANT, _weighed(look, percept), _least(recalled, Why.IMPORTANT, 0.0))
    once: dict[int, LeftOutView] = {}
    for one in sorted(missed, key=lambda one: one.least - one.score):
        once.setdefault(one.entry.id, one)
    return tuple(once.values())


def _weighed(look: Look, percept: MemoryEntry) -> list[Recalled]:
    """What the same user told before, the most important first."""
    kept = look.agent.memory.retrieve_episodic(percept.user_id, limit=None)
    return [Recalled(entry, (Why.IMPORTANT,), entry.importance) for entry in sorted(kept, key=by_importance)]


def _could_have_been(look: Look, entry: MemoryEntry, percept: MemoryEntry) -> bool:
    earlier = entry.id < percept.id
    told = may_learn(frozenset({percept.user_id}), entry.audience)
    return earlier and told and may_read(look.caller, entry)


def _least(recalled: Sequence[FlowEntryView], why: Why, otherwise: float) -> float:
    """The lowest score with which something came to mind for a reason."""
    return min((one.scores[why] for one in recalled if why in one.scores), default=otherwise)
