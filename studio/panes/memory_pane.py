"""A pane of memories: one of them is selected, shown in full, and can be changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical

from noodlings.errors import NoodlingsError
from noodlings.inspect import questions
from noodlings.text import shorten
from studio.dialogs import Prompt
from studio.panes.base import Pane, Query, Results
from studio.panes.detail import Detail
from studio.source import Action, ActionRequest
from studio.widgets.table import Table

if TYPE_CHECKING:
    from noodlings.inspect.links import LinksView
    from noodlings.inspect.views import EntryView


class MemoryPane(Pane):
    """Memories, usually in a `Table`, beside the selected one in full."""

    DEFAULT_CSS = """
    MemoryPane > #split { height: 1fr; layout: vertical; }
    MemoryPane #main-part { height: 1fr; width: 1fr; }
    MemoryPane Detail { height: 42%; }
    MemoryPane.-wide > #split { layout: horizontal; }
    MemoryPane.-wide Detail { height: 1fr; width: 42%; border-top: none; border-left: solid $panel; }
    MemoryPane.-wide Detail:focus { border-top: none; border-left: solid $primary; }
    """
    LABELS: ClassVar[str] = (
        "Importance is fixed when something happens, from 0 to 1. It is made of surprise, intensity (how "
        "much was felt), salience (how much it touches who the agent is), addressed (said to it), "
        "answered, remember (it was asked to), and significance (how far the words are worth keeping). "
        "Strength is importance now: it fades with age, and grows with each recall. A number after # is "
        "that of a memory."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "pin", "Pin, or let go", show=False),
        Binding("i", "importance", "Set importance", show=False),
        Binding("x,delete", "forget", "Forget (asks first)", show=False),
        Binding("o", "note", "Open the note of the memory", show=False),
        Binding("escape", "back", "Back from a link, or to the list", show=False),
    ]

    def compose(self) -> ComposeResult:
        with Container(id="split"):
            with Vertical(id="main-part"):
                yield from self.compose_main()
            yield Detail()

    def compose_main(self) -> ComposeResult:
        """The parts beside the memory in full."""
        raise NotImplementedError

    def on_mount(self) -> None:
        self.selected: EntryView | None = None
        self._followed: int | None = None  # a link was followed to this memory
        self._links_of: int | None = None  # the links of this memory were asked for
        self._entries: dict[int, EntryView] = {}  # by the row of the table

    @property
    def detail(self) -> Detail:
        return self.query_one(Detail)

    @property
    def table(self) -> Table:
        return self.query_one(Table)

    # -- selecting

    def show_rows(
        self, rows: Sequence[Sequence[Text]], entries: dict[int, EntryView], to_end: bool = False
    ) -> None:
        """Show these rows in the table, and in full the memory under the cursor.

        Args:
            entries: memories by row.
            to_end: move the cursor to the last row.
        """
        self._entries = entries
        self.table.show(rows)
        if to_end:
            self.table.cursor_to_end()
        self.select(self.entry_under_cursor())

    def entry_under_cursor(self) -> EntryView | None:
        return self._entries.get(self.table.cursor)

    def on_table_moved(self) -> None:
        self.go_to(self.entry_under_cursor())

    def on_table_chosen(self) -> None:
        self.go_to(self.entry_under_cursor())
        self.detail.focus()

    def go_to(self, entry: EntryView | None) -> None:
        """Select a memory because the user moved to it. This leaves a followed link."""
        self._followed = None
        self.select(entry)

    def select(self, entry: EntryView | None) -> None:
        """Show a memory in full, unless a link was followed to another one."""
        self.selected = entry
        if self._followed is not None:
            self.ask_links(self._followed)
            return
        self.detail.show(entry)
        if entry is None:
            self._links_of = None
        elif entry.id != self._links_of:
            self.ask_links(entry.id)

    def clear(self) -> None:
        super().clear()
        self.selected = self._followed = self._links_of = None
        self._entries = {}
        self.detail.show(None)
        for table in self.query(Table):
            table.show(())

    # -- links

    def leave_link(self) -> None:
        """Go back to the selected memory."""
        if self._followed is not None:
            self.go_to(self.selected)

    def ask_links(self, entry_id: int) -> None:
        self._links_of = entry_id
        self.ask(Query(questions.LINKS, {"entry_id": entry_id}))

    def receive(self, results: Results) -> None:
        links = results.find(questions.LINKS)
        if links is None:
            super().receive(results)
        else:
            self._take_links(links)

    def _take_links(self, links: LinksView | NoodlingsError) -> None:
        """Show the links, and the memory that they belong to as it is now."""
        if self._links_of is None:
            return
        if isinstance(links, NoodlingsError):
            self._links_of = None  # so the next update asks again
        elif links.entry.id != self._links_of:
            return
        elif self._followed is None:
            self.selected = links.entry
            self.detail.show(links.entry)
        else:
            self.detail.show(links.entry, linked_from=self.selected)
        self.detail.show_links(links)

    @on(Detail.LinkFollowed)
    def follow(self, event: Detail.LinkFollowed) -> None:
        event.stop()
        returned = self.selected is not None and event.entry == self.selected.id
        self._followed = None if returned else event.entry
        self.ask_links(event.entry)

    def action_back(self) -> None:
        if self._followed is not None:
            self.leave_link()
        else:
            self.focus_first()

    # -- changing

    def request_succeeded(self, request: ActionRequest) -> None:
        if request.action is Action.FORGET and request.arguments["entry"] == self._followed:
            self.leave_link()

    def action_pin(self) -> None:
        entry = self.detail.entry
        if entry is not None:
            pinned = not entry.pinned
            success = f"Memory {entry.id} is {'now pinned' if pinned else 'no longer pinned'}."
            self.perform(ActionRequest(Action.PIN, {"entry": entry.id, "pinned": pinned}, success=success))

    def action_importance(self) -> None:
        entry = self.detail.entry
        if entry is None:
            return

        def answered(value: str | None) -> None:
            if value is not None:
                arguments = {"entry": entry.id, "value": float(value) if value else None}
                success = f"The importance of memory {entry.id} has been set."
                self.perform(ActionRequest(Action.IMPORTANCE, arguments, success=success))

        question = (
            f"Importance of memory {entry.id}, from 0 to 1. Leave it empty to restore the original value."
        )
        self.app.push_screen(Prompt(question, f"{entry.importance:.2f}"), answered)

    def action_forget(self) -> None:
        entry = self.detail.entry
        if entry is not None:
            question = (
                f"Forget memory {entry.id}, “{shorten(entry.text, 80)}”, and everything made from it? This "
                "cannot be undone."
            )
            success = f"Memory {entry.id} has been forgotten."
            self.perform(ActionRequest(Action.FORGET, {"entry": entry.id}, question, success))

    def action_note(self) -> None:
        if self.detail.entry is not None:
            self.post_message(self.NoteRequested(self.detail.entry.id))
