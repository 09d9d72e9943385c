"""One line of tab names; what does not fit is announced by an arrow, and comes into sight when chosen."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

LEFT, RIGHT = "‹", "›"
_GAP = 1
"""Cells on each side of a name."""


class TabBar(Widget):
    """Names beside one another, one of them chosen: marked by brackets as well as by colour.

    Args:
        names: in order, each once.
    """

    DEFAULT_CSS = """
    TabBar { height: 1; background: $panel; color: $foreground; }
    """
    chosen: reactive[int] = reactive(0)
    first: reactive[int] = reactive(0)

    class Chosen(Message):
        """A name was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self._names = names

    def watch_chosen(self) -> None:
        """Bring the chosen name into sight."""
        self._settle()

    def on_resize(self) -> None:
        """Show as many names as fit now."""
        self._settle()

    def render(self) -> Text:
        """As many names as fit, beginning with the first that is in sight."""
        line = Text(LEFT if self.first else " ", no_wrap=True)
        shown = self._shown()
        for at in shown:
            name = self._names[at]
            line.append(f"[{name}]" if at == self.chosen else f" {name} ", style=self._style(at))
        if shown[-1] < len(self._names) - 1:
            line.append(RIGHT.rjust(max(self.size.width - line.cell_len, 1)))
        return line

    def on_click(self, event: events.Click) -> None:
        """Choose the name under the pointer, or the next one beyond an arrow."""
        cell = event.x - 1
        if cell < 0 and self.first:
            self.post_message(self.Chosen(self.first - 1))
            return
        shown = self._shown()
        for at in shown:
            cell -= self._cells(at)
            if cell < 0:
                self.post_message(self.Chosen(at))
                return
        if shown[-1] < len(self._names) - 1:
            self.post_message(self.Chosen(shown[-1] + 1))

    def _style(self, at: int) -> str:
        return "bold reverse" if at == self.chosen else ""

    def _cells(self, at: int) -> int:
        return cell_len(self._names[at]) + 2 * _GAP

    def _shown(self) -> list[int]:
        """Which names fit, at least one; the arrows have a cell each."""
        room = self.size.width - 2
        shown: list[int] = []
        for at in range(self.first, len(self._names)):
            room -= self._cells(at)
            if room < 0 and shown:
                break
            shown.append(at)
        return shown

    def _settle(self) -> None:
        self.first = min(self.first, self.chosen)
        while self.chosen not in self._shown():
            self.first += 1
        while self.first and self._all_fit_from(self.first - 1):
            self.first -= 1

    def _all_fit_from(self, first: int) -> bool:
        return sum(self._cells(at) for at in range(first, len(self._names))) <= self.size.width - 2
