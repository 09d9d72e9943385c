"""A kill leaves no half note, and what was written is what a rebuild writes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from noodlings.notes.notebook import FOLDER_NAME
from noodlings.notes.search import search
from noodlings.notes.writer import rebuild
from noodlings.store.transfer import snapshot
from tests.notes.folders import opened, written
from tests.thorough import THOROUGH

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
KILLS = 6 if THOROUGH else 3


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_kills_leave_no_half_note(tmp_path: Path) -> None:
    chance = random.Random(6)
    for _ in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.notes.writer", str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        said = [int(process.stdout.readline()) for _ in range(chance.randrange(1, 30))]
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        found = search(tmp_path / FOLDER_NAME, "line")
        assert found.torn == ()
        assert {hit.entry_id for hit in found.hits} >= set(said)

    before = {path: text for path, text in written(tmp_path).items() if path.endswith(".md")}
    with opened(tmp_path) as folder, snapshot(tmp_path) as kept:
        rebuild(kept, folder.writer, lambda position: None)
    after = written(tmp_path)
    assert {path: after[path] for path in before} == before
    assert all(path.endswith(".md") for path in after)
    assert len(after) - len(before) in range(KILLS + 1)  # one memory a kill was kept, and had no note yet
