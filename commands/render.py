"""The shared look of every command: headings, remarks, aligned rows; marks are those of `noodlings.drawing`.

The rules: no colour carries meaning alone (a bar has its number, a feeling its word); nothing is wider than
what it is shown in, and what is cut ends in an ellipsis; text from outside is a `rich.text.Text`, cleaned,
never markup. Layout happens when a view is rendered, so one view fits 40 columns and 200.
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
"""Cells that the open column keeps before optional columns are shown beside it."""


def quiet(text: str) -> RenderableType:
    """A remark beside what matters; it wraps, and keeps its indent."""
    return _wrapped(text, QUIET)


def warning(text: str) -> RenderableType:
    """Something one should know of; it wraps, and keeps its indent."""
    return _wrapped(text, "yellow")


def hidden(count: int) -> RenderableType | None:
    """That there is more which this caller may not read; None where there is not."""
    return quiet(f"{count:,} more {'is' if count == 1 else 'are'} not yours to read.") if count else None


def nothing(said: str, count: int) -> RenderableType:
    """That a view is empty, in words; where the caller may not read what is in it, just that."""
    if not count:
        return quiet(said)
    return quiet(
        f"{count:,} {'is' if count == 1 else 'are'} not yours to read, and there are no others here."
    )


OTHERS = "what it says to others is not yours to read"
"""Said to whoever does not see everything, whether there is any or not."""


def _wrapped(text: str, style: str) -> RenderableType:
    return Flowing([Text(word, style=style) for word in clean(text).split(" ")], gap=1)


def heading(name: str, what: str, note: str = "") -> RenderableType:
    """The first line of a view: whose, what, and a remark."""
    parts = [Text.assemble((clean(name), LOUD), f" · {clean(what)}")]
    return Flowing([*parts, Text(clean(note), style=QUIET)] if note else parts, indent=0, gap=3)


def stacked(*parts: RenderableType | None) -> Group:
    """Parts below one another; None is left out."""
    return Group(*(part for part in parts if part is not None))


BLANK = Text("")


@dataclass(frozen=True, slots=True)
class Flowing:
    """Parts beside one another, on as many lines as they need; a part is broken only where it is too wide.

    Attributes:
        indent: empty cells at the left; in the first line `lead` stands there.
        gap: cells between parts.
    """

    parts: Sequence[Text]
    indent: int = 2
    gap: int = GAP
    lead: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The lines at the width they are shown in."""
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
        title: above the column, dim; no title line is drawn when no column has one.
        most: never wider than this many cells; None for the one open column, which takes what is left.
        align: of the cells and the title.
        optional: it is shown only where that leaves the open column `ROOMY` cells.
        leaves: it goes when not even the other columns fit beside one another.
    """

    title: str = ""
    most: int | None = 12
    align: Literal["left", "right"] = "left"
    optional: bool = False
    leaves: bool = False


@dataclass(frozen=True, slots=True)
class TextRows:
    """Aligned rows that fit any width.

    The open column stands beside the others while it has `least` cells there, else below them on a line of
    its own. A row whose open cell is empty goes on with the row before it. Columns without any content are
    not drawn.

    Attributes:
        columns: how each column behaves; at most one is open (`most=None`).
        rows: a cell for each column; a single text instead of a row is a line across all columns.
        least: cells that the open column needs to stand beside the others.
        indent: empty cells at the left.
    """

    columns: Sequence[TextColumn]
    rows: Sequence[Sequence[Text] | Text]
    least: int = 24
    indent: int = 2

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The rows at the width they are shown in."""
        room = max(options.max_width - self.indent, 1)
        margin = Text(" " * self.indent)
        opened = next((at for at, column in enumerate(self.columns) if column.most is None), None)
        widths = self._widths(room)
        left = room - _taken(widths) - (GAP if widths else 0)
        below = opened if left < self.least else None
        if opened is not None and below is None:
            widths[opened] = left
        if below is None and any(column.title for column in self.columns):
            yield margin + self._line(
                [Text(column.title, style=QUIET) for column in self.columns], widths, room
            )
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
        """Cells of each column that is shown, without the open one."""
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
        """The cells that are shown, each at its width, never wider than the room."""
        line = Text("", no_wrap=True)
        for at in sorted(widths):
            line.append(" " * GAP if line else "")
            line.append_text(cut(cells[at], widths[at], self.columns[at].align, pad=True))
        line.rstrip()
        return cut(line, room)


def _taken(widths: dict[int, int]) -> int:
    return sum(widths.values()) + GAP * max(len(widths) - 1, 0)
