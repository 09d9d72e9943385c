"""One memory in full: its words, what its importance is made of, what was felt, and where its links lead."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from studio.panes.entry_rows import facts, linked, made_of, said
from studio.source import Refused
from studio.widgets.lines import Remark
from studio.widgets.marks import Drawing

if TYPE_CHECKING:
    from noodlings.inspect.links import LinkedEntryView, LinksView
    from noodlings.inspect.views import EntryView

AWAY = "↪"
"""Before a memory that is not the chosen one."""


class Detail(VerticalScroll):
    """The memory under the cursor, or one that a link of it led to."""

    DEFAULT_CSS = """
    Detail { padding: 0 1; scrollbar-size-vertical: 1; border-top: solid $panel; }
    Detail:focus { border-top: solid $primary; }
    Detail #links-title { margin-top: 1; padding: 0; }
    Detail #away { padding: 0; color: $accent; }
    Detail OptionList { height: auto; border: none; padding: 0; background: transparent; }
    Detail OptionList:focus { border: none; background: transparent; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "links", "In the memory: to its links, and along one", show=False)
    ]

    class Follows(Message):
        """A linked memory is to be shown in place of this one."""

        def __init__(self, entry: int) -> None:
            super().__init__()
            self.entry = entry

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.entry: EntryView | None = None
        self._links: LinksView | Refused | None = None

    def compose(self) -> ComposeResult:
        """Where one is, words, facts, numbers, links."""
        away = Remark(id="away")
        away.display = False
        yield away
        yield Static(id="said", markup=False)
        yield Static(id="facts", markup=False)
        yield Drawing(id="made-of")
        yield Remark(id="links-title")
        links = OptionList(id="links", markup=False)
        links.display = False
        yield links

    def show(self, entry: EntryView | None, away_from: EntryView | None = None) -> None:
        """Another memory, or the same as it is now; None for none.

        Args:
            away_from: the memory that is chosen, where links led from that to this one.
        """
        away = self.query_one("#away", Remark)
        away.display = away_from is not None
        if away_from is not None:
            away.say(f"{AWAY} a link led here from #{away_from.id}; esc goes back")
        same = entry is not None and self.entry is not None and entry.id == self.entry.id
        self.entry = entry
        self.query_one("#said", Static).update(Text() if entry is None else said(entry))
        self.query_one("#facts", Static).update(Text() if entry is None else facts(entry))
        drawn = partial(made_of, entry) if entry is not None else _nothing
        self.query_one("#made-of", Drawing).show(drawn)
        if not same:
            self.show_links(None)
            self.scroll_home(animate=False)

    def show_links(self, links: LinksView | Refused | None) -> None:
        """Where the links of this memory lead, as in the answer to `questions.LINKS`; None: not known yet."""
        self._links = links
        options = self.query_one("#links", OptionList)
        found = () if links is None or isinstance(links, Refused) else links.linked
        title = "" if links is None else f"links {len(found)}" if found else "no links"
        if isinstance(links, Refused):
            title = links.words
        self.query_one("#links-title", Remark).say(title)
        if not found and not options.option_count:
            return  # most have none, and all that is on the screen would be laid out anew
        room = max(self.size.width - 5, 20)
        rows = [Option(linked(link, room), _id_of(at, link)) for at, link in enumerate(found)]
        if [option.id for option in options.options] == [row.id for row in rows]:
            for row in rows:
                options.replace_option_prompt(str(row.id), row.prompt)
            return  # whoever stands on one of them still does
        if options.has_focus and not found:
            self.focus()
        options.clear_options()
        options.display = bool(found)
        options.add_options(rows)
        options.highlighted = 0 if found else None

    def action_links(self) -> None:
        """Go over to where the links lead."""
        options = self.query_one("#links", OptionList)
        if options.display:
            options.focus()

    def on_resize(self) -> None:
        """Lines of links are cut to the width."""
        if self._links is not None:
            self.show_links(self._links)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Go where a link leads."""
        event.stop()
        if self._links is not None and not isinstance(self._links, Refused):
            self.post_message(self.Follows(self._links.linked[event.option_index].entry.id))


def _id_of(at: int, link: LinkedEntryView) -> str:
    return f"{at}-{link.via}-{link.type}-{link.outgoing}-{link.entry.id}"


def _nothing(width: int, height: int) -> Text:
    return Text()
