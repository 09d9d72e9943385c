"""A turn in progress: what the steps of one event pass on, until the trace is written."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from noodlings.affect.mood import Mood
from noodlings.ports import Allowance, Speech, Store
from noodlings.values.action import Action
from noodlings.values.affect import Affect
from noodlings.values.audience import Audience
from noodlings.values.floor import Decision
from noodlings.values.memory import MemoryEntry, Recalled
from noodlings.values.percept import Percept
from noodlings.values.reading import LineReading
from noodlings.values.relationship import NO_REGARD, Regard, Relationship, manner_to
from noodlings.values.tone import PLAIN, Tone
from noodlings.values.trace import Modulation, RecalledTrace, Trace


@dataclass(slots=True)
class Turn:
    """One event on its way through an agent.

    Attributes:
        entry: the memory of the percept; replaced when the response completes it.
        affect, appraised_by: what was felt about it in the end, and how that is known.
        mood: the agent's mood after it.
        milliseconds: how long each step took.
        degraded: what failed, in words.
        audience: who may learn of the answer; before there is one, of the percept.
        alone: what was felt about it before it brought back a memory.
        regard: how its relationship with the speaker shaped feeling and decision.
        relationships: what it makes of those present, the speaker first; empty where that is not known.
        shown: those of them that the answer was shaped by.
        recalled: what is in mind for the answer, oldest to newest.
        before: the mood before it, where a model may refine the appraisal of its words; else None.
        thought: the plain thought before it is modulated.
        reading: what is answered, as a model reads it; None where none did.
        used: ids of the entries that the response came from.
        said: the part of the response that was said already.
        earlier: talk that the agent never heard, as the speaker reports it, oldest first.
        made_of: ids of the entries that its answer is made of; None while it may be made of any.
        forgotten: ids of entries that were forgotten, or whose answer was, since the answer was begun.
        forgotten_of: ids of those who said any of them.
        anew: how often the answer was begun anew, because something that it was made of was forgotten.
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
    regard: Regard = NO_REGARD
    relationships: tuple[Relationship, ...] = ()
    shown: tuple[Relationship, ...] = ()
    recalled: list[Recalled] = field(default_factory=list)
    tone: Tone = PLAIN
    before: Mood | None = None
    reading: LineReading | None = None
    thought: str = ""
    modulations: tuple[Modulation, ...] = ()
    response: str | None = None
    voice: str = ""
    used: frozenset[int] = frozenset()
    said: str = ""
    allowance: Allowance = field(default_factory=Allowance)
    earlier: tuple[MemoryEntry, ...] = ()
    action: Action | None = None
    made_of: frozenset[int] | None = None
    forgotten: set[int] = field(default_factory=set)
    forgotten_of: set[str] = field(default_factory=set)
    anew: int = 0

    @property
    def outdated(self) -> bool:
        """Whether the answer may be made of something that was forgotten since.

        What it makes of a person is made of all their lines; `made_of` has only a few of them.
        """
        if self.made_of is None:
            return bool(self.forgotten)
        judged = {one.of for one in self.relationships if one.lines}
        return not (self.forgotten.isdisjoint(self.made_of) and self.forgotten_of.isdisjoint(judged))

    def begin(self) -> None:
        """Begin the answer, of what is left by now."""
        self.made_of = None
        self.forgotten.clear()
        self.forgotten_of.clear()

    def say(self, voice: str, speech: Speech, response: str, modulations: tuple[Modulation, ...]) -> None:
        """Set the thought of a voice, and what the transistors made of it."""
        self.voice, self.thought, self.used = voice, speech.text, frozenset(speech.used)
        self.modulations, self.response = modulations, response
        if speech.cut:
            self.degraded.append(f"the rest of the reply is missing: {speech.cut}")

    def unsay(self, why: str) -> None:
        """Say nothing after all, and keep nothing of the answer."""
        self.recalled, self.modulations, self.used, self.shown = [], (), frozenset(), ()
        self.voice, self.thought, self.response, self.tone, self.action = "", "", None, PLAIN, None
        self.decision = Decision(False, why)
        self.audience, self.regard = self.entry.audience, NO_REGARD

    def part_from(self, user_ids: Collection[str]) -> None:
        """Go on as if these users had not been there."""
        self.percept = self.percept.without(user_ids)
        self.entry = replace(self.entry, audience=self.entry.audience.without(user_ids))
        self.audience = self.audience.without(user_ids)

    def _whole_regard(self) -> Regard:
        """The regard with what shaped the answer."""
        manner = manner_to(self.percept.user_id, self.shown)
        evidence = {*self.regard.evidence, *(number for one in self.shown for number in one.evidence)}
        return replace(self.regard, manner=manner, evidence=tuple(sorted(evidence)))

    def trace(self, agent_id: str) -> Trace:
        """The record of the turn, with memories by reference."""
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
            regard=self._whole_regard(),
            milliseconds=dict(self.milliseconds),
            calls=self.allowance.calls,
            tokens=self.allowance.tokens,
            degraded=tuple(self.degraded),
            audience=self.audience,
            action=self.action,
        )


@contextmanager
def timed(milliseconds: dict[str, float], step: str) -> Iterator[None]:
    began = time.perf_counter()
    try:
        yield
    finally:
        milliseconds[step] = round((time.perf_counter() - began) * 1e3, 3)


def trace_of(store: Store, agent_id: str, entry_id: int) -> Trace | None:
    """The trace of the turn in which a memory was perceived; None where none is kept."""
    latest = store.traces(agent_id, 1, before=entry_id + 1)
    return latest[0] if latest and latest[0].entry_id == entry_id else None
