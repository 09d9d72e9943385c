"""`@symbols NAME`: a character's subconscious, the images that intense moments left."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from commands.memory_view import BAR, felt_lines
from commands.pages import PAGE_FLAGS, limit_and_offset, past_the_end, remaining, span
from commands.parse import Flag, Parsed, Spec
from commands.registry import CommandContext, Reply, looking_inside
from commands.render import BLANK, TextColumn, TextRows, heading, hidden, nothing, stacked
from noodlings.drawing.marks import QUIET, ago, feeling_style, feeling_text, measure, number, words
from noodlings.inspect.symbols import SymbolsView

PAGE = 8
"""Symbols shown at a time, two lines each, so that a page fits a terminal of 24 lines."""


@looking_inside(Spec("@symbols NAME [--similar] [--limit N] [--page N]", (Flag("similar"), *PAGE_FLAGS)))
async def symbols(context: CommandContext, parsed: Parsed) -> Reply:
    """Look into a character's subconscious.

    An intense moment leaves an image. The image comes back with the feeling and colours what the character
    says, though it is never named. You see the image, what happened, the feeling, how much it counts
    (salience), and who made it: a model, or the table of images that needs none. The latest come first; when
    there is no more room, the least salient fades.

      --similar           what the feeling of this moment brings back, closest first
      --limit N           how many at a time
      --page N            which page

    You see what was made of what you told a character yourself; an admin sees everything.

    Examples:
      @symbols servnak
      @symbols servnak --similar
      @symbols phi --limit 3 --page 2
    """
    page = limit_and_offset(parsed, PAGE)
    view = context.inspector.symbols(context.caller, parsed.name, *page, parsed.has("similar"))
    return Reply(view.as_dict(), symbols_view(view))


def symbols_view(view: SymbolsView) -> RenderableType:
    what = "symbols that felt like now" if view.similar else "symbols"
    shown = span(view.offset, len(view.symbols), view.total)
    room = "" if view.similar or len(view.symbols) < view.total else f", room for {view.capacity:,}"
    return stacked(
        heading(view.name, what, f"{shown}{room}" if shown else ""),
        felt_lines("feels", view.current) if view.similar else None,
        BLANK,
        _rows(view) if view.symbols else nothing(_nothing(view), 0 if view.total else view.hidden),
        remaining(view.offset, len(view.symbols), view.total, PAGE),
        hidden(view.hidden if view.total else 0),
    )


def _rows(view: SymbolsView) -> TextRows:
    columns = (
        TextColumn("#", 9, "right", leaves=True),
        TextColumn("alike" if view.similar else "salience", BAR + 5),
        TextColumn("feeling"),
        TextColumn("when"),
        TextColumn("made by", optional=True),
        TextColumn("image, and what happened", None),
    )
    rows: list[tuple[Text, ...]] = []
    for symbol in view.symbols:
        measured = symbol.likeness if view.similar else symbol.salience
        cells = (
            Text(str(symbol.id), style=QUIET),
            measure(measured, BAR, feeling_style(symbol.felt.family)),
            feeling_text(symbol.felt),
            Text(ago(symbol.age), style=QUIET),
            words(symbol.made_by, QUIET),
            words(symbol.image),
        )
        event = f"(private) {symbol.event}" if symbol.private else symbol.event
        rows += [cells, (*[BLANK] * (len(columns) - 1), words(f"↳ {event}", QUIET))]
    return TextRows(columns, rows)


def _nothing(view: SymbolsView) -> str:
    if view.offset and view.total:
        return past_the_end(view.total)
    if view.similar:
        return f"Nothing felt like that (similarity of at least {number(view.threshold)})."
    return "No moment has been intense enough to leave an image yet."
