"""What an answer was made of: every memory that was in mind with its reason, and what nearly came to mind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from noodlings.drawing.marks import LOUD, QUIET, bar, cut, done_without, feeling_text, number, words
from noodlings.errors import NoodlingsError
from noodlings.inspect import questions
from noodlings.inspect.reasons import SEARCHED, in_groups, reason_of
from noodlings.text import clean
from studio.panes.base import Query, Results
from studio.panes.conversation import ConversationPane
from studio.panes.entry_text import hidden_note
from studio.panes.memory_pane import MemoryPane
from studio.panes.why_lines import IN_MIND, LEFT_OUT, LEGEND, NOTHING_SAID, USED, reason_text, recalled_cells
from studio.widgets.lines import StatusLine
from studio.widgets.marks import Draw, Drawing
from studio.widgets.table import Column, Table

if TYPE_CHECKING:
    from noodlings.inspect.views import EntryView, FlowEntryView, FlowView, LeftOutView
    from noodlings.inspect.why import WhyView

COLUMNS = (
    Column("", "", 1),
    Column("", "why", 12, max_width=24),
    Column("", "fits", 10),
    Column("", "who", 6, min_table_width=60),
    Column("", "text", None),
)
VISIBLE = 0.005
"""The least that shows with two digits; where a memory lacked less, only the order decided."""
NAME_WIDTH = 12


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table, its memory, and what is drawn below the table while the cursor is on it."""

    cells: Sequence[Text]
    reasons: Draw | None = None
    entry: EntryView | None = None


HEADING = Row([*([Text()] * 4), Text("Nearly came to mind", style=LOUD)])


class Flow(MemoryPane, ConversationPane):
    """The exchange, a table of memories, and every reason of the one under the cursor with its score."""

    TITLE = "Flow"
    ABOUT: ClassVar[str] = (
        f"The memories that went into an answer, grouped by what brought them to mind. {USED} was put into "
        f"words, {IN_MIND} was only in mind. A bar says how well a memory fits its reason, from 0 to 1; "
        "compare bars of the same reason. What is merely recent has no bar, only its age. "
        f"Below the line are those that nearly came to mind ({LEFT_OUT}) and how little they lacked, which "
        "is known for the last answer only. Under the table is every reason of the memory under the "
        "cursor."
    )
    DEFAULT_CSS = """
    Flow #exchange { padding: 0 1; max-height: 5; }
    Flow Table { height: 1fr; min-height: 4; }
    Flow #reasons { padding: 0 1; max-height: 4; }
    Flow Detail { height: 30%; }
    """

    def compose_main(self) -> ComposeResult:
        yield Static(id="exchange", markup=False)
        yield Table(COLUMNS)
        yield Drawing(id="reasons")
        yield StatusLine(id="figures")
        yield StatusLine(LEGEND, id="legend")

    def on_mount(self) -> None:
        self._flow: FlowView | None = None
        self._rows: list[Row] = []

    def queries(self) -> Sequence[Query]:
        nearly = [Query(questions.FLOW)] if self.conversation.at is None else []
        return [*nearly, *self.conversation.queries()]

    def update_from(self, results: Results) -> None:
        flow, why = results.find(questions.FLOW), self.find_turn(results)
        if flow is not None and not isinstance(flow, NoodlingsError):
            self._flow = flow
        if isinstance(why, NoodlingsError):
            self.show_failure(why)
        elif why is not None:
            self._draw(why)

    def clear(self) -> None:
        super().clear()
        self._flow = None
        self._rows = []
        self.query_one("#exchange", Static).update("")

    def _draw(self, why: WhyView) -> None:
        nearly = self._left_out(why)
        self._rows = [
            *map(_recalled_row, in_groups(why.recalled)),
            *([HEADING] if nearly else []),
            *map(_left_out_row, nearly),
        ]
        self.query_one("#exchange", Static).update(_exchange(why))
        entries = {at: row.entry for at, row in enumerate(self._rows) if row.entry is not None}
        self.show_rows([row.cells for row in self._rows], entries)
        self.show_status(_status(why, len(nearly), self.conversation.position))
        self._draw_reasons()

    def _left_out(self, why: WhyView) -> Sequence[LeftOutView]:
        """What nearly came to mind, if that is known of this turn."""
        if self._flow is None or self._flow.turn is None or why.turn is None:
            return ()
        known, here = self._flow.turn.percept, why.turn.percept
        return self._flow.left_out if known and here and known.id == here.id else ()

    @on(Table.Moved)
    def _draw_reasons(self) -> None:
        at = self.table.cursor
        self.query_one("#reasons", Drawing).show(self._rows[at].reasons if at < len(self._rows) else None)


def _exchange(why: WhyView) -> Text:
    turn = why.turn
    if turn is None:
        return Text(NOTHING_SAID, style=QUIET)
    if turn.percept is None:
        text = Text("What was said has been forgotten since.", style=QUIET)
    else:
        text = Text.assemble((f"{clean(turn.percept.name)}  ", LOUD), clean(turn.percept.text))
    said = Text("kept silent", style=QUIET) if turn.response is None else Text(clean(turn.response))
    text.append("\n").append(f"{clean(why.name)}  ", style=LOUD).append_text(said)
    text.append(f"\n→ {clean(str(turn.action))}" if turn.action else "", style=LOUD)
    text.append("\nmood ", style=QUIET).append_text(feeling_text(turn.mood))
    text.append(f" · {clean(turn.decision)}" if turn.decision else "", style=QUIET)
    for missing in turn.degraded:
        text.append(f"\n! {done_without(clean(missing))}", style="yellow")
    return text


def _recalled_row(one: FlowEntryView) -> Row:
    mark, *others = recalled_cells(one)
    return Row([mark, words(reason_text(reason_of(one))), *others], partial(_reasons, one), one.entry)


def _left_out_row(one: LeftOutView) -> Row:
    lacked = one.least - one.score
    missed = f"lacks {number(lacked)}" if lacked >= VISIBLE else "was next"
    parts = (LEFT_OUT, reason_text(one.why), missed, one.entry.name, one.entry.text)
    return Row([words(part, QUIET) for part in parts], partial(_left_out_reasons, one, missed), one.entry)


def _left_out_reasons(one: LeftOutView, missed: str, width: int, height: int) -> Text:
    """The score of what was left out, above the score that would have been enough."""
    lines = [_reason(one.why, one.score, width), _reason("enough", one.least, width)]
    return Text("\n").join([*lines, cut(Text(f"left out: {missed}", style=QUIET), width)])


def _reasons(one: FlowEntryView, width: int, height: int) -> Text:
    """A bar for each reason."""
    scores = one.scores or dict.fromkeys(one.why[:1], one.score)
    return Text("\n").join(_reason(name, score, width) for name, score in scores.items())


def _reason(name: str, score: float, width: int) -> Text:
    room = min(max(width - NAME_WIDTH - 7, 3), 40)
    shown = (SEARCHED.get(name) or reason_text(name))[:NAME_WIDTH].ljust(NAME_WIDTH + 1)
    return Text.assemble((shown, QUIET), bar(score, room), (f" {number(score)}", LOUD))


def _status(why: WhyView, nearly: int, position: str) -> str:
    if why.turn is None:
        return ""
    used = sum(one.used for one in why.recalled)
    missed = f", {nearly} nearly" if nearly else ""
    return f"{position} · {len(why.recalled)} in mind, {used} used{missed}{hidden_note(why.hidden)}"
