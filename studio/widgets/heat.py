"""Numbers of −1…1 over time: a row for each moment, the latest on top, a cell for each number.

Height and shade of a cell both say how much it is, by its root, so that small changes are seen; the number
itself is told of the one that is chosen.
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

LABELS = 5
"""Cells of the names of the rows."""
WIDEST = 4
"""Cells of one number."""
LOW, HIGH = "blue", "yellow"
FAINT = 0.05
"""Nearer to 0 than this a number has no colour."""


class HeatStrip(Widget, can_focus=True):
    """Moments as rows of numbers in groups.

    Args:
        groups: name of each group and how many numbers it has.
    """

    DEFAULT_CSS = "HeatStrip { height: 1fr; min-height: 3; }  HeatStrip:focus { background: $surface; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "walk(-1)", "Choose a number", key_display="left right", show=False),
        Binding("right", "walk(1)", show=False),
    ]
    chosen: reactive[int] = reactive(0)

    class Chosen(Message):
        """Another number is chosen."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, groups: Sequence[tuple[str, int]]) -> None:
        super().__init__()
        self._groups = groups
        self._count = sum(count for _, count in groups)
        self._starts = set(accumulate(count for _, count in groups))
        self._rows: Sequence[Sequence[float]] = ()

    def show(self, rows: Sequence[Sequence[float]]) -> None:
        """Moments, the latest first."""
        self._rows = rows
        self.refresh()

    def name_of(self, index: int) -> str:
        """What a number is called: its group and its place in it, from 1."""
        for name, count in self._groups:
            if index < count:
                return f"{name} {index + 1}"
            index -= count
        raise IndexError(index)

    def validate_chosen(self, chosen: int) -> int:
        """Round and round."""
        return chosen % self._count

    def watch_chosen(self, chosen: int) -> None:
        """Tell which."""
        self.post_message(self.Chosen(chosen))

    def action_walk(self, by: int) -> None:
        """Choose the number beside this one."""
        self.chosen += by

    def on_click(self, event: events.Click) -> None:
        """Choose the number under the pointer."""
        for at in range(self._count):
            if 0 <= event.x - self._left(at) < self._each:
                self.chosen = at

    def render(self) -> Text:
        """Names, moments, and below them a mark under what is chosen."""
        if not self._rows:
            return Text("its state is not known yet", style=QUIET)
        lines = [self._titles()]
        room = max(self.size.height - 2, 1)
        lines += [self._line(at, row) for at, row in enumerate(self._rows[:room])]
        mark = " " * self._left(self.chosen) + "▲" * self._each
        lines.append(Text(mark, style=LOUD, no_wrap=True))
        return Text("\n").join(lines)

    @property
    def _each(self) -> int:
        room = self.size.width - LABELS - len(self._groups) + 1
        return min(max(room // self._count, 1), WIDEST)

    def _left(self, at: int) -> int:
        gaps = sum(1 for start in self._starts if start <= at)
        return LABELS + at * self._each + gaps

    def _titles(self) -> Text:
        line = Text(" " * LABELS, no_wrap=True)
        for name, count in self._groups:
            line.append_text(cut(Text(name, style=QUIET), count * self._each, pad=True)).append(" ")
        line.rstrip()
        return line

    def _line(self, back: int, row: Sequence[float]) -> Text:
        name = f"−{back}" if back else "now"
        line = Text.assemble((name.rjust(LABELS - 1) + " ", QUIET))
        line.no_wrap = True
        for at, value in enumerate(row):
            if at in self._starts:
                line.append(" ")
            style = QUIET if abs(value) < FAINT else HIGH if value > 0 else LOW
            line.append(level((copysign(sqrt(abs(value)), value) + 1) / 2) * self._each, style=style)
        return line
