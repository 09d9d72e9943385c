"""Counts as columns with their numbers on top and their names below."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from noodlings.drawing.marks import ACCENT, QUIET

_EIGHTHS = " ▁▂▃▄▅▆▇█"


def histogram(
    counts: Sequence[int], labels: Sequence[str], width: int, height: int, style: str = ACCENT
) -> Text:
    """Columns of one width beside one another, in `height` lines above their labels.

    Args:
        counts: at least one, none below 0; the highest column is as high as there is room.
        labels: one for each, what its left edge stands for.
        width: cells; where it is too narrow for a column each, numbers are left out first.
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
                line.append(_EIGHTHS[filled] * solid, style=style).append(" ")
            elif row == above and count and len(f"{count:,}") <= each:
                line.append(f"{count:,}".center(solid).ljust(each))
            else:
                line.append(" " * each)
        line.rstrip()
        lines.append(line)
    lines.append(Text("".join(("▔" * solid + " ") for _ in counts).rstrip(), style=QUIET))
    lines.append(Text("".join(label.ljust(each)[:each] for label in labels).rstrip(), style=QUIET))
    return Text("\n").join(lines)
