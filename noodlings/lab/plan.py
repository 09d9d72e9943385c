"""The plan of a simulation: everything that comes from outside, drawn from a seed before anybody reacts.

It does not depend on what the agents make of it. So two runs with one seed, one of them without a part of the
mind, hear the same lines from the same people at the same time, and differ in nothing but that part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from noodlings.lab.scenario import NAME, Event, Meeting, Scenario
from noodlings.values.wording import parse

WORLD = "world"
"""Who does what nobody does."""


@dataclass(frozen=True, slots=True)
class Stimulus:
    """What one agent is to perceive.

    Attributes:
        tick: when.
        agent: who perceives it, an id.
        user_id: who says it, an id, or `WORLD`.
        text: what; "" for a game's event.
        game, data: the name of a game's event and its facts, or "".
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
    """Everything that happens in so many ticks, in order.

    Args:
        names: how everybody is called, by id.
    """
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
