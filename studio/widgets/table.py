"""A table of as many rows as there are, of which only those in sight are ever held or drawn.

It knows how many rows there are and is handed them by index; which ones it misses it says in `Needed`. Rows
that have not come yet are drawn as dots. Columns that the table is too narrow for stay away as a whole, so
that what is shown is readable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from noodlings.drawing.marks import cut
from noodlings.text import ELLIPSIS

GAP = 1
"""Cells between two columns."""
OPEN = 40
"""Cells that the open column keeps before another one grows."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        key: what it is sorted by when its title is clicked; "" for what cannot be.
        title: above it.
        width: cells; None for the one open column, which takes what is left.
        align: of cells and title.
        least: it is shown only in a table of at least so many cells.
        most: it grows to so many cells for what stands in it, as long as `OPEN` are left for the open column.
    """

    key: str
    title: str
    width: int | None
    align: Literal["left", "right"] = "left"
    least: int = 0
    most: int = 0


class Table(ScrollView, can_focus=True):
    """Rows under titles, one of them under the cursor.

    Args:
        columns: exactly one is open.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"table--title", "table--cursor", "table--odd"}
    DEFAULT_CSS = """
    Table { background: $background; overflow-x: hidden; scrollbar-size-vertical: 1; }
    Table .table--title { color: $foreground; background: $panel; text-style: bold; }
    Table .table--odd { background: $surface; }
    Table .table--cursor { background: $panel; }
    Table:focus .table--cursor { background: $primary 40%; text-style: bold; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Move (page keys, home, end too)", key_display="up down", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "go(0)", show=False),
        Binding("end", "go(-1)", show=False),
        Binding("enter", "choose", "Over to the memory in full", show=False),
    ]
    cursor: reactive[int] = reactive(0, repaint=False)

    class Needed(Message):
        """Rows are in sight that nobody has handed in yet: from `first` up to `last`, both included."""

        def __init__(self, first: int, last: int) -> None:
            super().__init__()
            self.first = first
            self.last = last

    class Moved(Message):
        """Whoever looks moved the cursor to another row."""

        def __init__(self, row: int) -> None:
            super().__init__()
            self.row = row

    class Chosen(Message):
        """The row under the cursor was chosen with enter, or by a second click."""

        def __init__(self, row: int) -> None:
            super().__init__()
            self.row = row

    class Sorted(Message):
        """The title of a column was clicked."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, columns: Sequence[Column], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._columns = columns
        self._rows: dict[int, Sequence[Text]] = {}
        self._longest: dict[int, int] = {}
        self._count = 0
        self._sorted: tuple[str, bool] = ("", True)

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self._count

    def begin(self, count: int, order: str = "", falling: bool = True) -> None:
        """Other rows from now on; cursor and scrolling stay where they are, as far as there are rows.

        Args:
            count: how many there are.
            order: key of the column they are sorted by.
            falling: or rising.
        """
        fewer = count < self._count
        self._rows, self._longest = {}, {}
        self._count = count
        self._sorted = (order, falling)
        self._resize()
        self.cursor = max(min(self.cursor, count - 1), 0)
        self.refresh()
        if fewer:  # otherwise nobody but the person looking has moved rows out of sight
            self.call_after_refresh(self._keep_in_sight)

    def hand(self, rows: Mapping[int, Sequence[Text]]) -> None:
        """Some of the rows, by index, a cell for each column. What is in sight and missing is asked for."""
        self._rows |= rows
        for at, column in enumerate(self._columns):
            if column.most:
                longest = max((cells[at].cell_len for cells in rows.values()), default=0)
                self._longest[at] = min(max(self._longest.get(at, 0), longest), column.most)
        self.refresh()
        self._miss()

    def in_sight(self) -> tuple[int, int]:
        """The first and the last row in sight."""
        first = self.scroll_offset.y
        return first, max(min(first + self._body - 1, self._count - 1), first)

    @property
    def complete(self) -> bool:
        """Whether every row in sight has come."""
        return not self._missing()

    def render_line(self, y: int) -> Strip:
        """The titles, then the rows in sight."""
        width = self.size.width
        if y == 0:
            return self._strip(self._titles(), "table--title", width)
        at = self.scroll_offset.y + y - 1
        if at >= self._count:
            return Strip.blank(width, self.rich_style)
        cells = self._rows.get(at)
        shown = self._shown(width)
        row = (
            Text(ELLIPSIS)
            if cells is None
            else _line([(cells[index], cell, column.align) for index, column, cell in shown])
        )
        style = "table--cursor" if at == self.cursor else "table--odd" if at % 2 else ""
        return self._strip(row, style, width, ">" if at == self.cursor else " ")

    # -- moving

    def validate_cursor(self, cursor: int) -> int:
        """Within the rows."""
        return max(min(cursor, self._count - 1), 0)

    def watch_cursor(self) -> None:
        """Bring the row into sight."""
        self._keep_in_sight()
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """What comes into sight is asked for."""
        super().watch_scroll_y(old_value, new_value)
        self._miss()

    def action_move(self, by: int) -> None:
        """Up or down."""
        self._move_to(self.cursor + by)

    def action_page(self, by: int) -> None:
        """Up or down by what is in sight."""
        self._move_to(self.cursor + by * max(self._body - 1, 1))

    def action_go(self, row: int) -> None:
        """To the first row, or with −1 to the last one."""
        self._move_to(row if row >= 0 else self._count - 1)

    def action_choose(self) -> None:
        """Choose the row under the cursor."""
        if self._count:
            self.post_message(self.Chosen(self.cursor))

    def on_click(self, event: events.Click) -> None:
        """A title sorts; a row gets the cursor, and is chosen where it has it already."""
        if event.y == 0:
            self._sort_at(event.x)
            return
        row = self.scroll_offset.y + event.y - 1
        if row < self._count:
            if row == self.cursor:
                self.action_choose()
            self._move_to(row)

    def _move_to(self, row: int) -> None:
        before = self.cursor
        self.cursor = row
        if self.cursor != before:
            self.post_message(self.Moved(self.cursor))

    def on_resize(self) -> None:
        """Columns follow the width."""
        self._resize()
        self._keep_in_sight()
        self._miss()

    # -- drawing

    @property
    def _body(self) -> int:
        return max(self.scrollable_content_region.height - 1, 0)

    def _resize(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, self._count + 1)

    def _keep_in_sight(self) -> None:
        first, height = self.scroll_offset.y, self._body
        if self.cursor < first:
            self.scroll_to(y=self.cursor, animate=False)
        elif height and self.cursor >= first + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False)

    def _missing(self) -> list[int]:
        first, last = self.in_sight()
        return [at for at in range(first, last + 1) if at < self._count and at not in self._rows]

    def _miss(self) -> None:
        if missing := self._missing():
            self.post_message(self.Needed(missing[0], missing[-1]))

    def _titles(self) -> Text:
        order, falling = self._sorted
        cells = []
        for _, column, width in self._shown(self.size.width):
            mark = ("↓" if falling else "↑") if column.key and column.key == order else ""
            cells.append((Text(f"{column.title}{mark}"), width, column.align))
        return _line(cells)

    def _shown(self, width: int) -> list[tuple[int, Column, int]]:
        """Index, column and cells of each column that is shown; the cursor has a cell of its own."""
        there = [(at, column) for at, column in enumerate(self._columns) if column.least <= width]
        fixed = sum(column.width for _, column in there if column.width is not None)
        room = max(width - 1 - GAP * len(there) - fixed - 1, 1)
        shown = []
        for at, column in there:
            wider = max(min(self._longest.get(at, 0) - (column.width or 0), room - OPEN), 0)
            room -= wider
            shown.append((at, column, None if column.width is None else column.width + wider))
        return [(at, column, room if cells is None else cells) for at, column, cells in shown]

    def _strip(self, line: Text, style: str, width: int, mark: str = " ") -> Strip:
        drawn = Text(mark, no_wrap=True, end="").append_text(line)
        base = self.rich_style + (self.get_component_rich_style(style) if style else self.rich_style)
        strip = Strip(drawn.render(self.app.console, end=""))
        return strip.adjust_cell_length(width).apply_style(base)

    def _sort_at(self, x: int) -> None:
        left = 1
        for _, column, width in self._shown(self.size.width):
            left += width + GAP
            if x < left:
                if column.key:
                    self.post_message(self.Sorted(column.key))
                return


def _line(cells: Sequence[tuple[Text, int, Literal["left", "right"]]]) -> Text:
    line = Text(no_wrap=True, end="")
    for text, width, align in cells:
        line.append(" " * GAP if line else "").append_text(cut(text, width, align, pad=True))
    return line
