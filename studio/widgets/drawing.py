"""A widget that is drawn for the room it has, and drawn again when that changes."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text
from textual.geometry import Size
from textual.widget import Widget

Draw = Callable[[int, int], Text]
"""Width and height in cells → what fits there; the height is 0 where it may be as high as it wants."""


class Drawing(Widget):
    """Shows what a function draws. As high as that is, or as its styles say."""

    DEFAULT_CSS = "Drawing { height: auto; }"

    def __init__(self, draw: Draw | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._draw = draw

    @property
    def drawn(self) -> bool:
        """Whether there is anything to draw yet."""
        return self._draw is not None

    def show(self, draw: Draw | None) -> None:
        """Draw something else from now on; None for nothing."""
        before = self._lines(self.size.width)
        self._draw = draw
        # All that is on the screen is laid out anew only where that is due.
        self.refresh(layout=not self.size.width or self._lines(self.size.width) != before)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The lines of the drawing at this width."""
        return self._lines(width)

    def _lines(self, width: int) -> int:
        return 0 if self._draw is None else self._draw(width, 0).plain.count("\n") + 1

    def render(self) -> Text:
        """The drawing in the room that there is."""
        return Text() if self._draw is None else self._draw(self.size.width, self.size.height)
