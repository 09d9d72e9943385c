"""Scales: numbers as bars between two named ends, and rows of numbers as small columns; in any width.

The rule they keep: no bar without its numbers, and both ends of every bar say what they mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from commands.render import GAP, quiet
from noodlings.drawing.marks import ACCENT, LOUD, QUIET, bar, cut, level

WIDEST = 41
"""Cells of the longest bar."""
SHORTEST = 9
"""Cells that a bar needs to stand in one line with its numbers."""
MARK = "┃"

_MIDDLE = "│"
_EMPTY = "·"


@dataclass(frozen=True, slots=True)
class Scale:
    """One number between two ends.

    Attributes:
        name: what is measured.
        value: 0…1; or −1…1 when it is `signed`, which draws it from the middle.
        mark: another value on the same scale, drawn as `MARK`; None for none.
        numbers: as shown beside the bar, one for each title.
        ends: what the ends mean, left and right; empty where the whole table says so.
        style: colour of the bar.
    """

    name: str
    value: float
    mark: float | None
    numbers: Sequence[str]
    ends: tuple[str, str] = ("", "")
    signed: bool = False
    style: str = ACCENT


@dataclass(frozen=True, slots=True)
class Scales:
    """Scales below one another: bar and numbers in one line where that fits, else the bar below its numbers.

    Attributes:
        scales: at least one.
        titles: above the numbers.
        ends: what the ends of all bars mean, for scales that do not say it themselves; above the bars, or
            below all where there is no room.
        indent: empty cells at the left.
    """

    scales: Sequence[Scale]
    titles: Sequence[str]
    ends: tuple[str, str] = ("", "")
    indent: int = 2

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The lines at the width they are shown in."""
        room = max(options.max_width - self.indent, 1)
        margin = Text(" " * self.indent)
        widths = [
            max(map(len, column))
            for column in zip(self.titles, *(s.numbers for s in self.scales), strict=True)
        ]
        name = max(len(scale.name) for scale in self.scales)
        numbers = sum(GAP + width for width in widths)
        ends = [max(len(scale.ends[side]) for scale in self.scales) for side in (0, 1)]
        beside_bar = sum(end + 1 for end in ends if end)
        left = room - name - GAP - beside_bar - numbers
        below = left < SHORTEST
        width = _odd(min(room - beside_bar if below else left, WIDEST))
        low, high = self.ends
        ends_fit = not below and len(low) + len(high) < width
        over_bar = (low + high.rjust(width - len(low)) if ends_fit else "").ljust(width + beside_bar)
        lines = [_row("", name, Text("" if below else over_bar), self.titles, widths, QUIET)]
        for scale in self.scales:
            drawn = _between(scale, ends, width)
            lines.append(_row(scale.name, name, Text() if below else drawn, scale.numbers, widths))
            if below:
                lines.append(drawn)
        for line in lines:
            line.rstrip()
            yield margin + cut(line, room)
        if low and not ends_fit:
            yield quiet(f"{_EMPTY} {low} … █ {high}")


@dataclass(frozen=True, slots=True)
class Course:
    """How a number went: as many of the latest values as fit, oldest first, and the number it is now.

    Attributes:
        name: what is shown.
        shares: the values, 0…1 each, at least one.
        now: the number as shown.
        ends: what the lowest and the highest column mean.
        since: where it went since the latest of the values, 0…1; None where it only changes with those.
        most: the longest row of columns.
    """

    name: str
    shares: Sequence[float]
    now: str
    ends: tuple[str, str]
    since: float | None = None
    most: int = 40
    indent: int = 2

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The row, and what it means behind it or below it."""
        margin = Text(" " * self.indent)
        room = max(options.max_width - self.indent, 1)
        since = "" if self.since is None else f"→{level(self.since)}"
        taken = len(self.name) + len(since) + len(self.now) + 2 * GAP
        shown = self.shares[-max(min(room - taken, self.most), 1) :]
        line = Text.assemble(
            (self.name, QUIET), " " * GAP, (columns(shown) + since, ACCENT), " " * GAP, (self.now, LOUD)
        )
        turns = f"the last {len(shown)} turns" if len(shown) > 1 else "one turn"
        then = "" if self.since is None else ", → now"
        meaning = f"▁ {self.ends[0]} … █ {self.ends[1]}; {turns}{then}"
        if line.cell_len + GAP + len(meaning) <= room:
            yield margin + line.append(" " * GAP + meaning, style=QUIET)
        else:
            yield margin + cut(line, room)
            yield quiet(meaning)


def columns(shares: Sequence[float]) -> str:
    """Values of 0…1 as small columns beside one another."""
    return "".join(map(level, shares))


def gauge(scale: Scale, width: int) -> Text:
    """The bar of a scale in an odd number of cells, at least 3. Show the number beside it."""
    cells = _from_middle(scale.value, width) if scale.signed else bar(scale.value, width).plain
    drawn = [(cell, QUIET if cell in (_EMPTY, _MIDDLE) else scale.style) for cell in cells]
    if scale.mark is not None:
        share = (scale.mark + 1.0) / 2.0 if scale.signed else scale.mark
        drawn[min(int(min(max(share, 0.0), 1.0) * width), width - 1)] = (MARK, LOUD)
    return Text.assemble(*drawn)


def _from_middle(value: float, width: int) -> str:
    half = width // 2
    right = bar(max(value, 0.0), half).plain
    # There are no blocks that grow from the right but these two.
    full, part = divmod(max(round(min(max(-value, 0.0), 1.0) * half * 4), 1 if value < 0 else 0), 4)
    left = ({0: "", 1: "▕", 2: "▐", 3: "█"}[part] + "█" * full).rjust(half, _EMPTY)
    return left + _MIDDLE + right


def _between(scale: Scale, ends: Sequence[int], width: int) -> Text:
    """A bar between the words for its ends."""
    low, high = scale.ends
    line = Text(f"{low.ljust(ends[0])} " if ends[0] else "", style=QUIET)
    line = Text.assemble(line, gauge(scale, width))
    return line.append(f" {high.ljust(ends[1])}", style=QUIET) if ends[1] else line


def _row(
    name: str, width: int, drawn: Text, numbers: Sequence[str], widths: Sequence[int], style: str = ""
) -> Text:
    line = Text(name.ljust(width), style=style)
    if drawn:
        line.append(" " * GAP).append_text(drawn)
    for number, room in zip(numbers, widths, strict=True):
        line.append(" " * GAP).append(number.rjust(room), style=style)
    return line


def _odd(width: int) -> int:
    """The nearest odd width below, and at least 3: the middle and a cell on each side."""
    return max(width - 1 + width % 2, 3)
