"""What became of a text, word by word: what went is in [−…−] and struck, what came in {+…+}, underlined."""

from __future__ import annotations

from difflib import SequenceMatcher

from rich.text import Text

from noodlings.drawing.marks import QUIET
from noodlings.text import clean, shorten

TAKEN = "dim strike"
ADDED = "bold underline green"
LONGEST = 2_000
"""Characters of each text that are compared."""


def differences(before: str, after: str) -> Text:
    """The text after, with the words that are new in it and those that are gone marked; it wraps."""
    old = clean(shorten(before, LONGEST)).split()
    new = clean(shorten(after, LONGEST)).split()
    line = Text()

    def add(words: list[str], opening: str = "", closing: str = "", style: str = "") -> None:
        if words:
            line.append(" " if line else "").append(opening, style=QUIET)
            line.append(" ".join(words), style=style).append(closing, style=QUIET)

    for what, first, last, start, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            add(new[start:stop])
        else:
            add(old[first:last], "[−", "−]", TAKEN)
            add(new[start:stop], "{+", "+}", ADDED)
    return line
