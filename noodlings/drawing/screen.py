"""What is shown to a person: anything rich can render, as wide as the terminal is, coloured where it may be.

Nothing is written that a terminal would obey: texts from outside come cleaned and as plain rich `Text`.
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
"""Columns where nobody watches: output is the same whatever window it was made in."""


def to_stdout(text: str) -> None:
    """Write rendered text and a line break to standard output."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Screen:
    """Standard output as a person or a program sees it.

    Args:
        terminal: a person watches; then width and height are the window's, and colour is used.
        environment: `NO_COLOR` set to anything, or `TERM=dumb`, takes the colour away.
        write: where rendered text goes, without its last line break.
        columns: how wide to write where it is no window of ours; `PIPE_WIDTH` without it.
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
        """Columns to write in."""
        return max(shutil.get_terminal_size().columns, MIN_WIDTH) if self.terminal else self._columns()

    @property
    def height(self) -> int:
        """Rows of a page."""
        return max(shutil.get_terminal_size().lines, 5)

    def text(self, view: RenderableType) -> str:
        """The view as it will be written, lines without trailing spaces or a last line break."""
        out = StringIO()
        console = Console(
            file=out,
            width=self.width,
            force_terminal=self.colour,
            color_system="standard" if self.colour else None,
            no_color=not self.colour,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )
        console.print(view, end="")
        return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n"))

    def show(self, view: RenderableType) -> None:
        """Write a view and a line break; an empty view writes nothing. Waits while a page is being read."""
        text = self.text(view)
        if not text:
            return
        if self._held is not None:
            self._held.append(text)
        else:
            self.write(text)

    def pages(self, text: str) -> list[str]:
        """Rendered text in pieces that leave a row for the pager; one piece where nobody watches."""
        lines = text.split("\n")
        if not self.terminal or len(lines) < self.height:
            return [text]
        size = self.height - 1
        return ["\n".join(lines[first : first + size]) for first in range(0, len(lines), size)]

    def hold(self) -> None:
        """Keep what happens from being written into the page that somebody reads."""
        self._held = []

    def release(self) -> None:
        """Write what was held back."""
        held, self._held = self._held or [], None
        for text in held:
            self.write(text)
