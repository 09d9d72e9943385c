"""How full an agent's memory is, and how important what it has in mind is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll

from noodlings.drawing.marks import ACCENT, LOUD, QUIET, bar, cut, number
from noodlings.inspect import questions
from studio.panes.base import Answers, Ask, Pane
from studio.widgets.lines import Remark
from studio.widgets.marks import Drawing, histogram

if TYPE_CHECKING:
    from noodlings.inspect.views import StatsView

MOST = 60
"""Cells of the longest bar."""
NAMES = 15
"""Cells of the names of the rows."""


class Stats(Pane):
    """The three streams, consolidation, and the importance of what is in mind."""

    TITLE = "Stats"
    ABOUT: ClassVar[str] = (
        "How full the memory of an agent is. Working memory holds the latest lines, episodic memory what "
        "matters, the subconscious the symbols that intense moments left; perceived counts everything "
        "that ever came in. The columns below count what is in mind by importance, in tenths."
    )
    DEFAULT_CSS = "Stats VerticalScroll { padding: 1 2; } Stats #histogram { margin-top: 1; }"

    def compose(self) -> ComposeResult:
        """Bars, then columns."""
        with VerticalScroll():
            yield Drawing(id="fill")
            yield Drawing(id="histogram")
        yield Remark()

    def asks(self) -> Sequence[Ask]:
        """The figures."""
        return [Ask(questions.STATS)]

    def update_from(self, answers: Answers) -> None:
        """Draw the figures."""
        if answers.refused:
            self.query_one(Remark).say(answers.refused, warning=True)
            return
        stats = answers.view(questions.STATS)
        self.query_one(Remark).say("")
        self.query_one("#fill", Drawing).show(partial(_fill, stats))
        self.query_one("#histogram", Drawing).show(partial(_importances, stats))

    def clear(self) -> None:
        """Nothing of the agent before stays."""
        self.query_one("#fill", Drawing).show(None)
        self.query_one("#histogram", Drawing).show(None)
        self.query_one(Remark).say("")


def _fill(stats: StatsView, width: int, height: int) -> Text:
    """A row for each stream, and for what became of all that was perceived."""

    def row(name: str, share: float, figures: str) -> Text:
        return cut(Text.assemble((name.ljust(NAMES), QUIET), _bar(share, width), f"  {figures}"), width)

    def filled(name: str, held: int, capacity: int, remark: str = "") -> Text:
        return row(name, held / capacity if capacity else 0.0, f"{held:,} of {capacity:,}{remark}")

    rate, average = stats.consolidation_rate, stats.average_importance
    perceived = Text.assemble(("perceived".ljust(NAMES), QUIET), (f"{stats.perceived:,}", LOUD), " memories")
    lines = [
        filled("working", stats.working, stats.working_capacity),
        filled("episodic", stats.episodic, stats.episodic_capacity, _pinned(stats.pinned)),
        filled("subconscious", stats.symbols, stats.symbol_capacity),
        Text(),
        cut(perceived, width),
        row("consolidated", rate, f"{rate:.0%}, {stats.consolidated:,} of them"),
        row("importance", average, f"{number(average)} on average"),
    ]
    if not stats.hierarchical:
        lines += [Text(), Text("Hierarchical memory is off: there is only working memory.", style="yellow")]
    return Text("\n").join(lines)


def _bar(value: float, width: int) -> Text:
    return bar(value, max(min(width - NAMES - 26, MOST), 6))


def _pinned(count: int) -> str:
    return f", {count:,} pinned" if count else ""


def _importances(stats: StatsView, width: int, height: int) -> Text:
    counts = stats.histogram
    title = Text.assemble(("importance of what is in mind", LOUD), (f"  {sum(counts):,} memories", QUIET))
    labels = [f".{at}" for at in range(len(counts))]
    return Text("\n").join(
        [cut(title, width), histogram(counts, labels, min(width, MOST + NAMES), 7, ACCENT)]
    )
