"""Help and completion, mostly made from the docstrings of the commands.

A docstring is a summary line and then paragraphs that wrap. Indented paragraphs keep their lines, and what is
below "Examples:" is shown as typed. Completion takes flags from a command's help, and names and exits from
the world.
"""

from __future__ import annotations

import re
from itertools import islice

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from commands.registry import Command, CommandContext, Reply, command, registry
from noodlings.errors import UserError

_FLAG = re.compile(r"--[a-z][a-z-]*")


def completions(context: CommandContext, line: str) -> list[str]:
    """What the last word of a line (up to the cursor) may become, sorted."""
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
        return ["all", *(made.name for made in registry.all())]
    characters = [persona.name.lower() for persona in context.society.personas.values()]
    if name == "@event":
        anybody = islice(context.society.agents.values(), 1)  # all have the same rules
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


_FIRST: dict[str, tuple[tuple[str, str], ...]] = {
    "Talk: just type": (
        ("hello there", "Bare text is said to everybody in the room"),
        ("NAME, how are you?", "Whoever you name answers"),
        ("NAME, call me Oda", "From then on it calls you Oda"),
        ("whisper NAME = TEXT", "Say it to one person only"),
        (":waves", "Do something that everybody can see"),
    ),
    "Look around and walk": (
        ("look, look NAME", "See the room, or someone or something in it"),
        ("who", "See who is in the world, and where"),
        ("north, go library", "Walk through an exit; n is enough for north"),
    ),
    "Look inside a character": (
        ("@why NAME", "Why it said what it said last"),
        ("@memories NAME", "What it has in mind"),
        ('@recall NAME "dog"', "Search everything it ever perceived"),
        ("@people NAME me", "What it knows about you"),
        ("@mood NAME", "How it feels"),
        ("@forget NAME --user me", "See what it would forget of you; --yes does it"),
    ),
    "More": (
        ("help COMMAND", "How one command works, with examples"),
        ("help all", "Every command"),
        ("quit", "Leave; everything is kept"),
    ),
}
"""The first page, one screen of 80 × 24 in the order a newcomer needs: what is typed, and what it does."""

_GROUPS = {
    "world": "In the world",
    "directions": "Walking",
    "minds": "Looking inside a character",
    "help": "Help",
}
"""Groups of commands in the order in which they are listed, with their headings."""

_FLAGS = re.compile(r"\s*\[?--.*", re.DOTALL)
"""The flags of a usage line, which the list of all commands leaves out."""
_CODE = re.compile(r"`([^`]*)`")


@command("help", "help [COMMAND]", aliases=("?",), group="help")
async def show_help(context: CommandContext, rest: str) -> Reply:
    """Show how to begin, all commands, or how one command works.

    Examples:
        help
        help all
        help whisper
    """
    if rest in ("", "all"):
        view = _overview() if rest else _first_page()
        return Reply({"commands": [made.name for made in registry.all()]}, view)
    try:
        found = registry.find(rest)
    except UserError as error:
        if " " in rest and context.world is not None:
            raise UserError(f"{error} To say the line instead, put say in front.") from None
        raise
    return Reply({"command": found.name, "usage": found.usage, "help": found.help}, _page(found))


@command("commands", "commands", group="help")
async def list_commands(context: CommandContext, rest: str) -> Reply:
    """List the names of all commands."""
    names = [made.name for made in registry.all()]
    return Reply({"commands": names}, Text(", ".join(names)))


def _first_page() -> RenderableType:
    table = _two_columns()
    for heading, rows in _FIRST.items():
        table.add_row(Text(heading, style="bold cyan"))
        for typed, does in rows:
            table.add_row(Text(f"  {typed}"), Text(does))
    return table


def _two_columns() -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    return table


def _overview() -> RenderableType:
    table = _two_columns()
    for group, heading in _GROUPS.items():
        members = [made for made in registry.all() if made.group == group]
        table.add_row(Text(heading, style="bold cyan"))
        if group == "directions":
            names = ", ".join(made.name for made in members)
            letters = " ".join(alias for made in members for alias in made.aliases)
            table.add_row(Text("  DIRECTION"), Text(f"{names} ({letters})"))
            continue
        for made in members:
            table.add_row(Text(f"  {_FLAGS.sub(' [flags]', made.usage)}"), Text(_with_aliases(made)))
    return Group(table, Text(), Text("help COMMAND says more, with examples.", style="dim"))


def _with_aliases(made: Command) -> str:
    marks = [alias for alias in made.aliases if not alias.isalnum() and len(alias) == 1]
    summary = made.summary.rstrip(".")
    return f"{summary} (or {' '.join(marks)})" if marks else summary


def _page(made: Command) -> RenderableType:
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
