"""The first line: what this is, who is looked at, where it comes from, and whether that is there."""

from __future__ import annotations

from rich.text import Text
from textual.reactive import reactive
from textual.widget import Widget

from noodlings.drawing.marks import LOUD, QUIET, cut, words


class Banner(Widget):
    """One line. What is said in it stays until something else is.

    Args:
        label: where the agents are.
        changeable: whether anything can be changed there.
    """

    DEFAULT_CSS = "Banner { height: 1; background: $panel; padding: 0 1; }"
    lost: reactive[bool] = reactive(False)
    refused: reactive[bool] = reactive(False)

    def __init__(self, label: str, changeable: bool) -> None:
        super().__init__()
        self._label = label
        self._changeable = changeable
        self._name = ""
        self._said = ""

    def look_at(self, name: str) -> None:
        """Who is looked at."""
        self._name = name
        self.refresh()

    def say(self, what: str) -> None:
        """Something that one should know, "" for nothing."""
        self._said = what
        self.refresh()

    def render(self) -> Text:
        """Name at the left, state at the right, in as many cells as there are."""
        if self.refused:
            state = Text("✕ refused", style="red bold")
        elif self.lost:
            state = Text("↻ reconnecting", style="yellow bold")
        elif self._changeable:
            state = Text("● live", style="green")
        else:
            state = Text("read-only", style=QUIET)
        left = Text.assemble(("noodlings", LOUD), (" studio", QUIET))
        if self._name:
            left.append(" · ", style=QUIET).append_text(words(self._name, LOUD))
        middle = words(self._said or self._label, "yellow" if self._said else QUIET)
        room = max(self.size.width - left.cell_len - state.cell_len - 4, 0)
        shown = cut(middle, room) if room > 3 else Text()
        gap = max(self.size.width - left.cell_len - shown.cell_len - state.cell_len - 2, 1)
        return Text.assemble(left, " " * gap, shown, "  ", state)
