"""The trace of one turn: what was perceived, felt, recalled, thought and said, and what degraded.

A trace refers to memories by id and never copies their words, so that forgetting one leaves nothing here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from noodlings.values.action import Action
from noodlings.values.affect import Affect
from noodlings.values.audience import OPEN, Audience
from noodlings.values.memory import ImportanceParts
from noodlings.values.percept import Percept
from noodlings.values.relationship import NO_REGARD, Regard
from noodlings.values.tone import PLAIN, Tone

TALK_BLOCK = 10
"""A model is told of the last one to two blocks of so many percepts."""


def talk_before(entry_id: int) -> range:
    """The ids among which are the percepts that a model is told of before it answers one.

    It begins after a multiple of `TALK_BLOCK`, so that the beginning stays the same for some turns.
    """
    return range(max(((entry_id - 1) // TALK_BLOCK - 1) * TALK_BLOCK, 0) + 1, entry_id)


@dataclass(frozen=True, slots=True)
class RecalledTrace:
    """One memory that was in mind during a turn; the fields are those of `Recalled`."""

    entry_id: int
    why: tuple[str, ...]
    score: float
    scores: dict[str, float] = field(default_factory=dict)
    used: bool = False
    """Whether the reply came from it, as far as the voice knows."""
    sources: tuple[int, ...] = ()
    supersedes: tuple[int, ...] = ()
    superseded_by: int | None = None


@dataclass(frozen=True, slots=True)
class Modulation:
    """What one transistor made of the thought.

    Attributes:
        gain: how strong it is set, 0…1.
        before, after: the thought, the same if it was not changed; both "" if one call of a model applied all
            lenses at once.
        how: "fused", "serial" or "offline"; "passed" if there was nothing to add, "off" at gain 0, "failed"
            if it failed (`Trace.degraded` says why).
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
        entry_id: the percept it answers, an entry of that agent.
        timestamp: world time.
        affect: what was felt in the end, and by what means (`appraised_by`: "words", "words+vector",
            "words+layers", "llm", "event", "given"); the entry keeps what was felt at first.
        mood: the agent's mood after the event.
        surprise, importance, parts: as encoded.
        recalled: what was in mind, oldest to newest; empty if the agent had nothing to say.
        thought: the plain thought, or "" if the agent kept silent.
        modulations: what each transistor made of it, in order.
        response: what was said, or None.
        voice: "offline", "llm", or "".
        decision: why it spoke or kept silent.
        regard: how relationships with those present shaped it.
        milliseconds: how long each step took, by its name.
        calls, tokens: what the turn cost of a model.
        degraded: what failed, in words.
        audience: who heard the answer, and may learn of it and of what it was made of.
        action: the offered action that goes with the answer, or None.
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
    regard: Regard = NO_REGARD
    milliseconds: dict[str, float] = field(default_factory=dict)
    calls: int = 0
    tokens: int = 0
    degraded: tuple[str, ...] = ()
    audience: Audience = OPEN
    action: Action | None = None

    @property
    def talk(self) -> range:
        """`talk_before` it, if a model answered."""
        return talk_before(self.entry_id) if self.voice == "llm" else range(0)

    def without_words(self) -> Trace:
        """Without any words of its turn, as of what is sealed; what it was made of stays known."""
        made = tuple(replace(one, before="", after="", lens="", read=()) for one in self.modulations)
        return replace(self, thought="", modulations=made, response=None, action=None)


@dataclass(frozen=True, slots=True)
class TurnEvent:
    """One step of a turn, for watchers.

    Attributes:
        entry_id: the entry that the percept became.
        step: "perceived" when the percept is stored, "recall" when the memories are chosen, "thinking" when a
            reply is late, "speech" with each part of a reply as soon as it may be heard, "turn" at the end.
            Without an answer there are only the first and the last.
        trace: as far as it goes; whole with "turn".
        said: with "speech" one or more whole sentences; those of a turn, joined by spaces, are its response.
    """

    agent_id: str
    entry_id: int
    step: str
    trace: Trace
    percept: Percept
    said: str = ""
