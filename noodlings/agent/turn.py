"""A turn in the making: what the steps of one event hand to one another, until the trace is written."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from noodlings.affect.mood import Mood
from noodlings.ports import Allowance, Speech
from noodlings.values.action import Action
from noodlings.values.affect import Affect
from noodlings.values.audience import Audience
from noodlings.values.floor import Decision
from noodlings.values.memory import MemoryEntry, Recalled
from noodlings.values.percept import Percept
from noodlings.values.tone import PLAIN, Tone
from noodlings.values.trace import Modulation, RecalledTrace, Trace


@dataclass(slots=True)
class Turn:
    """One event on its way through an agent.

    Attributes:
        percept: what was perceived.
        entry: as what it is remembered; replaced when the response completes it.
        affect, appraised_by: what was felt about it in the end, and by what means.
        alone: what was felt about it by itself, before it brought anything back.
        mood: the agent's mood after it.
        decision: whether to speak, and why.
        milliseconds: how long each step took.
        degraded: what failed and was done without.
        recalled: what is in mind for the answer, oldest to newest.
        tone: what the answer must do justice to.
        before: the mood before it, where a model may refine what our own appraisal made of its words; else
            None.
        thought: the plain thought before anything modulates it.
        modulations: what each transistor made of it, in order.
        response, voice, used: what was said, by which voice, out of which entries.
        said: what was said of the response already; it begins with it.
        allowance: what it may spend on models, and spent.
        audience: who may learn of the answer; before there is one, of the percept.
        earlier: talk of before that the agent never heard, as whoever speaks to it tells it, oldest first.
        action: what it does beside answering.
    """

    percept: Percept
    entry: MemoryEntry
    affect: Affect
    appraised_by: str
    mood: Affect
    decision: Decision
    milliseconds: dict[str, float]
    degraded: list[str]
    audience: Audience
    alone: Affect
    recalled: list[Recalled] = field(default_factory=list)
    tone: Tone = PLAIN
    before: Mood | None = None
    thought: str = ""
    modulations: tuple[Modulation, ...] = ()
    response: str | None = None
    voice: str = ""
    used: frozenset[int] = frozenset()
    said: str = ""
    allowance: Allowance = field(default_factory=Allowance)
    earlier: tuple[MemoryEntry, ...] = ()
    action: Action | None = None

    def say(self, voice: str, speech: Speech, response: str, modulations: tuple[Modulation, ...]) -> None:
        """What a voice thought, what the transistors made of it, and what is said."""
        self.voice, self.thought, self.used = voice, speech.text, frozenset(speech.used)
        self.modulations, self.response = modulations, response
        if speech.cut:
            self.degraded.append(f"the rest of the reply is missing: {speech.cut}")

    def unsay(self, why: str) -> None:
        """Nothing is said after all, and no word of what might have been is kept."""
        self.recalled, self.modulations, self.used = [], (), frozenset()
        self.voice, self.thought, self.response, self.tone, self.action = "", "", None, PLAIN, None
        self.decision = Decision(False, why)
        self.audience = self.entry.audience

    def trace(self, agent_id: str) -> Trace:
        """The record of the turn. Memories go in by reference."""
        return Trace(
            agent_id=agent_id,
            entry_id=self.entry.id,
            timestamp=self.entry.timestamp,
            affect=self.affect,
            appraised_by=self.appraised_by,
            mood=self.mood,
            surprise=self.entry.surprise,
            importance=self.entry.encoded_importance,
            parts=self.entry.parts,
            recalled=tuple(
                RecalledTrace(
                    found.entry.id,
                    found.why,
                    found.score,
                    found.scores,
                    found.entry.id in self.used,
                    found.sources,
                    found.supersedes,
                    found.superseded_by,
                )
                for found in self.recalled
            ),
            thought=self.thought,
            modulations=self.modulations,
            response=self.response,
            voice=self.voice,
            decision=self.decision.reason,
            tone=self.tone,
            milliseconds=dict(self.milliseconds),
            calls=self.allowance.calls,
            tokens=self.allowance.tokens,
            degraded=tuple(self.degraded),
            audience=self.audience,
            action=self.action,
        )


@contextmanager
def timed(milliseconds: dict[str, float], step: str) -> Iterator[None]:
    """Note how long a step took, in milliseconds."""
    began = time.perf_counter()
    try:
        yield
    finally:
        milliseconds[step] = round((time.perf_counter() - began) * 1e3, 3)
