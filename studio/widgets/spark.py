"""Numbers as small drawings in a line or a few: columns, five feelings, bars from the middle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text

from noodlings.drawing.marks import ACCENT, LOUD, QUIET, bar, level, number

AXES = ("valence", "arousal", "fear", "sorrow", "boredom")
"""As `noodlings.values.affect.AXES`; whose module brings numpy, which takes longer than drawing a screen."""
NAMES = 9
"""Cells of the name of an axis and the gap behind it."""
MIDDLE = "│"
NOTHING = "·"


def spark(values: Sequence[float], width: int, style: str = ACCENT) -> Text:
    """The latest values of 0…1 as columns, oldest first; dots where there is none yet. Number it beside."""
    shown = values[-width:]
    return Text.assemble((NOTHING * (width - len(shown)), QUIET), ("".join(map(level, shown)), style))


def share(axis: str, value: float) -> float:
    """An axis of an affect as 0…1; valence comes as −1…1."""
    return (value + 1.0) / 2.0 if axis == "valence" else value


def five(affect: Mapping[str, float]) -> Text:
    """An affect as five columns with their letters: V▅ A▃ F▁ S▁ B▁."""
    line = Text(no_wrap=True)
    for axis in AXES:
        line.append(axis[0].upper(), style=QUIET)
        line.append(f"{level(share(axis, affect[axis]))} ", style=ACCENT)
    line.rstrip()
    return line


def signed_bar(value: float, width: int, style: str = ACCENT) -> Text:
    """A value of −1…1 as a bar from the middle, in an odd number of cells. Show the number beside it."""
    half = width // 2
    right = bar(max(value, 0.0), half, style)
    # There are no blocks that grow from the right but these two.
    full, part = divmod(max(round(min(max(-value, 0.0), 1.0) * half * 4), 1 if value < 0 else 0), 4)
    left = {0: "", 1: "▕", 2: "▐", 3: "█"}[part] + "█" * full
    return Text.assemble((NOTHING * (half - len(left)), QUIET), (left, style), (MIDDLE, QUIET), right)


def signed_number(value: float) -> str:
    """A number between −1 and 1 with its sign: "+0.42", "−0.10"."""
    return f"{value:+.2f}".replace("-", "−")


def axis_bars(affect: Mapping[str, float], width: int) -> list[Text]:
    """An affect as five lines of `width` cells: name, bar, number."""
    room = width - NAMES - 6
    lines = []
    for axis in AXES:
        value = affect[axis]
        signed = axis == "valence"
        drawn = signed_bar(value, room - 1 + room % 2) if signed else bar(value, room)
        figure = signed_number(value) if signed else number(value)
        gap = " " * (room - drawn.cell_len)
        lines.append(Text.assemble((axis.ljust(NAMES), QUIET), drawn, gap, (figure.rjust(6), LOUD)))
    return lines
