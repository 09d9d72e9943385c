"""Why something was said, in lines: what came to mind, grouped by the reason for it, on one scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from noodlings.drawing.marks import (
    ACCENT,
    LOUD,
    QUIET,
    ago,
    bar,
    cut,
    done_without,
    feeling_text,
    number,
    spoken_by,
    words,
)
from noodlings.inspect.reasons import REASONS, in_groups, reason_of, score_of
from noodlings.text import clean
from studio.widgets.marks import folded

if TYPE_CHECKING:
    from noodlings.inspect.views import FlowEntryView
    from noodlings.inspect.why import WhyView

MEASURED = frozenset({"semantic", "important", "affect", "linked"})
"""Reasons that fit more or less; any other one holds or does not."""
NAMES = 10
"""Cells of the name of a row."""
USED, IN_MIND, LEFT_OUT = "▸", "•", "×"
LEGEND = f"{USED} used {IN_MIND} in mind {LEFT_OUT} nearly │ bar: fits its reason, 0–1"


def fit(one: FlowEntryView, width: int, style: str = ACCENT) -> Text:
    """The bar of a memory with its number; how long ago it was where nothing but that brought it."""
    why = reason_of(one)
    if why in MEASURED:
        return Text.assemble(bar(score_of(one), width, style), f" {number(score_of(one))}")
    return Text(ago(one.entry.age) if why == "recent" and one.entry else "", style=QUIET)


def reason_words(why: str) -> str:
    """A reason in words."""
    return REASONS.get(why) or f"by {clean(why)}"


def recalled_lines(recalled: Sequence[FlowEntryView], width: int) -> Iterator[Text]:
    """A line for each memory under a line for each reason."""
    before = None
    for one in in_groups(recalled):
        why = reason_of(one)
        if why != before:
            yield Text(reason_words(why), style=ACCENT)
        before = why
        sign = Text(USED, style=LOUD) if one.used else Text(IN_MIND, style=QUIET)
        told = Text("forgotten since", style=QUIET)
        if one.entry is not None:
            told = Text.assemble(
                (f"{clean(one.entry.name)}  ", QUIET), words(one.entry.text, LOUD if one.used else "")
            )
        yield cut(Text.assemble("  ", sign, " ", cut(fit(one, 4), 10, pad=True), " ", told), width)


def why_text(told: WhyView, width: int) -> Text:
    """A turn from end to end: what was felt, what came to mind, the thought, and what coloured it."""
    turn = told.turn
    if turn is None:
        return Text("Nothing was said yet, so there is nothing to explain.", style=QUIET)
    felt = told.affect
    feeling = feeling_text(felt.feeling, felt.family) if felt else Text("—")
    figures = f" · surprise {number(told.surprise)} · importance {number(told.importance)}"
    used = sum(one.used for one in told.recalled)
    hidden = f", {told.hidden} of others" if told.hidden else ""
    count = f"{len(told.recalled)} came to mind{hidden}, {used} put into words {USED}"
    lines = [] if turn.response else [Text("It said nothing.", style=LOUD)]
    lines += [
        cut(Text.assemble(("felt ", QUIET), feeling, (figures, QUIET)), width),
        Text(count if told.recalled or told.hidden else "Nothing came to mind.", style=QUIET),
        *recalled_lines(told.recalled, width),
    ]
    if told.thought:
        changed = [clean(one.transistor) for one in told.modulations if one.how not in ("passed", "off")]
        lines.append(_row("thought", clean(told.thought), width))
        lines.append(_row("coloured", f"by {', '.join(changed)}" if changed else "by nothing", width))
    if turn.action:
        lines.append(_row("does", clean(str(turn.action)), width))
    reasons = [
        clean(turn.decision),
        spoken_by(turn.voice),
        *(done_without(clean(lost)) for lost in turn.degraded),
    ]
    lines.append(_row("because", " · ".join(filter(None, reasons)) or "no trace of it is kept", width))
    if told.steps:
        took = "  ".join(f"{clean(one.step)} {one.milliseconds:.1f}" for one in told.steps)
        lines.append(_row("took ms", took, width, QUIET))
    return Text("\n").join(lines)


def _row(name: str, told: str, width: int, style: str = "") -> Text:
    return Text.assemble((name.ljust(NAMES), QUIET), folded(Text(told, style), width, NAMES))
