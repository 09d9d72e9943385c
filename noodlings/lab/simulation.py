"""A simulation: a society in this process that lives through a scenario, tick by tick.

Time is that of a clock set by hand, and nobody waits for anything, so a day takes seconds. The same scenario,
seed and ablation give the same turns, whatever else the machine does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from noodlings.agent.agent import Agent
from noodlings.agent.events import game_event
from noodlings.agent.recipes import plain_persona
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.errors import UserError
from noodlings.lab.ablation import Ablation
from noodlings.lab.plan import WORLD, Stimulus, plan
from noodlings.lab.scenario import Character, Scenario
from noodlings.lab.simulated_turns import Turn
from noodlings.memory.likeness import DEFAULT_METRIC
from noodlings.store.memory import MemoryStore
from noodlings.values.percept import Kind, Percept
from noodlings.values.persona import Persona

EMBEDDINGS = ("none", "minilm")


class Simulation:
    """A society and what happens to it. Keeps nothing; to be closed, or used in a `with`.

    Args:
        scenario: see `noodlings.lab.scenario`.
        seed: of everything that is drawn.
        without, metric: see `noodlings.lab.ablation.Ablation`.
        embedding: "none", or "minilm" for sentence vectors, which take a few milliseconds each.
        config: a file of settings; by default as everywhere.

    Attributes:
        society: the agents, to be looked into before, between and after ticks.
        clock: world time.
        tick: how many ticks are over.

    Raises:
        UserError: there is no such part, metric or embedding, or a recipe or setting is wrong.
    """

    def __init__(
        self,
        scenario: Scenario,
        seed: int = 0,
        without: Iterable[str] = (),
        metric: str = DEFAULT_METRIC,
        embedding: str = "none",
        config: Path | None = None,
    ) -> None:
        if embedding not in EMBEDDINGS:
            raise UserError(f"embedding is one of {', '.join(EMBEDDINGS)}, not {embedding!r:.40}")
        self.scenario, self.seed = scenario, seed
        self.ablation = Ablation(tuple(sorted(set(without))), metric)
        self.clock = ManualClock(scenario.begins.timestamp())
        self.tick = 0
        settings = self.ablation.settings(scenario.folder, seed, embedding, config)
        self.society = build(settings, clock=self.clock, store=MemoryStore())
        for agent_id, character in scenario.characters().items():
            known = self.society.personas.get(agent_id)
            self.society.personas[agent_id] = self.ablation.persona(_persona(agent_id, character, known))
        self._about: dict[str, dict[int, str]] = {agent_id: {} for agent_id in scenario.ids}
        self._runner = asyncio.Runner()

    def run(self, ticks: int) -> list[Turn]:
        """So many ticks more; the turns of everybody, in the order in which they were taken.

        Raises `UserError` inside of an event loop; there is `live` for that.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._runner.run(self._all(ticks))
        raise UserError("there is an event loop already: use `async for turn in simulation.live(ticks)`")

    async def live(self, ticks: int) -> AsyncIterator[Turn]:
        """The same, turn by turn."""
        first, self.tick = self.tick, self.tick + ticks
        for stimulus in plan(self.scenario, self.tick, self.seed, self.society.names()):
            if stimulus.tick >= first:
                async for turn in self._happen(stimulus):
                    yield turn

    def close(self) -> None:
        """Let everybody go."""
        self._runner.close()
        self.society.close()

    def __enter__(self) -> Simulation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def _all(self, ticks: int) -> list[Turn]:
        return [turn async for turn in self.live(ticks)]

    async def _happen(self, stimulus: Stimulus) -> AsyncIterator[Turn]:
        """A turn of whoever perceives it, and where that one answered somebody, a turn of that one, too."""
        begins, pace = self.scenario.begins.timestamp(), self.scenario.tick_seconds
        self.clock.set(max(self.clock.now() + 1.0, begins + stimulus.tick * pace))
        agent = self.society.agents[stimulus.agent]
        turn = await self._turn(agent, _percept(stimulus, agent, self.clock.now()), stimulus)
        yield turn
        if turn.trace.response is not None and stimulus.user_id != WORLD:
            self.clock.advance(1.0)
            answer = Percept(
                user_id=agent.id,
                text=turn.trace.response,
                timestamp=self.clock.now(),
                present=frozenset({agent.id}),
                depth=1,
            )
            other = self.society.agents[stimulus.user_id]
            yield await self._turn(other, answer, replace(stimulus, about=""))

    async def _turn(self, agent: Agent, percept: Percept, stimulus: Stimulus) -> Turn:
        if agent.archive is not None:
            await agent.archive.whole()  # or what comes to mind would depend on how fast we are
        trace = await agent.perceive(percept)
        await agent.settle()
        entry = agent.entry(trace.entry_id)
        assert entry is not None, "nobody forgets in a simulation"  # noqa: S101
        about = self._about[agent.id]
        about[entry.id] = stimulus.about
        known = tuple(about[found.entry_id] for found in trace.recalled)
        return Turn(stimulus.tick, entry, stimulus.about, trace, known)


def _persona(agent_id: str, character: Character, known: Persona | None) -> Persona:
    persona = known or replace(plain_persona(agent_id), id=agent_id)
    return replace(persona, personality={**persona.personality, **character.personality})


def _percept(stimulus: Stimulus, agent: Agent, now: float) -> Percept:
    if stimulus.game:
        return game_event(stimulus.game, stimulus.data, now, WORLD, agent.rules)
    if stimulus.user_id == WORLD:
        return Percept(WORLD, stimulus.text, now, Kind.EVENT)
    present = frozenset({stimulus.user_id})
    return Percept(stimulus.user_id, stimulus.text, now, Kind.SAY, addressed=True, present=present)
