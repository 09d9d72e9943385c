"""Pages of a long list: the flags that choose one, and how to get at the rest."""

from __future__ import annotations

from rich.console import RenderableType

from commands.parse import Flag, Parsed
from commands.render import quiet

PAGE_FLAGS = (Flag("limit", "N", int, 1, 1_000), Flag("page", "N", int, 1, 1_000_000))


def limit_and_offset(parsed: Parsed, usual: int) -> tuple[int, int]:
    """What the flags ask for; without --limit a page has the `usual` length."""
    limit = parsed.whole("limit", usual)
    return limit, (parsed.whole("page", 1) - 1) * limit


def span(offset: int, shown: int, total: int) -> str:
    """Which part of the list is shown: "3–4 of 12", "all 4"; "" for an empty page."""
    if not shown:
        return ""
    return f"{offset + 1:,}–{offset + shown:,} of {total:,}" if shown < total else f"all {total:,}"


def next_page(offset: int, shown: int, usual: int) -> str:
    """The flags for the page after this one, which is full."""
    limit = "" if shown == usual else f"--limit {shown} "
    return f"{limit}--page {offset // shown + 2}"


def remaining(offset: int, shown: int, total: int, usual: int) -> RenderableType | None:
    """How many there are behind this page, and how to see them; None where there are none."""
    left = total - offset - shown
    return quiet(f"{left:,} more with {next_page(offset, shown, usual)}") if shown and left > 0 else None


def past_the_end(total: int) -> str:
    """What is said on a page behind the last one."""
    return f"There is nothing on this page; there {'is' if total == 1 else 'are'} only {total:,}."
