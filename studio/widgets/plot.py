"""Values over time as a line of dots, two by four in each cell, with its scale at the left."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from noodlings.drawing.marks import ACCENT, QUIET

SCALE = 6
"""Cells of the numbers at the left."""
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
    """A title and `height` lines of `width` cells.

    Args:
        values: oldest first, as many of the latest as there is room for; what is out of range is at its edge.
        low, high: the range, whose ends and middle are named.
        height: at least 2.
    """
    columns = max(width - SCALE - 1, 1)
    shown = values[-2 * columns :]
    cells = [[0] * columns for _ in range(height)]
    # Few values are spread over the whole width, so that a line is seen from the first two on.
    step = (2 * columns - 1) / max(len(shown) - 1, 1)
    dots = [(round(at * step), _row(value, low, high, height)) for at, value in enumerate(shown)]
    for (x, y), (to_x, to_y) in zip(dots, [*dots[1:], *dots[-1:]], strict=True):
        for one in range(x, max(to_x, x + 1)):
            between = y if to_x == x else round(y + (to_y - y) * (one - x) / (to_x - x))
            cells[between // 4][one // 2] |= _DOTS[between % 4][one % 2]
    names = {0: high, height // 2: (low + high) / 2, height - 1: low}
    sign = "+" if low < 0 else "-"
    lines = [title]
    for at, row in enumerate(cells):
        name = f"{names[at]:{sign}.1f}".replace("-", "−") if at in names else ""
        drawn = "".join(chr(_BLANK + bits) if bits else "·" if at in names else " " for bits in row)
        lines.append(Text.assemble((f"{name:>{SCALE - 1}} ", QUIET), ("│", QUIET), _marked(drawn, style)))
    return lines


def _row(value: float, low: float, high: float, height: int) -> int:
    share = min(max((value - low) / (high - low), 0.0), 1.0)
    return round((1.0 - share) * (4 * height - 1))


def _marked(drawn: str, style: str) -> Text:
    line = Text(no_wrap=True)
    for sign in drawn:
        line.append(sign, style=QUIET if sign == "·" else style)
    return line
