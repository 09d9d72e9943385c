"""A one-line input of a pane."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input


class LineInput(Input):
    """A line to type in. Escape and down give the keys back to another widget.

    Args:
        target: selector of that widget.
        clears: escape also clears the line.
    """

    DEFAULT_CSS = """
    LineInput.-textual-compact { padding: 0 1; background: $surface; }
    LineInput.-textual-compact:focus { background: $primary 25%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave(True)", "In the line: leave it (clears a filter)", show=False),
        Binding("down", "leave(False)", show=False),
    ]

    def __init__(self, placeholder: str, target: str, clears: bool = False, max_length: int = 0) -> None:
        super().__init__(placeholder=placeholder, compact=True, max_length=max_length)
        self._target = target
        self._clears = clears

    def start(self) -> None:
        """Take the focus at once, because the next key is already meant for the line."""
        self.screen.set_focus(self)

    def action_leave(self, escaped: bool) -> None:
        if escaped and self._clears:
            self.value = ""
        self.screen.query_one(self._target).focus()
