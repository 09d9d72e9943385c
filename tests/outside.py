"""Data from outside that some tests measure on. It is no part of the project: without it they are skipped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("NOODLINGS_TEST_DATA") or "/nowhere")
"""The folder that holds emobank, locomo-dev, mood-recall-dev and noodlemush."""


def needs(path: str) -> pytest.MarkDecorator:
    """Skips a test where `DATA` does not hold this file or folder."""
    return pytest.mark.skipif(not (DATA / path).exists(), reason=f"NOODLINGS_TEST_DATA does not hold {path}")
