"""Hooks that take in what was committed: written only with leave, and no trouble for git."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from noodlings.errors import UserError
from noodlings.ingest.git_hook import HOOKS, install
from noodlings.ingest.sources.git import GitRepository
from tests.ingest.repositories import Repository


@pytest.fixture
def made(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "a harbour's")
    made.commit("Begin")
    return made


def never(path: Path) -> bool:
    raise AssertionError(f"asked about {path}")


@pytest.mark.slow
def test_git_runs_it_after_a_commit_and_does_not_wait(made: Repository, tmp_path: Path):
    fifo = tmp_path / "it's a pipe"
    os.mkfifo(fifo)
    install(GitRepository(made.folder).hooks(), ["sh", "-c", 'echo ran >"$0"', str(fifo)], never)
    made.commit("After which it runs")  # though nobody reads from the pipe yet, git has come back
    assert fifo.read_text() == "ran\n"
    assert "noodlings-chronicle.log" in {path.name for path in (made.folder / ".git").iterdir()}


def test_our_own_hooks_are_replaced_without_a_question(made: Repository):
    folder = GitRepository(made.folder).hooks()
    install(folder, ["true", "one"], never)
    assert install(folder, ["true", "another one"], never) == [folder / name for name in HOOKS]
    told = (folder / "post-commit").read_text()
    assert "true 'another one' >" in told
    assert (folder / "post-commit").stat().st_mode & 0o111


def test_somebody_elses_hook_stays_unless_it_may_go(made: Repository):
    folder = GitRepository(made.folder).hooks()
    theirs = folder / "post-merge"
    theirs.write_text("#!/bin/sh\necho mine\n")
    with pytest.raises(UserError, match=r"post-merge is there already.*--yes.*yourself: true &"):
        install(folder, ["true"], lambda path: False)
    assert theirs.read_text() == "#!/bin/sh\necho mine\n"
    assert not (folder / "post-commit").exists()
    asked: list[Path] = []
    install(folder, ["true"], lambda path: not asked.append(path))
    assert asked == [theirs]
    assert "echo mine" not in theirs.read_text()


def test_hooks_are_where_the_repository_says(made: Repository, tmp_path: Path):
    made.git("config", "core.hooksPath", str(tmp_path / "elsewhere"))
    install(GitRepository(made.folder).hooks(), ["true"], never)
    assert (tmp_path / "elsewhere" / "post-commit").is_file()


def test_a_folder_that_cannot_be_written_is_said_in_words(made: Repository, tmp_path: Path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(UserError, match="the hook cannot be written"):
        install(tmp_path / "file" / "hooks", ["true"], never)
