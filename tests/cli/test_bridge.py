"""`noodlings bridge` on the command line: what a person gets to see."""

from __future__ import annotations

from pathlib import Path

import pytest

from noodlings import __version__
from noodlings.bridge.vendor import MARKER
from tests.cli.test_main import run, started

pytestmark = pytest.mark.slow


def test_a_copy_is_written_and_says_how_it_is_made_anew(tmp_path: Path) -> None:
    done = run("bridge", "vendor", tmp_path / "lib", "--as", "old_memory")
    assert (done.returncode, done.stderr) == (0, b"")
    told = done.stdout.decode()
    assert told.startswith(f"wrote {tmp_path / 'lib' / 'old_memory'} (")
    assert told.endswith(
        f"noodlings {__version__}); in your program: from old_memory import MemoryListWrapper\n"
    )

    about = (tmp_path / "lib" / "old_memory" / MARKER).read_text("utf-8")
    assert __version__ in about
    (line,) = (line for line in about.splitlines() if line.startswith("    noodlings "))
    again = started(*line.split()[1:], cwd=tmp_path / "lib")
    assert (again.returncode, again.stderr) == (0, b"")
    assert again.stdout.startswith(b"replaced old_memory (")


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    for name in ("old-memory", "json", "noodlings", "theirs"):
        done = run("bridge", "vendor", tmp_path, "--as", name)
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.decode().startswith("noodlings: ")
        assert done.stderr.count(b"\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["theirs"]


def test_help_shows_an_example() -> None:
    shown = run("bridge", "vendor", "--help").stdout.decode()
    assert "noodlings bridge vendor lib --as noodlings_memory" in shown
