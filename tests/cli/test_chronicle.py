"""`noodlings chronicle` on the command line: reading, asking, the hook, and what is said of trouble."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from noodlings.store.lock import writer_lock
from tests.cli.test_main import run
from tests.ingest.repositories import Repository


@pytest.fixture
def made(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "harbour")
    made.commit("Begin", {"pier.py": "def pier(): ...\n"})
    made.commit("Paint the pier\n\nThe salt had eaten the wood.", {"pier.py": "def pier(): return 'blue'\n"})
    return made


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def chronicle(data: Path, *words: object) -> tuple[int, str, str]:
    """Exit code, output and errors of `noodlings chronicle … --agent servnak`."""
    wordy = {"NOODLINGS_EMBEDDING__MODEL": "none"}
    done = run("chronicle", *words, "--agent", "servnak", "--data", data, **wordy)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def as_json(data: Path, *words: object) -> dict[str, Any]:
    code, told, errors = chronicle(data, *words, "--json")
    assert (code, errors) == (0, "")
    read: dict[str, Any] = json.loads(told)
    return read


@pytest.mark.slow
def test_reading_asking_and_reading_again(made: Repository, data: Path):
    assert chronicle(data, made.folder) == (0, "harbour: 2 commits; 2 new\n", "")
    view = as_json(data, "--ask", "why was the wood painted", "--limit", 1)
    (found,) = view["commits"]
    assert found["commit"]["subject"] == "Paint the pier"
    assert found["commit"]["author"] == "Ada Lovelace"
    assert 0.0 < found["score"] <= 1.0
    assert "lexical" in found["why"]
    _, told, _ = chronicle(data, "--ask", "why was the wood painted")
    assert "Paint the pier" in told
    assert "The salt had eaten the wood." in told
    made.commit("Paint the pier green", amend=True)
    again = as_json(data, made.folder)
    counts = {
        key: again[key] for key in ("repository", "commits", "new", "gone", "back", "parked", "problems")
    }
    assert counts == {
        "repository": "harbour", "commits": 2, "new": 1, "gone": 1, "back": 0, "parked": 0, "problems": [],
    }  # fmt: skip


@pytest.mark.slow
def test_a_hook_is_installed_and_another_one_not_replaced(made: Repository, data: Path):
    code, told, errors = chronicle(data, made.folder, "--install-hook")
    assert (code, told) == (0, "harbour: 2 commits; 2 new\n")
    assert errors.startswith("git will run this after each commit, pull and rebase: ")
    hook = made.folder / ".git" / "hooks" / "post-commit"
    assert f"--agent servnak --data {data}" in hook.read_text()
    hook.write_text("#!/bin/sh\n")
    code, told, errors = chronicle(data, made.folder, "--install-hook")
    assert (code, told) == (2, "")
    assert "was not written by noodlings" in errors
    assert hook.read_text() == "#!/bin/sh\n"
    assert chronicle(data, made.folder, "--install-hook", "--yes")[0] == 0
    assert "noodlings chronicle" in hook.read_text()


@pytest.mark.slow
def test_trouble_is_said_in_one_line(made: Repository, data: Path, tmp_path: Path):
    for words, said in {
        (): "name the folder of a git repository to read it, or ask with --ask",
        (made.folder, "--ask", "why"): "not both at once",
        (tmp_path / "nowhere",): "is not a folder",
    }.items():
        code, told, errors = chronicle(data, *words)
        assert (code, told, errors.count("\n")) == (2, "", 1)
        assert said in errors
    assert chronicle(data, made.folder)[0] == 0
    with writer_lock(data):
        code, _, errors = chronicle(data, made.folder)
        assert code == 3
        assert "noodlings:" in errors
        assert as_json(data, "--ask", "the pier")["commits"]
