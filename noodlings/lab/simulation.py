"""A simulation: a society in this process that lives through a scenario, tick by tick.

The clock is set by hand and nobody waits for anything, so a day takes seconds. The same scenario, seed and
ablation give the same turns, whenever, wherever and however fast they run. An ablation leaves out parts of a
mind, to show what they are good for. Each turn becomes one row of a table, with its whole trace.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from noodlings.agent.agent import Agent
from noodlings.agent.events import game_event
from noodlings.agent.recipes import plain_persona
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings, load_settings
from noodlings.errors import UserError
from noodlings.lab.scenario import WORLD, Scenario, Stimulus, plan
from noodlings.memory.likeness import DEFAULT_METRIC, METRICS
from noodlings.store.memory import MemoryStore
from noodlings.validation import nearest
from noodlings.values.affect import AXES, Affect
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import Kind, Percept
from noodlings.values.persona import TRANSISTORS, Persona
from noodlings.values.trace import Trace

PARTS = {
    "streams": "a plain list in place of working and episodic memory",
    "transistors": "transistors do not colour thoughts",
    "mood": "feelings do not move the mood",
    "feeling": "nothing comes to mind by feeling; the latest memories take those places",
}
_METRIC = "metric="


@dataclass(frozen=True, slots=True)
class Ablation:
    """What a simulation leaves out.

    Attributes:
        without: names of `PARTS`, sorted.
        metric: a name of `noodlings.memory.likeness.METRICS`.

    Raises:
        UserError: there is no such part or metric.
    """

    without: tuple[str, ...] = ()
    metric: str = DEFAULT_METRIC

    def __post_init__(self) -> None:
        for part in self.without:
            if part not in PARTS:
                raise UserError(f"nothing is called {part:.40}{nearest(part, [*PARTS, f'{_METRIC}…'])}")
        if self.metric not in METRICS:
            raise UserError(f"there is no metric {self.metric:.40}{nearest(self.metric, METRICS)}")

    @classmethod
    def of(cls, names: Iterable[str]) -> Ablation:
        """From names of parts and `metric=NAME`, as on a command line; duplicates count once."""
        words = [name.strip() for name in names if name.strip()]
        metrics = [word.removeprefix(_METRIC) for word in words if word.startswith(_METRIC)]
        parts = sorted({word for word in words if not word.startswith(_METRIC)})
        return cls(tuple(parts), metrics[-1] if metrics else DEFAULT_METRIC)

    def __str__(self) -> str:
        """As on a command line: "mood metric=cosine"."""
        metric = () if self.metric == DEFAULT_METRIC else (f"{_METRIC}{self.metric}",)
        return " ".join((*self.without, *metric))

    def settings(self, folder: Path, seed: int, embedding: str, config: Path | None = None) -> Settings:
        """The settings of a simulation in the folder of a scenario, which is read as a data folder."""
        overrides: dict[str, Any] = {
            "memory": {"affect_metric": self.metric, "use_hierarchical": "streams" not in self.without},
            "embedding": {"model": embedding},
            "llm": {"base_url": "", "appraise": False},
            "store": {"path": str(folder)},
            "world": {"seed": seed},
        }
        if "feeling" in self.without:
            slots = load_settings(config, **overrides).context
            overrides["context"] = {"working": slots.working + slots.affect_similar, "affect_similar": 0}
        return load_settings(config, **overrides)

    def persona(self, persona: Persona) -> Persona:
        if "transistors" in self.without:
            persona = replace(persona, transistors=dict.fromkeys((*TRANSISTORS, *persona.transistors), 0.0))
        return replace(persona, moodiness=0.0) if "mood" in self.without else persona


COLUMNS: dict[str, type] = {
    "seed": int,
    "ablated": str,
    "tick": int,
    "time": float,
    "agent": str,
    "entry": int,
    "kind": str,
    "user": str,
    "text": str,
    "about": str,
    **dict.fromkeys(AXES, float),
    "appraised_by": str,
    **dict.fromkeys([f"mood_{axis}" for axis in AXES], float),
    "surprise": float,
    "importance": float,
    "decision": str,
    "response": str,
    "voice": str,
    "recalled": str,
    "recalled_about": str,
    "modulations": str,
    "degraded": str,
}
"""Column → type. An empty text is ""."""

DIGITS = 6

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SimulatedTurn:
    """One turn of one agent.

    Attributes:
        entry: what was perceived, as it was remembered.
        about: the tag of the scenario, or "".
        recalled_about: the tags of what was in mind, in the order of `trace.recalled`.
    """

    tick: int
    entry: MemoryEntry
    about: str
    trace: Trace
    recalled_about: tuple[str, ...]

    def row(self, seed: int, ablated: str) -> Row:
        """A row of the table, in the order of `COLUMNS`.

        `recalled` looks like `12:recent+affect 15:important`, `recalled_about` has a tag for each of them,
        `modulations` looks like `affect:offline ego:passed`; lists of words are separated by semicolons.
        """
        trace, entry = self.trace, self.entry
        recalled = (f"{found.entry_id}:{'+'.join(found.why)}" for found in trace.recalled)
        values = (
            seed,
            ablated,
            self.tick,
            entry.timestamp,
            trace.agent_id,
            entry.id,
            entry.kind.value,
            entry.user_id,
            entry.user_text,
            self.about,
            *_rounded(trace.affect),
            trace.appraised_by,
            *_rounded(trace.mood),
            round(trace.surprise, DIGITS),
            round(trace.importance, DIGITS),
            trace.decision,
            trace.response or "",
            trace.voice,
            " ".join(recalled),
            ";".join(self.recalled_about),
            " ".join(f"{done.transistor}:{done.how}" for done in trace.modulations),
            ";".join(trace.degraded),
        )
        return dict(zip(COLUMNS, values, strict=True))


def _rounded(affect: Affect) -> list[float]:
    return [round(number, DIGITS) for number in affect.as_list()]


EMBEDDINGS = ("none", "minilm")


class Simulation:
    """A society and what happens to it. Nothing is written. Close it, or use it in a `with`.

    Args:
        seed: of everything that is drawn.
        without, metric: see `Ablation`.
        embedding: "none", or "minilm" for sentence vectors, which take a few milliseconds each.
        config: a file of settings, see `noodlings.config.config_file`.

    Attributes:
        society: the agents, which may be inspected between ticks.
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
            persona = self.society.personas.get(agent_id) or replace(plain_persona(agent_id), id=agent_id)
            persona = replace(persona, personality={**persona.personality, **character.personality})
            self.society.know(self.ablation.persona(persona))
        self._about: dict[str, dict[int, str]] = {agent_id: {} for agent_id in scenario.ids}
        self._runner = asyncio.Runner()

    def run(self, ticks: int) -> list[SimulatedTurn]:
        """Run more ticks and return their turns. Raises `UserError` in an event loop; use `live` there."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._runner.run(self._all(ticks))
        raise UserError("there is an event loop already: use `async for turn in simulation.live(ticks)`")

    async def live(self, ticks: int) -> AsyncIterator[SimulatedTurn]:
        """Run more ticks, turn by turn."""
        first, self.tick = self.tick, self.tick + ticks
        for stimulus in plan(self.scenario, self.tick, self.seed, self.society.names()):
            if stimulus.tick >= first:
                async for turn in self._happen(stimulus):
                    yield turn

    def close(self) -> None:
        self._runner.close()
        self.society.close()

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def _all(self, ticks: int) -> list[SimulatedTurn]:
        return [turn async for turn in self.live(ticks)]

    async def _happen(self, stimulus: Stimulus) -> AsyncIterator[SimulatedTurn]:
        """The turn of the agent who perceives it and, if it answers another agent, the turn of that agent."""
        begins, pace = self.scenario.begins.timestamp(), self.scenario.tick_seconds
        self.clock.set(max(self.clock.now() + 1.0, begins + stimulus.tick * pace))
        agent = self.society.agents[stimulus.agent]
        turn = await self._turn(agent, _percept(stimulus, agent, self.clock.now()), stimulus)
        yield turn
        if turn.trace.response is not None and stimulus.user_id != WORLD:
            self.clock.advance(1.0)
            present = frozenset({agent.id})
            answer = Percept(agent.id, turn.trace.response, self.clock.now(), present=present, depth=1)
            other = self.society.agents[stimulus.user_id]
            yield await self._turn(other, answer, replace(stimulus, about=""))

    async def _turn(self, agent: Agent, percept: Percept, stimulus: Stimulus) -> SimulatedTurn:
        if agent.archive is not None:
            await agent.archive.whole()  # or what comes to mind would depend on how fast we are
        trace = await self.society.perceive(agent.id, percept)
        await agent.settle()
        entry = agent.entry(trace.entry_id)
        assert entry is not None, "forgetting does not work in a simulation"  # noqa: S101
        about = self._about[agent.id]
        about[entry.id] = stimulus.about
        known = tuple(about[found.entry_id] for found in trace.recalled)
        return SimulatedTurn(stimulus.tick, entry, stimulus.about, trace, known)


def _percept(stimulus: Stimulus, agent: Agent, now: float) -> Percept:
    if stimulus.game:
        return game_event(stimulus.game, stimulus.data, now, WORLD, agent.rules)
    if stimulus.user_id == WORLD:
        return Percept(WORLD, stimulus.text, now, Kind.EVENT)
    present = frozenset({stimulus.user_id})
    return Percept(stimulus.user_id, stimulus.text, now, Kind.SAY, addressed=True, present=present)
