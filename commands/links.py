"""`@links`, `@link`, `@unlink`, `@focus`: linked memories, and what a character goes back to for a topic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from commands.memory_view import BAR, MEMORY_COLUMNS, NAME, NAMES, intensity, memory_cells, said, source_line
from commands.parse import ID, Flag, Parsed, Spec, memory_number
from commands.registry import CommandContext, Reply, looking_inside
from commands.render import BLANK, Flowing, TextColumn, TextRows, heading, hidden, nothing, quiet, stacked
from noodlings.drawing.marks import LOUD, QUIET, ago, measure, number, words
from noodlings.errors import UserError
from noodlings.inspect.changes import LinkAdded, LinksRemoved
from noodlings.inspect.links import DEPTH, FocusEntryView, FocusView, LinkedEntryView, LinksView
from noodlings.recall.links import MAX_DEPTH
from noodlings.text import counted

_ENDS = (Flag("from", "A", int, 1), Flag("to", "B", int, 1))


@looking_inside(Spec("@links NAME --id N [--depth N]", (ID, Flag("depth", "N", int, 1, MAX_DEPTH))))
async def links(context: CommandContext, parsed: Parsed) -> Reply:
    """Show the memories that are linked with one memory, as a tree.

    Memories are linked when one follows another in the same talk, when one comes to mind for the answer to
    another, when a person contradicts or explains what they told (@reflect finds that; the words that show it
    are quoted), and by hand (@link). An arrow to the right points from the memory above to what it followed
    or recalled; an arrow to the left points the other way. Only the strongest links of each memory are shown.

      --id N              the memory to start from
      --depth N           how many steps deep, 1 to 3; normally 2

    Examples:
      @links servnak --id 12
      @links servnak --id 12 --depth 3
    """
    depth = parsed.whole("depth", DEPTH)
    view = context.inspector.links(context.caller, parsed.name, memory_number(parsed), depth)
    return Reply(view.as_dict(), links_view(view))


@looking_inside(Spec("@link NAME --from A --to B", _ENDS))
async def link(context: CommandContext, parsed: Parsed) -> Reply:
    """Link one memory of a character with another.

    Whatever brings one of them to mind may then bring the other, too. The link lasts until one of them is
    forgotten.

    Examples:
      @link servnak --from 12 --to 3
    """
    source, target = _ends(parsed)
    made = context.society.corrections.link(context.caller, parsed.name, source, target)
    agent = context.society.find(parsed.name)
    added = LinkAdded(agent.id, made.source, made.target, made.strength)
    said = f"Memories {made.source} and {made.target} of {agent.persona.name} are now linked."
    return Reply(added.as_dict(), words(said))


@looking_inside(Spec("@unlink NAME --from A --to B", _ENDS))
async def unlink(context: CommandContext, parsed: Parsed) -> Reply:
    """Remove the links between two memories of a character.

    It does not matter which of the two the links point to. A fact that a model understood, or a thought,
    stays linked with the memory that it was made of, so that it is forgotten with it. For admins.

    Examples:
      @unlink servnak --from 12 --to 3
    """
    source, target = _ends(parsed)
    gone = context.society.corrections.unlink(context.caller, parsed.name, source, target)
    agent = context.society.find(parsed.name)
    removed = LinksRemoved.of(agent.id, source, target, gone)
    types = ", ".join(removed.removed)
    said = f"Memories {source} and {target} of {agent.persona.name} are no longer linked ({types})."
    return Reply(removed.as_dict(), words(said))


def _ends(parsed: Parsed) -> tuple[int, int]:
    """The numbers of the two memories that are meant."""
    if not (parsed.has("from") and parsed.has("to")):
        raise UserError(f"Which two memories? Type it like this: {parsed.usage}")
    return parsed.whole("from", 0), parsed.whole("to", 0)


def links_view(view: LinksView) -> RenderableType:
    columns = (TextColumn("#", 18), TextColumn("link", 18), *MEMORY_COLUMNS)
    root = (Text(str(view.entry.id)), BLANK, *memory_cells(view.entry))
    rows = [root, *_branches(view.linked, view.entry.id, 1, "")]
    count = f"{len(view.linked)} linked" if view.linked else ""
    return stacked(
        heading(view.name, f"links of memory {view.entry.id}", count),
        source_line(view.entry),
        BLANK,
        TextRows(columns, rows),
        *(quiet(_words_of(one)) for one in view.linked if any(one.shown_by)),
        hidden(view.hidden) if view.linked else nothing("There are no links to show yet.", view.hidden),
    )


def _words_of(one: LinkedEntryView) -> str:
    """A contradiction, or a cause and its consequence, with the words that show it."""
    ends = (one.via, one.entry.id) if one.outgoing else (one.entry.id, one.via)
    told, other = one.shown_by
    return f'{ends[0]} {one.type.replace("_", " ")} {ends[1]}: "{told}" - "{other}"'


def _branches(
    linked: Sequence[LinkedEntryView], via: int, depth: int, margin: str
) -> Iterator[tuple[Text, ...]]:
    """The rows of what was reached from one memory, each with its own branches below."""
    children = [one for one in linked if one.via == via and one.depth == depth]
    for at, one in enumerate(children, 1):
        last = at == len(children)
        branch = Text.assemble((margin + ("└─ " if last else "├─ "), QUIET), str(one.entry.id))
        arrow, what = "→" if one.outgoing else "←", one.type.replace("_", " ")
        yield (branch, words(f"{arrow} {what} {number(one.strength)}"), *memory_cells(one.entry))
        yield from _branches(linked, one.entry.id, depth + 1, margin + ("   " if last else "│  "))


@looking_inside(Spec('@focus NAME LEVEL "WHAT" [--user WHO]', (Flag("user", "WHO"),), text="WHAT"))
async def focus(context: CommandContext, parsed: Parsed) -> Reply:
    """Show what a character would have in mind about something.

    The level says how far it goes back: how many memories it looks for, in how many hours, and how many
    steps it follows their links.

      0   2 memories of the last hour, no links
      1   5 of the last 4 hours, 1 step
      2   8 of the last 12 hours, 1 step
      3   10 of the last day, 2 steps
      4   15 of the last 3 days, 3 steps
      5   20 of the last week, 3 steps

    Links add at most as many again, and what has too little to do with it is left out. The upper part shows
    where each memory came from, best first; the lower part is the context itself, oldest first.

      --user WHO          only what this person shared with it; "me" is you

    You see what you shared with a character yourself.

    Examples:
      @focus servnak 4 "what did I say about my dog"
      @focus servnak 4 "the well" --user caity
    """
    level, _, query = parsed.rest.partition(" ")
    if not (level.removeprefix("-").isdecimal() and query):
        raise UserError(f"How far back (0 to 5), and for what? Type it like this: {parsed.usage}")
    user = parsed.text("user") or None
    view = await context.inspector.focus(context.caller, parsed.name, int(level), query, user)
    return Reply(view.as_dict(), focus_view(view))


def focus_view(view: FocusView) -> RenderableType:
    back = f"{view.hours:g} h" if view.hours <= 72 else f"{view.hours / 24:g} days"
    by_links = Text("links are not followed")
    if view.depth:
        by_links = Text.assemble((f"{view.linked}", LOUD), f" by links, {counted(view.depth, 'step')}")
    counts = Flowing(
        [
            Text.assemble((f"{view.searched}", LOUD), f" of {view.limit} by the search, {back} back"),
            by_links,
            Text.assemble((f"{view.tokens:,}", LOUD), " tokens"),
        ]
    )
    head = stacked(heading(view.name, f"focus {view.level}", f'"{view.query}"'), counts)
    if not view.memories:
        return stacked(head, BLANK, quiet("It remembers nothing about this from that time."))
    return stacked(head, BLANK, _report(view.memories), BLANK, *map(_line, view.context))


def _report(memories: Sequence[FocusEntryView]) -> RenderableType:
    columns = (
        TextColumn("#", 9, "right"),
        TextColumn("score", BAR + 5),
        TextColumn("from", 22),
        TextColumn("who", NAME, optional=True),
        TextColumn("when", optional=True),
        TextColumn("intensity", align="right", optional=True),
        TextColumn("what", None),
    )
    rows = [
        (
            Text(str(one.entry.id), style=QUIET),
            measure(one.score, BAR),
            words(_source(one)),
            words(one.entry.name),
            Text(ago(one.entry.age), style=QUIET),
            intensity(one.entry),
            said(one.entry),
        )
        for one in memories
    ]
    return TextRows(columns, rows)


def _source(one: FocusEntryView) -> str:
    """The reasons of the search, or the memory it is linked with."""
    if one.why[0] == "linked" and one.type is not None:
        return f"via {one.via}, {one.type.replace('_', ' ')}"
    return ", ".join(NAMES.get(why, why) for why in one.why)


def _line(line: str) -> RenderableType:
    told = [Text(word) for word in line.removeprefix("- ").split(" ")]
    return Flowing(told, indent=4, gap=1, lead="  -")
