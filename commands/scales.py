"""Numbers as bars between two named ends, and rows of numbers as small columns, in any width.

Every bar has its numbers beside it, and both its ends say what they mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from commands.render import GAP, INDENT, quiet
from noodlings.drawing.marks import ACCENT, LOUD, QUIET, bar, cut, level, signed_bar

WIDEST = 41
"""Cells of the longest bar."""
SHORTEST = 9
"""Cells that a bar needs to stand on one line with its numbers."""
MOST_COLUMNS = 40
MARK = "┃"


@dataclass(frozen=True, slots=True)
class Scale:
    """One number between two ends.

    Attributes:
        value: 0…1; or −1…1 if it is `signed`, and then drawn from the middle.
        mark: another value on the same scale, drawn as `MARK`.
        numbers: as shown beside the bar, one for each title.
        ends: what the left and the right end mean; empty if `Scales.ends` says so for all.
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
    """Scales below one another: bar and numbers on one line if they fit, else the bar below its numbers.

    Attributes:
        scales: at least one.
        titles: above the numbers.
        ends: what the ends of all bars mean; shown above the bars, or below all if there is no room.
    """

    scales: Sequence[Scale]
    titles: Sequence[str]
    ends: tuple[str, str] = ("", "")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = max(options.max_width - INDENT, 1)
        margin = Text(" " * INDENT)
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
            yield quiet(f"· {low} … █ {high}")


@dataclass(frozen=True, slots=True)
class Course:
    """The course of a number: as many of the latest values as fit, oldest first, and the number now.

    Attributes:
        shares: the values, 0…1 each, at least one.
        now: the number as shown.
        ends: what the lowest and the highest column mean.
        since: the value now, 0…1, if it may have changed since the latest of the values.
    """

    name: str
    shares: Sequence[float]
    now: str
    ends: tuple[str, str]
    since: float | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        margin = Text(" " * INDENT)
        room = max(options.max_width - INDENT, 1)
        since = "" if self.since is None else f"→{level(self.since)}"
        taken = len(self.name) + len(since) + len(self.now) + 2 * GAP
        shown = self.shares[-max(min(room - taken, MOST_COLUMNS), 1) :]
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
    cells = (signed_bar if scale.signed else bar)(scale.value, width).plain
    drawn = [(cell, QUIET if cell in "·│" else scale.style) for cell in cells]
    if scale.mark is not None:
        share = (scale.mark + 1.0) / 2.0 if scale.signed else scale.mark
        drawn[min(int(min(max(share, 0.0), 1.0) * width), width - 1)] = (MARK, LOUD)
    return Text.assemble(*drawn)


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
    """The greatest odd width up to this one, at least 3: the middle and a cell on each side."""
    return max(width - 1 + width % 2, 3)
