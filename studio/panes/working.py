"""Working memory: the latest that an agent perceived, as it came, newest last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import Container, Vertical

from noodlings.inspect import questions
from studio.panes.base import Answers, Ask
from studio.panes.detail import Detail
from studio.panes.entry_rows import COLUMNS, cells
from studio.panes.memory_pane import MemoryPane
from studio.source import Refused
from studio.widgets.lines import Remark
from studio.widgets.table import Table

if TYPE_CHECKING:
    from noodlings.inspect.views import EntriesView, EntryView


class Working(MemoryPane):
    """The last twenty or so, oldest first."""

    TITLE = "Working"
    ABOUT: ClassVar[str] = (
        "Working memory: the latest lines the agent perceived, oldest first. The memory under the cursor "
        "is shown in full beside the list, or below it."
    )

    def compose(self) -> ComposeResult:
        """A table, and the memory under its cursor."""
        with Container(id="split"):
            with Vertical(id="main-part"):
                yield Table(COLUMNS)
                yield Remark()
            yield Detail()

    def on_mount(self) -> None:
        """Nothing is known yet."""
        self._entries: Sequence[EntryView] = ()

    def asks(self) -> Sequence[Ask]:
        """All of it."""
        return [Ask(questions.WORKING)]

    def update_from(self, answers: Answers) -> None:
        """Rows, or links of one of them."""
        self.take_links(answers)
        working = answers.find(questions.WORKING)
        if working is None:
            return
        if isinstance(working, Refused):
            self.query_one(Remark).say(working.words, warning=True)
            return
        table = self.query_one(Table)
        at_end = table.cursor >= table.count - 1
        self._entries = working.entries
        table.begin(len(self._entries))
        table.hand({at: cells(entry) for at, entry in enumerate(self._entries)})
        if at_end:
            table.cursor = table.count - 1
        self.query_one(Remark).say(_remark(working))
        self.select(self._under_cursor())

    def clear(self) -> None:
        """Nothing of the agent before stays."""
        super().clear()
        self._entries = ()
        self.query_one(Table).begin(0)

    def on_table_moved(self, event: Table.Moved) -> None:
        """Show the memory under the cursor."""
        self.choose(self._under_cursor())

    def on_table_chosen(self, event: Table.Chosen) -> None:
        """Go over to the memory in full."""
        self.choose(self._under_cursor())
        self.detail.focus()

    def _under_cursor(self) -> EntryView | None:
        at = self.query_one(Table).cursor
        return self._entries[at] if at < len(self._entries) else None


def _remark(working: EntriesView) -> str:
    if not working.total:
        return "Nothing has been perceived yet."
    hidden = f" · {working.hidden:,} not yours to read" if working.hidden else ""
    return f"{working.total:,} memories, the latest last{hidden}"
