"""`@browse NAME "WORDS"`: leafing through memories, sorted by any column and narrowed by a few words."""

from __future__ import annotations

from rich.console import RenderableType

from commands.entry_rows import entry_rows
from commands.memory_view import PLAIN_LIST
from commands.parse import Flag, Spec, parse_flags
from commands.registry import Context, Reply, command
from commands.render import BLANK, heading, hidden, nothing, quiet, stacked, warning
from noodlings.inspect.browse import Page
from noodlings.inspect.views import EntriesView
from noodlings.values.memory import Order

PAGE = 20

_USAGE = '@browse NAME ["WORDS"] [--sort COLUMN] [--rising] [--everything] [--page N]'
_SPEC = Spec(
    _USAGE,
    (
        Flag("sort", "COLUMN"),
        Flag("rising"),
        Flag("everything"),
        Flag("limit", "N", int, 1, 1_000),
        Flag("page", "N", int, 1, 1_000_000),
    ),
    text="WORDS",
)


@command("@browse", _USAGE, group="minds")
async def browse(context: Context, arguments: str) -> Reply:
    """Leaf through a character's episodic memory, sorted as you like.

    With words only what contains them, in what was said or answered, felt, or in who said it.

      --sort COLUMN       when, importance, strength, feeling, who or text
      --rising            the least, the oldest, or A first
      --everything        all it ever perceived, not only what mattered
      --limit N           so many at a time
      --page N            the next ones

    You see what you yourself shared with a character; whoever runs the world sees everything.

    Examples:
      @browse servnak
      @browse servnak "dog" --sort when
      @browse phi --everything --sort when --rising
    """
    parsed = parse_flags(arguments, _SPEC)
    limit = parsed.whole("limit", PAGE)
    page = Page(
        order=parsed.text("sort", Order.IMPORTANCE).lower(),
        falling=not parsed.has("rising"),
        containing=parsed.rest,
        everything=parsed.has("everything"),
        limit=limit,
        offset=(parsed.whole("page", 1) - 1) * limit,
    )
    view = await context.inspector.browse(context.caller, parsed.name, page)
    return Reply(view.as_dict(), browse_view(view, page))


def browse_view(view: EntriesView, page: Page) -> RenderableType:
    """One page, and how much there is beside it."""
    title = "everything it perceived" if page.everything else "episodic memory"
    end = view.offset + len(view.entries)
    note = f"{view.offset + 1:,}–{end:,} of {view.total:,}, by {page.order}" if view.entries else ""
    more = quiet(f"{view.total - end:,} more with --page {view.offset // page.limit + 2}")
    return stacked(
        heading(view.name, title, note),
        None if view.hierarchical else warning(PLAIN_LIST),
        BLANK,
        entry_rows(view.entries) if view.entries else nothing("Nothing there.", view.hidden),
        more if view.entries and end < view.total else None,
        hidden(view.hidden if view.entries else 0),
    )
