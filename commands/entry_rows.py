"""Memories as aligned rows: number, importance, who, feeling, when and what; the same in every view."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from commands.render import (
    BLANK,
    QUIET,
    Column,
    Rows,
    ago,
    feeling_style,
    feeling_text,
    measure,
    number,
    words,
)
from noodlings.inspect.views import EntryView, FlowEntryView

BAR = 6
NAME = 14
NAMES = {"next_to": "next to"}
"""Reasons of a recall whose name is not shown as it is."""


def entry_rows(
    entries: Sequence[EntryView],
    *,
    with_name: bool = True,
    with_response: bool = False,
    lead: tuple[str, list[Text]] | None = None,
) -> Rows:
    """Memories one a line: number, importance, who, feeling, when, what; more where there is room.

    Args:
        with_name: who said it; needless where it is always the same.
        with_response: what was answered stands below.
        lead: a title and a cell for each entry, shown instead of the importance.
    """
    title, firsts = lead or ("importance", [importance(entry) for entry in entries])
    columns = _columns(title)
    rows: list[tuple[Text, ...]] = []
    for entry, first in zip(entries, firsts, strict=True):
        rows.append(_row(entry, first, words(entry.name) if with_name else BLANK))
        if with_response and entry.response:
            rows.append((*[BLANK] * (len(columns) - 1), words(f"↳ {entry.response}", QUIET)))
    return Rows(columns, rows)


def group_rows(groups: Sequence[tuple[Text, Sequence[EntryView]]]) -> Rows:
    """Memories in groups, each below its own headline, aligned over all of them."""
    rows: list[tuple[Text, ...] | Text] = []
    for headline, entries in groups:
        rows += [headline, *(_row(entry, importance(entry), words(entry.name)) for entry in entries)]
    return Rows(_columns(), rows)


def flow_rows(recalled: Sequence[FlowEntryView]) -> Rows:
    """What was in mind: a line for each reason with its score, then who, when, what; ▸ means it was used."""
    columns = (
        Column("", 1),
        Column("#", 9, "right", leaves=True),
        Column("score", BAR + 5),
        Column("why", 12),
        Column("who", NAME),
        Column("feeling", optional=True),
        Column("when", optional=True),
        Column("what", None),
    )
    rows: list[tuple[Text, ...]] = []
    for item in recalled:
        entry = item.entry
        first, *others = item.why or ("",)
        rows.append(
            (
                Text("▸" if item.used else ""),
                Text(str(item.id), style=QUIET),
                measure(item.scores.get(first, item.score), BAR),
                words(NAMES.get(first, first)),
                words(entry.name) if entry else BLANK,
                feeling_text(entry.feeling, entry.family) if entry else BLANK,
                Text(ago(entry.age), style=QUIET) if entry else BLANK,
                said(entry) if entry else words("(forgotten)", QUIET),
            )
        )
        rows += [
            (
                BLANK,
                BLANK,
                measure(item.scores.get(reason, item.score), BAR),
                words(NAMES.get(reason, reason)),
                *[BLANK] * 4,
            )
            for reason in others
        ]
    return Rows(columns, rows)


def importance(entry: EntryView) -> Text:
    """The importance as a bar in the colour of the feeling, with its number."""
    return measure(entry.importance, BAR, feeling_style(entry.family))


def said(entry: EntryView) -> Text:
    """What was said; anything but plain speech says what it was, and so does a pin."""
    marks = [entry.kind] * (entry.kind != "say") + ["pinned"] * entry.pinned
    line = Text(f"({', '.join(marks)}) " if marks else "", style=QUIET, no_wrap=True)
    return Text("", no_wrap=True).append_text(line).append_text(words(entry.text or "(no words)"))


def _columns(title: str = "importance") -> tuple[Column, ...]:
    return (
        Column("#", 9, "right", leaves=True),
        Column(title, BAR + 5),
        Column("who", NAME),
        Column("feeling"),
        Column("when"),
        Column("strength", align="right", optional=True),
        Column("surprise", align="right", optional=True),
        Column("what", None),
    )


def _row(entry: EntryView, first: Text, name: Text) -> tuple[Text, ...]:
    """The cells of `_columns`."""
    return (
        Text(str(entry.id), style=QUIET),
        first,
        name,
        feeling_text(entry.feeling, entry.family),
        Text(ago(entry.age), style=QUIET),
        Text(number(entry.strength)),
        Text(number(entry.surprise)),
        said(entry),
    )
