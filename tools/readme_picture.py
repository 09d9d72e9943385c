"""Makes docs/page/talk.gif, with which the README begins: something told, 500 lines, something said, and why.

Everything in it is the page of `noodlings serve` itself, over an empty folder, in a browser.

    PYTHONPATH=. python tools/readme_picture.py [FILE]
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import urllib.request
from io import BytesIO
from pathlib import Path

from page_pictures import say, served
from PIL import Image
from playwright.sync_api import Page
from studio_village import LINES

from tests.api.browser import chromium

WIDTH, HEIGHT = 1200, 660
COLOURS = 64
TOLD, BETWEEN, TOUCHED = "my dog died yesterday", 500, "my dog would have loved this"
LETTERS = 4
"""Typed from one frame to the next."""
TYPING, READING, LOOKING = 120, 2_500, 6_000
"""Milliseconds."""
OTHERS = ("Bram", "Ines", "Odile")
IDLE = tuple(line for line in LINES if "dog" not in line)


class Film:
    """The frames, and how long each is shown."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._frames: list[Image.Image] = []
        self._shown: list[int] = []

    def take(self, milliseconds: int) -> None:
        """What is seen now, once it has been drawn."""
        self._page.evaluate(
            "() => new Promise((drawn) => setTimeout(() => requestAnimationFrame(drawn), 300))"
        )
        self._frames.append(Image.open(BytesIO(self._page.screenshot())).convert("RGB"))
        self._shown.append(milliseconds)

    def type(self, text: str) -> None:
        """A line, as it grows."""
        for end in range(LETTERS, len(text) + LETTERS, LETTERS):
            self._page.get_by_label("Say something to SERVNAK").fill(text[:end])
            self.take(TYPING)

    def write(self, file: Path) -> None:
        """All frames with the colours of the last, which shows the most."""
        palette = self._frames[-1].quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=1)
        frames = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in self._frames]
        frames[0].save(
            file, save_all=True, append_images=frames[1:], duration=self._shown, loop=0, optimize=True
        )


def chatter(url: str) -> None:
    """Idle talk of others, which SERVNAK overhears."""
    chance = random.Random(7)
    for number in range(BETWEEN):
        name = OTHERS[number % len(OTHERS)]
        body = {
            "user_id": f"user_{name.lower()}",
            "name": name,
            "text": chance.choice(IDLE),
            "addressed": False,
        }
        request = urllib.request.Request(
            f"{url}/api/agents/servnak/perceive",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as answer:
            answer.read()


def main() -> None:
    """Talk, wait, talk, ask why."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("file", nargs="?", type=Path, default=Path("docs/page/talk.gif"))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, served(Path(name)) as url, chromium() as browser:
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce")
        film = Film(page)
        page.goto(f"{url}/#/talk/servnak")
        page.get_by_label("as", exact=True).fill("Caity")
        film.type(TOLD)
        say(page, TOLD)
        film.take(READING)
        chatter(url)
        film.take(READING)
        film.type(TOUCHED)
        say(page, TOUCHED)
        film.take(READING)
        page.locator(".exchanges li:last-child").get_by_text("why?").click()
        page.wait_for_selector(".lines path", state="attached")
        film.take(LOOKING)
        film.write(asked.file)
    print(f"{asked.file}: {asked.file.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
