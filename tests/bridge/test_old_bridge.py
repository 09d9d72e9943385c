"""The example: three lines turn a list that forgets into one that remembers."""

from __future__ import annotations

import difflib
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "old_bridge.py"


@pytest.mark.slow
def test_the_old_bridge_forgets_the_dog_and_the_new_one_does_not() -> None:
    told = subprocess.run(
        [sys.executable, EXAMPLE],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    assert told.stdout.splitlines() == [
        "a list remembers:    nothing",
        "noodlings remembers: caity: My dog died yesterday",
    ]
    assert told.stderr == ""


def test_three_lines_differ() -> None:
    source = EXAMPLE.read_text("utf-8")
    old = runpy.run_path(str(EXAMPLE))["as_it_was"](source)
    new = [line for line in source.splitlines() if not line.lstrip().startswith("# was:")]
    differ = [
        line for line in difflib.ndiff(old.splitlines(), new) if line.startswith("+ ") and line[2:].strip()
    ]
    assert len(differ) == 3
    assert "import MemoryListWrapper" in differ[0]
    host = old[: old.index("def as_it_was")]
    assert "MemoryListWrapper" not in host
    assert "noodlings" not in host
