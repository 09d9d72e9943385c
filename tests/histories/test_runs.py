"""Whole runs: a real server, clients and a nemesis; and faults that are planted into the program itself."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.histories.__main__ import main
from benchmarks.histories.history import NEMESIS, read_history

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

PLANTED = """
import sqlite3
from api.turns import Turns
from noodlings.store.sql import SqlStore

start = SqlStore.__init__

def forgetful(self, folder, *how, **more):
    if (folder / "noodlings.db").exists():
        with sqlite3.connect(folder / "noodlings.db") as database:
            newest = "SELECT max(id) FROM entries GROUP BY agent_id"
            database.execute(f"DELETE FROM entries WHERE id IN ({newest})")
    start(self, folder, *how, **more)

SqlStore.__init__ = forgetful
Turns._once = lambda self, place: None
"""


def runs(keep: Path, *words: str) -> int:
    return main(["sqlite", "--jobs", "2", "--keep", str(keep), *words])


def test_nothing_is_found_in_a_sound_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        runs(tmp_path / "kept", "--nemesis", "kill", "second", "--runs", "2", "--seconds", "3", "--json") == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert found.keys() == {"kill", "second"}
    for of_nemesis in found.values():
        assert of_nemesis["runs"] == 1
        assert of_nemesis["kept"] > 10
        assert of_nemesis["disturbed"] > 0
    assert not (tmp_path / "kept").exists()


def test_what_a_faulty_program_does_is_found_and_its_folder_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sitecustomize.py").write_text(PLANTED, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert runs(tmp_path / "kept", "--nemesis", "kill", "--runs", "1", "--seconds", "4") == 1
    said = capsys.readouterr().err
    for kind in ("lost", "twice"):
        assert re.search(rf"^sqlite-kill-0-0: \d+ × {kind}: ", said, re.MULTILINE), said
    told = (tmp_path / "kept" / "sqlite-kill-0-0" / "history.jsonl").read_text("utf-8").splitlines()
    assert {"kill", "start"} <= {one.what for one in read_history(told) if one.process == NEMESIS}
