"""Why an agent said what it said or kept silent: one turn from end to end, and what its transistors did."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from noodlings.agent.turn import trace_of
from noodlings.errors import Forbidden, UserError
from noodlings.inspect.turns import recalled_in, turn_view, turns
from noodlings.inspect.viewpoint import Viewpoint, felt
from noodlings.inspect.views import FeltView, FlowEntryView, TurnView, View, ViewOfAgent
from noodlings.text import clean
from noodlings.values.affect import NEUTRAL
from noodlings.values.memory import ImportanceParts, MemoryEntry
from noodlings.values.relationship import Manner, Regard
from noodlings.values.sent_prompt import PromptMessage, SentPrompt
from noodlings.values.tone import PLAIN, Tone
from noodlings.values.trace import Modulation, Trace


@dataclass(frozen=True, slots=True)
class ModulationView(View):
    """What one transistor made of the thought.

    Attributes:
        gain: how strong it was set, 0…1.
        how: "fused", "serial" or "offline"; "passed", "off" or "failed" where it changed nothing.
        before, after: the thought; both "" where a model took in all lenses in one call, or where the
            transistor read something that the caller may not read.
        lens: what it asked for, in words.
        read: what it read beside memories and symbols, such as a feeling or an appetite.
        entries, symbols: ids of the memories and symbols that it read, as far as the caller may read them.
        hidden: how many more of them there are.
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
class WhyView(ViewOfAgent):
    """One turn: what was perceived, felt, recalled, thought and said, and what it cost.

    Attributes:
        back: which turn it is: 1 is the last; 0 where it was asked for by its memory.
        turn: None where there is no turn so far back.
        affect, appraised_by: what was felt about the percept, and by what means.
        surprise, importance, parts: as encoded, 0…1.
        thought: the plain thought before any transistor, "" for silence.
        recalled: what was in mind, oldest to newest.
        modulations: what each transistor made of the thought, in order.
        steps: in the order in which they were done; empty for a caller who does not see everything.
        calls, tokens: what it cost of a model.
        hidden: memories that were in mind and that the caller may not read.
        tone: the tone that the answer had to have, and why.
        regard: how relationships shaped it, in words: "reserved, because of #3 #8".
    """

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
    regard: str = ""


@dataclass(frozen=True, slots=True)
class TransistorView(View):
    """One transistor of an agent: its gain, 0…1, and the last thing it made of a thought.

    `last` is None while there is no such turn that the caller may know of. `age` is in seconds.
    """

    transistor: str
    gain: float
    last: ModulationView | None
    age: float | None


@dataclass(frozen=True, slots=True)
class TransistorsView(ViewOfAgent):
    """The chain of an agent, in order, and how it is run.

    `chain` is "fused" (one call of a model for all lenses), "serial" (one call for each), or "offline" (the
    offline voice applies one after the other, because no model is connected).
    """

    chain: str
    transistors: tuple[TransistorView, ...]


@dataclass(frozen=True, slots=True)
class PromptView(ViewOfAgent):
    """What models were asked in one turn, word for word and in the order in which it was sent.

    Attributes:
        entry, age: the memory that was perceived in it, and seconds since then.
        note: why there are no prompts; "" where there are.
    """

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
OFFLINE = "offline"


def why_said(viewpoint: Viewpoint, back: int = 1, silent: bool = False) -> WhyView:
    """Why an agent said what it said: its last turn with words, or the one `back` turns ago.

    Turns without words count with `silent`. A player sees the turns with itself only.
    """
    if back < 1:
        raise UserError(f"the last turn is 1, the one before it 2; there is no turn {back}")
    past = turns(viewpoint, lambda trace: silent or trace.response is not None)
    found = next(islice(past, back - 1, None), None)
    if found is None:
        return _empty(viewpoint, back)
    return as_seen(viewpoint, *found, back=back)


def turn_of(viewpoint: Viewpoint, entry_id: int) -> WhyView:
    """The turn in which a memory was perceived; without a trace, what the memory itself tells of it.

    There is no trace if the program ended in the middle of the turn, or if the turn was long ago.

    Raises `NotFound` as `Viewpoint.memory` does.
    """
    percept = viewpoint.memory(entry_id)
    trace = trace_of(viewpoint.store, viewpoint.agent_id, entry_id)
    return _untraced(viewpoint, percept) if trace is None else as_seen(viewpoint, trace, percept)


def prompts_of(viewpoint: Viewpoint, entry_id: int) -> PromptView:
    """What models were asked in the turn of a memory, word for word.

    Raises:
        Forbidden: the caller does not see everything, and a prompt holds what others said as well.
        NotFound: there is no such memory.
    """
    if not viewpoint.caller.sees_all:
        raise Forbidden("a prompt also holds what others said, so only an admin may see one")
    percept, prompts = viewpoint.memory(entry_id), viewpoint.agent.prompts.get(entry_id, ())
    trace = trace_of(viewpoint.store, viewpoint.agent_id, entry_id)
    unasked = trace is not None and trace.decision and not trace.calls
    shown = (
        replace(
            sent,
            failure=clean(sent.failure),
            messages=tuple(PromptMessage(one.role, _as_sent(one.content)) for one in sent.messages),
        )
        for sent in prompts
    )
    note = "" if prompts else UNASKED if unasked else GONE
    age = viewpoint.since(percept.timestamp)
    return PromptView(*viewpoint.of_agent, entry_id, age, tuple(shown), note)


def _as_sent(content: str) -> str:
    """Word for word with spaces and line breaks, but without anything that nobody would see."""
    return "\n".join(
        line if line.isprintable() and clean(line) == " ".join(line.split()) else clean(line)
        for line in content.split("\n")
    )


def as_seen(viewpoint: Viewpoint, trace: Trace, percept: MemoryEntry | None, back: int = 0) -> WhyView:
    """A turn as this caller sees it. The caller's right to read the percept was checked before."""
    recalled, hidden = recalled_in(viewpoint, trace)
    theirs = percept is not None and not _of_others(viewpoint, trace)
    steps = trace.milliseconds.items() if viewpoint.caller.sees_all else ()
    return WhyView(
        *viewpoint.of_agent,
        back=back,
        turn=turn_view(viewpoint, trace, percept),
        affect=felt(trace.affect),
        appraised_by=trace.appraised_by,
        surprise=viewpoint.figure(trace.surprise),
        importance=viewpoint.figure(trace.importance),
        parts=viewpoint.parts(trace.parts),
        thought=clean(trace.thought) if theirs else "",
        recalled=recalled,
        modulations=modulations_of(viewpoint, trace),
        steps=tuple(StepView(*step) for step in steps),
        calls=trace.calls,
        tokens=trace.tokens,
        hidden=hidden,
        tone=_tone(viewpoint, trace.tone),
        regard=_regard(viewpoint, trace.regard),
    )


def _tone(viewpoint: Viewpoint, tone: Tone) -> Tone:
    """Without the id of a memory that the caller may not read."""
    if tone.entry_id is None or tone.entry_id in viewpoint.readable([tone.entry_id]):
        return tone
    return replace(tone, entry_id=None)


def _regard(viewpoint: Viewpoint, regard: Regard) -> str:
    """In words, with the ids of the memories behind it that the caller may read."""
    told = [
        "" if regard.manner is Manner.PLAIN else str(regard.manner),
        f"{'gladder' if regard.feeling > 0.0 else 'less glad'} to see them" if regard.feeling else "",
        f"{'more' if regard.chance > 0.0 else 'less'} inclined to speak" if regard.chance else "",
    ]
    ids = [f"#{number}" for number in viewpoint.readable(regard.evidence)] if any(told) else []
    return ", ".join(filter(None, [*told, f"because of {' '.join(ids)}" if ids else ""]))


def transistors_of(viewpoint: Viewpoint) -> TransistorsView:
    """The transistors of an agent with their gains, and the last effect of each; for a player, in its talk
    with that player."""
    gains, settings = viewpoint.agent.gains, viewpoint.settings
    chain = settings.thought.chain if settings.llm.base_url else OFFLINE
    last: dict[str, tuple[ModulationView, float]] = {}
    for trace, _ in islice(turns(viewpoint, lambda trace: bool(trace.modulations)), 50):
        for made in modulations_of(viewpoint, trace):
            if made.how in CHANGED:
                last.setdefault(made.transistor, (made, viewpoint.since(trace.timestamp)))
        if gains.keys() <= last.keys():
            break
    views = (TransistorView(name, gain, *last.get(name, (None, None))) for name, gain in gains.items())
    return TransistorsView(*viewpoint.of_agent, chain, tuple(views))


def modulations_of(viewpoint: Viewpoint, trace: Trace) -> tuple[ModulationView, ...]:
    """What each transistor made of the thought of a turn, without words made of what others said.

    From the first transistor on that read something of others, the thought may hold that, so it is left out
    from there on. The answer itself was heard by whoever it was for.
    """
    views: list[ModulationView] = []
    theirs = not _of_others(viewpoint, trace)
    symbols = {symbol.id: symbol.entry_id for symbol in viewpoint.agent.subconscious.symbols}
    read = {number for made in trace.modulations for number in made.entries}
    behind = {symbols[number] for made in trace.modulations for number in made.symbols if number in symbols}
    readable = viewpoint.readable(sorted(read | behind)) if read or behind else {}
    for made in trace.modulations:
        view = _modulation(viewpoint, made, symbols, readable)
        before = view.before if theirs else ""
        theirs = theirs and not view.hidden
        views.append(view if theirs else replace(view, before=before, after="", read=()))
    return tuple(views)


def _of_others(viewpoint: Viewpoint, trace: Trace) -> bool:
    """Whether the plain thought may hold words that the caller may not read.

    The offline voice records which memories it put into words; a model may have used any that it was given.
    """
    if viewpoint.caller.sees_all:
        return False
    handed = [one.entry_id for one in trace.recalled if one.used or trace.voice != OFFLINE]
    return not viewpoint.readable(handed).keys() >= set(handed)


def _modulation(
    viewpoint: Viewpoint, made: Modulation, symbols: Mapping[int, int], readable: Collection[int]
) -> ModulationView:
    """What one transistor made. `symbols` is symbol → entry; `readable` are the caller's entries."""
    seen = tuple(number for number in made.entries if number in readable)
    sees_all = viewpoint.caller.sees_all
    images = tuple(number for number in made.symbols if sees_all or symbols.get(number, -1) in readable)
    hidden = 0 if sees_all else len(made.entries) + len(made.symbols) - len(seen) - len(images)
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
        _empty(viewpoint, 0),
        turn=TurnView(viewpoint.entry(percept), viewpoint.entry(percept).response, affect, "", "", ()),
        affect=affect,
        surprise=viewpoint.figure(percept.surprise),
        importance=viewpoint.figure(percept.encoded_importance),
        parts=viewpoint.parts(percept.parts),
    )


def _empty(viewpoint: Viewpoint, back: int) -> WhyView:
    parts = ImportanceParts()
    return WhyView(*viewpoint.of_agent, back, None, None, "", 0.0, 0.0, parts, "", (), (), (), 0, 0, 0)
