"""The chronicle of this project's own history: how long it takes to read, and how often it has the answer.

Time: the history, made longer by a script until it has so many commits, is read into an empty folder, as
`noodlings chronicle` does; beside it what `git log --numstat` takes alone. Embedding comes afterwards.

Answers: each question of a file is asked, and a hit is one of its commits among the first five. Beside it
what somebody types at a shell: `git log --grep` and `git log -S`, for each word of the question that is no
stop word. Commits are ranked by how many of the words find them, the rarest words counting most, and of equal
ones the latest first. That is kinder to git than any single word.

python benchmarks/chronicle.py [--questions FILE] [--repository DIR] [--commits 1000] [--each] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import re
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml
from measured import Measured, table
from rich.console import Console

from noodlings.agent.society import Society
from noodlings.config import load_settings
from noodlings.host.visit import opened, owner
from noodlings.ingest.chronicle import Chronicle
from noodlings.ingest.pipeline import Pipeline
from noodlings.ingest.sources.git import GitRepository
from noodlings.inspect.inspector import Inspector
from noodlings.stemming import STOP_WORDS

AGENT = "servnak"
FIRST = 5
QUESTIONS = Path(__file__).with_name("chronicle_questions.yaml")
SECONDS, SHARE = 10.0, 0.8

Ranked = Callable[[str], Sequence[str]]


def main() -> None:
    """Print the table, or one line of JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--repository", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--commits", type=int, default=1_000)
    parser.add_argument("--each", action="store_true", help="also the place of the answer for each question")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    questions = yaml.safe_load(given.questions.read_text("utf-8"))
    with tempfile.TemporaryDirectory(prefix="noodlings-chronicle-") as folder:
        copy = cloned(given.repository, Path(folder) / "repository")
        found = answers(copy, Path(folder) / "asked", questions)
        taken = timed(lengthened(copy, given.commits), Path(folder) / "timed")
    if given.json:
        print(json.dumps(taken | {name: share(places) for name, places in found.items()}))
        return
    git_alone = {"git log --numstat": taken["git"]}
    rows = [
        Measured(
            "reading, appraising and keeping", taken["commits"], "s", taken["read"], beside=git_alone,
            must=f"≤ {SECONDS:g} s", holds=taken["read"] <= SECONDS,
        ),
        Measured("running it again", taken["commits"], "s", taken["again"]),
        *(
            Measured(f"answer among the first {FIRST}: {name}", len(questions), "", share(places))
            for name, places in found.items()
        ),
    ]  # fmt: skip
    Console().print(table("Chronicle", rows))
    if given.each:
        for question, *places in zip(questions, *found.values(), strict=True):
            print(*(f"{place:>4}" if place else "   –" for place in places), question["question"])


def share(places: Sequence[int]) -> float:
    """How many of the answers are among the first `FIRST`, 0…1; a place counts from 1, 0 is nowhere."""
    return sum(0 < place <= FIRST for place in places) / len(places)


def cloned(repository: Path, to: Path) -> Path:
    """A copy with the branch that is checked out, to leave no trace in the repository itself."""
    git(repository, "clone", "--quiet", "--single-branch", "--no-hardlinks", str(repository), str(to))
    return to


def lengthened(repository: Path, commits: int) -> Path:
    """The same with so many commits: a copy of it, in which the latest ones are made again on top."""
    history = git(repository, "rev-list", "--no-merges", "HEAD").split()
    missing = max(commits - len(git(repository, "rev-list", "HEAD").split()), 0)
    tip = git(repository, "rev-parse", "HEAD").strip()
    for name in [*history[1 : missing + 1]]:
        # The tree and the message of an earlier commit: as large a change as that history has.
        message = git(repository, "log", "-1", "--format=%B", name)
        tip = git(repository, "-c", "user.name=Somebody", "-c", "user.email=somebody@example.org",
                  "commit-tree", f"{name}^{{tree}}", "-p", tip, words=message).strip()  # fmt: skip
    git(repository, "branch", "--quiet", "--force", "longer", tip)
    return repository


def timed(repository: Path, data: Path) -> dict[str, Any]:
    """Seconds to read it whole, to run it again, and of git alone."""
    began = time.perf_counter()
    listed = git(repository, "log", "--branches", "-z", "--numstat", "--format=%H%x00%B")
    alone = time.perf_counter() - began
    assert listed
    seconds = []
    for _ in range(2):
        began = time.perf_counter()
        with opened(load_settings(store={"path": str(data)})) as society:
            commits = read(society, repository)
        seconds.append(time.perf_counter() - began)
    return {"commits": commits, "read": seconds[0], "again": seconds[1], "git": alone}


def read(society: Society, repository: Path) -> int:
    """Take in what is new. Returns how many commits branches reach."""
    agent = society.find(AGENT)
    assert agent.archive is not None
    agent.archive.rest()
    pipeline = Pipeline(agent, society.store, society.introduce_all, undated=society.clock.now())
    return Chronicle(agent, society.store, pipeline, GitRepository(repository)).take_in().commits


def answers(repository: Path, data: Path, questions: Sequence[dict[str, Any]]) -> dict[str, list[int]]:
    """For each way of asking, the place of the first right commit for each question."""
    with opened(load_settings(store={"path": str(data)})) as society:
        read(society, repository)
        archive = society.find(AGENT).archive
        assert archive is not None
        ways: dict[str, Ranked] = {"chronicle, before embedding": asking(society)}
        found = {name: placed(way, questions) for name, way in ways.items()}
        asyncio.run(archive.embedded(lambda count: None))
        ways = {
            "chronicle": asking(society),
            "git log --grep": lambda question: by_words(repository, question, grepped),
            "git log -S": lambda question: by_words(repository, question, pickaxed),
        }
        return found | {name: placed(way, questions) for name, way in ways.items()}


def asking(society: Society) -> Ranked:
    """As `noodlings chronicle --ask` does."""

    def ask(question: str) -> list[str]:
        inspector = Inspector(society)
        view = asyncio.run(inspector.chronicle(owner(society.settings), AGENT, question, 50))
        return [one.commit.hash for one in view.commits]

    return ask


def placed(ranked: Ranked, questions: Sequence[dict[str, Any]]) -> list[int]:
    """The place of the first commit that answers, from 1; 0 where there is none."""
    places = []
    for one in questions:
        right = tuple(one["commits"])
        order = ranked(one["question"])
        places.append(next((at for at, name in enumerate(order, 1) if name.startswith(right)), 0))
    return places


def by_words(repository: Path, question: str, found_by: Callable[[Path, str], Sequence[str]]) -> list[str]:
    """Commits by how many words find them."""
    total = len(git(repository, "rev-list", "HEAD").split())
    scores: dict[str, float] = defaultdict(float)
    for word in dict.fromkeys(re.findall(r"\w+", question.lower())):
        if word not in STOP_WORDS:
            found = found_by(repository, word)
            for name in found:
                scores[name] += math.log(1.0 + total / len(found))
    latest = {name: at for at, name in enumerate(git(repository, "rev-list", "HEAD").split())}
    return sorted(scores, key=lambda name: (-scores[name], latest[name]))


def grepped(repository: Path, word: str) -> list[str]:
    """Commits with a word in their message."""
    return git(repository, "log", "--format=%H", "-i", "-F", f"--grep={word}").split()


def pickaxed(repository: Path, word: str) -> list[str]:
    """Commits that changed how often a word stands in the files."""
    return git(repository, "log", "--format=%H", f"-S{word}").split()


def git(repository: Path, *arguments: str, words: str = "") -> str:
    """What the git program answers."""
    told = subprocess.run(
        ["git", "-C", str(repository), *arguments] if arguments[0] != "clone" else ["git", *arguments],
        input=words.encode(), capture_output=True, check=True,
    )  # fmt: skip
    return told.stdout.decode("utf-8", "replace")


if __name__ == "__main__":
    main()
