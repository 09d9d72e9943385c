"""A played scene for people: the thought after each transistor, its changes in colour, and what was read."""

from __future__ import annotations

import difflib
import re

from rich.console import Group, RenderableType
from rich.text import Text

from noodlings.lab.scene import Played
from noodlings.values.trace import Modulation

_WORDS = re.compile(r"\s+|\S+")


def view(played: Played) -> RenderableType:
    """One scene."""
    lines = [Text(played.name, style="bold")] if played.name else []
    lines += [
        Text.assemble(("heard    ", "dim"), played.said),
        Text.assemble(("thought  ", "dim"), played.thought),
    ]
    for made in played.modulations:
        lines.append(Text.assemble((f"  {made.transistor} {made.gain:g}", "cyan"), (f"  {made.how}", "dim")))
        if made.after != made.before:
            lines.append(Text("    ") + changes(made.before, made.after))
        lines += [Text(f"    {read}", style="dim") for read in _read(made, played)]
    lines += [Text(f"  {failed}", style="yellow") for failed in played.degraded]
    lines.append(Text.assemble(("says     ", "dim"), (played.final, "bold")))
    return Group(*lines)


def changes(before: str, after: str) -> Text:
    """What it became, with what is new in it in green. What is gone can be seen in the line above it."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    text = Text()
    matcher = difflib.SequenceMatcher(a=old, b=new, autojunk=False)
    for what, _, _, first, last in matcher.get_opcodes():
        text.append("".join(new[first:last]), style="" if what == "equal" else "green")
    return text


def _read(made: Modulation, played: Played) -> list[str]:
    read = [f"read {', '.join(made.read)}"] if made.read else []
    read += [f"remembered “{played.entries[number]}”" for number in made.entries]
    return read + [f"image “{played.symbols[number]}”" for number in made.symbols]
