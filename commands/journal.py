"""`@journal NAME [DAY]`: what happened to a character, day by day, in its own words."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from commands.pages import PAGE_FLAGS, limit_and_offset, next_page
from commands.parse import Parsed, Spec
from commands.registry import CommandContext, Reply, looking_inside
from commands.render import BLANK, Flowing, heading, hidden, nothing, quiet, stacked
from noodlings.drawing.marks import LOUD, QUIET, words
from noodlings.inspect.journal import JournalSentenceView, JournalView

PAGE = 3
"""Days shown at a time."""


@looking_inside(Spec("@journal NAME [DAY] [--limit N] [--page N]", PAGE_FLAGS, text="DAY"))
async def journal(context: CommandContext, parsed: Parsed) -> Reply:
    """Read a character's journal.

    Each day, the latest first, says whom it talked with, what mattered most, and how that felt. Each sentence
    ends with the numbers of the memories it rests on (for @links and @forget).

    DAY shows a single day, such as 2026-11-23 (world time, UTC).

      --limit N           how many days at a time
      --page N            earlier days

    No language model is needed: what was said is quoted in its own words. If one is connected, it words the
    days that are over when the character reflects (@reflect NAME).

    You see what you told a character yourself; an admin sees everything.

    Examples:
      @journal servnak
      @journal servnak 2026-11-23
      @journal phi --page 2
    """
    page = limit_and_offset(parsed, PAGE)
    view = await context.inspector.journal(context.caller, parsed.name, parsed.rest or None, *page)
    return Reply(view.as_dict(), journal_view(view, parsed.rest))


def journal_view(view: JournalView, one: str = "") -> RenderableType:
    """The pages of some days, or of the day `one`."""
    if not view.days:
        none = "There are no earlier days." if view.offset else "Nothing has happened yet."
        empty = nothing("There is nothing on that day." if one else none, view.hidden)
        return stacked(heading(view.name, "journal"), BLANK, empty)
    told: list[RenderableType] = []
    for day in view.days:
        told += [BLANK, words(day.day, LOUD)]
        told += map(_sentence, day.sentences) if day.sentences else [quiet("Nothing much happened.")]
    more = quiet(f"earlier days with {next_page(view.offset, len(view.days), PAGE)}") if view.more else None
    return stacked(heading(view.name, "journal"), *told, more, hidden(view.hidden))


def _sentence(one: JournalSentenceView) -> RenderableType:
    numbers = f"[{' '.join(map(str, one.evidence))}]"
    return Flowing([*map(Text, one.text.split(" ")), Text(numbers, style=QUIET)], gap=1)
