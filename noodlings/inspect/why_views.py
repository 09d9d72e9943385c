"""Views of one turn from end to end: why an agent said what it said, or kept silent."""

from __future__ import annotations

from dataclasses import dataclass

from noodlings.inspect.views import FeltView, FlowEntryView, TurnView, View
from noodlings.values.memory import ImportanceParts


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
