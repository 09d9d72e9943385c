"""What the last answer was made of: every memory that was in mind with its why, and what nearly was."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.widgets import Static

from noodlings.drawing.marks import ACCENT, LOUD, QUIET, bar, cut, done_without, feeling_text, number, words
from noodlings.inspect import questions
from noodlings.text import clean
from studio.panes.base import Answers, Ask
from studio.panes.detail import Detail
from studio.panes.memory_pane import MemoryPane
from studio.source import Refused
from studio.widgets.lines import Remark
from studio.widgets.marks import Draw, Drawing
from studio.widgets.table import Column, Table

if TYPE_CHECKING:
    from noodlings.inspect.views import EntryView, FlowEntryView, FlowView, LeftOutView

COLUMNS = (
    Column("", "", 1),
    Column("", "score", 8),
    Column("", "why", 16, most=36),
    Column("", "who", 6, least=60),
    Column("", "text", None),
)
USED, IN_MIND, LEFT_OUT = "▸", "•", "×"
SOMETHING = 0.005
"""What shows with two digits; less than this, and the order alone decided."""
NAMES = 10
"""Cells of the name of a reason."""


class Flow(MemoryPane):
    """The exchange, a table of memories, and for the one under the cursor each reason with its score."""

    TITLE = "Flow"
    ABOUT: ClassVar[str] = (
        f"What the last answer drew on, oldest first. {USED} was put into words, {IN_MIND} was in mind, and "
        f"{LEFT_OUT} was left out: it came nearest to being in mind, and beside it stands by how little it "
        "missed, or that it was the next in order. Below the table each reason of the memory under the "
        "cursor, with its score."
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
                yield Remark()
            yield Detail()

    def on_mount(self) -> None:
        """Nothing is known yet."""
        self._flow: FlowView | None = None

    def asks(self) -> Sequence[Ask]:
        """The last retrieval."""
        return [Ask(questions.FLOW)]

    def update_from(self, answers: Answers) -> None:
        """The flow, or links of a memory."""
        self.take_links(answers)
        flow = answers.find(questions.FLOW)
        if flow is None:
            return
        if isinstance(flow, Refused):
            self.query_one(Remark).say(flow.words, warning=True)
            return
        self._flow = flow
        self.query_one("#exchange", Static).update(_exchange(flow))
        rows = [*map(_recalled, flow.recalled), *map(_left_out, flow.left_out)]
        table = self.query_one(Table)
        table.begin(len(rows))
        table.hand(dict(enumerate(rows)))
        self.query_one(Remark).say(_remark(flow))
        self._draw_reasons()
        self.select(self._under_cursor())

    def clear(self) -> None:
        """Nothing of the agent before stays."""
        super().clear()
        self._flow = None
        self.query_one("#exchange", Static).update("")
        self.query_one(Table).begin(0)
        self.query_one("#reasons", Drawing).show(None)
        self.query_one(Remark).say("")

    def on_table_moved(self, event: Table.Moved) -> None:
        """Show the memory under the cursor."""
        self.choose(self._under_cursor())
        self._draw_reasons()

    def on_table_chosen(self, event: Table.Chosen) -> None:
        """Go over to the memory in full."""
        self.choose(self._under_cursor())
        self.detail.focus()

    def _under_cursor(self) -> EntryView | None:
        """The memory that was recalled, or left out; None where nothing was, or it is forgotten since."""
        at = self.query_one(Table).cursor
        entries: list[EntryView | None] = []
        if self._flow is not None:
            entries += [one.entry for one in self._flow.recalled]
            entries += [one.entry for one in self._flow.left_out]
        return entries[at] if at < len(entries) else None

    def _draw_reasons(self) -> None:
        at = self.query_one(Table).cursor
        drawn: list[Draw] = []
        if self._flow is not None:
            drawn += [partial(_reasons, one) for one in self._flow.recalled]
            drawn += [partial(_lack, one) for one in self._flow.left_out]
        self.query_one("#reasons", Drawing).show(drawn[at] if at < len(drawn) else None)


def _exchange(flow: FlowView) -> Text:
    turn = flow.turn
    if turn is None:
        return Text("No answer has drawn on a memory yet.", style=QUIET)
    percept = turn.percept
    if percept is None:
        line = Text("What was said has been forgotten since.", style=QUIET)
    else:
        line = Text.assemble((f"{clean(percept.name)}  ", LOUD), clean(percept.text))
    said = Text("kept silent", style=QUIET) if turn.response is None else Text(clean(turn.response))
    line.append("\n").append(f"{clean(flow.name)}  ", style=LOUD).append_text(said)
    line.append(f"\n→ {clean(str(turn.action))}" if turn.action else "", style=LOUD)
    mood = turn.mood
    line.append("\nmood ", style=QUIET).append_text(feeling_text(mood.feeling, mood.family))
    line.append(f" · {clean(turn.decision)}" if turn.decision else "", style=QUIET)
    for lost in turn.degraded:
        line.append(f"\n! {done_without(clean(lost))}", style="yellow")
    return line


def _recalled(one: FlowEntryView) -> list[Text]:
    sign = Text(USED, style=LOUD) if one.used else Text(IN_MIND)
    entry = one.entry
    why = words("+".join(one.why))
    if entry is None:
        return [sign, _score(one.score), why, Text(), Text("forgotten since", style=QUIET)]
    return [sign, _score(one.score), why, words(entry.name), words(entry.text)]


def _left_out(one: LeftOutView) -> list[Text]:
    entry = one.entry
    lacked = one.least - one.score
    missed = f"−{number(lacked)}" if lacked >= SOMETHING else "next by"
    why = Text(f"{missed} {one.why}", style=QUIET)
    name, text = words(entry.name, QUIET), words(entry.text, QUIET)
    return [Text(LEFT_OUT, style=QUIET), _score(one.score, QUIET), why, name, text]


def _score(value: float, style: str = ACCENT) -> Text:
    return Text.assemble(bar(value, 3, style), f" {number(value)}")


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
    return Text.assemble(
        (clean(name)[:NAMES].ljust(NAMES + 1), QUIET), bar(score, room), (f" {number(score)}", LOUD)
    )


def _remark(flow: FlowView) -> str:
    if flow.turn is None:
        return ""
    hidden = f" · {flow.hidden:,} not yours to read" if flow.hidden else ""
    used = sum(one.used for one in flow.recalled)
    return (
        f"{len(flow.recalled)} in mind · {used} put into words {USED} · "
        f"{len(flow.left_out)} nearly {LEFT_OUT}{hidden}"
    )
