"""Small repositories made by the real git program, and commits made by hand where it does not matter."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from noodlings.agent.society import Society
from noodlings.ingest.commit import Commit, FileChange
from noodlings.ingest.pipeline import Pipeline

ADDRESS = "ada@lovelace.example"


class Repository:
    """A repository in a folder; each commit is a second later than the one before."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._now = 1_700_000_000
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str, words: bytes = b"", address: str = ADDRESS) -> str:
        """What git answers; it knows no settings but its own."""
        who = {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "Ada Lovelace"), ("EMAIL", address), ("DATE", f"{self._now} +0200"))
        }
        silent = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true"}
        done = subprocess.run(
            ["git", "-C", str(self.folder), "-c", "protocol.file.allow=always", *arguments],
            input=words,
            capture_output=True,
            check=True,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder)} | who | silent,
        )
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def commit(
        self, message: str | bytes, files: Mapping[str, str] | None = None, amend: bool = False, **more: str
    ) -> str:
        """Write files (one named for the moment where none are given) and commit. Returns the hash."""
        self._now += 1
        for name, content in (files or {f"file{self._now}.txt": "a line\n"}).items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, "utf-8")
        self.git("add", "--all")
        words = message if isinstance(message, bytes) else message.encode()
        again = ["--amend"] if amend else []
        self.git("commit", "--quiet", "--cleanup=verbatim", "--file=-", *again, words=words, **more)
        return self.git("rev-parse", "HEAD")


def read_history(society: Society, *subjects: str) -> None:
    """Let SERVNAK read commits as if git had told them."""
    agent = society.find("servnak")
    commits = [a_commit(subject, number) for number, subject in enumerate(subjects, 1)]
    records = [commit.record("git:0123456789abcdef", "harbour") for commit in commits]
    pipeline = Pipeline(agent, society.store, society.introduce_all, undated=0.0)
    pipeline.run(records)


def a_commit(subject: str, number: int) -> Commit:
    """A commit by Ada to one file."""
    return Commit(
        hash=f"{number:040x}",
        parents=(),
        author="Ada Lovelace",
        author_hash="address:0123456789ab",
        authored=1_700_000_000.0 + number,
        committed=1_700_000_000.0 + number,
        subject=subject,
        body=f"Number {number} says why.",
        files=(FileChange("pier.py", 2, 1),),
        file_count=1,
        added=2,
        removed=1,
        issues=("#7",),
        reverts=(),
        fixes=(),
    )
