"""One line of tab names. An arrow shows that more follow; the chosen one is always in view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget


class TabBar(Widget):
    """Names side by side, the chosen one marked by brackets as well as by colour."""

    DEFAULT_CSS = "TabBar { height: 1; background: $panel; color: $foreground; }"
    chosen: reactive[int] = reactive(0)
    first: reactive[int] = reactive(0)
    """The first name in view."""

    @dataclass
    class Chosen(Message):
        """A name was clicked."""

        index: int

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self._names = names

    def render(self) -> Text:
        line = Text("‹" if self.first else " ", no_wrap=True)
        shown = self._shown()
        for at in shown:
            name, chosen = self._names[at], at == self.chosen
            line.append(f"[{name}]" if chosen else f" {name} ", style="bold reverse" if chosen else "")
        if shown[-1] < len(self._names) - 1:
            line.append("›".rjust(max(self.size.width - line.cell_len, 1)))
        return line

    def on_click(self, event: events.Click) -> None:
        """Choose the name under the pointer, or the next one behind an arrow."""
        cell = event.x - 1
        if cell < 0 and self.first:
            self.post_message(self.Chosen(self.first - 1))
            return
        shown = self._shown()
        for at in shown:
            cell -= self._width_of(at)
            if cell < 0:
                self.post_message(self.Chosen(at))
                return
        if shown[-1] < len(self._names) - 1:
            self.post_message(self.Chosen(shown[-1] + 1))

    def _width_of(self, at: int) -> int:
        return cell_len(self._names[at]) + 2

    def _shown(self) -> list[int]:
        """Indices of the names that fit, at least one; the arrows have a cell each."""
        room = self.size.width - 2
        shown: list[int] = []
        for at in range(self.first, len(self._names)):
            room -= self._width_of(at)
            if room < 0 and shown:
                break
            shown.append(at)
        return shown

    def _scroll(self) -> None:
        self.first = min(self.first, self.chosen)
        while self.chosen not in self._shown():
            self.first += 1
        while self.first and self._rest_fits(self.first - 1):
            self.first -= 1

    watch_chosen = on_resize = _scroll

    def _rest_fits(self, first: int) -> bool:
        return sum(self._width_of(at) for at in range(first, len(self._names))) <= self.size.width - 2
