"""Episodic memory, or everything that was ever perceived: sorted, filtered, loaded while scrolling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from noodlings.errors import NoodlingsError
from noodlings.inspect import questions
from noodlings.values.memory import STORED, Order
from studio.panes.base import Query, Results
from studio.panes.entry_text import COLUMNS, cells, hidden_note
from studio.panes.memory_pane import MemoryPane
from studio.widgets.inputs import LineInput
from studio.widgets.lines import StatusLine
from studio.widgets.table import Table

if TYPE_CHECKING:
    from noodlings.inspect.views import EntriesView

PAGE = 60
"""Memories that are read at a time."""
ORDERS = (Order.IMPORTANCE, Order.STRENGTH, Order.FEELING, Order.WHO, Order.TEXT, Order.WHEN)
"""In the order of the columns."""
ASCENDING = (Order.FEELING, Order.WHO, Order.TEXT)
"""Orders that start at A."""


class Episodic(MemoryPane):
    """A table of memories under a filter."""

    TITLE = "Episodic"
    ABOUT: ClassVar[str] = (
        "The memories that mattered enough to keep in mind. Type after / to see only those with these "
        "letters in what was said, answered or felt, or in who said it. Click a title to sort by it. ▪ "
        "means pinned."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "type", "Filter", key_display="/"),
        Binding("s", "sort", "Sort", show=False),
        Binding("S", "reverse", "Reverse the order", show=False),
        Binding("e", "everything", "All there ever was, or what is in mind", show=False),
    ]

    def compose_main(self) -> ComposeResult:
        yield LineInput("/ to filter", "#episodic-table", clears=True)
        yield Table(COLUMNS, id="episodic-table")
        yield StatusLine()

    def on_mount(self) -> None:
        self._order, self._descending = Order.IMPORTANCE, True
        self._everything = False
        self._version = 0  # of order and filter; pages of an earlier one come too late
        self._outdated = True

    def focus_first(self) -> None:
        self.table.focus()

    def queries(self) -> Sequence[Query]:
        self._outdated = True
        return self._pages(*self.table.rows_in_view())

    def receive(self, results: Results) -> None:
        """Drop pages of an earlier order or filter, and draw the others as far as they did not fail."""
        for key, page in results.items():
            if key == questions.LINKS.name:
                super().receive(results)
            elif not key.startswith(f"{self._version} "):
                continue
            elif isinstance(page, NoodlingsError):
                self.show_failure(page)
            else:
                self._take_page(page)

    def clear(self) -> None:
        super().clear()
        self.table.cursor = 0
        self._version += 1

    def on_input_submitted(self) -> None:
        self.table.focus()

    def action_sort(self) -> None:
        orders = [order for order in ORDERS if not self._everything or order in STORED]
        at = orders.index(self._order) if self._order in orders else -1
        self._sort(orders[(at + 1) % len(orders)])

    def action_reverse(self) -> None:
        self._descending = not self._descending
        self._start_again()

    def action_everything(self) -> None:
        self._everything = not self._everything
        self._sort(Order.WHEN if self._everything else Order.IMPORTANCE)

    @on(Table.Sorted)
    def sort_by(self, event: Table.Sorted) -> None:
        if event.key == self._order:
            self.action_reverse()
        elif self._everything and event.key not in STORED:
            self.show_status(
                "strength and feeling are known only for what is in mind (e goes back)", warning=True
            )
        else:
            self._sort(Order(event.key))

    @on(Table.Needed)
    def load(self, event: Table.Needed) -> None:
        self.ask(*self._pages(event.first, event.last))

    def _sort(self, order: Order) -> None:
        self._order, self._descending = order, order not in ASCENDING
        self._start_again()

    @on(Input.Changed)
    def _start_again(self) -> None:
        """Read the first page of another order or filter."""
        self._version += 1
        self._outdated = True
        self.table.cursor = 0
        self.leave_link()
        self.ask(*self._pages(0, 0))

    def _pages(self, first: int, last: int) -> list[Query]:
        """Queries for the pages from one row to another."""
        arguments = {
            "order": str(self._order),
            "falling": self._descending,
            "containing": self.query_one(LineInput).value,
            "everything": self._everything,
            "limit": PAGE,
        }
        return [
            Query(questions.BROWSE, arguments | {"offset": page * PAGE}, f"{self._version} {page}")
            for page in range(first // PAGE, last // PAGE + 1)
        ]

    def _take_page(self, page: EntriesView) -> None:
        if self._outdated or page.total != self.table.count:
            self._outdated = False
            self._entries = {}
            self.table.begin(page.total, self._order, self._descending)
        entries = dict(enumerate(page.entries, page.offset))
        self._entries |= entries
        self.table.add_rows({at: cells(entry) for at, entry in entries.items()})
        self.show_status(self._status(page))
        if self.table.cursor in self._entries or not self.table.count:
            self.select(self.entry_under_cursor())

    def _status(self, page: EntriesView) -> str:
        filtered = bool(self.query_one(LineInput).value.strip())
        if not page.total:
            return "No matches; escape clears the filter." if filtered else "Nothing has been kept yet."
        what = "found" if filtered else "ever perceived" if self._everything else "in episodic memory"
        arrow = "↓" if self._descending else "↑"
        return f"{page.total:,} {what} · by {self._order} {arrow}{hidden_note(page.hidden)}"
