"""One quiet line beside what matters: how much there is, how it is sorted; and whole, what went wrong."""

from __future__ import annotations

from rich.text import Text
from textual.widget import Widget

from noodlings.drawing.marks import QUIET, cut, words


class Remark(Widget):
    """A line, cut where it is too long; a warning takes as many lines as it needs."""

    DEFAULT_CSS = "Remark { height: auto; max-height: 6; padding: 0 1; }"

    def __init__(self, text: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text = words(text, QUIET)
        self._warning = False

    def say(self, text: str, warning: bool = False) -> None:
        """Something else from now on; a warning is marked as one."""
        self._text = words(f"! {text}", "yellow") if warning else words(text, QUIET)
        self._text.no_wrap = not warning
        self.refresh(layout=warning or self._warning)
        self._warning = warning

    def render(self) -> Text:
        """The line, or the lines."""
        return self._text if self._warning else cut(self._text, max(self.size.width, 1))
