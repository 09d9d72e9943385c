"""`@memories` and `@browse`: looking inside a character's memory from inside the world."""

from __future__ import annotations

from rich.console import RenderableType

from commands.memory_view import affect_groups_view, alike_view, entries_view, flow_view, stats_view
from commands.pages import PAGE_FLAGS, limit_and_offset
from commands.parse import Flag, Parsed, Spec
from commands.registry import CommandContext, Reply, looking_inside
from noodlings.errors import UserError
from noodlings.inspect.browse import Page
from noodlings.inspect.views import View
from noodlings.values.memory import Order

PAGE = 20
"""Memories shown at a time, so that a page fits a terminal of 24 lines."""
_USUAL = {"important": 10, "user": 10}
"""Views that show fewer; in the view of a user, each memory may have its answer below it."""

_BROWSE = Spec(
    '@browse NAME ["WORDS"] [--sort COLUMN] [--rising] [--everything] [--page N]',
    (Flag("sort", "COLUMN"), Flag("rising"), Flag("everything"), *PAGE_FLAGS),
    text="WORDS",
)


@looking_inside(_BROWSE)
async def browse(context: CommandContext, parsed: Parsed) -> Reply:
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
    limit, offset = limit_and_offset(parsed, PAGE)
    page = Page(
        order=parsed.text("sort", Order.IMPORTANCE).lower(),
        falling=not parsed.has("rising"),
        containing=parsed.rest,
        everything=parsed.has("everything"),
        limit=limit,
        offset=offset,
    )
    view = await context.inspector.browse(context.caller, parsed.name, page)
    return Reply(view.as_dict(), entries_view(view, PAGE, f"by {page.order}", "Nothing there."))


_VIEWS = ("stats", "working", "episodic", "affect", "user", "important", "flow", "affect-similar")
_PAGED = ("working", "episodic", "important", "user")
_LIMITED = (*_PAGED, "affect", "affect-similar")
_MEMORIES = Spec(
    "@memories NAME [--working | --episodic | --flow | …] [--limit N] [--page N]",
    (*(Flag(name, "WHO" if name == "user" else "") for name in _VIEWS), Flag("current"), *PAGE_FLAGS),
)


@looking_inside(_MEMORIES)
async def memories(context: CommandContext, parsed: Parsed) -> Reply:
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
    view, shown = _show(context, parsed, _view(parsed))
    return Reply(view.as_dict(), shown)


def _view(parsed: Parsed) -> str:
    """Which view is asked for. Raises `UserError` for two at once, and for flags that it does not take."""
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


def _show(context: CommandContext, parsed: Parsed, chosen: str) -> tuple[View, RenderableType]:
    inspector, caller, name = context.inspector, context.caller, parsed.name
    match chosen:
        case "stats":
            stats = inspector.stats(caller, name)
            return stats, stats_view(stats)
        case "affect":
            groups = inspector.affect_groups(caller, name, parsed.whole("limit", 2))
            return groups, affect_groups_view(groups)
        case "affect-similar":
            alike = inspector.affect_alike(caller, name, limit=parsed.whole("limit", 5))
            return alike, alike_view(alike)
        case "flow":
            flow = inspector.last_retrieval(caller, name)
            return flow, flow_view(flow, caller.sees_all)
    usual = _USUAL.get(chosen, PAGE)
    page = limit_and_offset(parsed, usual)
    if chosen == "user":
        view = inspector.by_user(caller, name, parsed.text("user"), *page)
    else:
        lists = {
            "working": inspector.working,
            "episodic": inspector.episodic,
            "important": inspector.important,
        }
        view = lists[chosen](caller, name, *page)
    return view, entries_view(view, usual)
