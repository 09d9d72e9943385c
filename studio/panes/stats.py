"""How full an agent's memory is, and how important the memories in mind are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll

from noodlings.drawing.marks import LOUD, QUIET, bar, cut, number
from noodlings.inspect import questions
from studio.panes.base import Pane, Query, Results
from studio.widgets.lines import StatusLine
from studio.widgets.marks import Drawing, histogram

if TYPE_CHECKING:
    from noodlings.inspect.views import StatsView

MAX_BAR = 60
NAME_WIDTH = 15


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
        with VerticalScroll():
            yield Drawing(id="fill")
            yield Drawing(id="histogram")
        yield StatusLine()

    def queries(self) -> Sequence[Query]:
        return [Query(questions.STATS)]

    def update_from(self, results: Results) -> None:
        stats = results.view(questions.STATS)
        self.show_status("")
        self.query_one("#fill", Drawing).show(partial(_fill, stats))
        self.query_one("#histogram", Drawing).show(partial(_importances, stats))


def _fill(stats: StatsView, width: int, height: int) -> Text:
    """A row for each stream, and for what became of everything that was perceived."""
    bar_width = max(min(width - NAME_WIDTH - 26, MAX_BAR), 6)

    def row(name: str, share: float, figures: str) -> Text:
        line = Text.assemble((name.ljust(NAME_WIDTH), QUIET), bar(share, bar_width), f"  {figures}")
        return cut(line, width)

    def filled(name: str, held: int, capacity: int, suffix: str = "") -> Text:
        return row(name, held / capacity if capacity else 0.0, f"{held:,} of {capacity:,}{suffix}")

    rate, average = stats.consolidation_rate, stats.average_importance
    pinned = f", {stats.pinned:,} pinned" if stats.pinned else ""
    perceived = Text.assemble(
        ("perceived".ljust(NAME_WIDTH), QUIET), (f"{stats.perceived:,}", LOUD), " memories"
    )
    lines = [
        filled("working", stats.working, stats.working_capacity),
        filled("episodic", stats.episodic, stats.episodic_capacity, pinned),
        filled("subconscious", stats.symbols, stats.symbol_capacity),
        Text(),
        cut(perceived, width),
        row("consolidated", rate, f"{rate:.0%}, {stats.consolidated:,} of them"),
        row("importance", average, f"{number(average)} on average"),
    ]
    if not stats.hierarchical:
        lines += [Text(), Text("Hierarchical memory is off: there is only working memory.", style="yellow")]
    return Text("\n").join(lines)


def _importances(stats: StatsView, width: int, height: int) -> Text:
    counts = stats.histogram
    title = Text.assemble(("importance of what is in mind", LOUD), (f"  {sum(counts):,} memories", QUIET))
    labels = [f".{at}" for at in range(len(counts))]
    columns = histogram(counts, labels, min(width, MAX_BAR + NAME_WIDTH), 7)
    return Text("\n").join([cut(title, width), columns])
