"""Points in a plane, each a sign whose shape and shade say how strong it is; one of them can be walked to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from noodlings.drawing.marks import LOUD, QUIET

SHAPES = "·∘○●"
"""From the weakest to the strongest."""
SHADES = (QUIET, "", "", LOUD)
GROUND = "bright_black"
CHOSEN = "reverse bold"


@dataclass(frozen=True, slots=True)
class Point:
    """A point.

    Attributes:
        x, y: 0…1, from the left and from below.
        strength: 0…1; in one cell the strongest is drawn.
        style: its colour.
        sign: drawn in place of a shape, on top of all without one; "" for a shape.
    """

    x: float
    y: float
    strength: float = 1.0
    style: str = ""
    sign: str = ""


class Scatter(Widget, can_focus=True):
    """Points between two axes that cross in the middle, with a word in each corner.

    Args:
        corners: words for top left, top right, bottom left and bottom right.
    """

    DEFAULT_CSS = "Scatter { background: $background; }  Scatter:focus { background: $surface; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "walk(-1, 0)", show=False),
        Binding("right", "walk(1, 0)", show=False),
        Binding("up", "walk(0, 1)", show=False),
        Binding("down", "walk(0, -1)", show=False),
    ]
    chosen: reactive[int] = reactive(-1)

    class Chosen(Message):
        """Whoever looks has chosen another point."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, corners: tuple[str, str, str, str]) -> None:
        super().__init__()
        self._corners = corners
        self._points: Sequence[Point] = ()
        self._marks: Sequence[Point] = ()

    def show(self, points: Sequence[Point], marks: Sequence[Point]) -> None:
        """Other points; `marks` are drawn above them and cannot be chosen."""
        self._points, self._marks = points, marks
        if self.chosen >= len(points):
            self.chosen = -1
        self.refresh()

    def render(self) -> Text:
        """The plane in the room that there is."""
        width, height = self.size
        if width < 2 or height < 2:
            return Text()
        grid = self._ground(width, height)
        for at in sorted(range(len(self._points)), key=lambda at: self._points[at].strength):
            point = self._points[at]
            rank = min(int(point.strength * len(SHAPES)), len(SHAPES) - 1)
            x, y = self._cell(point)
            grid[y][x] = (SHAPES[rank], f"{point.style} {SHADES[rank]}".strip())
        for mark in self._marks:
            x, y = self._cell(mark)
            grid[y][x] = (mark.sign, f"{mark.style} {LOUD}")
        if 0 <= self.chosen < len(self._points):
            x, y = self._cell(self._points[self.chosen])
            grid[y][x] = (grid[y][x][0], CHOSEN)
        return Text("\n").join([Text.assemble(*row) for row in grid])

    def on_click(self, event: events.Click) -> None:
        """Choose the strongest point near the pointer."""
        near = [at for at, point in enumerate(self._points) if self._cells_to(point, event.x, event.y) <= 2]
        if near:
            self._choose(max(near, key=lambda at: self._points[at].strength))

    def action_walk(self, right: int, up: int) -> None:
        """Choose the nearest point in a direction; from nowhere, the strongest of all."""
        if not self._points:
            return
        if not 0 <= self.chosen < len(self._points):
            self._choose(max(range(len(self._points)), key=lambda at: self._points[at].strength))
            return
        column, row = self._cell(self._points[self.chosen])
        best: tuple[float, int] | None = None
        for at, point in enumerate(self._points):
            x, y = self._cell(point)
            ahead, aside = (
                ((x - column) * right, abs(y - row) * 2) if right else ((row - y) * up * 2, abs(x - column))
            )
            if ahead > 0 and (best is None or ahead + 2 * aside < best[0]):
                best = (ahead + 2 * aside, at)
        if best is not None:
            self._choose(best[1])

    def _choose(self, at: int) -> None:
        self.chosen = at
        self.post_message(self.Chosen(at))

    def _cells_to(self, point: Point, column: int, row: int) -> int:
        x, y = self._cell(point)
        return abs(x - column) + 2 * abs(y - row)

    def _cell(self, point: Point) -> tuple[int, int]:
        """Column and row of a point."""
        width, height = self.size
        x = round(min(max(point.x, 0.0), 1.0) * (width - 1))
        return x, height - 1 - round(min(max(point.y, 0.0), 1.0) * (height - 1))

    def _ground(self, width: int, height: int) -> list[list[tuple[str, str]]]:
        """Axes and words, as cells of sign and style."""
        across, down = (height - 1) // 2, (width - 1) // 2
        grid = [[(" ", "")] * width for _ in range(height)]
        for row in range(height):
            grid[row][down] = ("│", GROUND)
        for column in range(width):
            grid[across][column] = ("┼" if column == down else "─", GROUND)
        for corner, row, left in zip(
            self._corners, (0, 0, height - 1, height - 1), (True, False, True, False), strict=True
        ):
            start = 0 if left else max(width - len(corner), 0)
            for at, letter in enumerate(corner[: width - start]):
                grid[row][start + at] = (letter, f"{QUIET} italic")
        return grid
