"""Takes the pictures of the studio in docs/studio/: every pane at two sizes, and the sets of colours.

The same village and the same moment every time, so a picture changes only when the studio does.

    python tools/studio_pictures.py [FOLDER] [--only NAME]
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path

from studio_village import settle

from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.values.caller import Caller, Role
from studio.app import Studio
from studio.local import LocalSource
from studio.panes import PANE_KEYS, PANES
from studio.theme import LIGHT, SAFE

SMALL, LARGE = (80, 24), (200, 60)
BETWEEN = (120, 36)
AGENT = "phi"
BEFORE = {"Working": ("up",), "Episodic": ("down", "down"), "Affect": ("up",)}
"""Keys that a pane is shown after, beside its own."""
WAIT = 0.8
"""Seconds for everything to be read and drawn."""


@dataclass(frozen=True, slots=True)
class Picture:
    """What is in sight: after these keys, in these colours."""

    name: str
    size: tuple[int, int]
    keys: tuple[str, ...] = ()
    theme: str = ""


def pictures() -> list[Picture]:
    """All of them."""
    found = []
    for key, pane in zip(PANE_KEYS, PANES, strict=True):
        name = pane.TITLE.lower().replace(" ", "-")
        found += [
            Picture(f"{name}-{size[0]}x{size[1]}", size, (key, *BEFORE.get(pane.TITLE, ())))
            for size in (SMALL, LARGE)
        ]
    return [
        *found,
        Picture("help-80x24", SMALL, ("question_mark",)),
        Picture("palette-80x24", SMALL, ("ctrl+p", *"forget")),
        Picture("filter-120x36", BETWEEN, ("4", "slash", *"dog")),
        Picture("paper-120x36", BETWEEN, ("4", "down"), LIGHT.name),
        Picture("safe-120x36", BETWEEN, ("5", "up"), SAFE.name),
    ]


async def take(picture: Picture, settings: Settings, moment: float) -> str:
    """The picture as SVG; its letters are of whatever fixed-width font there is."""

    def open_society() -> AbstractContextManager[Society]:
        return closing(build(settings, clock=ManualClock(moment), read_only=True))

    viewer = Caller("studio", "studio", Role.VIEWER)
    source = LocalSource(settings.data_dir, open_society, viewer, lambda agent, entry: None)
    source.label = "village"
    app = Studio(source, AGENT)
    async with app.run_test(size=picture.size) as pilot:
        await pilot.pause(WAIT)
        if picture.theme:
            app.theme = picture.theme
        for key in picture.keys:
            await pilot.press(key)
            await pilot.pause(WAIT / 4)
        await pilot.pause(WAIT)
        drawn = app.export_screenshot()
    return re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)


def main() -> None:
    """Settle the village, take the pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("docs/studio"))
    parser.add_argument("--only", default="", help="only pictures whose name begins so")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        settings, moment = settle(Path(folder))
        for picture in pictures():
            if picture.name.startswith(asked.only):
                drawn = asyncio.run(take(picture, settings, moment))
                (asked.folder / f"{picture.name}.svg").write_text(drawn, encoding="utf-8")
                print(picture.name)


if __name__ == "__main__":
    main()
