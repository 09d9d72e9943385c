"""A table of any number of rows that holds only those it was given, and asks for those that come into view.

Rows that are missing are drawn as an ellipsis. Columns that do not fit are left out as a whole.
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
MIN_OPEN_WIDTH = 40
"""Cells that the open column keeps before another one grows."""

Align = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        key: what a click on the title sorts by; "" if it does not sort.
        width: cells; None for the one open column, which takes what is left.
        align: of cells and title.
        min_table_width: the column is left out of narrower tables.
        max_width: it grows up to here for its contents, as long as the open column keeps `MIN_OPEN_WIDTH`.
    """

    key: str
    title: str
    width: int | None
    align: Align = "left"
    min_table_width: int = 0
    max_width: int = 0


class Table(ScrollView, can_focus=True):
    """Rows under titles, one of them under the cursor. Exactly one column is open.

    Attributes:
        count: how many rows there are.
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

    @dataclass
    class Needed(Message):
        """Rows in view are missing: from `first` up to `last`, both included."""

        first: int
        last: int

    class Moved(Message):
        """The user moved the cursor to another row."""

    class Chosen(Message):
        """The row under the cursor was chosen with enter, or by a second click."""

    @dataclass
    class Sorted(Message):
        """The title of a column was clicked."""

        key: str

    def __init__(self, columns: Sequence[Column], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._columns = columns
        self._rows: dict[int, Sequence[Text]] = {}
        self._longest: dict[int, int] = {}
        self.count = 0
        self._sorted: tuple[str, bool] = ("", True)

    def show(self, rows: Sequence[Sequence[Text]]) -> None:
        """Show these rows and no others."""
        self.begin(len(rows))
        self.add_rows(dict(enumerate(rows)))

    def begin(self, count: int, order: str = "", descending: bool = True) -> None:
        """Drop all rows, to be given others. Cursor and scroll position stay as far as there are rows.

        Args:
            order: key of the column they are sorted by.
        """
        fewer = count < self.count
        self._rows, self._longest = {}, {}
        self.count = count
        self._sorted = (order, descending)
        self._resize()
        self.cursor = max(min(self.cursor, count - 1), 0)
        self.refresh()
        if fewer:  # otherwise only the user can have scrolled the cursor out of view
            self.call_after_refresh(self._keep_cursor_in_view)

    def add_rows(self, rows: Mapping[int, Sequence[Text]]) -> None:
        """Add some of the rows, by index, with a cell for each column."""
        self._rows |= rows
        for at, column in enumerate(self._columns):
            if column.max_width:
                longest = max((cells[at].cell_len for cells in rows.values()), default=0)
                self._longest[at] = min(max(self._longest.get(at, 0), longest), column.max_width)
        self.refresh()
        self._ask_for_missing()

    def rows_in_view(self) -> tuple[int, int]:
        """The first and the last row in view."""
        first = self.scroll_offset.y
        return first, max(min(first + self._height - 1, self.count - 1), first)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y == 0:
            return self._strip(self._titles(), "table--title", width)
        at = self.scroll_offset.y + y - 1
        if at >= self.count:
            return Strip.blank(width, self.rich_style)
        cells = self._rows.get(at)
        if cells is None:
            row = Text(ELLIPSIS)
        else:
            row = _line([(cells[index], cell, column.align) for index, column, cell in self._shown(width)])
        style = "table--cursor" if at == self.cursor else "table--odd" if at % 2 else ""
        return self._strip(row, style, width, ">" if at == self.cursor else " ")

    # -- moving

    def validate_cursor(self, cursor: int) -> int:
        return max(min(cursor, self.count - 1), 0)

    def watch_cursor(self) -> None:
        self._keep_cursor_in_view()
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._ask_for_missing()

    def cursor_to_end(self) -> None:
        if self.cursor != self.count - 1:
            self.cursor = self.count - 1
            self.call_after_refresh(self._keep_cursor_in_view)  # the new rows are not laid out yet

    def action_move(self, by: int) -> None:
        self._move_to(self.cursor + by)

    def action_page(self, by: int) -> None:
        self._move_to(self.cursor + by * max(self._height - 1, 1))

    def action_go(self, row: int) -> None:
        """Go to the first row, or with −1 to the last one."""
        self._move_to(row if row >= 0 else self.count - 1)

    def action_choose(self) -> None:
        if self.count:
            self.post_message(self.Chosen())

    def on_click(self, event: events.Click) -> None:
        """Sort by a title. Move to a row, or choose it if the cursor is there already."""
        if event.y == 0:
            self._sort_at(event.x)
            return
        row = self.scroll_offset.y + event.y - 1
        if row < self.count:
            if row == self.cursor:
                self.action_choose()
            self._move_to(row)

    def _move_to(self, row: int) -> None:
        before = self.cursor
        self.cursor = row
        if self.cursor != before:
            self.post_message(self.Moved())

    def on_resize(self) -> None:
        self._resize()
        self._keep_cursor_in_view()
        self._ask_for_missing()

    # -- drawing

    @property
    def _height(self) -> int:
        """Lines below the titles."""
        return max(self.scrollable_content_region.height - 1, 0)

    def _resize(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, self.count + 1)

    def _keep_cursor_in_view(self) -> None:
        first, height = self.scroll_offset.y, self._height
        if self.cursor < first:
            self.scroll_to(y=self.cursor, animate=False)
        elif height and self.cursor >= first + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False)

    def _missing(self) -> list[int]:
        first, last = self.rows_in_view()
        return [at for at in range(first, last + 1) if at < self.count and at not in self._rows]

    def _ask_for_missing(self) -> None:
        if missing := self._missing():
            self.post_message(self.Needed(missing[0], missing[-1]))

    def _titles(self) -> Text:
        order, descending = self._sorted
        cells = []
        for _, column, width in self._shown(self.size.width):
            mark = ("↓" if descending else "↑") if column.key and column.key == order else ""
            cells.append((Text(f"{column.title}{mark}"), width, column.align))
        return _line(cells)

    def _shown(self, width: int) -> list[tuple[int, Column, int]]:
        """Index, column and cells of each column that is shown; the cursor has a cell of its own."""
        fitting = [(at, column) for at, column in enumerate(self._columns) if column.min_table_width <= width]
        fixed = sum(column.width for _, column in fitting if column.width is not None)
        room = max(width - 1 - GAP * len(fitting) - fixed - 1, 1)
        shown = []
        for at, column in fitting:
            extra = max(min(self._longest.get(at, 0) - (column.width or 0), room - MIN_OPEN_WIDTH), 0)
            room -= extra
            shown.append((at, column, None if column.width is None else column.width + extra))
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


def _line(cells: Sequence[tuple[Text, int, Align]]) -> Text:
    line = Text(no_wrap=True, end="")
    for text, width, align in cells:
        line.append(" " * GAP if line else "").append_text(cut(text, width, align, pad=True))
    return line
