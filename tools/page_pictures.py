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
from io import BytesIO
from pathlib import Path

import studio_village
from PIL import Image
from playwright.sync_api import Browser

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


def main() -> None:
    """Settle the village, serve it, take the pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("docs/page"))
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        studio_village.START = time.time() - DAYS
        studio_village.settle(Path(name))
        words = [sys.executable, "-m", "noodlings", "serve", "--port", "0", "--data", name]
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        with (
            subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as process,
            chromium() as browser,
        ):
            assert process.stdout is not None
            url = process.stdout.readline().split()[2]
            page = browser.new_page()
            page.goto(f"{url}/#/talk/servnak")
            page.get_by_label("as", exact=True).fill("Caity")
            for text in SAID:
                page.get_by_label("Say something to SERVNAK").fill(text)
                page.keyboard.press("Enter")
                page.wait_for_selector(f".exchanges li:last-child:has-text({text!r}) .voice")
            page.close()
            for view in VIEWS:
                for width in SIZES:
                    take(browser, url, view, width, "light", asked.folder)
                    if (view, width) in DARK:
                        take(browser, url, view, width, "dark", asked.folder)
            process.terminate()


if __name__ == "__main__":
    main()
