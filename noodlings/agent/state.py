"""The state of an agent apart from its memories, and how it is stored and read.

`AgentCore` holds everything that makes an agent who it is now. `Feelings` is the part that changes slowly:
the mood, what a game made of the agent, and its appetites.

A stored state may have been edited by hand, so mistakes are refused with an explanation before anything is
built from it.
"""

from __future__ import annotations

import random
import zlib
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from noodlings.affect.game import GameFeeling
from noodlings.affect.game_rules import GameRules
from noodlings.affect.mood import Mood, baseline_of
from noodlings.agent.archive import AgentArchive
from noodlings.agent.events import event_in
from noodlings.agent.recipes import plain_persona
from noodlings.errors import UserError
from noodlings.memory.change_journal import ChangeJournal
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.subconscious import SubconsciousMemory
from noodlings.mind.appetites import Appetites, DriveTable, signals
from noodlings.mind.mind import Mind, MindState
from noodlings.ports import AgentRecord, AgentState, OwnLine
from noodlings.transistors.chain import Chain
from noodlings.validation import explain
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.audience import Audience, Tier
from noodlings.values.id_ranges import IdRanges
from noodlings.values.percept import Percept
from noodlings.values.persona import Persona
from noodlings.values.sent_prompt import SentPrompt


@dataclass(frozen=True, slots=True)
class Feelings:
    """The slow feelings of an agent at one moment."""

    mood: Mood
    game: GameFeeling
    appetites: Appetites

    @classmethod
    def of(cls, persona: Persona, now: float) -> Feelings:
        """The feelings of a new agent."""
        return cls(Mood.of(persona, now), GameFeeling(), Appetites.of(persona, now))

    def after_event(self, rules: GameRules, percept: Percept) -> tuple[Feelings, Affect | None]:
        """Feelings after a game's event, and the affect of the event; None for other percepts."""
        name = event_in(percept.kind, percept.data)
        if not name:
            return self, None
        game, affect = self.game.after(rules, name, percept.data, percept.timestamp)
        return replace(self, game=game), affect

    def pushed(self, affect: Affect, now: float) -> Feelings:
        return replace(self, mood=self.mood.pushed(affect, now))

    def corrected(self, was: Mood, instead: Mood) -> Feelings:
        """As if an earlier push had led to the mood `instead` rather than `was`."""
        return replace(self, mood=self.mood.corrected(was, instead))

    def fed(self, drives: DriveTable, percept: Percept, affect: Affect, surprise: float) -> Feelings:
        """After a percept satisfied or sharpened appetites; `surprise` is 0…1."""
        event = event_in(percept.kind, percept.data)
        happened = signals(affect, surprise, percept.addressed, event)
        return replace(self, appetites=self.appetites.moved(drives, happened, percept.timestamp))

    def without(self, moments: Collection[float]) -> Feelings:
        """Without the words of what happened at these times (world seconds)."""
        return replace(self, game=self.game.without(moments))

    def as_dict(self) -> dict[str, Any]:
        """JSON-compatible and exact."""
        return {
            "mood": self.mood.as_dict(),
            "game": self.game.as_dict(),
            "appetites": self.appetites.as_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], persona: Persona) -> Feelings:
        """The inverse of `as_dict`. Raises `UserError`."""
        return cls(
            Mood.from_dict(data["mood"], baseline_of(persona), persona.moodiness),
            GameFeeling.from_dict(data["game"]),
            Appetites.from_dict(data["appetites"], persona),
        )


class StoredFeelings(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    mood: dict[str, Any]
    game: dict[str, Any]
    appetites: dict[str, Any]


def _known_line(line: Any) -> Any:
    """Read an old line stored as a string: its listeners are unknown, so nobody may learn of it."""
    return {"text": line, "heard_by": [], "confined": True} if isinstance(line, str) else line


class StoredLine(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    text: str
    heard_by: list[str]
    confined: bool
    tier: Annotated[int, Field(ge=0, le=3)] = Tier.OPEN


StoredRange = Annotated[list[Annotated[int, Field(ge=0, le=2**53)]], Field(min_length=2, max_length=2)]


class StoredState(BaseModel):
    """The keys of a stored state.

    Attributes:
        step: how many percepts the agent took in.
        said: its own latest lines, oldest first.
        last_spoke: when it last said something, world time, or None.
        affect: what it felt about the latest percept, five numbers.
        read, related, written: see `AgentCore`.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    version: Literal[1]
    step: Annotated[int, Field(ge=0, le=2**53)]
    said: list[Annotated[StoredLine, BeforeValidator(_known_line)]]
    last_spoke: float | None
    affect: list[float]
    feelings: StoredFeelings
    mind: dict[str, Any]
    read: list[StoredRange] = []
    written: list[StoredRange] = []
    related: Annotated[int, Field(ge=0, le=2**53)] = 0


def stored_line(line: OwnLine) -> dict[str, Any]:
    return {
        "text": line.text,
        "heard_by": sorted(line.audience.witnesses),
        "confined": line.audience.confined,
        **({"tier": int(line.audience.tier)} if line.audience.tier > Tier.CONFINED else {}),
    }


def own_line(stored: StoredLine) -> OwnLine:
    return OwnLine(stored.text, Audience(frozenset(stored.heard_by), stored.confined, Tier(stored.tier)))


def read_state(data: Mapping[str, Any]) -> StoredState:
    """Check stored data. Raises `UserError` when a key is wrong, missing or unknown."""
    try:
        return StoredState.model_validate(data)
    except ValidationError as error:
        raise UserError(f"a stored state is damaged: {explain(error, StoredState, quoted=False)}") from None


def check_state(data: Mapping[str, Any]) -> None:
    """Raise `UserError` unless an agent can be restored from this data."""
    state = read_state(data)
    Affect.of(state.affect)
    Feelings.from_dict(state.feelings.model_dump(), plain_persona("somebody"))
    MindState.from_dict(state.mind)


def readable_state(data: Mapping[str, Any]) -> dict[str, Any]:
    """The same state with all arrays as lists of numbers, so that people can read it.

    An agent can be restored from it too. Raises `UserError` as `check_state` does.
    """
    check_state(data)
    return {**data, "mind": MindState.from_dict(data["mind"]).as_dict(np.ndarray.tolist)}


LINES_KEPT = 50
"""An agent's own latest lines, which its voice does not repeat."""
PROMPTS_KEPT = 20
"""Turns of an agent whose prompts can be looked at."""


@dataclass(slots=True)
class AgentCore:
    """What one agent is.

    Attributes:
        journal: what changed in its memory and is not kept yet.
        archive: everything it ever perceived, as it can be searched; None with a plain memory.
        seed: the same seed and the same percepts give the same turns.
        affect: what it felt about the latest percept.
        step: how many percepts it took in.
        said: its own latest lines, oldest first.
        last_spoke: when it last said something, world time, or None.
        prompts: entry id → what models were asked in its turn, for the latest turns; only in memory.
        read: ids of the entries that were read for facts, see `noodlings.agent.fact_reading`.
        related: the id up to which entries were related with others, see `noodlings.agent.night`.
        written: the days of which a model has worded the journal, as ordinals (`datetime.date`), see
            `noodlings.agent.journal_writing`.
    """

    persona: Persona
    memory: HierarchicalMemory
    subconscious: SubconsciousMemory
    journal: ChangeJournal
    archive: AgentArchive | None
    chain: Chain
    feelings: Feelings
    seed: int = 0
    affect: Affect = NEUTRAL
    mind: Mind = field(default_factory=Mind)
    step: int = 0
    said: deque[OwnLine] = field(default_factory=lambda: deque(maxlen=LINES_KEPT))
    last_spoke: float | None = None
    prompts: dict[int, list[SentPrompt]] = field(default_factory=dict)
    read: IdRanges = field(default_factory=IdRanges)
    related: int = 0
    written: IdRanges = field(default_factory=IdRanges)

    @property
    def id(self) -> str:
        return self.persona.id

    def note_said(self, line: OwnLine, now: float) -> None:
        self.said.append(line)
        self.last_spoke = now

    def unsay(self, text: str) -> None:
        """Remove the latest of its own lines with this text."""
        at = max((at for at, line in enumerate(self.said) if line.text == text), default=None)
        if at is not None:
            del self.said[at]

    def note_prompt(self, entry_id: int, prompt: SentPrompt) -> None:
        self.prompts.setdefault(entry_id, []).append(prompt)
        while len(self.prompts) > PROMPTS_KEPT:
            del self.prompts[next(iter(self.prompts))]

    def seed_of(self, moment: float) -> int:
        """A number for each moment, the same in every process."""
        return zlib.crc32(f"{self.seed}:{self.id}:{moment}".encode())

    def random(self, moment: float) -> random.Random:
        """A random generator for each moment, the same in every process."""
        return random.Random(self.seed_of(moment))  # noqa: S311 -- reproducible, not secret

    def state(self) -> AgentState:
        """Everything but the memories, as stored."""
        return AgentState(
            self.id,
            {
                "version": 1,
                "step": self.step,
                "said": [stored_line(line) for line in self.said],
                "last_spoke": self.last_spoke,
                "affect": self.affect.as_list(),
                "feelings": self.feelings.as_dict(),
                "mind": self.mind.state_dict(),
                **({"read": [list(pair) for pair in self.read.ranges]} if self.read.ranges else {}),
                **({"related": self.related} if self.related else {}),
                **({"written": [list(pair) for pair in self.written.ranges]} if self.written.ranges else {}),
            },
        )

    def restore(self, record: AgentRecord) -> None:
        """Continue from the stored agent. Raises `UserError` when its state is damaged."""
        self.recollect(record)
        # A kill between a percept and its answer leaves a state of before it; of the first one, none.
        self.step = max((entry.step for entry in record.working), default=0)
        if record.state.data:
            state = read_state(record.state.data)
            self.step = max(self.step, state.step)
            self.said.clear()
            self.said.extend(own_line(line) for line in state.said)
            self.last_spoke = state.last_spoke
            self.affect = Affect.of(state.affect)
            self.feelings = Feelings.from_dict(state.feelings.model_dump(), self.persona)
            self.mind.load_state(state.mind)
            self.read = IdRanges.of(state.read)
            self.related = state.related
            self.written = IdRanges.of(state.written)

    def recollect(self, record: AgentRecord) -> None:
        self.memory.restore(
            record.working, record.episodic, record.perceived, record.consolidated, record.last_id
        )
        self.subconscious.restore(record.symbols, record.last_symbol_id)

    def let_go(self, moments: Collection[float]) -> None:
        """Drop everything that may hold words of what happened at these times (world seconds): prompts, its
        own lines, what the mind finds familiar, and notes of a game. What was felt stays.
        """
        self.prompts.clear()
        self.said.clear()
        self.mind.forget(moments)
        self.feelings = self.feelings.without(moments)
