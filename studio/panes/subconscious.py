"""Symbols beside the events that they were made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from noodlings.drawing.marks import ACCENT, LOUD, QUIET, ago, bar, cut, feeling_text, number, words
from noodlings.inspect import questions
from studio.panes.base import Answers, Ask
from studio.panes.detail import Detail
from studio.panes.memory_pane import MemoryPane
from studio.source import Refused
from studio.widgets.lines import Remark
from studio.widgets.rows import Rows

if TYPE_CHECKING:
    from noodlings.inspect.symbols import SymbolsView, SymbolView

SIGN = "◈"
BESIDE = 84
"""Cells from which image and event stand beside one another."""


class Subconscious(MemoryPane):
    """A list of symbols, and the memory behind the one that is chosen."""

    TITLE = "Subconscious"
    ABOUT: ClassVar[str] = (
        "The symbols that intense moments left behind, each with what really happened, what was felt, its "
        "salience (the lowest fades first), and how much that feeling is like the one now. Press m for "
        "only those that the present feeling brings back, the most alike first."
    )
    DEFAULT_CSS = """
    Subconscious Rows { height: 1fr; }
    Subconscious Detail { height: 34%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "moved", "Brought back now"),
    ]

    def compose(self) -> ComposeResult:
        """The list over the memory of the chosen one."""
        with Container(id="split"):
            with Vertical(id="main-part"):
                yield Rows(id="symbols")
                yield Remark()
            yield Detail()

    def on_mount(self) -> None:
        """The latest first."""
        self._similar = False
        self._symbols: Sequence[SymbolView] = ()

    @property
    def _listed(self) -> Rows:
        return self.query_one("#symbols", Rows)

    @on(Rows.Resized)
    def resized(self) -> None:
        """Lines are cut to the width."""
        self._draw()

    def asks(self) -> Sequence[Ask]:
        """All of them."""
        return [Ask(questions.SYMBOLS, {"similar": self._similar})]

    def update_from(self, answers: Answers) -> None:
        """The list, or the memory behind one."""
        self.take_links(answers)
        found = answers.find(questions.SYMBOLS)
        if found is None:
            return
        if isinstance(found, Refused):
            self.query_one(Remark).say(found.words, warning=True)
            return
        if found.similar is not self._similar:
            return
        self._symbols = found.symbols
        self.query_one(Remark).say(_remark(found))
        self._draw()
        self._read_behind()

    def clear(self) -> None:
        """Nothing of the agent before stays."""
        super().clear()
        self._symbols = ()
        self._draw()

    def action_moved(self) -> None:
        """What the feeling of now brings back, or all."""
        self._similar = not self._similar
        self.want(*self.asks())

    @on(OptionList.OptionHighlighted, "#symbols")
    def chosen(self, event: OptionList.OptionHighlighted) -> None:
        """Show the memory that it was made of."""
        event.stop()
        self._choose_behind(event.option_index)

    @on(OptionList.OptionSelected, "#symbols")
    def opened(self, event: OptionList.OptionSelected) -> None:
        """Go over to that memory."""
        event.stop()
        self._choose_behind(event.option_index)
        self.detail.focus()

    def _choose_behind(self, at: int) -> None:
        """Whoever looks has moved to another symbol."""
        self._followed = None
        if self._wanted != self._symbols[at].entry_id:
            self.want_links(self._symbols[at].entry_id)

    def _read_behind(self) -> None:
        """The memory in full as it is now: behind the symbol under the cursor, or where links led."""
        at = self._listed.highlighted
        if at is None:
            self.choose(None)
        else:
            self.want_links(self._followed or self._symbols[at].entry_id)

    def _draw(self) -> None:
        """The rows; whoever stands on one of them still does, and what is in sight stays."""
        listed = self._listed
        width = listed.room
        rows = [Option(_row(symbol, width), str(symbol.id)) for symbol in self._symbols]
        ids = [row.id for row in rows]
        if ids == [option.id for option in listed.options]:
            for row in rows:
                listed.replace_option_prompt(str(row.id), row.prompt)
            return
        before = listed.highlighted_option
        with self.prevent(OptionList.OptionHighlighted):  # nobody moved
            listed.clear_options()
            listed.add_options(rows)
            at = ids.index(before.id) if before is not None and before.id in ids else 0
            listed.highlighted = at if rows else None


def _row(symbol: SymbolView, width: int) -> Text:
    """Image and event beside one another, figures below; or all below one another."""
    image = Text.assemble((f"{SIGN} ", ACCENT), words(symbol.image, LOUD))
    event = words(symbol.event)
    if width < BESIDE:
        lines = [cut(image, width), cut(Text.assemble("  ", event), width)]
    else:
        half = width // 2
        lines = [Text.assemble(cut(image, half - 2, pad=True), "  ", cut(event, width - half))]
    return Text("\n").join([*lines, cut(_figures(symbol, width >= BESIDE), width)])


def _figures(symbol: SymbolView, roomy: bool) -> Text:
    felt = symbol.felt

    def measured(name: str, value: float) -> Text:
        return Text.assemble((f"{name} ", QUIET), bar(value, 8).append(" ") if roomy else "", number(value))

    parts = [
        feeling_text(felt.feeling.ljust(9 if roomy else 0), felt.family),
        measured("salience", symbol.salience),
        measured("like now", symbol.likeness),
        Text(ago(symbol.age).removesuffix(" ago"), style=QUIET),
    ]
    parts += [Text("private", style=QUIET)] if symbol.private and roomy else []
    return Text("  ").append_text(Text("  ").join(parts))


def _remark(found: SymbolsView) -> str:
    hidden = f" · {found.hidden:,} not yours to read" if found.hidden else ""
    feeling = found.current.feeling
    if found.similar:
        least = number(found.threshold)
        return f"{found.total:,} brought back by feeling {feeling}, at least {least} alike{hidden}"
    if not found.total:
        return f"no moment has been intense enough for a symbol yet{hidden}"
    return f"{found.total:,} of {found.capacity:,} symbols, the latest first · felt now: {feeling}{hidden}"
