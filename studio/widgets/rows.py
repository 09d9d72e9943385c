"""A list whose rows may have several lines. It reports when its width changes, so rows can be made again."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option


class Rows(OptionList):
    """Rows of text without markup, one of them highlighted."""

    DEFAULT_CSS = """
    Rows, Rows:focus { border: none; padding: 0; background: transparent; scrollbar-size-vertical: 1; }
    Rows > .option-list--option { padding: 0 1; }
    Rows > .option-list--option-highlighted { background: $panel; color: $foreground; text-style: none; }
    Rows:focus > .option-list--option-highlighted { background: $primary 30%; }
    """

    class Resized(Message):
        """The width has changed."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)

    @property
    def room(self) -> int:
        """Cells of a row, with or without a scrollbar."""
        return max(self.size.width - 3, 20)

    def show(self, rows: Mapping[str, Text]) -> bool:
        """Show these rows, by id. The highlight stays on its row, or else goes to the first one.

        Returns:
            Whether the list has other ids than before; then it is scrolled anew.
        """
        if [option.id for option in self.options] == list(rows):
            for option in self.options:
                text = rows[str(option.id)]
                if option.prompt != text:
                    self.replace_option_prompt(str(option.id), text)
            return False
        before = self.highlighted_option.id if self.highlighted_option else None
        with self.prevent(OptionList.OptionHighlighted):  # the user did not move
            self.clear_options()
            self.add_options(Option(text, key) for key, text in rows.items())
            ids = list(rows)
            self.highlighted = ids.index(before) if before in ids else 0 if rows else None
        return True

    def on_resize(self) -> None:
        self.post_message(self.Resized())
