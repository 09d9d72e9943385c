"""`@links` and `@link`: which memories of a character belong together, and joining two by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from commands.entry_rows import NAME, said
from commands.parse import Flag, Spec, parse_flags
from commands.registry import Context, Reply, command
from commands.render import (
    BLANK,
    QUIET,
    Column,
    Rows,
    ago,
    feeling_text,
    heading,
    hidden,
    nothing,
    number,
    stacked,
    words,
)
from noodlings.errors import UserError
from noodlings.inspect.links import LinkedEntryView, LinksView
from noodlings.inspect.views import EntryView

_LINKS = Spec("@links NAME --id N", (Flag("id", "N", int, 1),))
_LINK = Spec("@link NAME --from A --to B", (Flag("from", "A", int, 1), Flag("to", "B", int, 1)))


@command("@links", _LINKS.usage, group="minds")
async def links(context: Context, arguments: str) -> Reply:
    """Show which memories belong with one of them, as a tree, two steps deep.

    Memories are linked when one follows another in the same talk, when one comes to mind for the answer to
    another, and by hand (@link). An arrow to the right points from the memory above to what it followed or
    recalled; one to the left is the other way round. Of each memory the strongest links are shown.

    Examples:
      @links servnak --id 12
    """
    parsed = parse_flags(arguments, _LINKS)
    if not parsed.has("id"):
        raise UserError(f"Which memory? @memories shows their numbers. It goes like this: {_LINKS.usage}")
    view = context.inspector.links(context.caller, parsed.name, parsed.whole("id", 0))
    return Reply(view.as_dict(), links_view(view))


@command("@link", _LINK.usage, group="minds")
async def link(context: Context, arguments: str) -> Reply:
    """Link one memory of a character with another.

    Whatever brings one of them to mind may bring the other too. It holds until one of them is forgotten.

    Examples:
      @link servnak --from 12 --to 3
    """
    parsed = parse_flags(arguments, _LINK)
    if not (parsed.has("from") and parsed.has("to")):
        raise UserError(f"Which two memories? It goes like this: {_LINK.usage}")
    made = context.society.corrections.link(
        context.caller, parsed.name, parsed.whole("from", 0), parsed.whole("to", 0)
    )
    agent = context.society.find(parsed.name)
    data = {"agent": agent.id, "source": made.source, "target": made.target, "strength": made.strength}
    said = f"Memory {made.source} of {agent.persona.name} leads to memory {made.target} now, and back."
    return Reply(data, words(said))


def links_view(view: LinksView) -> RenderableType:
    """The memory, and below it those it is linked with, each below the one it was reached from."""
    columns = (
        Column("#", 18),
        Column("link", 16),
        Column("who", NAME),
        Column("feeling", optional=True),
        Column("when"),
        Column("what", None),
    )
    root = _row(Text(str(view.entry.id)), BLANK, view.entry)
    rows = [root, *_branches(view.linked, view.entry.id, 1, "")]
    count = f"{len(view.linked)} linked" if view.linked else ""
    return stacked(
        heading(view.name, f"links of memory {view.entry.id}", count),
        BLANK,
        Rows(columns, rows),
        hidden(view.hidden) if view.linked else nothing("It is linked with nothing yet.", view.hidden),
    )


def _branches(
    linked: Sequence[LinkedEntryView], via: int, depth: int, margin: str
) -> Iterator[tuple[Text, ...]]:
    """The rows of what was reached from one memory, each with its own branches below it."""
    children = [one for one in linked if one.via == via and one.depth == depth]
    for at, one in enumerate(children, 1):
        last = at == len(children)
        branch = Text.assemble((margin + ("└─ " if last else "├─ "), QUIET), str(one.entry.id))
        arrow, what = "→" if one.outgoing else "←", one.type.replace("_", " ")
        yield _row(branch, words(f"{arrow} {what} {number(one.strength)}"), one.entry)
        yield from _branches(linked, one.entry.id, depth + 1, margin + ("   " if last else "│  "))


def _row(branch: Text, way: Text, entry: EntryView) -> tuple[Text, ...]:
    return (
        branch,
        way,
        words(entry.name),
        feeling_text(entry.feeling, entry.family),
        Text(ago(entry.age), style=QUIET),
        said(entry),
    )
