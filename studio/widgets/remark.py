"""One quiet line beside what matters: how much there is, how it is sorted, what went wrong."""

from __future__ import annotations

from rich.text import Text
from textual.widget import Widget

from noodlings.look import QUIET, cut, words


class Remark(Widget):
    """A line, cut where it is too long."""

    DEFAULT_CSS = "Remark { height: 1; padding: 0 1; }"

    def __init__(self, text: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text = words(text, QUIET)

    def say(self, text: str, warning: bool = False) -> None:
        """Something else from now on; a warning is marked as one."""
        self._text = words(f"! {text}", "yellow") if warning else words(text, QUIET)
        self.refresh()

    def render(self) -> Text:
        """The line."""
        return cut(self._text, max(self.size.width, 1))
