"""A memory as a row of a table and in full. The numbers are those of `EntryView`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.text import Text

from noodlings.drawing.marks import (
    ACCENT,
    LOUD,
    QUIET,
    ago,
    bar,
    cut,
    feeling_text,
    level,
    measure,
    number,
    words,
)
from noodlings.text import clean
from noodlings.values.audience import TIER_WORDS, Tier
from studio.widgets.marks import NAME_WIDTH, axis_bars, side_by_side
from studio.widgets.table import Column

if TYPE_CHECKING:
    from noodlings.inspect.links import LinkedEntryView
    from noodlings.inspect.views import EntryView

COLUMNS = (
    Column("importance", "importance", 11),
    Column("strength", "strength", 9, min_table_width=66),
    Column("feeling", "feeling", 10),
    Column("who", "who", 6, min_table_width=60, max_width=12),
    Column("text", "text", None),
    Column("when", "age", 6, "right"),
)
TWO_COLUMNS = 52
"""Cells from which the bars stand in two columns."""
PART_WIDTH = 13
"""Cells of the names of the parts of importance."""


def cells(entry: EntryView) -> list[Text]:
    """A cell for each of `COLUMNS`."""
    return [
        measure(entry.importance, 5),
        Text.assemble((level(entry.strength), ACCENT), f" {number(entry.strength)}"),
        feeling_text(entry),
        words(entry.name),
        Text.assemble(("▪ ", LOUD) if entry.pinned else "", words(entry.text)),
        Text(short_age(entry.age), style=QUIET),
    ]


def short_age(seconds: float) -> str:
    return ago(seconds).removesuffix(" ago")


def hidden_note(hidden: int) -> str:
    """The end of a status line: how many memories the user may not read."""
    return f" · {hidden:,} not yours to read" if hidden else ""


def exchange_text(entry: EntryView) -> Text:
    """What was said, by whom, and what the agent answered; it wraps."""
    line = Text.assemble((f"{clean(entry.name)}  ", LOUD), clean(entry.text))
    if entry.response:
        line.append("\n→ ", style=ACCENT).append(clean(entry.response))
    return line


def facts_text(entry: EntryView) -> Text:
    """Time, kind, privacy, source, tags, number of recalls and circumstances; it wraps."""
    parts = [
        f"#{entry.id}",
        entry.when.replace("T", " ").removesuffix("Z"),
        ago(entry.age),
        entry.kind,
        TIER_WORDS[entry.tier] if entry.tier > Tier.CONFINED else "private" if entry.private else "",
        "pinned" if entry.pinned else "",
        f"source: {clean(entry.source)}" if entry.source else "",
        *(f"#{clean(tag)}" for tag in entry.tags),
        f"recalled {entry.recall_count:,}×" if entry.recall_count else "",
        clean(entry.circumstances.summary(entry.timestamp + entry.age)) if entry.circumstances else "",
    ]
    return Text(" · ".join(filter(None, parts)), style=QUIET)


def bars_text(entry: EntryView, width: int, height: int) -> Text:
    """Importance with its parts, and the five axes of what was felt; in two columns if there is room."""
    wide = width >= TWO_COLUMNS
    room = min((width - 3) // 2 if wide else width, 44)
    left = [_bar("importance", entry.importance, room)]
    if entry.override is not None:
        by = {"hand": "by hand", "response": "answered"}.get(entry.override_by, "later")
        left.append(Text(f"  {by}; was {number(entry.encoded_importance)}", style=QUIET))
    left += [_bar(name, share, room) for name, share in asdict(entry.parts).items()]
    if entry.hindsight:
        left.append(_bar("in hindsight", entry.weight, room))
        left += [
            Text(f"  {reason.replace('_', ' ')} {shift:+.2f}", style=QUIET)
            for reason, shift in entry.hindsight.items()
        ]
    right = [Text.assemble(("felt  ", QUIET), feeling_text(entry))]
    if entry.affect is not None:
        right += axis_bars(entry.affect, room)
    if entry.intensity is not None:
        right.append(_bar("intensity", entry.intensity, room, NAME_WIDTH))
    right.append(_bar("strength", entry.strength, room, NAME_WIDTH))
    if not wide:
        return Text("\n").join([*left, Text(), *right])
    return side_by_side(left, right, room)


def link_text(link: LinkedEntryView, width: int) -> Text:
    """One line: direction, type and strength of a link, and the memory at its other end."""
    arrow = "→" if link.outgoing else "←"
    via = "" if link.depth == 1 else f", via #{link.via}"
    line = Text.assemble(
        (f"{arrow} {link.type.replace('_', ' ')}{via} {number(link.strength)}  ", QUIET),
        (f"{clean(link.entry.name)} ", LOUD),
        clean(link.entry.text),
    )
    return cut(line, width)


def _bar(name: str, share: float, room: int, name_width: int = PART_WIDTH) -> Text:
    width = max(room - name_width - 6, 3)
    return Text.assemble((name.ljust(name_width), QUIET), bar(share, width), (number(share).rjust(6), LOUD))
