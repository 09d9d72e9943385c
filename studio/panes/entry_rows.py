"""How a memory looks as a row of a table and, in full, beside it. The numbers are those of `EntryView`."""

from __future__ import annotations

from dataclasses import asdict
from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.text import Text

from noodlings.drawing.marks import ACCENT, LOUD, QUIET, ago, bar, cut, feeling_text, level, number, words
from noodlings.text import clean
from noodlings.values.audience import TIER_WORDS, Tier
from studio.widgets.marks import NAMES, axis_bars
from studio.widgets.table import Column

if TYPE_CHECKING:
    from noodlings.inspect.links import LinkedEntryView
    from noodlings.inspect.views import EntryView

COLUMNS = (
    Column("importance", "importance", 11),
    Column("strength", "strength", 9, least=66),
    Column("feeling", "feeling", 10),
    Column("who", "who", 6, least=60, most=12),
    Column("text", "text", None),
    Column("when", "age", 6, "right"),
)
PINNED = "▪"
SIDE_BY_SIDE = 52
"""Cells from which two tables of bars stand beside one another."""
PART_NAMES = 13
"""Cells of the names of components."""


def cells(entry: EntryView) -> list[Text]:
    """A cell for each of `COLUMNS`."""
    return [
        Text.assemble(bar(entry.importance, 5), f" {number(entry.importance)}"),
        Text.assemble((level(entry.strength), ACCENT), f" {number(entry.strength)}"),
        feeling_text(entry.feeling, entry.family),
        words(entry.name),
        Text.assemble((f"{PINNED} ", LOUD) if entry.pinned else "", words(entry.text)),
        Text(ago(entry.age).removesuffix(" ago"), style=QUIET),
    ]


def said(entry: EntryView) -> Text:
    """What was said, by whom, and what the agent answered; it wraps."""
    line = Text.assemble((f"{clean(entry.name)}  ", LOUD), clean(entry.text))
    if entry.response:
        line.append("\n→ ", style=ACCENT).append(clean(entry.response))
    return line


def facts(entry: EntryView) -> Text:
    """When it was, what sort of thing it was, where it is from, its tags, and how often it came to mind."""
    times = entry.recall_count
    parts = [
        f"#{entry.id}",
        entry.when.replace("T", " ").removesuffix("Z"),
        ago(entry.age),
        entry.kind,
        TIER_WORDS[entry.tier] if entry.tier > Tier.CONFINED else "private" if entry.private else "",
        "pinned" if entry.pinned else "",
        f"source: {clean(entry.source)}" if entry.source else "",
        *(f"#{clean(tag)}" for tag in entry.tags),
        f"recalled {times:,}×" if times else "never recalled",
    ]
    return Text(" · ".join(filter(None, parts)), style=QUIET)


def made_of(entry: EntryView, width: int, height: int) -> Text:
    """Importance with its components, and the five axes: beside one another where there is room."""
    room = min((width - 3) // 2 if width >= SIDE_BY_SIDE else width, 44)
    left = [_part("importance", entry.importance, room), *_override(entry)]
    left += [_part(name, share, room) for name, share in asdict(entry.parts).items()]
    felt = Text.assemble(("felt  ", QUIET), feeling_text(entry.feeling, entry.family))
    right = [felt, *(axis_bars(entry.affect, room) if entry.affect is not None else [])]
    if entry.intensity is not None:
        right.append(_part("intensity", entry.intensity, room, NAMES))
    right.append(_part("strength", entry.strength, room, NAMES))
    if width < SIDE_BY_SIDE:
        return Text("\n").join([*left, Text(), *right])
    lines = [
        Text.assemble(cut(one, room, pad=True), "   ", other)
        for one, other in zip_longest(left, right, fillvalue=Text())
    ]
    return Text("\n").join(lines)


def linked(link: LinkedEntryView, width: int) -> Text:
    """A link as a line: which way, what sort, how strong, and the memory at its other end."""
    arrow = "→" if link.outgoing else "←"
    behind = "" if link.depth == 1 else f", via #{link.via}"
    entry = link.entry
    line = Text.assemble(
        (f"{arrow} {link.type.replace('_', ' ')}{behind} {number(link.strength)}  ", QUIET),
        (f"{clean(entry.name)} ", LOUD),
        clean(entry.text),
    )
    return cut(line, width)


def _override(entry: EntryView) -> list[Text]:
    if entry.override is None:
        return []
    by = {"hand": "by hand", "response": "answered"}.get(entry.override_by, "later")
    return [Text(f"  {by}; was {number(entry.encoded_importance)}", style=QUIET)]


def _part(name: str, share: float, room: int, names: int = PART_NAMES) -> Text:
    width = max(room - names - 6, 3)
    return Text.assemble((name.ljust(names), QUIET), bar(share, width), (number(share).rjust(6), LOUD))
