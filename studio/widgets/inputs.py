"""One-line inputs. Escape gives the keys back to the widget that the input belongs to."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input


class LineInput(Input):
    """A line to type in.

    Args:
        target: selector of the widget that gets the focus afterwards.
    """

    DEFAULT_CSS = """
    LineInput.-textual-compact { padding: 0 1; background: $surface; }
    LineInput.-textual-compact:focus { background: $primary 25%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave(False)", "In the line: leave it", show=False)
    ]

    def __init__(self, placeholder: str, target: str, max_length: int = 0) -> None:
        super().__init__(placeholder=placeholder, compact=True, max_length=max_length)
        self._target = target

    def start(self) -> None:
        """Take the focus at once, because the next key is already meant for the line."""
        self.screen.set_focus(self)

    def action_leave(self, clear: bool) -> None:
        if clear:
            self.value = ""
        self.screen.query_one(self._target).focus()


class SearchInput(LineInput):
    """A filter or a question. Escape also clears it; down leaves it as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave(True)", "In the line: clear it and leave", show=False),
        Binding("down", "leave(False)", show=False),
    ]
