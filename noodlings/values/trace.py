"""The trace of one turn: what was perceived, felt, recalled, thought and said, and what degraded.

A trace refers to memories by id and never copies their words, so that forgetting one leaves nothing here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from noodlings.values.action import Action
from noodlings.values.affect import Affect
from noodlings.values.audience import OPEN, Audience
from noodlings.values.memory import ImportanceParts
from noodlings.values.percept import Percept
from noodlings.values.tone import PLAIN, Tone


@dataclass(frozen=True, slots=True)
class RecalledTrace:
    """One memory that was in mind during a turn, by reference; the fields are those of `Recalled`."""

    entry_id: int
    why: tuple[str, ...]
    score: float
    scores: dict[str, float] = field(default_factory=dict)
    used: bool = False
    """Whether the words that were said came from it (the offline voice knows; a model cannot be asked)."""
    sources: tuple[int, ...] = ()
    supersedes: tuple[int, ...] = ()
    superseded_by: int | None = None


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
        affect: what was felt in the end, and by what means (`appraised_by`: "words", "words+vector",
            "words+layers", "llm", "event", "given"); the entry keeps what was felt at first.
        mood: the agent's mood after the event.
        surprise, importance, parts: as encoded.
        recalled: what was in mind, oldest to newest; empty when the agent had nothing to say.
        thought: the plain thought, or "" when the agent kept silent.
        modulations: what each transistor made of it, in order.
        response: what was said, or None.
        voice: which voice spoke: "offline", "llm", or "".
        decision: why it spoke or kept silent.
        tone: what the answer had to do justice to.
        milliseconds: how long each step took, by its name.
        calls, tokens: what the turn cost of a model.
        degraded: what failed and was done without, in words.
        audience: who heard the answer, and may learn of it and of what it was made of.
        action: what it does beside answering, of what was offered; None for nothing.
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
    tone: Tone = PLAIN
    milliseconds: dict[str, float] = field(default_factory=dict)
    calls: int = 0
    tokens: int = 0
    degraded: tuple[str, ...] = ()
    audience: Audience = OPEN
    action: Action | None = None


@dataclass(frozen=True, slots=True)
class TurnEvent:
    """A sign of an agent at work, for whoever looks on.

    Attributes:
        agent_id, entry_id: whose turn, and as what the percept is remembered.
        step: "perceived" when the percept is kept, "recall" when it is known what comes to mind, "thinking"
            when a reply is late, "speech" with each part of a reply as soon as it may be heard, "turn" at the
            end; between the first and the last only where it answers.
        trace: as far as it goes; whole with "turn".
        percept: what it is about.
        said: with "speech" one or more whole sentences; those of a turn, in order and with a space between
            them, are its response.
    """

    agent_id: str
    entry_id: int
    step: str
    trace: Trace
    percept: Percept
    said: str = ""
