"""Working memory: the latest lines that an agent perceived, the newest last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult

from noodlings.inspect import questions
from studio.panes.base import Query, Results
from studio.panes.entry_text import COLUMNS, cells, hidden_note
from studio.panes.memory_pane import MemoryPane
from studio.widgets.lines import StatusLine
from studio.widgets.table import Table

if TYPE_CHECKING:
    from noodlings.inspect.views import EntriesView


class Working(MemoryPane):
    """A table of about twenty memories. A cursor in the last row stays in the last row."""

    TITLE = "Working"
    ABOUT: ClassVar[str] = (
        "Working memory: the latest lines the agent perceived, oldest first. The memory under the cursor "
        "is shown in full beside the list, or below it."
    )

    def compose_main(self) -> ComposeResult:
        yield Table(COLUMNS)
        yield StatusLine()

    def queries(self) -> Sequence[Query]:
        return [Query(questions.WORKING)]

    def update_from(self, results: Results) -> None:
        working = results.view(questions.WORKING)
        at_end = self.table.cursor >= self.table.count - 1
        self.show_rows([cells(entry) for entry in working.entries], dict(enumerate(working.entries)), at_end)
        self.show_status(_status(working))


def _status(working: EntriesView) -> str:
    if not working.total:
        return "Nothing has been perceived yet."
    return f"{working.total:,} memories, the latest last{hidden_note(working.hidden)}"
