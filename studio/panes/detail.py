"""One memory in full: its words, what its importance is made of, what was felt, and its links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widgets import OptionList, Static

from noodlings.drawing.marks import QUIET
from noodlings.errors import NoodlingsError
from studio.panes.entry_text import bars_text, exchange_text, facts_text, link_text
from studio.widgets.lines import StatusLine
from studio.widgets.marks import Drawing
from studio.widgets.rows import Rows

if TYPE_CHECKING:
    from noodlings.inspect.links import LinkedEntryView, LinksView
    from noodlings.inspect.views import EntryView

NOTHING_SELECTED = Text("A memory that you select with the arrows is shown here.", style=QUIET)


class Detail(VerticalScroll):
    """The selected memory, or one that a link led to."""

    DEFAULT_CSS = """
    Detail { padding: 0 1; scrollbar-size-vertical: 1; border-top: solid $panel; }
    Detail:focus { border-top: solid $primary; }
    Detail #links-title { margin-top: 1; padding: 0; }
    Detail #linked-from { padding: 0; color: $accent; }
    Detail Rows { height: auto; }
    Detail Rows > .option-list--option { padding: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "links", "In the memory: to its links, and along one", show=False)
    ]

    @dataclass
    class LinkFollowed(Message):
        """The user wants to see the memory at the other end of a link."""

        entry: int

    def __init__(self) -> None:
        super().__init__()
        self.entry: EntryView | None = None
        self._links: LinksView | NoodlingsError | None = None

    def compose(self) -> ComposeResult:
        yield StatusLine(id="linked-from")
        yield Static(NOTHING_SELECTED, id="exchange-in-full", markup=False)
        yield Static(id="facts", markup=False)
        yield Drawing(id="bars")
        yield StatusLine(id="links-title")
        yield Rows(id="links")

    def on_mount(self) -> None:
        self.query_one("#linked-from").display = self.query_one("#links").display = False

    def show(self, entry: EntryView | None, linked_from: EntryView | None = None) -> None:
        """Show a memory, or the same one as it is now; None for none.

        Args:
            linked_from: the selected memory, if a link led from there to this one.
        """
        line = self.query_one("#linked-from", StatusLine)
        line.display = linked_from is not None
        if linked_from is not None:
            line.show(f"↪ a link led here from #{linked_from.id}; esc goes back")
        same = entry is not None and self.entry is not None and entry.id == self.entry.id
        self.entry = entry
        self.query_one("#exchange-in-full", Static).update(
            exchange_text(entry) if entry else NOTHING_SELECTED
        )
        self.query_one("#facts", Static).update(facts_text(entry) if entry else "")
        self.query_one("#bars", Drawing).show(partial(bars_text, entry) if entry else None)
        if not same:
            self.show_links(None)
            self.scroll_home(animate=False)

    def show_links(self, links: LinksView | NoodlingsError | None) -> None:
        """Show the answer to `questions.LINKS` about this memory; None while it is not known."""
        self._links = links
        rows = self.query_one("#links", Rows)
        found: Sequence[LinkedEntryView] = ()
        if links is None or isinstance(links, NoodlingsError):
            title = "" if links is None else str(links)
        else:
            found = links.linked
            title = f"links {len(found)}" if found else "no links"
        self.query_one("#links-title", StatusLine).show(title)
        if not found and not rows.option_count:
            return  # most have none, and changing `display` would lay out the whole screen again
        if rows.has_focus and not found:
            self.focus()
        rows.display = bool(found)
        width = max(self.size.width - 5, 20)
        rows.show(
            {
                f"{at}-{link.via}-{link.type}-{link.outgoing}-{link.entry.id}": link_text(link, width)
                for at, link in enumerate(found)
            }
        )

    def action_links(self) -> None:
        rows = self.query_one("#links", Rows)
        if rows.display:
            rows.focus()

    def on_resize(self) -> None:
        """Cut the links to the new width."""
        if self._links is not None:
            self.show_links(self._links)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if self._links is not None and not isinstance(self._links, NoodlingsError):
            self.post_message(self.LinkFollowed(self._links.linked[event.option_index].entry.id))
