"""Episodic memory, or everything that was ever perceived: sorted, narrowed, loaded as one scrolls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.widgets import Input

from noodlings.inspect import questions
from noodlings.values.memory import STORED, Order
from studio.panes.base import Answers, Ask
from studio.panes.detail import Detail
from studio.panes.entry_rows import COLUMNS, cells
from studio.panes.memory_pane import MemoryPane
from studio.source import Refused
from studio.widgets.lines import Remark
from studio.widgets.table import Table

if TYPE_CHECKING:
    from noodlings.inspect.views import EntriesView, EntryView

PAGE = 60
"""Memories that are asked for in one go."""
ORDERS = (Order.IMPORTANCE, Order.STRENGTH, Order.FEELING, Order.WHO, Order.TEXT, Order.WHEN)
"""In the order of the columns."""
RISING = (Order.FEELING, Order.WHO, Order.TEXT)
"""What one begins to read at A."""


class Filter(Input):
    """A line to type in; escape empties it, enter and down go over to what was found."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave(True)", "In the filter: empty it and leave", show=False),
        Binding("down", "leave(False)", show=False),
    ]

    def action_leave(self, empty: bool) -> None:
        """Go over to what was found."""
        if empty:
            self.value = ""
        self.screen.query_one("#episodic-table").focus()


class Episodic(MemoryPane):
    """A table of memories under a filter."""

    TITLE = "Episodic"
    ABOUT: ClassVar[str] = (
        "The memories that mattered enough to keep in mind. Type after / to see only those with these "
        "letters in what was said, answered or felt, or in who said it. Click a title to sort by it. ▪ "
        "means pinned."
    )
    DEFAULT_CSS = """
    Episodic Filter.-textual-compact { padding: 0 1; background: $surface; }
    Episodic Filter.-textual-compact:focus { background: $primary 25%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("s", "sort", "Sort", show=False),
        Binding("S", "turn_round", "Reverse the order", show=False),
        Binding("e", "everything", "All there ever was, or what is in mind", show=False),
    ]

    def compose(self) -> ComposeResult:
        """Filter, table and figures; the memory under the cursor."""
        with Container(id="split"):
            with Vertical(id="main-part"):
                yield Filter(placeholder="/ to filter", compact=True)
                yield Table(COLUMNS, id="episodic-table")
                yield Remark()
            yield Detail()

    def on_mount(self) -> None:
        """The most important first."""
        self._order, self._falling = Order.IMPORTANCE, True
        self._everything = False
        self._entries: dict[int, EntryView] = {}
        self.asked = 0  # orders and filters so far; an answer to an earlier one comes too late
        self._anew = True

    @property
    def table(self) -> Table:
        """The table."""
        return self.query_one(Table)

    @property
    def up_to_date(self) -> bool:
        """Whether what is drawn is what was asked for last."""
        return not self._anew and self.table.complete

    def focus_first(self) -> None:
        """The table; the filter has a key of its own."""
        self.table.focus()

    def asks(self) -> Sequence[Ask]:
        """What is in sight."""
        self._anew = True
        return self._pages(*self.table.in_sight())

    def update_from(self, answers: Answers) -> None:
        """Pages of the table, or links of one memory."""
        self.take_links(answers)
        for key in answers:
            page = answers.find(questions.BROWSE, key)
            if key.startswith(f"{self.asked} ") and page is not None:
                self._take_page(page)

    def clear(self) -> None:
        """Nothing of the agent before stays."""
        super().clear()
        self._entries = {}
        self.table.begin(0, self._order, self._falling)
        self.table.cursor = 0
        self.asked += 1

    # -- what is shown

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the table with each character."""
        self._show_anew()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go over to what was found."""
        self.table.focus()

    def action_filter(self) -> None:
        """Type what must be in it."""
        self.screen.set_focus(self.query_one(Filter))  # at once: the next key is for it

    def action_sort(self) -> None:
        """Sort by the next column."""
        orders = [order for order in ORDERS if not self._everything or order in STORED]
        at = orders.index(self._order) if self._order in orders else -1
        self._sort(orders[(at + 1) % len(orders)])

    def action_turn_round(self) -> None:
        """The last one first."""
        self._falling = not self._falling
        self._show_anew()

    def action_everything(self) -> None:
        """All that was ever perceived, the latest first; or again what is in mind."""
        self._everything = not self._everything
        self._sort(Order.WHEN if self._everything else Order.IMPORTANCE)

    @on(Table.Sorted)
    def sort_by(self, event: Table.Sorted) -> None:
        """Sort by the title that was clicked; a second click turns it round."""
        if event.key == self._order:
            self.action_turn_round()
        elif self._everything and event.key not in STORED:
            self.query_one(Remark).say(
                "strength and feeling are known only for what is in mind (e goes back)", warning=True
            )
        else:
            self._sort(Order(event.key))

    @on(Table.Needed)
    def load(self, event: Table.Needed) -> None:
        """Load what came into sight."""
        self.want(*self._pages(event.first, event.last))

    @on(Table.Moved)
    def moved(self, event: Table.Moved) -> None:
        """Show the memory under the cursor."""
        self.choose(self._under_cursor())

    @on(Table.Chosen)
    def chosen(self, event: Table.Chosen) -> None:
        """Go over to the memory in full."""
        self.choose(self._under_cursor())
        self.detail.focus()

    def _sort(self, order: Order) -> None:
        self._order, self._falling = order, order not in RISING
        self._show_anew()

    def _show_anew(self) -> None:
        self.asked += 1
        self._anew = True
        self.table.cursor = 0
        self.leave()
        self.want(*self._pages(0, 0))

    def _pages(self, first: int, last: int) -> list[Ask]:
        """The pages from one row to another."""
        how = {
            "order": str(self._order),
            "falling": self._falling,
            "containing": self.query_one(Filter).value,
            "everything": self._everything,
            "limit": PAGE,
        }
        pages = range(first // PAGE, last // PAGE + 1)
        return [
            Ask(questions.BROWSE, how | {"offset": page * PAGE}, f"{self.asked} {page}") for page in pages
        ]

    def _take_page(self, answer: EntriesView | Refused) -> None:
        remark = self.query_one(Remark)
        if isinstance(answer, Refused):
            remark.say(answer.words, warning=True)
            return
        if self._anew or answer.total != self.table.count:
            self._anew = False
            self._entries = {}
            self.table.begin(answer.total, self._order, self._falling)
        entries = dict(enumerate(answer.entries, answer.offset))
        self._entries |= entries
        self.table.hand({at: cells(entry) for at, entry in entries.items()})
        remark.say(self._figures(answer))
        if self.table.cursor in self._entries or not self.table.count:
            self.select(self._under_cursor())

    def _figures(self, answer: EntriesView) -> str:
        narrowed = bool(self.query_one(Filter).value.strip())
        if not answer.total:
            return "no matches; escape clears the filter" if narrowed else "nothing has been kept yet"
        what = "ever perceived" if self._everything else "in episodic memory"
        found = f"{answer.total:,} found" if narrowed else f"{answer.total:,} {what}"
        hidden = f" · {answer.hidden:,} not yours to read" if answer.hidden else ""
        return f"{found} · by {self._order} {'↓' if self._falling else '↑'}{hidden}"

    def _under_cursor(self) -> EntryView | None:
        return self._entries.get(self.table.cursor)
