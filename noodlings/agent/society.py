"""A society: the agents of one process, and the way to reach them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any

from noodlings.agent.agent import Agent
from noodlings.config import Settings
from noodlings.errors import NotFound, UserError
from noodlings.ports import Clock, Records
from noodlings.text import clean, shorten
from noodlings.values.percept import Percept
from noodlings.values.persona import Persona
from noodlings.values.trace import Trace

WORLD_KEY = "places"


class Society:
    """The agents of one process.

    Args:
        make: builds the agent of a persona, as it was when it was last stored.
        personas: whose agents to begin with.
        clock: world time.
        settings: as read.
        store: where everything is kept; closed with the society.
        voice_name: "offline", or the model that speaks.

    Attributes:
        agents: by id.
    """

    def __init__(
        self,
        make: Callable[[Persona], Agent],
        personas: Iterable[Persona],
        clock: Clock,
        settings: Settings,
        store: Records,
        voice_name: str = "offline",
    ) -> None:
        self._make = make
        self.clock = clock
        self.settings = settings
        self.store = store
        self.voice_name = voice_name
        self.agents: dict[str, Agent] = {}
        for persona in personas:
            self.create(persona)

    def create(self, persona: Persona) -> Agent:
        """Let somebody come to life. Raises `UserError` when there is an agent of that id."""
        if persona.id in self.agents:
            raise UserError(f"there is already a character {persona.id}")
        agent = self.agents[persona.id] = self._make(persona)
        return agent

    def find(self, name: str) -> Agent:
        """An agent by id, name or alias, or the only one whose name begins so. Raises `NotFound`."""
        wanted = clean(name).casefold()
        called = {word: agent for agent in self.agents.values() for word in _names(agent)}
        if wanted in called:
            return called[wanted]
        begun = {agent.id: agent for word, agent in called.items() if wanted and word.startswith(wanted)}
        if len(begun) == 1:
            return next(iter(begun.values()))
        if begun:
            raise UserError(f"{shorten(clean(name), 30)} could be {', '.join(sorted(begun))}.")
        known = ", ".join(sorted(agent.persona.name for agent in self.agents.values())) or "nobody yet"
        near = difflib.get_close_matches(wanted, called, n=1, cutoff=0.6)
        hint = f"did you mean {called[near[0]].persona.name}?" if near else f"there are {known}."
        raise NotFound(f"There is no character {shorten(clean(name), 30)}; {hint}")

    async def perceive(self, agent_id: str, percept: Percept) -> Trace:
        """Let one agent perceive something; see `Agent.perceive`."""
        return await self.agents[agent_id].perceive(percept)

    def names(self) -> dict[str, str]:
        """User id → shown name, of every agent."""
        return {agent.id: agent.persona.name for agent in self.agents.values()}

    @property
    def world_state(self) -> dict[str, Any]:
        """Who was where when the world was last saved."""
        return self.store.world_get(WORLD_KEY) or {}

    def save_world(self, state: dict[str, Any]) -> None:
        """Keep who is where (JSON-compatible)."""
        self.store.world_set(WORLD_KEY, state)

    def close(self) -> None:
        """Let go of the store. What was perceived is already kept."""
        self.store.close()


def _names(agent: Agent) -> set[str]:
    persona = agent.persona
    return {name.casefold() for name in (persona.id, persona.name, *persona.aliases)}
