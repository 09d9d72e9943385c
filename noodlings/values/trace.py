"""The trace of one turn: what was perceived, felt, recalled, thought and said, and what degraded.

A trace refers to memories by id and never copies their words, so that forgetting one leaves nothing here.

A lens in it says how a transistor wants a thought coloured, for a voice to do it. It says what and never how:
a model is told `direction` and shown what was read; a voice without a model has words of its own for what it
knows (`cue`), and uses `phrases` for what it does not.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from noodlings.values.affect import Affect
from noodlings.values.audience import OPEN, Audience, of_all
from noodlings.values.memory import ImportanceParts, MemoryEntry, Symbol


@dataclass(frozen=True, slots=True)
class Lens:
    """One transistor's part in a reply.

    Attributes:
        transistor: whose.
        gain: how strong it is set, above 0, at most 1.
        strength: how much there is to add at this moment, above 0, at most 1.
        direction: what is to become of the thought: one or two sentences of our own to a model. Words from
            outside never stand in it.
        cue: what colours it, as one word: a feeling, an appetite.
        notes: more of that in words, such as what is wanted.
        entries, symbols: the memories and symbols it is coloured by, the strongest first.
        phrases: sentences that a voice without a model may put in where it knows no others.
    """

    transistor: str
    gain: float
    strength: float
    direction: str
    cue: str = ""
    notes: tuple[str, ...] = ()
    entries: tuple[MemoryEntry, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    phrases: tuple[str, ...] = ()

    @property
    def audience(self) -> Audience:
        """Who may learn of all that it is coloured by."""
        return of_all((*self.entries, *self.symbols))


@dataclass(frozen=True, slots=True)
class RecalledTrace:
    """One memory that was in mind during a turn, by reference."""

    entry_id: int
    why: tuple[str, ...]
    score: float
    scores: dict[str, float] = field(default_factory=dict)
    used: bool = False
    """Whether the words that were said came from it (the offline voice knows; a model cannot be asked)."""


@dataclass(frozen=True, slots=True)
class Modulation:
    """What one transistor made of the thought.

    Attributes:
        transistor, gain: which, and how strong it is set, 0…1.
        before, after: the thought, the same where it was passed through; both "" where one call of a model
            took in all lenses at once.
        how: "fused", "serial" or "offline"; "passed" when there was nothing to add, "off" at gain 0,
            "failed" when it could not (`Trace.degraded` says why).
        lens: what it asked for, in words.
        read: what it read beside memories and symbols: a feeling, an appetite.
        entries, symbols: ids of the memories and symbols that it read.
    """

    transistor: str
    gain: float
    before: str
    after: str
    how: str = "passed"
    lens: str = ""
    read: tuple[str, ...] = ()
    entries: tuple[int, ...] = ()
    symbols: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """The record of one turn.

    Attributes:
        agent_id, entry_id: whose turn, and the percept it answers (an entry of that agent).
        timestamp: world time.
        affect: what was felt in the end, and by what means (`appraised_by`: "words", "words+vector", "llm",
            "event", "given"); the entry keeps what was felt at first.
        mood: the agent's mood after the event.
        surprise, importance, parts: as encoded.
        recalled: what was in mind, oldest to newest; empty when the agent had nothing to say.
        thought: the plain thought, or "" when the agent kept silent.
        modulations: what each transistor made of it, in order.
        response: what was said, or None.
        voice: which voice spoke: "offline", "llm", or "".
        decision: why it spoke or kept silent.
        milliseconds: how long each step took, by its name.
        calls, tokens: what the turn cost of a model.
        degraded: what failed and was done without, in words.
        audience: who heard the answer, and may learn of it and of what it was made of.
    """

    agent_id: str
    entry_id: int
    timestamp: float
    affect: Affect
    appraised_by: str
    mood: Affect
    surprise: float
    importance: float
    parts: ImportanceParts
    recalled: tuple[RecalledTrace, ...] = ()
    thought: str = ""
    modulations: tuple[Modulation, ...] = ()
    response: str | None = None
    voice: str = ""
    decision: str = ""
    milliseconds: dict[str, float] = field(default_factory=dict)
    calls: int = 0
    tokens: int = 0
    degraded: tuple[str, ...] = ()
    audience: Audience = OPEN


@dataclass(frozen=True, slots=True)
class TurnEvent:
    """A sign of an agent at work, for whoever looks on.

    Attributes:
        agent_id, entry_id: whose turn, and the percept that it is about.
        step: "perceived" when the percept is kept, "recall" when it is known what comes to mind, "thinking"
            when a reply is late, "turn" at the end; between the first and the last only where it answers.
        trace: as far as it goes; whole with "turn".
    """

    agent_id: str
    entry_id: int
    step: str
    trace: Trace
