"""What an agent feels and the state of its mind, as one caller may see them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Annotated

from pydantic import Field

from noodlings.affect.mood import HALF_LIFE_SECONDS
from noodlings.inspect.turns import turns
from noodlings.inspect.viewpoint import Viewpoint, felt
from noodlings.inspect.views import FeltView, ViewOfAgent
from noodlings.mind.appetites import goals_of
from noodlings.mind.phenomenal import FAST, MEDIUM, SLOW
from noodlings.text import clean
from noodlings.values.caller import Role
from noodlings.values.trace import Trace

TURNS = 40
"""How many turns back mood and surprise are shown."""


@dataclass(frozen=True, slots=True)
class MoodView(ViewOfAgent):
    """What an agent feels. Everybody may see it (a player in steps), except for what a game told the agent.

    Attributes:
        mood: now; `baseline` is where it returns to, and `affect` what the latest percept felt like, for a
            player the latest of this player.
        half_life: world seconds in which the mood goes half of the way back to the baseline.
        valences: of the mood after each of the latest turns that the caller may know of, oldest first, −1…1.
        goals: what it wants most now, in words.
        named: chill, hyped, nervous or frustrated, as a game's events left it; `named_left` are the world
            seconds until it is chill again if nothing happens.
        game: what a voice is told about the game now, in lines; empty before a game's first event, and for
            players. `hidden` counts the notable events kept from players.
    """

    mood: FeltView
    baseline: FeltView
    affect: FeltView
    half_life: float
    valences: tuple[float, ...]
    goals: tuple[str, ...]
    named: str
    named_left: float
    game: tuple[str, ...]
    hidden: int


@dataclass(frozen=True, slots=True)
class ObserveView(ViewOfAgent):
    """The state of an agent's mind. Everybody may see it, a player in steps of a quarter.

    Attributes:
        fast, medium, slow: the phenomenal state, 16, 16 and 8 numbers of −1…1.
        affect: what the latest percept felt like; expected: what it expects to feel next.
        surprises: of the latest turns that the caller may know of, oldest first, 0…1.
        appetites: the eight drives now, 0…1; `usual` is where each returns to when nothing happens.
        goals: what they make it want, in words, the strongest first.
    """

    fast: Annotated[tuple[float, ...], Field(min_length=16, max_length=16)]
    medium: Annotated[tuple[float, ...], Field(min_length=16, max_length=16)]
    slow: Annotated[tuple[float, ...], Field(min_length=8, max_length=8)]
    mood: FeltView
    affect: FeltView
    expected: FeltView
    surprises: tuple[float, ...]
    appetites: dict[str, float]
    usual: dict[str, float]
    goals: tuple[str, ...]


def mood_of(viewpoint: Viewpoint) -> MoodView:
    """What an agent feels now. Everybody may see it, except for what a game told the agent."""
    agent, caller = viewpoint.agent, viewpoint.caller
    sees_game = caller.sees_all or caller.role is Role.WORLD  # only these send events of a game
    game, rules = agent.game, agent.rules
    lines = "\n".join(game.blocks(rules, viewpoint.now)).splitlines()
    return MoodView(
        *viewpoint.of_agent,
        mood=viewpoint.state(agent.mood),
        baseline=felt(agent.baseline),
        affect=felt(viewpoint.affect()),
        half_life=HALF_LIFE_SECONDS,
        valences=tuple(viewpoint.figure(trace.mood.valence) for trace in _latest(viewpoint)),
        goals=_goals(viewpoint),
        named=agent.named_mood,
        named_left=game.tracker.left(viewpoint.now, rules.lasts_seconds),
        game=tuple(map(clean, lines)) if sees_game else (),
        hidden=0 if sees_game else len(game.bank.events),
    )


def mind_of(viewpoint: Viewpoint) -> ObserveView:
    """The state of an agent's mind. Everybody may see it."""
    agent = viewpoint.agent
    state = [viewpoint.figure(number) for number in agent.mind.state.tolist()]
    return ObserveView(
        *viewpoint.of_agent,
        fast=tuple(state[FAST]),
        medium=tuple(state[MEDIUM]),
        slow=tuple(state[SLOW]),
        mood=viewpoint.state(agent.mood),
        affect=felt(viewpoint.affect()),
        expected=viewpoint.state(agent.mind.expects()),
        surprises=tuple(viewpoint.figure(trace.surprise) for trace in _latest(viewpoint)),
        appetites=viewpoint.figures(agent.appetites),
        usual=dict(agent.persona.appetites),
        goals=_goals(viewpoint),
    )


def _goals(viewpoint: Viewpoint) -> tuple[str, ...]:
    """What an agent wants, in words, by its appetites as the caller may see them, for the order would tell
    more."""
    levels = viewpoint.figures(viewpoint.agent.appetites)
    return tuple(goal.text for goal in goals_of(viewpoint.agent.drives, levels))


def _latest(viewpoint: Viewpoint) -> list[Trace]:
    """The latest turns that the caller may know of, oldest first."""
    latest = islice(turns(viewpoint, lambda trace: True), TURNS)
    return [trace for trace, _ in latest][::-1]
