"""What an agent feels, and the state of its mind, as one caller may see them."""

from __future__ import annotations

from collections.abc import Sequence

from noodlings.affect.mood import HALF_LIFE_SECONDS
from noodlings.inspect.look import Look, felt
from noodlings.inspect.mood_views import MoodView, ObserveView
from noodlings.mind.phenomenal import FAST, MEDIUM, SLOW
from noodlings.text import clean
from noodlings.values.caller import Role
from noodlings.values.trace import Trace


def mood_of(look: Look, turns: Sequence[Trace]) -> MoodView:
    """What it feels now, and how that went in its latest turns, oldest first."""
    agent, caller = look.agent, look.caller
    told_it = caller.sees_all or caller.role is Role.WORLD  # nobody else lets a game's events happen
    game, rules = agent.game, agent.rules
    told = "\n".join(game.blocks(rules, look.now)).splitlines()
    return MoodView(
        agent=look.agent_id,
        name=look.name,
        mood=look.state(agent.mood),
        baseline=felt(agent.baseline),
        affect=felt(look.affect()),
        half_life=HALF_LIFE_SECONDS,
        valences=tuple(look.figure(trace.mood.valence) for trace in turns),
        goals=tuple(goal.text for goal in agent.goals),
        named=agent.named_mood,
        named_left=game.tracker.left(look.now, rules.lasts_seconds),
        game=tuple(clean(line) for line in told) if told_it else (),
        hidden=0 if told_it else len(game.bank.events),
    )


def mind_of(look: Look, turns: Sequence[Trace]) -> ObserveView:
    """The state of its mind, and the surprises of its latest turns, oldest first."""
    agent = look.agent
    state = [look.figure(number) for number in agent.mind.state.tolist()]
    return ObserveView(
        agent=look.agent_id,
        name=look.name,
        fast=tuple(state[FAST]),
        medium=tuple(state[MEDIUM]),
        slow=tuple(state[SLOW]),
        mood=look.state(agent.mood),
        affect=felt(look.affect()),
        expected=look.state(agent.mind.expects()),
        surprises=tuple(look.figure(trace.surprise) for trace in turns),
        appetites=look.figures(agent.appetites),
        usual=dict(agent.persona.appetites),
        goals=tuple(goal.text for goal in agent.goals),
    )
