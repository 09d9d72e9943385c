"""Scenarios: YAML files that say who lives somewhere, who meets whom, what happens, and how likely it is.

A scenario and a seed give the plan of a simulation: every stimulus from outside, drawn before anybody reacts.
So two runs with the same seed, one of them without some part of the mind, hear the same lines from the same
people at the same times, and differ only in that part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from noodlings.errors import UserError
from noodlings.text import clean, one_line
from noodlings.validation import Unit, nearest, read_table
from noodlings.values.persona import TRAITS
from noodlings.values.wording import parse

NAME = "name"
"""The one slot of a line: the hearer's name."""
MOST_AGENTS = 10_000


def _sayable(line: str) -> str:
    line = one_line(line)
    try:
        unknown = parse(line).slots - {NAME}
    except UserError as error:
        raise ValueError(str(error)) from None
    if unknown:
        raise ValueError(f"there is no slot {{{min(unknown)}}}; use {{{NAME}}}")
    return line


def _trait(name: str) -> str:
    if name not in TRAITS:
        raise ValueError(f"there is no trait {name}{nearest(name, TRAITS)}")
    return name


AgentId = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
Line = Annotated[str, Field(max_length=1_000), AfterValidator(_sayable)]
Tag = Annotated[str, Field(max_length=60, pattern=r"^[^;]*$"), AfterValidator(clean)]
Tick = Annotated[int, Field(ge=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Character(_Strict):
    """Somebody: the recipe of that name if there is one, else a plain person."""

    count: Annotated[int, Field(ge=1, le=MOST_AGENTS)] = 1
    personality: dict[Annotated[str, AfterValidator(_trait)], Unit] = {}


class _Happening(_Strict):
    """Something that may happen between the first and the last of `ticks`, each included; None for all.

    The results show the tag `about`, which nobody in the society knows.
    """

    chance: Unit = 1.0
    ticks: tuple[Tick, Tick] | None = None
    about: Tag = ""

    @model_validator(mode="after")
    def _ticks_rise(self) -> Any:
        if self.ticks and self.ticks[0] > self.ticks[1]:
            raise ValueError(f"ticks are the first and the last, not {list(self.ticks)}")
        return self

    def is_due(self, tick: int) -> bool:
        return self.ticks is None or self.ticks[0] <= tick <= self.ticks[1]


class Meeting(_Happening):
    """One agent says one of the lines `says` to another, who may answer.

    Attributes:
        who: the agents among whom the two are drawn; empty for everybody.
        draws: how many times in each tick, each with the same `chance`.
    """

    who: tuple[AgentId, ...] = ()
    draws: Annotated[int, Field(ge=1, le=MOST_AGENTS)] = 1
    says: Annotated[tuple[Line, ...], Field(min_length=1)]


class Event(_Happening):
    """Something happens before some or all agents.

    Attributes:
        game: the name of a game's event with its `data`; else one of the lines `text` is drawn.
        at: ticks in which it may happen; None for any.
        witnesses: how many see it, or who.
    """

    game: Annotated[str, Field(max_length=60)] = ""
    data: dict[str, Any] = {}
    text: tuple[Line, ...] = ()
    at: frozenset[Tick] | None = None
    witnesses: Literal["all"] | Annotated[int, Field(ge=1)] | tuple[AgentId, ...] = "all"

    @model_validator(mode="after")
    def _is_one_thing(self) -> Event:
        if bool(self.game) == bool(self.text):
            raise ValueError("an event has either game (a name) or text (lines)")
        return self

    def is_due(self, tick: int) -> bool:
        return super().is_due(tick) and (self.at is None or tick in self.at)


class Scenario(_Strict):
    """The whole file.

    Attributes:
        begins: world time of the first tick.
        tick_seconds: world time between two ticks.
        agents: by id; `villager` with `count: 3` gives the ids villager_1 to villager_3.
        meetings, events: what may happen in each tick, in this order.
        folder: where the file is. Recipes, rules of game events and transistors may lie beside it, as in a
            data folder.
    """

    version: Literal[1]
    begins: AwareDatetime = datetime(2026, 1, 1, tzinfo=UTC)
    tick_seconds: Annotated[float, Field(gt=0, le=1e9)] = 600.0
    agents: Annotated[dict[AgentId, Character | None], Field(min_length=1)]
    meetings: tuple[Meeting, ...] = ()
    events: tuple[Event, ...] = ()
    folder: Path = Path()

    @model_validator(mode="after")
    def _everybody_is_known(self) -> Scenario:
        if len(set(self.ids)) < len(self.ids):
            raise ValueError("two of the agents have the same id")
        for number, meeting in enumerate(self.meetings):
            self._require_known(f"meetings.{number}.who", meeting.who)
            if len(self.among(meeting.who)) < 2:
                raise ValueError(f"meetings.{number}.who: a meeting needs two")
        for number, event in enumerate(self.events):
            if isinstance(event.witnesses, tuple):
                self._require_known(f"events.{number}.witnesses", event.witnesses)
        return self

    def _require_known(self, where: str, names: tuple[str, ...]) -> None:
        for name in names:
            if name not in self.agents and name not in self.ids:
                raise ValueError(f"{where}: there is no agent {name}{nearest(name, self.ids)}")

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all agents, in the order of the file."""
        return tuple(name for agent in self.agents for name in self.ids_of(agent))

    def ids_of(self, agent: str) -> tuple[str, ...]:
        """The ids that a name stands for: one under `agents`, or one of several agents of a kind."""
        character = self.agents.get(agent)
        if character is None or character.count == 1:
            return (agent,)
        return tuple(f"{agent}_{number}" for number in range(1, character.count + 1))

    def among(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The ids that these names stand for, each once; everybody if there are none."""
        return tuple(dict.fromkeys(one for name in names for one in self.ids_of(name))) or self.ids

    def characters(self) -> dict[str, Character]:
        return {
            name: character or Character()
            for agent, character in self.agents.items()
            for name in self.ids_of(agent)
        }


def load_scenario(path: str | Path) -> Scenario:
    """The scenario in a YAML file. Raises `UserError`, naming the file and what is wrong in it."""
    path = Path(path)
    return read_table(path, Scenario).model_copy(update={"folder": path.resolve().parent})


WORLD = "world"
"""The user id of what happens without anybody doing it."""


@dataclass(frozen=True, slots=True)
class Stimulus:
    """What one agent is to perceive.

    Attributes:
        agent: id of the agent.
        user_id: who says it, or `WORLD`.
        text: what is said; "" for a game's event.
        game, data: the name of a game's event, or "", and its facts.
        about: the tag of the scenario.
    """

    tick: int
    agent: str
    user_id: str
    text: str = ""
    game: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    about: str = ""


def plan(scenario: Scenario, ticks: int, seed: int, names: Mapping[str, str]) -> Iterator[Stimulus]:
    """Everything that happens in these ticks, in order. `names` are those of the agents, by id."""
    chance = Random(str(seed))  # noqa: S311 -- reproducible, not secret
    for tick in range(ticks):
        for meeting in scenario.meetings:
            if meeting.is_due(tick):
                yield from _meetings(scenario, meeting, tick, chance, names)
        for event in scenario.events:
            if event.is_due(tick) and chance.random() < event.chance:
                yield from _event(scenario, event, tick, chance, names)


def _meetings(
    scenario: Scenario, meeting: Meeting, tick: int, chance: Random, names: Mapping[str, str]
) -> Iterator[Stimulus]:
    among = scenario.among(meeting.who)
    for _ in range(meeting.draws):
        if chance.random() < meeting.chance:
            speaker, listener = chance.sample(among, 2)
            text = _drawn(meeting.says, chance, names[listener])
            yield Stimulus(tick, listener, speaker, text, about=meeting.about)


def _event(
    scenario: Scenario, event: Event, tick: int, chance: Random, names: Mapping[str, str]
) -> Iterator[Stimulus]:
    who: Sequence[str] = scenario.among(event.witnesses if isinstance(event.witnesses, tuple) else ())
    if isinstance(event.witnesses, int):
        drawn = frozenset(chance.sample(who, min(event.witnesses, len(who))))
        who = [agent for agent in who if agent in drawn]
    moment = chance.random()  # everybody sees the same
    for agent in who:
        text = _drawn(event.text, Random(moment), names[agent]) if event.text else ""  # noqa: S311
        yield Stimulus(tick, agent, WORLD, text, event.game, event.data, event.about)


def _drawn(lines: Sequence[str], chance: Random, name: str) -> str:
    return parse(chance.choice(lines)).expand(chance, {NAME: name})
