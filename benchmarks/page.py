"""The page in a real browser: when something is seen first, and how long a search takes from key to picture.

A server in a process of its own holds a character with a long past, whose memories are found by their words
(how long a search takes with vectors says `benchmarks/recall.py`). It needs the packages of the `dev` extra
and Debian's `chromium-headless-shell`.

OPENBLAS_NUM_THREADS=1 PYTHONPATH=. python benchmarks/page.py [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import numpy as np
from grown import fill
from measured import Measured, table
from playwright.sync_api import Browser, Page
from rich.console import Console

from tests.api.browser import chromium

STARTS = 5
SEARCHES = 30
DRAWN = """() => new Promise((drawn) => {
  let pressed = 0;
  addEventListener("keydown", (event) => (pressed = event.timeStamp), { once: true, capture: true });
  const watcher = new MutationObserver(() => {
    watcher.disconnect();
    requestAnimationFrame(() => setTimeout(() => drawn(performance.now() - pressed)));
  });
  watcher.observe(document.querySelector(".timeline [role=status]"), { childList: true });
})"""
"""Milliseconds from the next key to the frame in which what it found is painted."""


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of a server over a folder."""
    words = [sys.executable, "-m", "noodlings", "serve", "--port", "0", "--data", str(folder)]
    environment = os.environ | {"NOODLINGS_EMBEDDING__MODEL": "none", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[2]
        finally:
            process.terminate()


def starts(browser: Browser, url: str) -> tuple[list[float], list[float]]:
    """Milliseconds to the first thing that is seen, and to the talk, in browsers that know nothing yet."""
    painted, shown = [], []
    for _ in range(STARTS):
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{url}/#/talk/phi")
        page.wait_for_selector(".exchanges li")
        shown.append(page.evaluate("performance.now()"))
        painted.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        context.close()
    return painted, shown


def searches(page: Page, url: str) -> list[float]:
    """Milliseconds of each key, typed one after another in some words."""
    page.goto(f"{url}/#/timeline/phi")
    while not page.evaluate("fetch('/api/agents/phi/archive').then((answer) => answer.json())")["loaded"]:
        page.evaluate("fetch('/api/agents/phi/recall?query=boat')")  # which asks for the past
    page.wait_for_selector(".memory")
    page.focus("#search")
    taken = []
    for number in range(SEARCHES):
        page.fill("#search", "")
        page.wait_for_selector(".timeline [role=status]:text('1 to ')")
        for key in f"word{1 + 3 * number}x":
            page.evaluate(f"window.drawn = ({DRAWN})(), null")
            page.keyboard.press(key)
            last = page.evaluate("window.drawn")
        assert page.locator(".memory").count(), "nothing was found"
        taken.append(last)  # of the last key, which finds something
    return taken


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="10,000 memories")
    parser.add_argument("--json", action="store_true", help="one line of JSON instead of the table")
    arguments = parser.parse_args()
    count = 10_000 if arguments.quick else 100_000
    with tempfile.TemporaryDirectory() as name:
        fill(Path(name), count)
        with serving(Path(name)) as url, chromium() as browser:
            painted, shown = starts(browser, url)
            keys = searches(browser.new_page(), url)

    def row(what: str, taken: list[float], most: float) -> Measured:
        middle, late = np.percentile(taken, [50, 95]).tolist()
        return Measured(what, count, "ms", middle, late, must=f"≤ {most:,.0f} ms", holds=middle <= most)

    rows = [
        row("first contentful paint", painted, 1_000.0),
        row("the talk is shown", shown, 1_000.0),
        row("a search, from key to picture", keys, 150.0),
    ]
    if arguments.json:
        print(json.dumps([asdict(one) for one in rows], ensure_ascii=False))
    else:
        Console().print(table("the page", rows))


if __name__ == "__main__":
    main()
