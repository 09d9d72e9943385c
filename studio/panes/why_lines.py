"""Why something was said: what came to mind, grouped by the reason for it, with bars of one scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from noodlings.drawing.marks import (
    ACCENT,
    LOUD,
    QUIET,
    ago,
    cut,
    done_without,
    feeling_text,
    measure,
    number,
    spoken_by,
    words,
)
from noodlings.inspect.reasons import REASONS, in_groups, reason_of, score_of
from noodlings.text import clean
from studio.widgets.marks import named_row

if TYPE_CHECKING:
    from noodlings.inspect.views import FlowEntryView
    from noodlings.inspect.why import WhyView

MEASURED = frozenset({"semantic", "important", "affect", "linked"})
"""Reasons that hold more or less; any other one holds or does not."""
USED, IN_MIND, LEFT_OUT = "▸", "•", "×"
LEGEND = f"{USED} used {IN_MIND} in mind {LEFT_OUT} nearly │ bar: fits its reason, 0–1"
NOTHING_SAID = "Nothing was said yet, so there is nothing to explain."


def fit_text(one: FlowEntryView) -> Text:
    """A bar with its number; the age of what is merely recent; else nothing."""
    why = reason_of(one)
    if why in MEASURED:
        return measure(score_of(one), 4)
    return Text(ago(one.entry.age) if why == "recent" and one.entry else "", style=QUIET)


def reason_text(why: str) -> str:
    return REASONS.get(why) or f"by {clean(why)}"


def recalled_cells(one: FlowEntryView) -> tuple[Text, Text, Text, Text]:
    """Whether it was used, how well it fits its reason, who said it, and the words."""
    mark = Text(USED, style=LOUD) if one.used else Text(IN_MIND, style=QUIET)
    if one.entry is None:
        return mark, fit_text(one), Text(), Text("forgotten since", style=QUIET)
    return mark, fit_text(one), words(one.entry.name), words(one.entry.text, LOUD if one.used else "")


def recalled_lines(recalled: Sequence[FlowEntryView], width: int) -> Iterator[Text]:
    """A line for each memory under a line for each reason."""
    before = None
    for one in in_groups(recalled):
        why = reason_of(one)
        if why != before:
            yield Text(reason_text(why), style=ACCENT)
        before = why
        mark, fit, name, text = recalled_cells(one)
        memory = Text.assemble((name.plain, QUIET), "  " if name else "", text)
        yield cut(Text.assemble("  ", mark, " ", cut(fit, 10, pad=True), " ", memory), width)


def why_text(why: WhyView, width: int, height: int) -> Text:
    """A whole turn: what was felt, what came to mind, the thought, and what coloured it."""
    turn = why.turn
    if turn is None:
        return Text(NOTHING_SAID, style=QUIET)
    feeling = feeling_text(why.affect) if why.affect else Text("—")
    figures = f" · surprise {number(why.surprise)} · importance {number(why.importance)}"
    used = sum(one.used for one in why.recalled)
    hidden = f", {why.hidden} of others" if why.hidden else ""
    count = f"{len(why.recalled)} came to mind{hidden}, {used} put into words {USED}"
    lines = [] if turn.response else [Text("It said nothing.", style=LOUD)]
    lines += [
        cut(Text.assemble(("felt ", QUIET), feeling, (figures, QUIET)), width),
        Text(count if why.recalled or why.hidden else "Nothing came to mind.", style=QUIET),
        *recalled_lines(why.recalled, width),
    ]
    rows = []
    if why.thought:
        changed = [clean(one.transistor) for one in why.modulations if one.how not in ("passed", "off")]
        rows += [("thought", clean(why.thought)), ("coloured", f"by {', '.join(changed) or 'nothing'}")]
    if turn.action:
        rows.append(("does", clean(str(turn.action))))
    missing = [done_without(clean(part)) for part in turn.degraded]
    reasons = filter(None, [clean(turn.decision), spoken_by(turn.voice), *missing])
    rows.append(("because", " · ".join(reasons) or "no trace of it is kept"))
    lines += [named_row(name, Text(text), width) for name, text in rows]
    if why.steps:
        took = "  ".join(f"{clean(one.step)} {one.milliseconds:.1f}" for one in why.steps)
        lines.append(named_row("took ms", Text(took, style=QUIET), width))
    return Text("\n").join(lines)
