"""Symbols beside the events that they were made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import OptionList

from noodlings.drawing.marks import ACCENT, LOUD, QUIET, bar, cut, feeling_text, number, words
from noodlings.inspect import questions
from studio.panes.base import Query, Results
from studio.panes.entry_text import hidden_note, short_age
from studio.panes.memory_pane import MemoryPane
from studio.widgets.lines import StatusLine
from studio.widgets.rows import Rows

if TYPE_CHECKING:
    from noodlings.inspect.symbols import SymbolsView, SymbolView

TWO_COLUMNS = 84
"""Cells from which image and event stand side by side."""


class Subconscious(MemoryPane):
    """A list of symbols, and the memory that the highlighted one was made of."""

    TITLE = "Subconscious"
    ABOUT: ClassVar[str] = (
        "The symbols that intense moments left behind, each with what really happened, what was felt, its "
        "salience (the lowest fades first), and how much that feeling is like the one now. Press m for "
        "only those that the present feeling brings back, the most alike first."
    )
    DEFAULT_CSS = """
    Subconscious #symbols { height: 1fr; }
    Subconscious Detail { height: 34%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("m", "similar", "Brought back now")]

    def compose_main(self) -> ComposeResult:
        yield Rows(id="symbols")
        yield StatusLine()

    def on_mount(self) -> None:
        self._similar = False  # only symbols that the present feeling brings back
        self._symbols: Sequence[SymbolView] = ()

    @property
    def _rows(self) -> Rows:
        return self.query_one("#symbols", Rows)

    def queries(self) -> Sequence[Query]:
        return [Query(questions.SYMBOLS, {"similar": self._similar})]

    def update_from(self, results: Results) -> None:
        found = results.view(questions.SYMBOLS)
        if found.similar is not self._similar:
            return
        self._symbols = found.symbols
        self.show_status(_status(found))
        self._draw()
        at = self._rows.highlighted
        if at is None:
            self.go_to(None)
        else:
            self.ask_links(self._followed or self._symbols[at].entry_id)

    def clear(self) -> None:
        super().clear()
        self._symbols = ()
        self._draw()

    def action_similar(self) -> None:
        self._similar = not self._similar
        self.ask(*self.queries())

    @on(OptionList.OptionHighlighted, "#symbols")
    def highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._select_event_of(event.option_index)

    @on(OptionList.OptionSelected, "#symbols")
    def opened(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._select_event_of(event.option_index)
        self.detail.focus()

    def _select_event_of(self, at: int) -> None:
        """Show the memory that a symbol was made of."""
        self._followed = None
        if self._links_of != self._symbols[at].entry_id:
            self.ask_links(self._symbols[at].entry_id)

    @on(Rows.Resized)
    def _draw(self) -> None:
        self._rows.show({str(symbol.id): _row(symbol, self._rows.room) for symbol in self._symbols})


def _row(symbol: SymbolView, width: int) -> Text:
    """Image and event side by side if there is room, else below one another; the figures below."""
    image = Text.assemble(("◈ ", ACCENT), words(symbol.image, LOUD))
    event = words(symbol.event)
    if width < TWO_COLUMNS:
        lines = [cut(image, width), cut(Text.assemble("  ", event), width)]
    else:
        half = width // 2
        lines = [Text.assemble(cut(image, half - 2, pad=True), "  ", cut(event, width - half))]
    return Text("\n").join([*lines, cut(_figures(symbol, width >= TWO_COLUMNS), width)])


def _figures(symbol: SymbolView, wide: bool) -> Text:
    def figure(name: str, value: float) -> Text:
        return Text.assemble((f"{name} ", QUIET), bar(value, 8).append(" ") if wide else "", number(value))

    feels = feeling_text(symbol.felt)
    feels.pad_right(max(9 - len(feels), 0) if wide else 0)
    parts = [
        feels,
        figure("salience", symbol.salience),
        figure("like now", symbol.likeness),
        Text(short_age(symbol.age), style=QUIET),
    ]
    if symbol.private and wide:
        parts.append(Text("private", style=QUIET))
    return Text("  ").append_text(Text("  ").join(parts))


def _status(found: SymbolsView) -> str:
    hidden, feeling = hidden_note(found.hidden), found.current.feeling
    if found.similar:
        least = number(found.threshold)
        return f"{found.total:,} brought back by feeling {feeling}, at least {least} alike{hidden}"
    if not found.total:
        return f"no moment has been intense enough for a symbol yet{hidden}"
    return f"{found.total:,} of {found.capacity:,} symbols, the latest first · felt now: {feeling}{hidden}"
