"""@chronicle: what is seen of the commits that answer a question."""

from __future__ import annotations

from dataclasses import replace

from commands.chronicle import chronicle_view
from noodlings.drawing.screen import render
from noodlings.ingest.commit import FileChange
from noodlings.inspect.chronicle import ChronicleView, CommitView
from noodlings.inspect.recall import ArchiveView
from tests.ingest.repositories import a_commit

ARCHIVE = ArchiveView("servnak", "SERVNAK", 3, 3, True, "", 0, 0, 0, "")
COMMIT = CommitView(
    score=0.5,
    why=("next_to", "linked"),
    scores={},
    linked_to="b" * 40,
    id=1,
    when="2023-11-14T22:13:20Z",
    commit=replace(
        a_commit("Mend the pier", 1),
        hash="a" * 40,
        body="It had a hole. " * 40,
        files=tuple(FileChange(f"{number}.py", 1, 1) for number in range(5)),
        file_count=1_205,
        added=12_000,
        removed=3,
        left_out=("its diff",),
    ),
)


def shown(*commits: CommitView, width: int = 100) -> str:
    return render(chronicle_view(ChronicleView("servnak", "SERVNAK", "why", False, commits, ARCHIVE)), width)


def test_a_commit_is_seen_with_what_found_it_and_what_it_changed():
    lines = shown(COMMIT).splitlines()
    (row,) = [line for line in lines if "Mend the pier" in line]
    assert row.split()[0] == "a" * 10
    assert "2023-11-14" in row
    assert "Ada" in row
    about = "\n".join(lines)
    assert "next to, linked with bbbbbbbbbb; +12,000 −3 0.py, 1.py, 2.py and 1,202 more" in about
    assert "not kept: its diff" in about


def test_it_fits_any_width_and_runs_no_escapes():
    said = replace(COMMIT.commit, subject="\x1b[31mred\n[bold]markup[/]", body="\x1b]0;title\x07")
    hostile = replace(COMMIT, commit=said)
    for width in (20, 40, 80, 200):
        told = shown(hostile, COMMIT, width=width)
        assert "\x1b" not in told
        assert max(map(len, told.splitlines())) <= width
    assert "[bold]markup[/]" in shown(hostile)


def test_nothing_found_is_said():
    assert "It has read no commit about this" in shown()
