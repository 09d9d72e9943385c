"""Past turns of an agent: which a caller may know of, what each recalled, and what each answer used.

A trace holds only ids, so a turn is put together again from the memories it refers to. Whatever was forgotten
since appears as forgotten, and so does the answer to it.

- The voice records which memories its thought was made of, but a transistor records only what it read. A
  memory that a transistor read counts as used if words of its own came in with the transistor and are in the
  answer.
- A trace does not keep what was passed over. Which memories came closest to being in mind is worked out from
  the memory as it is now, and only for importance and feeling, where the order is the same as in the turn.
  Anything perceived since is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from noodlings.agent.turn import trace_of
from noodlings.inspect.viewpoint import Viewpoint
from noodlings.inspect.views import FlowEntryView, FlowView, LeftOutView, TurnView
from noodlings.recall.lexical import stems
from noodlings.text import clean
from noodlings.values.audience import may_learn
from noodlings.values.memory import MemoryEntry, Recalled, Why
from noodlings.values.trace import Modulation, RecalledTrace, Trace

ENOUGH = 2
"""How many content words of a memory must have come in; all of them if it has fewer."""


def worded(trace: Trace, entries: Mapping[int, MemoryEntry]) -> dict[int, Modulation]:
    """Entry id → the first transistor that put it into the answer.

    Args:
        entries: the percept and what the transistors read, by id, without what was forgotten since.
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
    """The words that came in with a transistor; a model may also have taken words from the percept."""
    if made.how == "fused":
        known = stems(f"{trace.thought} {percept.user_text if percept else ''}")
        return set(stems(trace.response or "")) - set(known)
    return set(stems(made.after)) - set(stems(made.before))


LOOKED_BACK, OWN_LOOKED_BACK = 1_000, 200
"""How many turns are searched for one that is wanted, and how many of a player's own."""
AT_ONCE = 50


def turns(
    viewpoint: Viewpoint, wanted: Callable[[Trace], bool]
) -> Iterator[tuple[Trace, MemoryEntry | None]]:
    """The turns that are wanted and that the caller may know of, the latest first.

    Each comes with what was perceived in it, or None where that was forgotten since.
    """
    if not viewpoint.caller.sees_all:
        yield from _own_turns(viewpoint, wanted)
        return
    before: int | None = None
    for _ in range(LOOKED_BACK // AT_ONCE):
        traces = viewpoint.store.traces(viewpoint.agent_id, AT_ONCE, before)
        found = [trace for trace in traces if wanted(trace)]
        percepts = viewpoint.stored([trace.entry_id for trace in found])
        yield from ((trace, percepts.get(trace.entry_id)) for trace in found)
        if len(traces) < AT_ONCE:
            return
        before = traces[-1].entry_id


def _own_turns(viewpoint: Viewpoint, wanted: Callable[[Trace], bool]) -> Iterator[tuple[Trace, MemoryEntry]]:
    """Those among a player's own latest turns. Those of others, which may be thousands, are not read."""
    latest = viewpoint.readable_ids()[: -OWN_LOOKED_BACK - 1 : -1]
    for start in range(0, len(latest), AT_ONCE):
        page = latest[start : start + AT_ONCE]
        percepts = viewpoint.readable(page)
        for entry_id in filter(percepts.__contains__, page):
            trace = trace_of(viewpoint.store, viewpoint.agent_id, entry_id)
            if trace is not None and wanted(trace):
                yield trace, percepts[entry_id]


def recalled_in(viewpoint: Viewpoint, trace: Trace) -> tuple[tuple[FlowEntryView, ...], int]:
    """What was in mind in a turn, oldest to newest, and how much of it the caller may not read.

    This includes what only a transistor brought in, if its words are in the answer.
    """
    in_mind = {recalled.entry_id for recalled in trace.recalled}
    read = {number for made in trace.modulations for number in made.entries}
    related = {number for one in trace.recalled for number in _related(one)}
    entries = viewpoint.stored(sorted(in_mind | read | related | {trace.entry_id}))
    told = worded(trace, entries)
    brought = [
        RecalledTrace(number, (made.transistor,), made.gain)
        for number, made in told.items()
        if number not in in_mind and viewpoint.may_read(entries[number])
    ]
    shown = {number for number in related & entries.keys() if viewpoint.may_read(entries[number])}
    kept, hidden = viewpoint.readable_among(trace.recalled, lambda recalled: entries.get(recalled.entry_id))
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
"""How many near misses are shown for each reason."""


def left_out(
    viewpoint: Viewpoint, trace: Trace, percept: MemoryEntry, recalled: Sequence[FlowEntryView]
) -> tuple[LeftOutView, ...]:
    """The near misses of a turn, those that lacked least first, each wording once.

    Args:
        recalled: what was in mind, as far as the caller may read it.
    """
    known = {one.id for one in recalled}
    worded = {one.entry.text.casefold() for one in recalled if one.entry}

    def possible(entry: MemoryEntry) -> bool:
        told = may_learn(frozenset({percept.user_id}), entry.audience)
        new = clean(entry.user_text).casefold() not in worded
        return entry.id < percept.id and told and new and viewpoint.may_read(entry)

    def nearest(why: Why, found: Iterable[Recalled], least: float) -> list[LeftOutView]:
        missed = (
            LeftOutView(
                str(why),
                viewpoint.figure(one.score),
                viewpoint.figure(max(least, one.score)),
                viewpoint.entry(one.entry),
            )
            for one in found
            if one.score > 0 and one.entry.id not in known and possible(one.entry)
        )
        return list(islice(missed, NEAREST))

    found = viewpoint.agent.memory.recall_by_affect(trace.affect, max(len(viewpoint.in_mind()), 1), 0.0)
    threshold = viewpoint.settings.memory.affect_threshold
    missed = nearest(Why.AFFECT, found, _least(recalled, Why.AFFECT, threshold))
    if any(Why.IMPORTANT in one.scores for one in recalled):  # else everything there was came to mind
        kept = viewpoint.agent.memory.retrieve_episodic(percept.user_id, limit=None)
        weights = {one.id: viewpoint.agent.memory.weight(viewpoint.apart(one)) for one in kept}
        kept = sorted(kept, key=lambda entry: (-weights[entry.id], -entry.id))
        important = (Recalled(entry, (Why.IMPORTANT,), weights[entry.id]) for entry in kept)
        missed += nearest(Why.IMPORTANT, important, _least(recalled, Why.IMPORTANT, 0.0))
    once: dict[str, LeftOutView] = {}
    for one in sorted(missed, key=lambda one: one.least - one.score):
        once.setdefault(one.entry.text.casefold(), one)
    return tuple(once.values())


def _least(recalled: Sequence[FlowEntryView], why: Why, otherwise: float) -> float:
    """The lowest score with which a memory came to mind for this reason."""
    return min((one.scores[why] for one in recalled if why in one.scores), default=otherwise)


def last_flow(viewpoint: Viewpoint) -> FlowView:
    """What the last answer was made of; for a player, its own last answer."""
    hierarchical = viewpoint.agent.memory.hierarchical
    found = next(turns(viewpoint, lambda trace: bool(trace.recalled)), None)
    if found is None:
        return FlowView(*viewpoint.of_agent, hierarchical, None, (), (), 0)
    trace, percept = found
    recalled, hidden = recalled_in(viewpoint, trace)
    return FlowView(
        *viewpoint.of_agent,
        hierarchical=hierarchical,
        turn=turn_view(viewpoint, trace, percept),
        recalled=recalled,
        left_out=() if percept is None else left_out(viewpoint, trace, percept, recalled),
        hidden=hidden,
    )


def turn_view(viewpoint: Viewpoint, trace: Trace, percept: MemoryEntry | None) -> TurnView:
    """One turn as the caller sees it, without what was recalled."""
    forgotten, full = percept is None, viewpoint.caller.sees_all
    return TurnView(
        percept=None if percept is None else viewpoint.entry(percept),
        response=None if forgotten or trace.response is None else clean(trace.response),
        mood=viewpoint.state(trace.mood),
        voice=trace.voice,
        decision=clean(trace.decision if full else trace.decision.partition(" (")[0]),
        # Details of the machine, such as an address or a file, stand after the colon and are not for players.
        degraded=tuple(clean(words if full else words.partition(":")[0]) for words in trace.degraded),
        action=None if forgotten else trace.action,
    )
