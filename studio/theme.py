"""Three sets of colours: dark, light, and one that is told apart with any kind of colour vision.

Drawings name the sixteen colours of a terminal (`noodlings.drawing.marks`), and here each theme says which
shade that is; so one drawing is readable on every ground. The safe theme takes the palette of Okabe and Ito
(2008).
"""

from __future__ import annotations

from functools import cache

from rich.terminal_theme import TerminalTheme
from textual.color import Color
from textual.theme import Theme

DARK = Theme(
    name="dusk",
    primary="#7aa2f7",
    secondary="#bb9af7",
    accent="#7dcfff",
    warning="#e0af68",
    error="#f7768e",
    success="#9ece6a",
    foreground="#c8d0f0",
    background="#16161e",
    surface="#1a1b26",
    panel="#24283b",
    dark=True,
)
LIGHT = Theme(
    name="paper",
    primary="#2e5aa8",
    secondary="#7847bd",
    accent="#0b6e8a",
    warning="#8a5a00",
    error="#b3261e",
    success="#3c6e1f",
    foreground="#22252e",
    background="#fbfaf6",
    surface="#f4f2ec",
    panel="#e6e3da",
    dark=False,
)
SAFE = Theme(
    name="safe",
    primary="#56b4e9",
    secondary="#cc79a7",
    accent="#56b4e9",
    warning="#e69f00",
    error="#e98a4b",
    success="#4bbf9b",
    foreground="#f2f2f2",
    background="#101014",
    surface="#18181e",
    panel="#2a2a33",
    dark=True,
)
THEMES = (DARK, LIGHT, SAFE)

_NORMAL = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_SHADES = {
    # black, red, green, yellow, blue, magenta, cyan, white; bright blue is the colour of sorrow
    DARK.name: "#414868 #f7768e #9ece6a #e0c068 #7aa2f7 #bb9af7 #7dcfff #c8d0f0 / #8fb3ff",
    LIGHT.name: "#22252e #b3261e #3c6e1f #8a6100 #2e5aa8 #7847bd #0b6e8a #4a4e5a / #2b50c8",
    SAFE.name: "#3a3a44 #e98a4b #4bbf9b #f0e442 #56b4e9 #cc79a7 #8fd0f5 #f2f2f2 / #5b9bf0",
}


@cache  # it is asked for with every line that is drawn
def terminal_theme(name: str) -> TerminalTheme:
    """Which shade each of the sixteen colours is in the theme of this name, for others in the dark one."""
    theme = next((theme for theme in THEMES if theme.name == name), DARK)
    normal, bright_blue = _SHADES[theme.name].split(" / ")
    colours = [Color.parse(shade).rgb for shade in normal.split()]
    bright = [*colours]
    bright[_NORMAL.index("blue")] = Color.parse(bright_blue).rgb
    ground, letters = (Color.parse(str(shade)).rgb for shade in (theme.background, theme.foreground))
    return TerminalTheme(ground, letters, colours, bright)
