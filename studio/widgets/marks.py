"""Small drawings of numbers and of changes in a text, made for the room they have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text
from textual.geometry import Size
from textual.widget import Widget

from noodlings.drawing.marks import ACCENT, LOUD, QUIET, bar, cut, level, number, signed_bar
from noodlings.text import clean, shorten

if TYPE_CHECKING:
    from noodlings.values.affect import Affect

Draw = Callable[[int, int], Text]
"""Width and height in cells → what fits there. The height is 0 if it may be as high as it wants."""


class Drawing(Widget):
    """Shows what a function draws, and calls it again when the room changes."""

    DEFAULT_CSS = "Drawing { height: auto; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._draw: Draw | None = None

    def show(self, draw: Draw | None) -> None:
        """Show another drawing, or none."""
        before = self._lines(self.size.width)
        self._draw = draw
        # Laying out the whole screen takes time, so it is done only if the height changes.
        self.refresh(layout=not self.size.width or self._lines(self.size.width) != before)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._lines(width)

    def _lines(self, width: int) -> int:
        return 0 if self._draw is None else self._draw(width, 0).plain.count("\n") + 1

    def render(self) -> Text:
        return Text() if self._draw is None else self._draw(self.size.width, self.size.height)


_EIGHTHS = " ▁▂▃▄▅▆▇█"


def histogram(counts: Sequence[int], labels: Sequence[str], width: int, height: int) -> Text:
    """Columns with their numbers on top, in `height` lines above their labels.

    Args:
        counts: at least one, none below 0; the highest column takes the whole height.
        labels: one for each, of its left edge.
        width: cells; numbers that are too wide for their column are left out.
    """
    each = max(width // len(counts), 2)
    solid = max(each - 1, 1)
    most = max(*counts, 1)
    body = height - 1  # the highest column has its number above it
    tall = [max(round(count / most * body * 8), 1 if count else 0) for count in counts]
    lines = []
    for row in range(height, 0, -1):
        line = Text(no_wrap=True)
        for count, eighths in zip(counts, tall, strict=True):
            filled = min(max(eighths - (row - 1) * 8, 0), 8)
            above = -(-eighths // 8) + 1
            if filled:
                line.append(_EIGHTHS[filled] * solid, style=ACCENT).append(" ")
            elif row == above and count and len(f"{count:,}") <= each:
                line.append(f"{count:,}".center(solid).ljust(each))
            else:
                line.append(" " * each)
        line.rstrip()
        lines.append(line)
    lines.append(Text("".join(("▔" * solid + " ") for _ in counts).rstrip(), style=QUIET))
    lines.append(Text("".join(label.ljust(each)[:each] for label in labels).rstrip(), style=QUIET))
    return Text("\n").join(lines)


REMOVED = "dim strike"
ADDED = "bold underline green"
MAX_COMPARED = 2_000
"""Characters of each text that are compared."""


def differences(before: str, after: str) -> Text:
    """The text after, with added words in {+…+} and removed words in [−…−]; it wraps."""
    old = clean(shorten(before, MAX_COMPARED)).split()
    new = clean(shorten(after, MAX_COMPARED)).split()
    line = Text()

    def add(words: list[str], opening: str = "", closing: str = "", style: str = "") -> None:
        if words:
            line.append(" " if line else "").append(opening, style=QUIET)
            line.append(" ".join(words), style=style).append(closing, style=QUIET)

    for what, first, last, start, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            add(new[start:stop])
        else:
            add(old[first:last], "[−", "−]", REMOVED)
            add(new[start:stop], "{+", "+}", ADDED)
    return line


SCALE_WIDTH = 6
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_BLANK = 0x2800


def plot(
    title: Text,
    values: Sequence[float],
    low: float,
    high: float,
    width: int,
    height: int,
    style: str = ACCENT,
) -> list[Text]:
    """Values over time as dots, two by four in each cell: a title and `height` lines of `width` cells.

    Args:
        values: oldest first. The latest are shown, those out of range at its edge.
        low, high: the range. Its ends and middle are labelled.
        height: at least 2.
    """
    columns = max(width - SCALE_WIDTH - 1, 1)
    shown = values[-2 * columns :]
    cells = [[0] * columns for _ in range(height)]
    # Few values are spread over the whole width, so that two of them already make a line.
    step = (2 * columns - 1) / max(len(shown) - 1, 1)
    dots = [(round(at * step), _row(value, low, high, height)) for at, value in enumerate(shown)]
    for (x, y), (to_x, to_y) in zip(dots, [*dots[1:], *dots[-1:]], strict=True):
        for one in range(x, max(to_x, x + 1)):
            between = y if to_x == x else round(y + (to_y - y) * (one - x) / (to_x - x))
            cells[between // 4][one // 2] |= _DOTS[between % 4][one % 2]
    names = {0: high, height // 2: (low + high) / 2, height - 1: low}
    sign = "+" if low < 0 else "-"
    lines = [cut(title, width)]
    for at, row in enumerate(cells):
        name = f"{names[at]:{sign}.1f}".replace("-", "−") if at in names else ""
        drawn = "".join(chr(_BLANK + bits) if bits else "·" if at in names else " " for bits in row)
        signs = ((sign, QUIET if sign == "·" else style) for sign in drawn)
        lines.append(Text.assemble((f"{name:>{SCALE_WIDTH - 1}} │", QUIET), *signs))
    return lines


def _row(value: float, low: float, high: float, height: int) -> int:
    share = min(max((value - low) / (high - low), 0.0), 1.0)
    return round((1.0 - share) * (4 * height - 1))


_WRAPPING = Console()
"""Rich takes only the width of tabs from it."""


def folded(text: Text, width: int, indent: int = 0) -> Text:
    """A text in lines of at most `width` cells, to follow a name of `indent` cells in the first one."""
    lines = text.wrap(_WRAPPING, max(width - indent, 1))
    for line in lines:
        line.rstrip()
    return Text("\n" + " " * indent).join(lines)


def side_by_side(left: Sequence[Text], right: Sequence[Text], width: int) -> Text:
    """Two columns of lines; the left one is `width` cells wide."""
    pairs = zip_longest(left, right, fillvalue=Text())
    return Text("\n").join([Text.assemble(cut(one, width, pad=True), "   ", other) for one, other in pairs])


def named_row(name: str, text: Text, width: int) -> Text:
    """A name and a text that wraps behind it."""
    return Text.assemble((name.ljust(NAME_WIDTH), QUIET), folded(text, width, NAME_WIDTH))


AXES = ("valence", "arousal", "fear", "sorrow", "boredom")
"""As `noodlings.values.affect.AXES`, whose module imports numpy, which takes longer than drawing a screen."""
NAME_WIDTH = 10
"""Cells of a name and the gap behind it."""


def spark(values: Sequence[float], width: int) -> Text:
    """The latest values of 0…1 as columns, oldest first; dots where there is none yet."""
    shown = values[-width:]
    return Text.assemble(("·" * (width - len(shown)), QUIET), ("".join(map(level, shown)), ACCENT))


def signed_number(value: float) -> str:
    """A number between −1 and 1 with its sign: "+0.42", "−0.10"."""
    return f"{value:+.2f}".replace("-", "−")


def axis_bars(affect: Affect, width: int) -> list[Text]:
    """An affect as five lines of `width` cells: name, bar, number."""
    room = width - NAME_WIDTH - 6
    lines = []
    for axis in AXES:
        value = getattr(affect, axis)
        signed = axis == "valence"
        drawn = signed_bar(value, room - 1 + room % 2) if signed else bar(value, room)
        figure = signed_number(value) if signed else number(value)
        gap = " " * (room - drawn.cell_len)
        lines.append(Text.assemble((axis.ljust(NAME_WIDTH), QUIET), drawn, gap, (figure.rjust(6), LOUD)))
    return lines
