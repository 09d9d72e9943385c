"""What an answer was made of: every memory that was in mind with its why, and what nearly was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.widgets import Static

from noodlings.drawing.marks import LOUD, QUIET, bar, cut, done_without, feeling_text, number, words
from noodlings.inspect import questions
from noodlings.inspect.reasons import SEARCHED, in_groups, reason_of
from noodlings.text import clean
from studio.panes.base import Answers, Ask
from studio.panes.conversation import ConversationPane
from studio.panes.detail import Detail
from studio.panes.memory_pane import MemoryPane
from studio.panes.why_lines import IN_MIND, LEFT_OUT, LEGEND, USED, fit, reason_words
from studio.source import Refused
from studio.widgets.lines import Remark
from studio.widgets.marks import Draw, Drawing
from studio.widgets.table import Column, Table

if TYPE_CHECKING:
    from noodlings.inspect.views import EntryView, FlowEntryView, FlowView, LeftOutView
    from noodlings.inspect.why import WhyView

COLUMNS = (
    Column("", "", 1),
    Column("", "why", 12, most=24),
    Column("", "fits", 10),
    Column("", "who", 6, least=60),
    Column("", "text", None),
)
SOMETHING = 0.005
"""What shows with two digits; less than this, and the order alone decided."""
NAMES = 12
"""Cells of the name of a reason."""
NEARLY = "Nearly came to mind"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table, and what is drawn below it; without either it is the line between both sorts."""

    cells: Sequence[Text]
    draw: Draw | None = None
    entry: EntryView | None = None


class Flow(MemoryPane, ConversationPane):
    """The exchange, a table of memories, and for the one under the cursor each reason with its score."""

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

    def compose(self) -> ComposeResult:
        """Exchange, table, reasons; the memory in full."""
        with Container(id="split"):
            with Vertical(id="main-part"):
                yield Static(id="exchange", markup=False)
                yield Table(COLUMNS)
                yield Drawing(id="reasons")
                yield Remark(id="figures")
                yield Remark(LEGEND, id="legend")
            yield Detail()

    def on_mount(self) -> None:
        """Nothing is known yet."""
        self._flow: FlowView | None = None
        self._told: WhyView | None = None
        self._rows: list[Row] = []

    def asks(self) -> Sequence[Ask]:
        """The answer; of the last one also what nearly came to mind."""
        nearly = [Ask(questions.FLOW)] if self.conversation.at is None else []
        return [*nearly, *self.conversation.asks()]

    def update_from(self, answers: Answers) -> None:
        """The answer, or links of a memory."""
        self.take_links(answers)
        flow, told = answers.find(questions.FLOW), self.told_of(answers)
        if flow is not None and not isinstance(flow, Refused):
            self._flow = flow
        if told is None or isinstance(told, Refused):
            if told is not None:
                self.query_one("#figures", Remark).say(told.words, warning=True)
            return
        self._told = told
        nearly = self._left_out()
        between = [Row([Text(), Text(), Text(), Text(), Text(NEARLY, style=LOUD)])] if nearly else []
        self._rows = [*map(_recalled, in_groups(told.recalled)), *between, *map(_left_out, nearly)]
        self.query_one("#exchange", Static).update(_exchange(told))
        table = self.query_one(Table)
        table.begin(len(self._rows))
        table.hand({at: row.cells for at, row in enumerate(self._rows)})
        self.query_one("#figures", Remark).say(_remark(told, len(nearly), self.conversation.place))
        self._draw_reasons()
        self.select(self._under_cursor())

    def clear(self) -> None:
        """Nothing of the agent before stays."""
        super().clear()
        self._flow = self._told = None
        self._rows = []
        self.query_one("#exchange", Static).update("")
        self.query_one(Table).begin(0)
        self.query_one("#reasons", Drawing).show(None)
        self.query_one("#figures", Remark).say("")

    def on_table_moved(self, event: Table.Moved) -> None:
        """Show the memory under the cursor."""
        self.choose(self._under_cursor())
        self._draw_reasons()

    def on_table_chosen(self, event: Table.Chosen) -> None:
        """Go over to the memory in full."""
        self.choose(self._under_cursor())
        self.detail.focus()

    def _left_out(self) -> Sequence[LeftOutView]:
        """What nearly came to mind, where the answer that is looked at is the one of which that is known."""
        flow, told = self._flow, self._told
        if flow is None or told is None or flow.turn is None or told.turn is None:
            return ()
        known, here = flow.turn.percept, told.turn.percept
        return flow.left_out if known and here and known.id == here.id else ()

    def _under_cursor(self) -> EntryView | None:
        """The memory in that row; None on the line between, or where it is forgotten since."""
        return self._row.entry if self._row else None

    @property
    def _row(self) -> Row | None:
        at = self.query_one(Table).cursor
        return self._rows[at] if at < len(self._rows) else None

    def _draw_reasons(self) -> None:
        self.query_one("#reasons", Drawing).show(self._row.draw if self._row else None)


def _exchange(told: WhyView) -> Text:
    turn = told.turn
    if turn is None:
        return Text("Nothing was said yet, so there is nothing to explain.", style=QUIET)
    percept = turn.percept
    if percept is None:
        line = Text("What was said has been forgotten since.", style=QUIET)
    else:
        line = Text.assemble((f"{clean(percept.name)}  ", LOUD), clean(percept.text))
    said = Text("kept silent", style=QUIET) if turn.response is None else Text(clean(turn.response))
    line.append("\n").append(f"{clean(told.name)}  ", style=LOUD).append_text(said)
    line.append(f"\n→ {clean(str(turn.action))}" if turn.action else "", style=LOUD)
    mood = turn.mood
    line.append("\nmood ", style=QUIET).append_text(feeling_text(mood.feeling, mood.family))
    line.append(f" · {clean(turn.decision)}" if turn.decision else "", style=QUIET)
    for lost in turn.degraded:
        line.append(f"\n! {done_without(clean(lost))}", style="yellow")
    return line


def _recalled(one: FlowEntryView) -> Row:
    sign = Text(USED, style=LOUD) if one.used else Text(IN_MIND)
    why, entry = words(reason_words(reason_of(one))), one.entry
    name, text = Text(), Text("forgotten since", style=QUIET)
    if entry is not None:
        name, text = words(entry.name), words(entry.text, LOUD if one.used else "")
    return Row([sign, why, fit(one, 4), name, text], partial(_reasons, one), entry)


def _left_out(one: LeftOutView) -> Row:
    entry, lacked = one.entry, one.least - one.score
    missed = f"lacks {number(lacked)}" if lacked >= SOMETHING else "was next"
    cells = [Text(part, style=QUIET) for part in (LEFT_OUT, reason_words(one.why), missed)]
    return Row([*cells, words(entry.name, QUIET), words(entry.text, QUIET)], partial(_lack, one), entry)


def _lack(one: LeftOutView, width: int, height: int) -> Text:
    """The score of what was left out, beside what would have been enough."""
    lacked = one.least - one.score
    by = f"it lacked {number(lacked)}" if lacked >= SOMETHING else "it was the next in order"
    lines = [_reason(one.why, one.score, width), _reason("enough", one.least, width)]
    return Text("\n").join([*lines, cut(Text(f"left out: {by}", style=QUIET), width)])


def _reasons(one: FlowEntryView, width: int, height: int) -> Text:
    """A bar for each reason."""
    scores = one.scores or dict.fromkeys(one.why[:1], one.score)
    return Text("\n").join(_reason(name, score, width) for name, score in scores.items())


def _reason(name: str, score: float, width: int) -> Text:
    room = min(max(width - NAMES - 7, 3), 40)
    shown = (SEARCHED.get(name) or reason_words(name))[:NAMES].ljust(NAMES + 1)
    return Text.assemble((shown, QUIET), bar(score, room), (f" {number(score)}", LOUD))


def _remark(told: WhyView, nearly: int, place: str) -> str:
    if told.turn is None:
        return ""
    hidden = f" · {told.hidden:,} not yours to read" if told.hidden else ""
    used = sum(one.used for one in told.recalled)
    missed = f", {nearly} nearly" if nearly else ""
    return f"{place} · {len(told.recalled)} in mind, {used} used{missed}{hidden}"
