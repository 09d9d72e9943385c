"""Help and completion, made of what the commands say about themselves: nothing is written twice.

A docstring is a summary line and then paragraphs that wrap; indented ones keep their lines, and what stands
below "Examples:" is shown as typed.

The tab key offers commands first, then whatever may stand where the cursor is. Flags are read from a
command's help, names and exits from the world.
"""

from __future__ import annotations

import re
from itertools import groupby, islice

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from commands.registry import Command, CommandContext, Reply, command, registry
from noodlings.errors import UserError

_FLAG = re.compile(r"--[a-z][a-z-]*")


def completions(context: CommandContext, line: str) -> list[str]:
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


def _words(context: CommandContext, name: str) -> list[str]:
    if name == "help":
        return [made.name for made in registry.all()]
    characters = [persona.name.lower() for persona in context.society.personas.values()]
    if name == "@event":
        anybody = islice(context.society.agents.values(), 1)  # what events do is the same for all
        events = (event for agent in anybody for event in agent.rules.events)
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


_GROUPS = {
    "world": "In the world",
    "directions": "Walking",
    "minds": "Looking inside them",
    "help": "Help",
}
"""Groups in the order they are listed, with their headings; others follow under their own names."""

_FLAGS = re.compile(r"\s*\[?--.*", re.DOTALL)
"""The flags of a usage; the list of all commands has no room for them."""
_CODE = re.compile(r"`([^`]*)`")


@command("help", "help [COMMAND]", aliases=("?",), group="help")
async def show_help(context: CommandContext, rest: str) -> Reply:
    """Show all commands, or how one of them works.

    Examples:
        help
        help whisper
        help @memories
    """
    if rest:
        found = registry.find(rest)
        return Reply({"command": found.name, "usage": found.usage, "help": found.help}, _page(found))
    return Reply({"commands": [made.name for made in registry.all()]}, _overview())


@command("commands", "commands", group="help")
async def list_commands(context: CommandContext, rest: str) -> Reply:
    """List the names of all commands, and nothing else."""
    names = [made.name for made in registry.all()]
    return Reply({"commands": names}, Text(", ".join(names)))


def _overview() -> RenderableType:
    order = list(_GROUPS)

    def place(made: Command) -> tuple[int, str]:
        return (order.index(made.group) if made.group in order else len(order), made.group)

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for (_, group), members in groupby(sorted(registry.all(), key=place), key=place):
        table.add_row(Text(_GROUPS.get(group, group.capitalize()), style="bold cyan"))
        if group == "directions":
            walks = list(members)
            names = ", ".join(made.name for made in walks)
            letters = " ".join(alias for made in walks for alias in made.aliases)
            table.add_row(Text("  DIRECTION"), Text(f"{names}; or {letters}"))
            continue
        for made in members:
            table.add_row(Text(f"  {_FLAGS.sub(' [flags]', made.usage)}"), Text(_with_aliases(made)))
    return Group(table, Text(), Text("help COMMAND says more and gives examples.", style="dim"))


def _with_aliases(made: Command) -> str:
    marks = [alias for alias in made.aliases if not alias.isalnum() and len(alias) == 1]
    summary = made.summary.rstrip(".")
    return f"{summary} (or {' '.join(marks)})" if marks else summary


def _page(made: Command) -> RenderableType:
    """One command's help as it reads in a terminal."""
    parts: list[RenderableType] = [Text(made.usage, style="bold cyan")]
    if made.aliases:
        parts.append(Text.assemble(("also: ", "dim"), ", ".join(made.aliases)))
    for paragraph in made.help.split("\n\n"):
        parts.append(Text())
        if paragraph.startswith("Examples:"):
            heading, *lines = paragraph.split("\n")
            parts.append(Text(heading, style="dim"))
            parts.extend(Text(f"  {line.strip()}", style="cyan") for line in lines)
        elif "\n " in f"\n{paragraph}":
            parts.append(Text(paragraph))
        else:
            parts.append(Text(_CODE.sub(r"\1", paragraph.replace("\n", " "))))
    return Group(*parts)
