"""Points in a plane, whose shape and shade say how strong they are; one of them can be chosen.

Each point has a cell of its own. Of points that would share one, the strongest stays there, and the others
move to the nearest free cells within `REACH`. Points that find none are only counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
REACH = 6
"""How many cells to the side, or half as many up or down, a point may be moved."""
_AROUND = sorted(
    (
        (x, y)
        for x in range(-REACH, REACH + 1)
        for y in range(-REACH, REACH + 1)
        if abs(x) + 2 * abs(y) <= REACH
    ),
    key=lambda step: abs(step[0]) + 2 * abs(step[1]),
)


@dataclass(frozen=True, slots=True)
class Point:
    """A point.

    Attributes:
        x, y: 0…1, from the left and from the bottom.
        strength: 0…1.
        style: its colour.
        sign: drawn instead of a shape; "" for a shape.
    """

    x: float
    y: float
    strength: float = 1.0
    style: str = ""
    sign: str = ""


class Scatter(Widget, can_focus=True):
    """Points between two axes that cross in the middle, with a word in each corner.

    Args:
        corners: labels for top left, top right, bottom left and bottom right; the number of points is added.
        ends: labels for the ends of the axes: left, right, top and bottom.
    """

    DEFAULT_CSS = "Scatter { background: $background; }  Scatter:focus { background: $surface; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1, 0)", "Walk from memory to memory", key_display="arrows", show=False),
        Binding("right", "move(1, 0)", show=False),
        Binding("up", "move(0, 1)", show=False),
        Binding("down", "move(0, -1)", show=False),
    ]
    chosen: reactive[int] = reactive(-1)

    @dataclass
    class Chosen(Message):
        """The user chose another point."""

        index: int

    def __init__(self, corners: tuple[str, str, str, str], ends: tuple[str, str, str, str]) -> None:
        super().__init__()
        self._corners = corners
        self._ends = ends
        self._points: Sequence[Point] = ()
        self._marks: Sequence[Point] = ()

    def show(self, points: Sequence[Point], marks: Sequence[Point]) -> None:
        """Show points; `marks` are drawn on top of them and cannot be chosen."""
        self._points, self._marks = points, marks
        if self.chosen >= len(points):
            self.chosen = -1
        self.refresh()

    def render(self) -> Text:
        width, height = self.size
        if width < 2 or height < 2:
            return Text()
        grid = self._ground(width, height)
        cells = self._cells()
        for at in reversed(self._strongest_first()):
            point = self._points[at]
            rank = max(min(int(point.strength * len(SHAPES)), len(SHAPES) - 1), 0)
            x, y = cells[at]
            grid[y][x] = (SHAPES[rank], f"{point.style} {SHADES[rank]}".strip())
        for mark in self._marks:
            x, y = self._cell(mark)
            grid[y][x] = (mark.sign, f"{mark.style} {LOUD}")
        if 0 <= self.chosen < len(self._points):
            x, y = cells[self.chosen]
            grid[y][x] = (grid[y][x][0], "reverse bold")
        beneath = len(cells) - len(set(cells))
        if beneath:
            _write(grid, f"{beneath:,} more beneath others", height - 2, width // 2 - 10)
        return Text("\n").join([Text.assemble(*row) for row in grid])

    def on_click(self, event: events.Click) -> None:
        """Choose the strongest point near the pointer."""
        away = [abs(x - event.x) + 2 * abs(y - event.y) for x, y in self._cells()]
        near = [at for at, cells in enumerate(away) if cells <= 2 and cells == min(away)]
        if near:
            self._choose(max(near, key=lambda at: self._points[at].strength))

    def action_move(self, right: int, up: int) -> None:
        """Choose the nearest point in a direction; from nowhere, the strongest of all."""
        if not self._points:
            return
        if not 0 <= self.chosen < len(self._points):
            self._choose(max(range(len(self._points)), key=lambda at: self._points[at].strength))
            return
        cells = self._cells()
        column, row = cells[self.chosen]
        distances = []
        for at, (x, y) in enumerate(cells):
            if right:
                ahead, aside = (x - column) * right, abs(y - row) * 2
            else:
                ahead, aside = (row - y) * up * 2, abs(x - column)
            if ahead > 0:
                distances.append((ahead + 2 * aside, at))
        if distances:
            self._choose(min(distances)[1])

    def _choose(self, at: int) -> None:
        self.chosen = at
        self.post_message(self.Chosen(at))

    def _strongest_first(self) -> list[int]:
        return sorted(range(len(self._points)), key=lambda at: -self._points[at].strength)

    def _cells(self) -> list[tuple[int, int]]:
        """Column and row of each point, its own where there is room."""
        width, height = self.size
        taken = {self._cell(mark) for mark in self._marks}
        for told, row, start in self._labels(width, height):
            taken |= {(start + at, row) for at in range(len(told))}
        cells = [self._cell(point) for point in self._points]
        for at in self._strongest_first():
            x, y = cells[at]
            around = ((x + right, y + down) for right, down in _AROUND)
            free = (
                one for one in around if 0 <= one[0] < width and 0 <= one[1] < height and one not in taken
            )
            cells[at] = next(free, cells[at])
            taken.add(cells[at])
        return cells

    def _cell(self, point: Point) -> tuple[int, int]:
        """Column and row where a point belongs."""
        width, height = self.size
        x = round(min(max(point.x, 0.0), 1.0) * (width - 1))
        return x, height - 1 - round(min(max(point.y, 0.0), 1.0) * (height - 1))

    def _ground(self, width: int, height: int) -> list[list[tuple[str, str]]]:
        """Axes and words, as cells of sign and style."""
        across, down = (height - 1) // 2, (width - 1) // 2
        grid = [[(" ", "")] * width for _ in range(height)]
        for row in range(height):
            grid[row][down] = ("│", "bright_black")
        for column in range(width):
            grid[across][column] = ("┼" if column == down else "─", "bright_black")
        for label in self._labels(width, height):
            _write(grid, *label)
        return grid

    def _labels(self, width: int, height: int) -> Iterator[tuple[str, int, int]]:
        """Words, row and first column; no point is put there."""
        across, down = (height - 1) // 2, (width - 1) // 2
        left_end, right_end, top, bottom = self._ends
        yield left_end, across, 0
        yield right_end, across, width - len(right_end)
        yield top, 0, down - len(top) // 2
        yield bottom, height - 1, down - len(bottom) // 2
        for at, corner in enumerate(self._corners):
            upper, left = at < 2, at % 2 == 0
            there = sum((one.y >= 0.5) == upper and (one.x < 0.5) == left for one in self._points)
            told = f"{corner} {there:,}"
            yield told, 0 if upper else height - 1, 0 if left else width - len(told)


def _write(grid: list[list[tuple[str, str]]], words: str, row: int, start: int) -> None:
    """Quiet words, as far as they fit."""
    start = max(start, 0)
    for at, letter in enumerate(words[: len(grid[row]) - start]):
        grid[row][start + at] = (letter, f"{QUIET} italic")
