"""Past turns of an agent: which a caller may know of, what each recalled, and what each answer used.

A trace holds only ids, so a turn is put together again with the memories it refers to. Whatever was forgotten
since appears as forgotten, and so does an answer to it.

- A memory that a transistor read may have been put into words. The voice records what its own thought was
  made of; a transistor records only what it read. So such a memory counts only where words of its own came in
  with that transistor and are in the answer.
- A trace keeps what was recalled and not what was passed over. Which memories came closest to being in mind,
  and what they lacked, is therefore asked of the memory as it is now, and only for importance and feeling,
  where the order is the same as in the turn. Anything perceived since is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from noodlings.inspect.viewpoint import Viewpoint, by_importance, may_read, readable
from noodlings.inspect.views import FlowEntryView, FlowView, LeftOutView, TurnView
from noodlings.ports import Store
from noodlings.recall.lexical import stems
from noodlings.text import clean
from noodlings.values.audience import may_learn
from noodlings.values.memory import MemoryEntry, Recalled, Why
from noodlings.values.trace import Modulation, RecalledTrace, Trace

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


LOOKED_BACK = 1_000
"""How many turns back one is looked for."""
AT_ONCE = 50

Told = tuple[Trace, MemoryEntry | None]
"""A turn and what was perceived in it; None where that was forgotten since."""


def turns(viewpoint: Viewpoint, store: Store, wanted: Callable[[Trace], bool]) -> Iterator[Told]:
    """The turns that are wanted and that the caller may know of, the latest first."""
    before: int | None = None
    for _ in range(LOOKED_BACK // AT_ONCE):
        traces = store.traces(viewpoint.agent_id, AT_ONCE, before)
        found = [trace for trace in traces if wanted(trace)]
        percepts = store.entries(viewpoint.agent_id, [trace.entry_id for trace in found])
        for trace in found:
            percept = percepts.get(trace.entry_id)
            if viewpoint.caller.sees_all if percept is None else may_read(viewpoint.caller, percept):
                yield trace, percept
        if len(traces) < AT_ONCE:
            return
        before = traces[-1].entry_id


def recalled_in(viewpoint: Viewpoint, store: Store, trace: Trace) -> tuple[tuple[FlowEntryView, ...], int]:
    """What was in mind in a turn, oldest to newest, and how much of it the caller may not read.

    What a transistor alone brought in is among it where its words are in the answer: it came by that.
    """
    in_mind = {recalled.entry_id for recalled in trace.recalled}
    read = {number for made in trace.modulations for number in made.entries}
    related = {number for one in trace.recalled for number in _related(one)}
    entries = store.entries(viewpoint.agent_id, sorted(in_mind | read | related | {trace.entry_id}))
    told = worded(trace, entries)
    brought = [
        RecalledTrace(number, (made.transistor,), made.gain)
        for number, made in told.items()
        if number not in in_mind and may_read(viewpoint.caller, entries[number])
    ]
    shown = {number for number in related & entries.keys() if may_read(viewpoint.caller, entries[number])}
    kept, hidden = readable(viewpoint.caller, trace.recalled, lambda recalled: entries.get(recalled.entry_id))
    views = (
        FlowEntryView(
            id=recalled.entry_id,
            forgotten=recalled.entry_id not in entries,
            why=tuple(map(str, recalled.why)),
            score=viewpoint.figure(recalled.score),
            scores=viewpoint.figures(recalled.scores),
            used=recalled.used or recalled.entry_id in told,
            entry=viewpoint.entry(entries[recalled.entry_id]) if recalled.entry_id in entries else None,
            sources=tuple(number for number in recalled.sources if number in shown),
            supersedes=tuple(number for number in recalled.supersedes if number in shown),
            superseded_by=recalled.superseded_by if recalled.superseded_by in shown else None,
        )
        for recalled in sorted([*kept, *brought], key=lambda recalled: recalled.entry_id)
    )
    return tuple(views), hidden


def _related(recalled: RecalledTrace) -> set[int]:
    later = () if recalled.superseded_by is None else (recalled.superseded_by,)
    return {*recalled.sources, *recalled.supersedes, *later}


NEAREST = 3
"""Of each reason."""


def left_out(
    viewpoint: Viewpoint,
    trace: Trace,
    percept: MemoryEntry,
    recalled: Sequence[FlowEntryView],
    threshold: float,
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
                str(why),
                viewpoint.figure(one.score),
                viewpoint.figure(max(least, one.score)),
                viewpoint.entry(one.entry),
            )
            for one in found
            if one.score > 0 and one.entry.id not in known and _could_have_been(viewpoint, one.entry, percept)
        )
        return list(islice(missed, NEAREST))

    found = viewpoint.agent.memory.recall_by_affect(trace.affect, max(len(viewpoint.in_mind()), 1), 0.0)
    missed = nearest(Why.AFFECT, found, _least(recalled, Why.AFFECT, threshold))
    if any(Why.IMPORTANT in one.scores for one in recalled):  # else whatever there was came to mind
        missed += nearest(Why.IMPORTANT, _weighed(viewpoint, percept), _least(recalled, Why.IMPORTANT, 0.0))
    once: dict[int, LeftOutView] = {}
    for one in sorted(missed, key=lambda one: one.least - one.score):
        once.setdefault(one.entry.id, one)
    return tuple(once.values())


def _weighed(viewpoint: Viewpoint, percept: MemoryEntry) -> list[Recalled]:
    """What the same user told before, the most important first."""
    kept = viewpoint.agent.memory.retrieve_episodic(percept.user_id, limit=None)
    return [Recalled(entry, (Why.IMPORTANT,), entry.importance) for entry in sorted(kept, key=by_importance)]


def _could_have_been(viewpoint: Viewpoint, entry: MemoryEntry, percept: MemoryEntry) -> bool:
    earlier = entry.id < percept.id
    told = may_learn(frozenset({percept.user_id}), entry.audience)
    return earlier and told and may_read(viewpoint.caller, entry)


def _least(recalled: Sequence[FlowEntryView], why: Why, otherwise: float) -> float:
    """The lowest score with which something came to mind for a reason."""
    return min((one.scores[why] for one in recalled if why in one.scores), default=otherwise)


def last_flow(viewpoint: Viewpoint, store: Store, threshold: float) -> FlowView:
    """The last turn that recalled something; for a player, the last such turn with this player.

    Args:
        threshold: least likeness at which a memory comes to mind for what is felt, 0…1.
    """
    hierarchical = viewpoint.agent.memory.hierarchical
    found = next(turns(viewpoint, store, lambda trace: bool(trace.recalled)), None)
    if found is None:
        return FlowView(
            viewpoint.agent_id, viewpoint.name, hierarchical, turn=None, recalled=(), left_out=(), hidden=0
        )
    trace, percept = found
    recalled, hidden = recalled_in(viewpoint, store, trace)
    return FlowView(
        agent=viewpoint.agent_id,
        name=viewpoint.name,
        hierarchical=hierarchical,
        turn=turn_view(viewpoint, trace, percept),
        recalled=recalled,
        left_out=() if percept is None else left_out(viewpoint, trace, percept, recalled, threshold),
        hidden=hidden,
    )


def turn_view(viewpoint: Viewpoint, trace: Trace, percept: MemoryEntry | None) -> TurnView:
    """One turn as it appears, without what was recalled."""
    forgotten, full = percept is None, viewpoint.caller.sees_all
    return TurnView(
        percept=None if percept is None else viewpoint.entry(percept),
        response=None if forgotten or trace.response is None else clean(trace.response),
        mood=viewpoint.state(trace.mood),
        voice=trace.voice,
        decision=clean(trace.decision if full else trace.decision.partition(" (")[0]),
        # After the colon stands what is the machine's: an address, a file. A player is told what failed.
        degraded=tuple(clean(words if full else words.partition(":")[0]) for words in trace.degraded),
        action=None if forgotten else trace.action,
    )
