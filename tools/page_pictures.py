"""Takes the pictures of the page in docs/page/: every view on a phone and on a desk, in light and in dark.

The village is the one that the studio is shown with, talked to until this moment.

    PYTHONPATH=. python tools/page_pictures.py [FOLDER]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import studio_village
from PIL import Image
from playwright.sync_api import Browser, Page

from tests.api.browser import chromium

SIZES = {390: 844, 1440: 900}
VIEWS = ("talk", "why", "timeline", "mind")
DARK = {("why", 1440), ("talk", 390)}
"""Shown in dark as well."""
DAYS = 442_680.0
"""Seconds that the village is talked to."""
COLOURS = 128
"""Enough for letters; chosen so that the few dots keep theirs."""
SAID = ("I found a blue feather on the roof this morning!", "Do you remember my dog?")


def take(browser: Browser, url: str, view: str, width: int, scheme: str, folder: Path) -> None:
    """One picture, of what is seen first."""
    page = browser.new_page(
        viewport={"width": width, "height": SIZES[width]},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    page.goto(f"{url}/#/{view}/servnak")
    page.wait_for_selector(f".view.{view} h1")
    page.wait_for_selector("main:not([aria-busy])")
    if view == "why":
        page.wait_for_selector(".lines path", state="attached")
    name = f"{view}-{width}{'-dark' * (scheme == 'dark')}.png"
    shown = Image.open(BytesIO(page.screenshot()))
    colours = shown.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=1)
    colours.save(folder / name, optimize=True)
    page.close()
    print(name)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server over a data folder, for as long as the block lasts."""
    words = [sys.executable, "-m", "noodlings", "serve", "--port", "0", "--data", str(folder)]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[2]
        finally:
            process.terminate()


def say(page: Page, text: str) -> None:
    """One line to SERVNAK, and its answer awaited."""
    page.get_by_label("Say something to SERVNAK").fill(text)
    page.keyboard.press("Enter")
    page.wait_for_selector(f".exchanges li:last-child:has-text({text!r}) .voice")


def main() -> None:
    """Settle the village, serve it, take the pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("docs/page"))
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        studio_village.START = time.time() - DAYS
        studio_village.settle(Path(name))
        with served(Path(name)) as url, chromium() as browser:
            page = browser.new_page()
            page.goto(f"{url}/#/talk/servnak")
            page.get_by_label("as", exact=True).fill("Caity")
            for text in SAID:
                say(page, text)
            page.close()
            for view in VIEWS:
                for width in SIZES:
                    take(browser, url, view, width, "light", asked.folder)
                    if (view, width) in DARK:
                        take(browser, url, view, width, "dark", asked.folder)


if __name__ == "__main__":
    main()
