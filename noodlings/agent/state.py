"""The state of an agent apart from its memories: its parts, and how they are stored and read.

`AgentCore` holds everything that makes an agent who it is at this moment, and `Feelings` the part of it that
changes slowly: the mood, what a game made of the agent, and its appetites. What is done with them is in
`perceiving`, `responder` and `follow_up`.

A stored state may come from a file that was edited by hand, so anything wrong in it is refused with an
explanation before anything is built from it.
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
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.plain import PlainMemory
from noodlings.memory.subconscious import SubconsciousMemory
from noodlings.mind.appetites import Appetites, DriveTable, signals
from noodlings.mind.mind import Mind, MindState
from noodlings.ports import AgentRecord, AgentState, OwnLine
from noodlings.transistors.chain import Chain
from noodlings.validation import explain
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.audience import Audience, Tier
from noodlings.values.percept import Percept
from noodlings.values.persona import Persona
from noodlings.values.sent_prompt import SentPrompt


@dataclass(frozen=True, slots=True)
class Feelings:
    """The slow side of an agent at one moment; a change is a new value."""

    mood: Mood
    game: GameFeeling
    appetites: Appetites

    @classmethod
    def of(cls, persona: Persona, now: float) -> Feelings:
        """Of somebody to whom nothing has happened yet."""
        return cls(Mood.of(persona, now), GameFeeling(), Appetites.of(persona, now))

    def after_event(self, rules: GameRules, percept: Percept) -> tuple[Feelings, Affect | None]:
        """What a game's event leaves, and what it feels like; nothing for every other percept."""
        name = event_in(percept.kind, percept.data)
        if not name:
            return self, None
        game, affect = self.game.after(rules, name, percept.data, percept.timestamp)
        return replace(self, game=game), affect

    def pushed(self, affect: Affect, now: float) -> Feelings:
        """After something felt like `affect`."""
        return replace(self, mood=self.mood.pushed(affect, now))

    def corrected(self, was: Mood, instead: Mood) -> Feelings:
        """As if an earlier push had led to the mood `instead`, where it led to `was`."""
        return replace(self, mood=self.mood.corrected(was, instead))

    def fed(self, drives: DriveTable, percept: Percept, affect: Affect, surprise: float) -> Feelings:
        """After a percept satisfied or sharpened appetites; `surprise` is 0…1."""
        event = event_in(percept.kind, percept.data)
        happened = signals(affect, surprise, percept.addressed, event)
        return replace(self, appetites=self.appetites.moved(drives, happened, percept.timestamp))

    def without(self, moments: Collection[float]) -> Feelings:
        """Without the words of what happened at these moments, in world seconds; what was felt stays."""
        return replace(self, game=self.game.without(moments))

    def as_dict(self) -> dict[str, Any]:
        """What a restart needs, JSON-compatible and exact."""
        return {
            "mood": self.mood.as_dict(),
            "game": self.game.as_dict(),
            "appetites": self.appetites.as_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], persona: Persona) -> Feelings:
        """The feelings that `as_dict` was taken from. Raises `UserError` for anything else."""
        return cls(
            Mood.from_dict(data["mood"], baseline_of(persona)),
            GameFeeling.from_dict(data["game"]),
            Appetites.from_dict(data["appetites"], persona),
        )


STATE_VERSION = 1


class StoredFeelings(BaseModel):
    """The three parts of `Feelings.as_dict`; each knows its own version."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    mood: dict[str, Any]
    game: dict[str, Any]
    appetites: dict[str, Any]


def _known_line(line: Any) -> Any:
    """A mere string is a line from before it was noted who heard it: then nobody may learn of it."""
    return {"text": line, "heard_by": [], "confined": True} if isinstance(line, str) else line


class StoredLine(BaseModel):
    """An own line, who heard it, and whether nobody else may learn of it; see `OwnLine`."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    text: str
    heard_by: list[str]
    confined: bool
    tier: Annotated[int, Field(ge=0, le=3)] = Tier.OPEN


class StoredState(BaseModel):
    """The keys of a state.

    Attributes:
        step: how many percepts the agent took in.
        said: its own latest lines, oldest first.
        last_spoke: when it last said something, world time, or None.
        affect: what it felt about the latest percept, five numbers.
        feelings: see `Feelings.as_dict`.
        mind: see `MindState.as_dict`.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    version: Literal[1]
    step: Annotated[int, Field(ge=0, le=2**53)]
    said: list[Annotated[StoredLine, BeforeValidator(_known_line)]]
    last_spoke: float | None
    affect: list[float]
    feelings: StoredFeelings
    mind: dict[str, Any]


def stored_line(line: OwnLine) -> dict[str, Any]:
    """An own line as it is stored."""
    return {
        "text": line.text,
        "heard_by": sorted(line.audience.witnesses),
        "confined": line.audience.confined,
        **({"tier": int(line.audience.tier)} if line.audience.tier > Tier.CONFINED else {}),
    }


def own_line(stored: StoredLine) -> OwnLine:
    """The line that was stored."""
    return OwnLine(stored.text, Audience(frozenset(stored.heard_by), stored.confined, Tier(stored.tier)))


def read_state(data: Mapping[str, Any]) -> StoredState:
    """The state in stored data. Raises `UserError` when a key is wrong, missing or unknown."""
    try:
        return StoredState.model_validate(data)
    except ValidationError as error:
        raise UserError(f"a stored state is damaged: {explain(error, StoredState, quoted=False)}") from None


def check_state(data: Mapping[str, Any]) -> None:
    """Raise `UserError` unless an agent can be restored from this data, to the last number."""
    state = read_state(data)
    Affect.of(state.affect)
    Mood.from_dict(state.feelings.mood, NEUTRAL)
    GameFeeling.from_dict(state.feelings.game)
    Appetites.from_dict(state.feelings.appetites, plain_persona("somebody"))
    MindState.from_dict(state.mind)


def readable_state(data: Mapping[str, Any]) -> dict[str, Any]:
    """The same state with every number in it written as a number, so that a person can read them.

    An agent can be restored from it just as well. Raises `UserError` as `check_state` does.
    """
    check_state(data)
    return {**data, "mind": MindState.from_dict(data["mind"]).as_dict(np.ndarray.tolist)}


SAID = 50
"""An agent's own latest lines, which its voice does not repeat."""
PROMPTS = 20
"""Turns of an agent whose prompts can be looked at."""


@dataclass(slots=True)
class AgentCore:
    """What one agent is.

    Attributes:
        persona: who it is.
        memory: what it has in mind.
        subconscious: what intense moments became.
        archive: everything it ever perceived, as it can be searched; None for a plain list.
        chain: its transistors.
        feelings: what moves slowly in it.
        seed: same seed, same percepts: same turns.
        affect: what it felt about the latest percept.
        mind: expectation and phenomenal state.
        step: how many percepts it took in.
        said: its own latest lines, oldest first.
        last_spoke: when it last said something, world time, or None.
        forgettings: how often something was forgotten since the program began.
        prompts: entry id → what models were asked in its turn, of the last turns in which they were; nowhere
            but here, as long as the agent is in memory.
    """

    persona: Persona
    memory: HierarchicalMemory | PlainMemory
    subconscious: SubconsciousMemory
    archive: AgentArchive | None
    chain: Chain
    feelings: Feelings
    seed: int = 0
    affect: Affect = NEUTRAL
    mind: Mind = field(default_factory=Mind)
    step: int = 0
    said: deque[OwnLine] = field(default_factory=lambda: deque(maxlen=SAID))
    last_spoke: float | None = None
    forgettings: int = 0
    prompts: dict[int, list[SentPrompt]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The persona's id."""
        return self.persona.id

    def note_said(self, line: OwnLine, now: float) -> None:
        """It said or did this."""
        self.said.append(line)
        self.last_spoke = now

    def unsay(self, text: str) -> None:
        """It did not say this after all, the last time that it did."""
        at = max((at for at, line in enumerate(self.said) if line.text == text), default=None)
        if at is not None:
            del self.said[at]

    def note_prompt(self, entry_id: int, prompt: SentPrompt) -> None:
        """A model is asked this in the turn of an entry."""
        self.prompts.setdefault(entry_id, []).append(prompt)
        while len(self.prompts) > PROMPTS:
            del self.prompts[next(iter(self.prompts))]

    def seed_of(self, moment: float) -> int:
        """A number of its own for each moment, the same in every process."""
        return zlib.crc32(f"{self.seed}:{self.id}:{moment}".encode())

    def random(self, moment: float) -> random.Random:
        """Chance of its own for each moment, the same in every process."""
        return random.Random(self.seed_of(moment))  # noqa: S311 -- reproducible, not secret

    def state(self) -> AgentState:
        """Everything but the memories, as stored."""
        return AgentState(
            self.id,
            {
                "version": STATE_VERSION,
                "step": self.step,
                "said": [stored_line(line) for line in self.said],
                "last_spoke": self.last_spoke,
                "affect": self.affect.as_list(),
                "feelings": self.feelings.as_dict(),
                "mind": self.mind.state_dict(),
            },
        )

    def restore(self, record: AgentRecord) -> None:
        """Take up where the stored agent left off. Raises `UserError` when its state is damaged."""
        self.recollect(record)
        if record.state.data:
            state = read_state(record.state.data)
            # A kill between a percept and its answer leaves a state of before the percept.
            self.step = max([state.step, *(entry.step for entry in record.working)])
            self.said.clear()
            self.said.extend(own_line(line) for line in state.said)
            self.last_spoke = state.last_spoke
            self.affect = Affect.of(state.affect)
            self.feelings = Feelings.from_dict(state.feelings.model_dump(), self.persona)
            self.mind.load_state(state.mind)

    def recollect(self, record: AgentRecord) -> None:
        """Have in mind what is stored."""
        self.memory.restore(
            record.working, record.episodic, record.perceived, record.consolidated, record.last_id
        )
        self.subconscious.restore(record.symbols, record.last_symbol_id)

    def let_go(self, moments: Collection[float]) -> None:
        """Without the words of what happened at these moments of world time; what was felt stays.

        What it lately said may quote them, what it heard is familiar, and what a game told is noted down. Any
        prompt may hold them.
        """
        self.prompts.clear()
        self.said.clear()
        self.mind.forget(moments)
        self.feelings = self.feelings.without(moments)
