"""A society: the agents of one process, and the way to reach them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, Protocol

from noodlings.agent.agent import Agent
from noodlings.config import Settings
from noodlings.errors import NotFound, UserError
from noodlings.ports import Clock, Store
from noodlings.text import clean, shorten
from noodlings.values.percept import Percept
from noodlings.values.trace import Trace


class Shelf(Protocol):
    """Where a world keeps who is where."""

    def get(self, key: str) -> Any:
        """JSON-compatible data, or None."""

    def set(self, key: str, value: Any) -> None:
        """Keep it."""


class Society:
    """The agents of one process.

    Attributes:
        agents: by id.
        clock: world time.
        settings: as read.
        store: where everything is kept.
        voice_name: "offline", or the model that speaks.
    """

    def __init__(
        self,
        agents: Iterable[Agent],
        clock: Clock,
        settings: Settings,
        store: Store,
        voice_name: str = "offline",
    ) -> None:
        self.agents = {agent.id: agent for agent in agents}
        self.clock = clock
        self.settings = settings
        self.store = store
        self.voice_name = voice_name

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


def _names(agent: Agent) -> set[str]:
    persona = agent.persona
    return {name.casefold() for name in (persona.id, persona.name, *persona.aliases)}
