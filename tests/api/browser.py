"""Debian's headless Chromium, driven by Playwright; skipped, and said, where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def program() -> str | None:
    """Where the browser is; None where none is installed."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser for as long as the block lasts."""
    found = program()
    if found is None:
        pytest.skip(f"none of {', '.join(PROGRAMS)} is installed: apt-get install chromium-headless-shell")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-lcd-text"]
        )
        try:
            yield browser
        finally:
            browser.close()
