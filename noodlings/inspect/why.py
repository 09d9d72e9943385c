"""Why an agent said what it said or kept silent: one turn from end to end, and its transistors lately.

The rules for all views are in `noodlings.inspect.views`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from noodlings.errors import NotFound, UserError
from noodlings.inspect.turns import recalled_in, turn_view, turns
from noodlings.inspect.viewpoint import Viewpoint, felt, may_read
from noodlings.inspect.views import FeltView, FlowEntryView, TurnView, View
from noodlings.ports import Store
from noodlings.text import clean
from noodlings.values.affect import NEUTRAL
from noodlings.values.memory import ImportanceParts, MemoryEntry
from noodlings.values.sent_prompt import PromptMessage, SentPrompt
from noodlings.values.tone import PLAIN, Tone
from noodlings.values.trace import Modulation, Trace


@dataclass(frozen=True, slots=True)
class ModulationView(View):
    """What one transistor made of the thought.

    Attributes:
        gain: how strong it was set, 0…1.
        how: "fused", "serial" or "offline"; "passed", "off" or "failed" where it changed nothing.
        before, after: the thought; both "" where one call of a model took in all lenses at once, or where it
            read something that is not the caller's to read.
        lens: what it asked for, in words.
        read: what it read beside memories and symbols: a feeling, an appetite.
        entries, symbols: ids of the memories and symbols that it read and the caller may read.
        hidden: how many more there are.
    """

    transistor: str
    gain: float
    how: str
    before: str
    after: str
    lens: str
    read: tuple[str, ...]
    entries: tuple[int, ...]
    symbols: tuple[int, ...]
    hidden: int


@dataclass(frozen=True, slots=True)
class StepView(View):
    """One step of a turn, and how many milliseconds it took."""

    step: str
    milliseconds: float


@dataclass(frozen=True, slots=True)
class WhyView(View):
    """One turn: what was perceived, felt, recalled, thought, made of the thought, said; and what it cost.

    Attributes:
        back: which turn: 1 is the last; 0 where it was asked for by its memory.
        turn: None where there is none so far back.
        affect, appraised_by: what was felt about the percept, and by what means.
        surprise, importance, parts: as encoded, 0…1.
        tone: what the answer had to do justice to, and what that comes from.
        thought: the plain thought before any transistor, "" for silence.
        recalled: what was in mind, oldest to newest.
        modulations: what each transistor made of the thought, in order.
        steps: in the order in which they were done; for those who see everything.
        calls, tokens: what it cost of a model.
        hidden: memories that were in mind and are not the caller's to read.
    """

    agent: str
    name: str
    back: int
    turn: TurnView | None
    affect: FeltView | None
    appraised_by: str
    surprise: float
    importance: float
    parts: ImportanceParts
    thought: str
    recalled: tuple[FlowEntryView, ...]
    modulations: tuple[ModulationView, ...]
    steps: tuple[StepView, ...]
    calls: int
    tokens: int
    hidden: int
    tone: Tone = PLAIN


@dataclass(frozen=True, slots=True)
class TransistorView(View):
    """One transistor of an agent: its gain, 0…1, and the last it made of a thought.

    `last` is None while there is no such turn that the caller may know of; `age` is in seconds.
    """

    transistor: str
    gain: float
    last: ModulationView | None
    age: float | None


@dataclass(frozen=True, slots=True)
class TransistorsView(View):
    """The chain of an agent, in order, and how it is run.

    `chain` is "fused" (a model takes in all lenses in one call) or "serial" (a call for each); "offline"
    where no model is connected: one after the other, by the offline voice.
    """

    agent: str
    name: str
    chain: str
    transistors: tuple[TransistorView, ...]


@dataclass(frozen=True, slots=True)
class PromptView(View):
    """What models were asked in one turn, in the order in which it was sent.

    Attributes:
        entry, age: the memory that was perceived in it, and seconds since then.
        prompts: word for word, in lines.
        note: why there are none; "" where there are.
    """

    agent: str
    name: str
    entry: int
    age: float
    prompts: tuple[SentPrompt, ...]
    note: str


GONE = (
    "The prompts of this turn are no longer available. Only those of the last 20 turns that asked a model "
    "are kept, in memory, until the program ends, the character falls asleep or something is forgotten."
)
UNASKED = "No model was asked in this turn."

CHANGED = frozenset({"fused", "serial", "offline", "failed"})
"""What a transistor that had something to add is noted with."""

OFFLINE = "offline"


def why(viewpoint: Viewpoint, store: Store, back: int, silent: bool) -> WhyView:
    """A turn of an agent, `back` turns ago; the last one is 1.

    Args:
        silent: count the turns in which it said nothing too.

    Raises:
        UserError: `back` is less than 1.
    """
    if back < 1:
        raise UserError(f"the last turn is 1, the one before it 2; there is no turn {back}")
    told = turns(viewpoint, store, lambda trace: silent or trace.response is not None)
    found = next(islice(told, back - 1, None), None)
    if found is None:
        return _none(viewpoint, back)
    return as_seen(viewpoint, store, *found, back=back)


def turn(viewpoint: Viewpoint, store: Store, entry_id: int) -> WhyView:
    """The turn in which a memory was perceived; without a trace, what the memory itself tells of it.

    There is none when the program ended in the midst of the turn, or when it was long ago.

    Raises:
        NotFound: there is no such memory, or it is not the caller's to read: the same words, so that ids tell
            nobody anything.
    """
    percept = store.entries(viewpoint.agent_id, [entry_id]).get(entry_id)
    if percept is None or not may_read(viewpoint.caller, percept):
        raise NotFound(f"{viewpoint.name} has no memory {entry_id} that you could read.")
    found = store.traces(viewpoint.agent_id, 1, entry_id + 1)
    if not found or found[0].entry_id != entry_id:
        return _untraced(viewpoint, percept)
    return as_seen(viewpoint, store, found[0], percept)


def prompts_of(told: WhyView, prompts: Sequence[SentPrompt]) -> PromptView:
    """The prompts of a turn, for a caller who sees everything."""
    percept = told.turn.percept if told.turn else None
    unasked = told.turn is not None and told.turn.decision and not told.calls
    shown = (
        replace(
            sent,
            failure=clean(sent.failure),
            messages=tuple(PromptMessage(one.role, _as_sent(one.content)) for one in sent.messages),
        )
        for sent in prompts
    )
    return PromptView(
        told.agent,
        told.name,
        percept.id if percept else 0,
        percept.age if percept else 0.0,
        tuple(shown),
        "" if prompts else UNASKED if unasked else GONE,
    )


def _as_sent(content: str) -> str:
    """Word for word, spaces and line breaks too, but for what nobody would see."""
    return "\n".join(
        line if line.isprintable() and clean(line) == " ".join(line.split()) else clean(line)
        for line in content.split("\n")
    )


def as_seen(
    viewpoint: Viewpoint, store: Store, trace: Trace, percept: MemoryEntry | None, back: int = 0
) -> WhyView:
    """A turn as this caller sees it, whose right to the percept was checked before."""
    recalled, hidden = recalled_in(viewpoint, store, trace)
    theirs = percept is not None and not _of_others(viewpoint, store, trace)
    return WhyView(
        agent=viewpoint.agent_id,
        name=viewpoint.name,
        back=back,
        turn=turn_view(viewpoint, trace, percept),
        affect=felt(trace.affect),
        appraised_by=trace.appraised_by,
        surprise=viewpoint.figure(trace.surprise),
        importance=viewpoint.figure(trace.importance),
        parts=viewpoint.parts(trace.parts),
        thought=clean(trace.thought) if theirs else "",
        recalled=recalled,
        modulations=modulations_of(viewpoint, store, trace),
        steps=tuple(StepView(*step) for step in trace.milliseconds.items())
        if viewpoint.caller.sees_all
        else (),
        calls=trace.calls,
        tokens=trace.tokens,
        hidden=hidden,
        tone=_tone(viewpoint, store, trace.tone),
    )


def _tone(viewpoint: Viewpoint, store: Store, tone: Tone) -> Tone:
    """Without the id of a memory that the caller may not read."""
    if tone.entry_id is None:
        return tone
    entry = store.entries(viewpoint.agent_id, [tone.entry_id]).get(tone.entry_id)
    return tone if entry is not None and may_read(viewpoint.caller, entry) else replace(tone, entry_id=None)


def transistors(viewpoint: Viewpoint, store: Store, gains: dict[str, float], chain: str) -> TransistorsView:
    """The transistors of an agent with the last effect of each; for a player, in its talk with that player.

    Args:
        gains: name → gain, 0…1, in the order of the chain.
        chain: how it is run: "fused" or "serial" by a model, "offline" where none is connected.
    """
    last: dict[str, tuple[Trace, ModulationView]] = {}
    for trace, _ in islice(turns(viewpoint, store, lambda trace: bool(trace.modulations)), 50):
        for made in modulations_of(viewpoint, store, trace):
            if made.how in CHANGED:
                last.setdefault(made.transistor, (trace, made))
        if gains.keys() <= last.keys():
            break
    views = []
    for name, gain in gains.items():
        trace_made = last.get(name)
        age = None if trace_made is None else max(viewpoint.now - trace_made[0].timestamp, 0.0)
        views.append(TransistorView(name, gain, trace_made[1] if trace_made else None, age))
    return TransistorsView(viewpoint.agent_id, viewpoint.name, chain, tuple(views))


def modulations_of(viewpoint: Viewpoint, store: Store, trace: Trace) -> tuple[ModulationView, ...]:
    """What each transistor made of the thought of a turn; words made of what is not the caller's stay out.

    A thought holds what it was made of, and from the first transistor on that read something of others it
    holds that: so it is left out from there on. The answer itself was heard by whoever it was for.
    """
    views: list[ModulationView] = []
    theirs = not _of_others(viewpoint, store, trace)
    symbols = {symbol.id: symbol.entry_id for symbol in viewpoint.agent.subconscious.symbols}
    read = {number for made in trace.modulations for number in made.entries}
    behind = {symbols[number] for made in trace.modulations for number in made.symbols if number in symbols}
    entries = store.entries(viewpoint.agent_id, sorted(read | behind)) if read or behind else {}
    readable = {number for number, entry in entries.items() if may_read(viewpoint.caller, entry)}
    for made in trace.modulations:
        view = _modulation(viewpoint, made, symbols, readable)
        before = view.before if theirs else ""
        theirs = theirs and not view.hidden
        views.append(view if theirs else replace(view, before=before, after="", read=()))
    return tuple(views)


def _of_others(viewpoint: Viewpoint, store: Store, trace: Trace) -> bool:
    """Whether the plain thought may hold words that are not the caller's to read.

    The offline voice says which memories it put into words; of a model, any that it was handed.
    """
    if viewpoint.caller.sees_all:
        return False
    handed = [one.entry_id for one in trace.recalled if one.used or trace.voice != OFFLINE]
    entries = store.entries(viewpoint.agent_id, handed)
    return not all(number in entries and may_read(viewpoint.caller, entries[number]) for number in handed)


def _modulation(
    viewpoint: Viewpoint, made: Modulation, symbols: Mapping[int, int], readable: Collection[int]
) -> ModulationView:
    """What one transistor made. `symbols` is symbol → entry; `readable` are the caller's entries."""
    seen = tuple(number for number in made.entries if number in readable)
    images = tuple(
        number for number in made.symbols if symbols.get(number, -1) in readable or viewpoint.caller.sees_all
    )
    hidden = (
        0 if viewpoint.caller.sees_all else len(made.entries) + len(made.symbols) - len(seen) - len(images)
    )
    return ModulationView(
        transistor=clean(made.transistor),
        gain=made.gain,
        how=made.how,
        before=clean(made.before),
        after=clean(made.after),
        lens=clean(made.lens),
        read=tuple(clean(words) for words in made.read),
        entries=seen,
        symbols=images,
        hidden=hidden,
    )


def _untraced(viewpoint: Viewpoint, percept: MemoryEntry) -> WhyView:
    affect = felt(percept.affect or NEUTRAL)
    return replace(
        _none(viewpoint, 0),
        turn=TurnView(viewpoint.entry(percept), viewpoint.entry(percept).response, affect, "", "", ()),
        affect=affect,
        surprise=viewpoint.figure(percept.surprise),
        importance=viewpoint.figure(percept.encoded_importance),
        parts=viewpoint.parts(percept.parts),
    )


def _none(viewpoint: Viewpoint, back: int) -> WhyView:
    return WhyView(
        viewpoint.agent_id,
        viewpoint.name,
        back,
        None,
        None,
        "",
        0.0,
        0.0,
        ImportanceParts(),
        "",
        (),
        (),
        (),
        0,
        0,
        0,
    )
