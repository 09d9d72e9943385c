"""`@event NAME EVENT KEY=VALUE …`: send a game event to a character, as a game server would."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from commands.agents import duration
from commands.parse import HelpAsked, split_words
from commands.registry import CommandContext, Reply, command
from commands.render import BLANK, TextColumn, TextRows, heading, quiet, stacked, warning
from noodlings.affect.game_rules import GameRules
from noodlings.agent.agent import Agent
from noodlings.agent.events import EVENT, game_event
from noodlings.drawing.marks import QUIET, feeling_text, words
from noodlings.errors import UserError
from noodlings.inspect.mood import MoodView
from noodlings.text import shorten
from noodlings.validation import nearest
from noodlings.values.percept import Percept
from noodlings.values.trace import Trace

_USAGE = "@event NAME EVENT [KEY=VALUE …]"
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_TRUTHS = {"true": True, "false": False, "": None}


@command("@event", _USAGE, group="minds")
async def event(context: CommandContext, arguments: str) -> Reply:
    """Send a character a game event, as a game server would.

    EVENT is a name from game_events.yaml, and KEY=VALUE a fact about it. You see how it changes the mood and
    what the voice is told from then on. An event without a rule is perceived but does not change the mood.
    If the character has something to say about it, it says so in its room. For admins.

    Examples:
        @event servnak creeper_nearby
        @event servnak health_critical hp=3 food=14 biome=swamp
        @event servnak player_death cause="a long fall"
        @event servnak item_pickup item=diamond_sword by=bot
    """
    context.caller.require_admin("let a game's event happen")
    name, happened, facts = _read(arguments)
    agent = context.society.find(name)
    if not happened:
        raise UserError(
            f"Which event? The rules know {', '.join(agent.rules.events)}. Type it like this: {_USAGE}"
        )
    percept = game_event(happened, facts, context.society.clock.now(), rules=agent.rules)
    percept, heard = _placed(context, agent, percept)
    before = context.inspector.mood(context.caller, agent.id)
    trace = await context.society.perceive(agent.id, percept)
    after = context.inspector.mood(context.caller, agent.id)
    if context.world is not None:
        context.world.answered(agent.id, percept, trace)
    what = _without_effect(agent.rules, percept)
    data = {
        "agent": agent.id,
        "event": percept.data[EVENT],
        "text": percept.text,
        "entry": trace.entry_id,
        "in_rules": not what,
        "before": before.as_dict(),
        "after": after.as_dict(),
        "response": trace.response,
        "decision": trace.decision,
    }
    return Reply(data, _view(percept, before, after, trace, what, heard))


def _read(arguments: str) -> tuple[str, str, dict[str, Any]]:
    """The character, the event ("" for none), and its facts."""
    given = split_words(arguments)
    if "--help" in given:
        raise HelpAsked
    facts = {}
    for fact in (word for word in given if "=" in word):
        key, _, value = fact.partition("=")
        if key in facts:
            raise UserError(f"The fact {shorten(key, 30)} is given twice.")
        facts[key] = _value(value)
    names = [word for word in given if "=" not in word]
    if not names:
        raise UserError(f"Which character? Type it like this: {_USAGE}")
    if len(names) > 2:
        raise UserError(f"'{shorten(names[2], 30)}' is one word too many. Type it like this: {_USAGE}")
    return names[0], names[1] if len(names) == 2 else "", facts


def _value(text: str) -> Any:
    """A number, true, false, None for no text, or the text."""
    if _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    return _TRUTHS.get(text.lower(), text)


def _placed(context: CommandContext, agent: Agent, percept: Percept) -> tuple[Percept, bool]:
    """The percept in the room of the agent, and whether the caller is there to hear the answer."""
    if context.world is None:
        return percept, False
    others = {being.id for being in context.world.scene(agent.id).others}
    return replace(percept, present=frozenset(others)), context.caller.user_id in others


def _without_effect(rules: GameRules, percept: Percept) -> str:
    """Why no rule applied, in words; "" if one did."""
    happened = percept.data[EVENT]
    if rules.rule(happened, percept.data):
        return ""
    if happened in rules.events:
        return f"The mood did not change: the rule for {happened} does not apply to these facts."
    return f"The mood did not change: there is no rule for {happened}{nearest(happened, rules.events)}"


def _view(
    percept: Percept, before: MoodView, after: MoodView, trace: Trace, what: str, heard: bool
) -> RenderableType:
    lasts = quiet(f"chill again in {duration(after.named_left)}") if after.named_left > 0.0 else None
    rows = (
        (words("in the game", QUIET), Text(f"{before.named} → {after.named}")),
        (words("mood", QUIET), Text.assemble(feeling_text(before.mood), " → ", feeling_text(after.mood))),
        (words("just felt", QUIET), feeling_text(after.affect)),
    )
    said = f'says, "{trace.response}"' if trace.response else f"says nothing: {trace.decision}"
    return stacked(
        heading(after.name, percept.text),
        BLANK,
        TextRows((TextColumn(most=11), TextColumn(most=None)), rows),
        lasts,
        warning(what) if what else None,
        BLANK,
        *(quiet(line) for line in after.game),
        None if heard and trace.response else quiet(f"{after.name} {said}"),
    )
