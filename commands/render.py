"""The shared look of all commands: headings, remarks, aligned rows.

The rules are those of `noodlings.drawing.marks`. Layout happens when a view is rendered, so the same view
fits 40 columns and 200.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from noodlings.drawing.marks import LOUD, QUIET, cut
from noodlings.text import clean

GAP = 2
"""Cells between two columns."""
ROOMY = 44
"""Cells that the open column must keep for optional columns to be shown beside it."""
INDENT = 2
"""Empty cells at the left."""


def quiet(text: str) -> RenderableType:
    """A dim remark, which wraps and keeps its indent."""
    return _wrapped(text, QUIET)


def warning(text: str) -> RenderableType:
    """A warning, which wraps and keeps its indent."""
    return _wrapped(text, "yellow")


def hidden(count: int) -> RenderableType | None:
    """How much more there is that the caller may not read; None for nothing."""
    return quiet(f"{count:,} more {'is' if count == 1 else 'are'} not yours to read.") if count else None


def nothing(said: str, count: int) -> RenderableType:
    """Why a view is empty: as `said`, or because the caller may not read the `count` things in it."""
    theirs = f"{count:,} {'is' if count == 1 else 'are'} not yours to read, and there are no others here."
    return quiet(theirs if count else said)


OTHERS = "what it says to others is not yours to read"
"""Shown to players whether there is anything or not."""


def _wrapped(text: str, style: str) -> RenderableType:
    return Flowing([Text(word, style=style) for word in clean(text).split(" ")], gap=1)


def heading(name: str, what: str, note: str = "") -> RenderableType:
    """The first line of a view: the name, what is shown, and a remark."""
    parts = [Text.assemble((clean(name), LOUD), f" · {clean(what)}")]
    return Flowing([*parts, Text(clean(note), style=QUIET)] if note else parts, indent=0, gap=3)


def stacked(*parts: RenderableType | None) -> Group:
    """Parts below one another, without None."""
    return Group(*(part for part in parts if part is not None))


BLANK = Text("")


@dataclass(frozen=True, slots=True)
class Flowing:
    """Parts beside one another, on as many lines as they need. A part too wide for a line is cut.

    Attributes:
        indent: cells at the left, empty except for `lead` in the first line.
        gap: cells between parts.
    """

    parts: Sequence[Text]
    indent: int = INDENT
    gap: int = GAP
    lead: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = max(options.max_width - self.indent, 1)
        margin = self.lead.ljust(self.indent)
        line = Text("", no_wrap=True)
        for part in self.parts:
            if line and line.cell_len + self.gap + part.cell_len > room:
                yield Text(margin) + line
                line, margin = Text("", no_wrap=True), " " * self.indent
            line.append(" " * self.gap if line else "")
            line.append_text(cut(part, room))
        yield Text(margin) + line


@dataclass(frozen=True, slots=True)
class TextColumn:
    """How one column of `TextRows` behaves.

    Attributes:
        title: above the column; there is no title line if no column has one.
        most: the greatest width in cells; None for the open column, which takes what is left.
        optional: it is shown only if that leaves the open column `ROOMY` cells.
        leaves: it is dropped if the columns without the open one do not fit.
    """

    title: str = ""
    most: int | None = 12
    align: Literal["left", "right"] = "left"
    optional: bool = False
    leaves: bool = False


@dataclass(frozen=True, slots=True)
class TextRows:
    """Aligned rows that fit any width.

    The open column stands beside the others if it has `least` cells there, else below them on a line of its
    own. A row whose open cell is empty continues the row before it. Columns without content are not drawn.

    Attributes:
        columns: at most one is open (`most=None`).
        rows: a cell for each column; a single text instead of a row is a line across all columns.
    """

    columns: Sequence[TextColumn]
    rows: Sequence[Sequence[Text] | Text]
    least: int = 24

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = max(options.max_width - INDENT, 1)
        margin = Text(" " * INDENT)
        opened = next((at for at, column in enumerate(self.columns) if column.most is None), None)
        widths = self._widths(room)
        left = room - _taken(widths) - (GAP if widths else 0)
        below = opened if left < self.least else None
        if opened is not None and below is None:
            widths[opened] = left
        if below is None and any(column.title for column in self.columns):
            titles = [Text(column.title, style=QUIET) for column in self.columns]
            yield margin + self._line(titles, widths, room)
        waiting: Text | None = None
        for row in self.rows:
            goes_on = not isinstance(row, Text) and opened is not None and not row[opened]
            if waiting is not None and not goes_on:
                yield waiting
                waiting = None
            if isinstance(row, Text):
                yield cut(row, options.max_width)
                continue
            line = self._line(row, widths, room)
            if line:
                yield margin + line
            if below is not None and row[below]:
                waiting = margin + Text(" " * GAP) + cut(row[below], max(room - GAP, 1))
        if waiting is not None:
            yield waiting

    def _widths(self, room: int) -> dict[int, int]:
        """Column → its width in cells, for the columns that are shown, without the open one."""
        rows = [row for row in self.rows if not isinstance(row, Text)]
        widths = {}
        for at, column in enumerate(self.columns):
            cells = max((row[at].cell_len for row in rows), default=0)
            if column.most is not None and cells:
                widths[at] = min(max(cells, cell_len(column.title)), column.most)
        for at in [at for at in widths if self.columns[at].optional][::-1]:
            if _taken(widths) + GAP + ROOMY > room:
                del widths[at]
        for at in [at for at in widths if self.columns[at].leaves][::-1]:
            if _taken(widths) > room:
                del widths[at]
        return widths

    def _line(self, cells: Sequence[Text], widths: dict[int, int], room: int) -> Text:
        line = Text("", no_wrap=True)
        for at in sorted(widths):
            line.append(" " * GAP if line else "")
            line.append_text(cut(cells[at], widths[at], self.columns[at].align, pad=True))
        line.rstrip()
        return cut(line, room)


def _taken(widths: dict[int, int]) -> int:
    return sum(widths.values()) + GAP * max(len(widths) - 1, 0)
