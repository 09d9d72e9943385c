"""What the tab key offers: commands first, then whatever may stand where the cursor is.

Nothing is declared twice: flags are read from a command's help, names and exits from the world.
"""

from __future__ import annotations

import re

from commands.registry import Context, registry
from noodlings.errors import UserError

_FLAG = re.compile(r"--[a-z][a-z-]*")


def completions(context: Context, line: str) -> list[str]:
    """What the last word of a line (up to the cursor) may become, sorted; empty where nothing fits."""
    head, space, word = line.lstrip().rpartition(" ")
    if not space:
        return _fitting(word, [made.name for made in registry.all()])
    try:
        made, _ = registry.split(head)
    except UserError:
        return []
    if word.startswith("-"):
        return _fitting(word, [*_FLAG.findall(f"{made.usage} {made.help}"), "--help"])
    return _fitting(word, _words(context, made.name))


def _words(context: Context, name: str) -> list[str]:
    if name == "help":
        return [made.name for made in registry.all()]
    characters = [agent.persona.name.lower() for agent in context.society.agents.values()]
    if name == "@event":
        events = (event for agent in context.society.agents.values() for event in agent.rules.events)
        return [*characters, *events]
    if context.world is None or name.startswith("@"):
        return characters
    scene = context.world.scene(context.caller.user_id)
    if name == "go":
        return list(scene.exits)
    here = [being.name.lower() for being in scene.others]
    return [*here, *(thing.name for thing in scene.room.things)] if name == "look" else here


def _fitting(word: str, candidates: list[str]) -> list[str]:
    return sorted({candidate for candidate in candidates if candidate.startswith(word.lower())})
