"""`@memories` and `@browse`: looking inside a character's memory from inside the world.

`@browse NAME "WORDS"` leafs through memories, sorted by any column and narrowed by a few words.
"""

from __future__ import annotations

from collections.abc import Callable

from rich.console import RenderableType

from commands.memory_view import (
    PLAIN_LIST,
    affect_groups_view,
    alike_view,
    entries_view,
    entry_rows,
    flow_view,
    stats_view,
)
from commands.parse import Flag, Parsed, Spec, parse_flags
from commands.registry import CommandContext, Reply, command
from commands.render import BLANK, heading, hidden, nothing, quiet, stacked, warning
from noodlings.errors import UserError
from noodlings.inspect.browse import Page
from noodlings.inspect.views import EntriesView, View
from noodlings.values.memory import Order

PAGE = 20

_BROWSE_USAGE = '@browse NAME ["WORDS"] [--sort COLUMN] [--rising] [--everything] [--page N]'
_BROWSE_SPEC = Spec(
    _BROWSE_USAGE,
    (
        Flag("sort", "COLUMN"),
        Flag("rising"),
        Flag("everything"),
        Flag("limit", "N", int, 1, 1_000),
        Flag("page", "N", int, 1, 1_000_000),
    ),
    text="WORDS",
)


@command("@browse", _BROWSE_USAGE, group="minds")
async def browse(context: CommandContext, arguments: str) -> Reply:
    """Browse a character's episodic memory, sorted as you like.

    Add words to see only memories that contain them, in what was said or answered, the feeling, or who said
    it.

      --sort COLUMN       when, importance, strength, feeling, who or text
      --rising            lowest, oldest or A first
      --everything        everything it ever perceived, not only what mattered
      --limit N           how many at a time
      --page N            which page

    You see what you shared with a character yourself; an admin sees everything.

    Examples:
      @browse servnak
      @browse servnak "dog" --sort when
      @browse phi --everything --sort when --rising
    """
    parsed = parse_flags(arguments, _BROWSE_SPEC)
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


"""Memories shown at a time: with its frame a page fits a terminal of 24 lines."""
_ANSWERED_PAGE = 10
"""The same where each may have an answer below it."""
_MOST = 1_000

_USAGE = "@memories NAME [--working | --episodic | --flow | …] [--limit N] [--page N]"
_VIEWS = ("stats", "working", "episodic", "affect", "user", "important", "flow", "affect-similar")
_PAGED = ("working", "episodic", "important", "user")
_LIMITED = (*_PAGED, "affect", "affect-similar")
_SPEC = Spec(
    _USAGE,
    (
        *(Flag(name, "WHO" if name == "user" else "") for name in _VIEWS),
        Flag("current"),
        Flag("limit", "N", int, 1, _MOST),
        Flag("page", "N", int, 1, 1_000_000),
    ),
)


@command("@memories", _USAGE, group="minds")
async def memories(context: CommandContext, arguments: str) -> Reply:
    """Look inside a character's memory.

    Without a flag (or with --stats), you see how full its memory is and how important its contents are.

      --working           the latest, oldest first
      --episodic          what mattered enough to be kept, most important first
      --important         the ten most important of all it has in mind
      --user WHO          what this person shared with it, and its answers; "me" is you
      --affect            what is in mind, grouped by feeling
      --affect-similar --current
                          memories that felt like what it feels now
      --flow              the memories behind its last answer, with reason and score
      --limit N           how many at a time
      --page N            which page

    You see what you shared with a character yourself; an admin sees everything.

    Examples:
      @memories servnak
      @memories servnak --episodic --limit 5
      @memories servnak --user me
      @memories servnak --flow
    """
    parsed = parse_flags(arguments, _SPEC)
    chosen = _view(parsed)
    view, shown = _SHOW[chosen](context, parsed)
    return Reply(data=view.as_dict(), view=shown)


def _view(parsed: Parsed) -> str:
    """Which view is asked for. Raises `UserError` for two at once and for flags that say nothing about it."""
    views = [name for name in _VIEWS if parsed.has(name)]
    if len(views) > 1:
        raise UserError(f"One view at a time: --{views[0]} or --{views[1]}.")
    chosen = views[0] if views else "stats"
    if parsed.has("current") and chosen != "affect-similar":
        raise UserError(
            "--current only works with --affect-similar: @memories NAME --affect-similar --current"
        )
    for flag, where in (("limit", _LIMITED), ("page", _PAGED)):
        if parsed.has(flag) and chosen not in where:
            raise UserError(
                f"--{flag} goes with {', '.join(f'--{name}' for name in where)}, not with --{chosen}."
            )
    return chosen


Shown = tuple[View, RenderableType]


def _stats(context: CommandContext, parsed: Parsed) -> Shown:
    view = context.inspector.stats(context.caller, parsed.name)
    return view, stats_view(view)


def _working(context: CommandContext, parsed: Parsed) -> Shown:
    view = context.inspector.working(context.caller, parsed.name, *_page(parsed))
    return view, entries_view(view)


def _episodic(context: CommandContext, parsed: Parsed) -> Shown:
    view = context.inspector.episodic(context.caller, parsed.name, *_page(parsed))
    return view, entries_view(view)


def _important(context: CommandContext, parsed: Parsed) -> Shown:
    view = context.inspector.important(context.caller, parsed.name, *_page(parsed, 10))
    return view, entries_view(view)


def _user(context: CommandContext, parsed: Parsed) -> Shown:
    view = context.inspector.by_user(
        context.caller, parsed.name, parsed.text("user"), *_page(parsed, _ANSWERED_PAGE)
    )
    return view, entries_view(view)


def _affect(context: CommandContext, parsed: Parsed) -> Shown:
    view = context.inspector.affect_groups(context.caller, parsed.name, parsed.whole("limit", 2))
    return view, affect_groups_view(view)


def _affect_similar(context: CommandContext, parsed: Parsed) -> Shown:
    view = context.inspector.affect_alike(context.caller, parsed.name, limit=parsed.whole("limit", 5))
    return view, alike_view(view)


def _flow(context: CommandContext, parsed: Parsed) -> Shown:
    view = context.inspector.last_retrieval(context.caller, parsed.name)
    return view, flow_view(view, context.caller.sees_all)


def _page(parsed: Parsed, limit: int = PAGE) -> tuple[int, int]:
    """Limit and offset."""
    limit = parsed.whole("limit", limit)
    return limit, (parsed.whole("page", 1) - 1) * limit


_SHOW: dict[str, Callable[[CommandContext, Parsed], Shown]] = {
    "stats": _stats,
    "working": _working,
    "episodic": _episodic,
    "affect": _affect,
    "user": _user,
    "important": _important,
    "flow": _flow,
    "affect-similar": _affect_similar,
}
