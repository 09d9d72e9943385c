"""Showing things to a person: anything rich can render, as wide as the terminal, in colour where allowed.

Nothing that is written can control the terminal: texts from outside are cleaned and are plain rich `Text`.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from io import StringIO

from rich.console import Console, RenderableType

MIN_WIDTH = 40
PIPE_WIDTH = 80
"""Columns where nobody watches, so that the output is the same in any window."""


def to_stdout(text: str) -> None:
    """Write rendered text and a line break to standard output."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def render(view: RenderableType, width: int = PIPE_WIDTH, colour: bool = False) -> str:
    """Anything rich can render, as text of at most `width` columns without a trailing newline.

    Args:
        colour: use ANSI colours.
    """
    out = StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    console.print(view, end="")
    return out.getvalue().rstrip("\n")


class Screen:
    """Standard output as a person or a program sees it.

    Args:
        terminal: whether a person watches; then width and height are the window's, and colour is used.
        environment: `NO_COLOR` set to anything, or `TERM=dumb`, turns colour off.
        write: where rendered text goes, without its last line break.
        columns: the width where there is no window of ours.
    """

    def __init__(
        self,
        terminal: bool,
        environment: Mapping[str, str] = os.environ,
        write: Callable[[str], None] = to_stdout,
        columns: Callable[[], int] = lambda: PIPE_WIDTH,
    ) -> None:
        self.terminal = terminal
        self._columns = columns
        self.write = write
        self.colour = terminal and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
        self._held: list[str] | None = None

    @property
    def width(self) -> int:
        return max(shutil.get_terminal_size().columns, MIN_WIDTH) if self.terminal else self._columns()

    @property
    def height(self) -> int:
        return max(shutil.get_terminal_size().lines, 5)

    def text(self, view: RenderableType) -> str:
        """The view as it will be written, without trailing spaces or a last line break."""
        return "\n".join(line.rstrip() for line in render(view, self.width, self.colour).split("\n"))

    def show(self, view: RenderableType) -> None:
        """Write a view and a line break, or nothing for an empty view. While a page is read, keep it back."""
        text = self.text(view)
        if not text:
            return
        if self._held is not None:
            self._held.append(text)
        else:
            self.write(text)

    def pages(self, text: str) -> list[str]:
        """Rendered text in pages that leave a row for the pager; a single page where nobody watches."""
        lines = text.split("\n")
        if not self.terminal or len(lines) < self.height:
            return [text]
        size = self.height - 1
        return ["\n".join(lines[first : first + size]) for first in range(0, len(lines), size)]

    def hold(self) -> None:
        """From now on, keep back what `show` is given, because somebody reads a page."""
        self._held = []

    def release(self) -> None:
        """Write what was kept back."""
        held, self._held = self._held or [], None
        for text in held:
            self.write(text)
