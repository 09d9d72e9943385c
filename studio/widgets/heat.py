"""Numbers of −1…1 over time: a row for each moment, the latest on top, with a cell for each number.

Height and shade of a cell both show the root of the number, so that small changes can be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import copysign, sqrt
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from noodlings.drawing.marks import LOUD, QUIET, cut, level

LABEL_WIDTH = 5
MAX_CELLS = 4
"""Of one number."""
FAINT = 0.05
"""Numbers nearer to 0 have no colour."""


class HeatStrip(Widget, can_focus=True):
    """Moments as rows of numbers in groups.

    Args:
        groups: name of each group and how many numbers it has.
    """

    DEFAULT_CSS = "HeatStrip { height: 1fr; min-height: 3; }  HeatStrip:focus { background: $surface; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1)", "Choose a number", key_display="left right", show=False),
        Binding("right", "move(1)", show=False),
    ]
    chosen: reactive[int] = reactive(0)

    class Chosen(Message):
        """Another number was chosen."""

    def __init__(self, groups: Sequence[tuple[str, int]]) -> None:
        super().__init__()
        self._groups = groups
        self._names = [f"{name} {at}" for name, count in groups for at in range(1, count + 1)]
        self._starts = set(accumulate(count for _, count in groups))
        self._rows: Sequence[Sequence[float]] = ()

    def show(self, rows: Sequence[Sequence[float]]) -> None:
        """Show moments, the latest first."""
        self._rows = rows
        self.refresh()

    def name_of(self, index: int) -> str:
        """The name of a number: its group and its place in it, from 1."""
        return self._names[index]

    def validate_chosen(self, chosen: int) -> int:
        return chosen % len(self._names)

    def watch_chosen(self) -> None:
        self.post_message(self.Chosen())

    def action_move(self, by: int) -> None:
        self.chosen += by

    def on_click(self, event: events.Click) -> None:
        for at in range(len(self._names)):
            if 0 <= event.x - self._left(at) < self._cells_each:
                self.chosen = at

    def render(self) -> Text:
        if not self._rows:
            return Text("its state is not known yet", style=QUIET)
        room = max(self.size.height - 2, 1)
        rows = [self._line(at, row) for at, row in enumerate(self._rows[:room])]
        marker = Text(" " * self._left(self.chosen) + "▲" * self._cells_each, style=LOUD, no_wrap=True)
        return Text("\n").join([self._titles(), *rows, marker])

    @property
    def _cells_each(self) -> int:
        room = self.size.width - LABEL_WIDTH - len(self._groups) + 1
        return min(max(room // len(self._names), 1), MAX_CELLS)

    def _left(self, at: int) -> int:
        """The first cell of a number."""
        gaps = sum(1 for start in self._starts if start <= at)
        return LABEL_WIDTH + at * self._cells_each + gaps

    def _titles(self) -> Text:
        line = Text(" " * LABEL_WIDTH, no_wrap=True)
        for name, count in self._groups:
            line.append_text(cut(Text(name, style=QUIET), count * self._cells_each, pad=True)).append(" ")
        line.rstrip()
        return line

    def _line(self, age: int, row: Sequence[float]) -> Text:
        name = f"−{age}" if age else "now"
        line = Text.assemble((name.rjust(LABEL_WIDTH - 1) + " ", QUIET), no_wrap=True)
        for at, value in enumerate(row):
            if at in self._starts:
                line.append(" ")
            style = QUIET if abs(value) < FAINT else "yellow" if value > 0 else "blue"
            cell = level((copysign(sqrt(abs(value)), value) + 1) / 2)
            line.append(cell * self._cells_each, style=style)
        return line
