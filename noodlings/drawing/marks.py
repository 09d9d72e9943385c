"""Small drawings that all views share: bars, columns, times, feelings, texts cut to a width.

No colour carries meaning alone: a bar has its number, a feeling its word. What is cut ends in an ellipsis.
Text from outside is a cleaned `rich.text.Text`, never markup.
"""

from __future__ import annotations

from typing import Literal, Protocol

from rich.text import Text

from noodlings.clock import UNITS
from noodlings.text import ELLIPSIS, clean, shorten

QUIET = "dim"
LOUD = "bold"
ACCENT = "cyan"

_LONGEST = 1_000
"""The most characters of one text that are used for a row; no terminal is wider."""
_EIGHTHS = " ▏▎▍▌▋▊▉"
_LEVELS = "▁▂▃▄▅▆▇█"
_STYLES = {
    "joy": "yellow",
    "calm": "cyan",
    "fear": "magenta",
    "anger": "red",
    "sorrow": "bright_blue",
    "boredom": "green",
    "neutral": "",
    "unknown": QUIET,
}


def words(text: str, style: str = "") -> Text:
    """Text from anywhere, made harmless: one line without escapes or markup."""
    return Text(clean(shorten(text, _LONGEST)), style=style, no_wrap=True)


def spoken_by(voice: str) -> str:
    """Who put an answer into words: "offline voice" or "the model's voice"; "" for silence."""
    return "the model's voice" if voice == "llm" else f"{voice} voice" if voice else ""


def done_without(failed: str) -> str:
    """One item of `Trace.degraded` in words for a person, with the reason if it is known."""
    what, colon, why = failed.partition(":")
    if what == "offline voice":
        return f"the offline voice spoke because the model did not{colon}{why}"
    return f"without: {failed}"


def number(value: float) -> str:
    """A number between 0 and 1 with two digits: "0.92"."""
    return f"{value:.2f}"


def bar(value: float, width: int, style: str = ACCENT) -> Text:
    """A bar of `width` cells for a value of 0…1, to an eighth of a cell. Show the number beside it.

    A value above 0 shows at least an eighth.
    """
    share = min(max(value, 0.0), 1.0)
    eighths = max(round(share * width * 8), 1 if share > 0 else 0)
    full, part = divmod(eighths, 8)
    drawn = "█" * full + (_EIGHTHS[part] if part else "")
    return Text.assemble((drawn, style), ("·" * (width - len(drawn)), QUIET))


def signed_bar(value: float, width: int) -> Text:
    """A value of −1…1 as a bar from the middle, in an odd number of cells."""
    half = width // 2
    right = bar(max(value, 0.0), half)
    # Unicode has only these two blocks that grow from the right.
    full, part = divmod(max(round(min(max(-value, 0.0), 1.0) * half * 4), 1 if value < 0 else 0), 4)
    left = {0: "", 1: "▕", 2: "▐", 3: "█"}[part] + "█" * full
    return Text.assemble(("·" * (half - len(left)), QUIET), (left, ACCENT), ("│", QUIET), right)


def measure(value: float, width: int, style: str = ACCENT) -> Text:
    """A bar with its number behind it."""
    return bar(value, width, style).append(f" {number(value)}", style="")


def level(value: float) -> str:
    """A value of 0…1 as one cell: ▁ to █. Show the number beside it."""
    return _LEVELS[min(int(min(max(value, 0.0), 1.0) * 8), 7)]


def ago(seconds: float) -> str:
    """How long ago, in the largest unit that fits: "now", "42 s ago", "3 min ago", "5 wk ago"."""
    for name, unit in UNITS.items():
        if seconds >= unit:
            return f"{seconds // unit:,.0f} {name} ago"
    return "now"


def feeling_style(family: str) -> str:
    """The colour of a sort of feeling. Show the word for it, too."""
    return _STYLES.get(family, "")


class Felt(Protocol):
    """What felt like something: the word for it, and its sort."""

    @property
    def feeling(self) -> str: ...

    @property
    def family(self) -> str: ...


def feeling_text(felt: Felt) -> Text:
    """A feeling as a word in the colour of its sort."""
    return Text(felt.feeling, style=feeling_style(felt.family), no_wrap=True)


def cut(text: Text, width: int, align: Literal["left", "right"] = "left", pad: bool = False) -> Text:
    """A copy of exactly (padded) or at most `width` cells; wide characters count two."""
    line = text.copy()
    line.no_wrap = True
    if line.cell_len > width:
        line.truncate(width - 1, overflow="crop")
        line.rstrip()
        line.append(ELLIPSIS)
    missing = width - line.cell_len
    if pad and missing > 0:
        line.pad_left(missing) if align == "right" else line.pad_right(missing)
    return line
