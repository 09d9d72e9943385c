"""The inside of an agent: everything that makes it who it is at this moment, and how that is stored.

What an agent does with it stands in the steps: `perceiving`, `answering`, `afterwards`.
"""

from __future__ import annotations

import random
import zlib
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

from noodlings.agent.archive import AgentArchive
from noodlings.agent.feelings import Feelings
from noodlings.agent.state import STATE_VERSION, own_line, read_state, stored_line
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.plain import PlainMemory
from noodlings.memory.subconscious import SubconsciousMemory
from noodlings.mind.mind import Mind
from noodlings.ports import AgentRecord, AgentState, OwnLine
from noodlings.transistors.chain import Chain
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.persona import Persona

SAID = 40
"""An agent's own latest lines, which its voice does not repeat."""


@dataclass(slots=True)
class Inner:
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
        forgettings: how often something was forgotten since it woke.
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

    @property
    def id(self) -> str:
        """The persona's id."""
        return self.persona.id

    def note_said(self, line: OwnLine, now: float) -> None:
        """It said or did this."""
        self.said.append(line)
        self.last_spoke = now

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

        What it lately said may quote them, what it heard is familiar, and what a game told is noted down.
        """
        self.said.clear()
        self.mind.forget(moments)
        self.feelings = self.feelings.without(moments)
