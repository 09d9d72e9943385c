"""A list whose rows are of several lines, made for the width it has; it says when that is another one."""

from __future__ import annotations

from textual.message import Message
from textual.widgets import OptionList


class Rows(OptionList):
    """Rows of text without markup, one of them chosen."""

    DEFAULT_CSS = """
    Rows, Rows:focus { border: none; padding: 0; background: transparent; scrollbar-size-vertical: 1; }
    Rows > .option-list--option { padding: 0 1; }
    Rows > .option-list--option-highlighted { background: $panel; color: $foreground; text-style: none; }
    Rows:focus > .option-list--option-highlighted { background: $primary 30%; }
    """

    class Resized(Message):
        """It has another width."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)

    @property
    def room(self) -> int:
        """Cells of a row, whether or not there is a scrollbar."""
        return max(self.size.width - 3, 20)

    def on_resize(self) -> None:
        """Let the rows be made anew."""
        self.post_message(self.Resized())
