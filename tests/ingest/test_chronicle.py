"""The chronicle of a repository: taken in once, in step with its branches, linked, and asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.ingest import pipeline as pipelining
from noodlings.ingest.chronicle import (
    LEAST_OVERLAP,
    MOST_TOUCHED,
    Chronicle,
    ChronicleReport,
    RememberedCommit,
    links,
)
from noodlings.ingest.commit import FileChange
from noodlings.ingest.pipeline import Pipeline
from noodlings.ingest.sources.git import GitRepository
from noodlings.inspect.chronicle import ChronicleView
from noodlings.inspect.inspector import Inspector
from noodlings.store.memory import MemoryStore
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import LinkType
from noodlings.values.percept import Kind
from tests.ingest.repositories import Repository, a_commit
from tests.store.records import an_entry

ADMIN = Caller("user_caity", "caity", Role.ADMIN)
AGENT = "servnak"


@pytest.fixture
def society() -> Iterator[Society]:
    settings = Settings(embedding={"model": "none"})
    made = build(settings, clock=ManualClock(1_800_000_000.0), store=MemoryStore())
    yield made
    made.close()


@pytest.fixture
def made(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "harbour")


def chronicle(society: Society, made: Repository) -> Chronicle:
    agent = society.find(AGENT)
    pipeline = Pipeline(agent, society.store, society.introduce_all, undated=0.0)
    return Chronicle(agent, society.store, pipeline, GitRepository(made.folder))


def taken_in(society: Society, made: Repository, **how: Any) -> ChronicleReport:
    return chronicle(society, made).take_in(**how)


def asked(society: Society, question: str, caller: Caller = ADMIN, limit: int = 5) -> ChronicleView:
    return asyncio.run(Inspector(society).chronicle(caller, AGENT, question, limit))


def subjects(society: Society, question: str) -> list[str]:
    return [one.commit.subject for one in asked(society, question).commits]


def remembered(society: Society) -> dict[str, str]:
    """The text of every memory, by the hash of the commit."""
    entries = society.store.archive(society.find(AGENT).id)
    return {entry.extra["data"]["commit"]["hash"]: entry.user_text for entry in entries}


@pytest.mark.slow
def test_commits_become_memories_once(society: Society, made: Repository):
    names = [made.commit(f"Number {number} of the boats") for number in range(3)]
    seen: list[int] = []
    report = taken_in(society, made, done=seen.append)
    assert (report.ingested.new, report.commits, seen) == (3, 3, [1, 2, 3])
    assert [*remembered(society)] == names
    (entry, *_) = society.store.archive(society.find(AGENT).id)
    assert entry.kind is Kind.READ
    assert entry.source == GitRepository(made.folder).source
    assert entry.timestamp == 1_700_000_001.0
    assert not society.find(AGENT).memory.retrieve_working()
    again = taken_in(society, made)
    assert (again.ingested.new, again.gone, again.back, again.linked) == (0, 0, 0, 0)
    names.append(made.commit("One more boat"))
    assert taken_in(society, made).ingested.new == 1
    assert [*remembered(society)] == names


@pytest.mark.slow
def test_amended_away_it_is_kept_and_not_told_until_it_is_back(society: Society, made: Repository):
    made.commit("Begin")
    before = made.commit("Paint the lighthouse blue")
    taken_in(society, made)
    after = made.commit("Paint the lighthouse green", amend=True)
    report = taken_in(society, made)
    assert (report.ingested.new, report.gone, report.back) == (1, 1, 0)
    assert {before, after} <= remembered(society).keys()
    assert subjects(society, "the lighthouse") == ["Paint the lighthouse green"]
    assert taken_in(society, made).gone == 0
    made.git("branch", "as-it-was", before)
    assert taken_in(society, made).back == 1
    assert set(subjects(society, "the lighthouse")) == {
        "Paint the lighthouse green",
        "Paint the lighthouse blue",
    }


@pytest.mark.slow
def test_what_corrects_a_commit_is_gone_with_it(society: Society, made: Repository):
    made.commit("Begin")
    made.commit("Set the smelter pasword to zanzibar")
    taken_in(society, made)
    (found,) = [one for one in society.store.archive(AGENT, limit=10) if "zanzibar" in one.user_text]
    corrected = society.agents[AGENT].correct(found, "Set the smelter password to zanzibar")
    made.commit("Say nothing", amend=True)
    for gone in (True, False):
        report = taken_in(society, made)
        assert (report.gone, report.back) == (1, 0) if gone else (0, 1)
        entries = society.store.entries(AGENT, [found.id, corrected.id]).values()
        assert {entry.audience.confined for entry in entries} == {gone}
        made.git("reset", "--quiet", "--hard", "HEAD@{1}")
        made.git("branch", "--force", "as-it-was", "HEAD")


def test_a_program_named_in_the_repository_is_not_run(society: Society, made: Repository, tmp_path: Path):
    made.commit("Begin")
    made.commit("Go on")
    made.git("config", "core.fsmonitor", f"touch {tmp_path / 'run'}; false")
    assert taken_in(society, made).ingested.new == 2
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_rebased_and_pushed_by_force(society: Society, made: Repository, tmp_path: Path):
    made.commit("Begin", {"a.txt": "a\n"})
    made.git("checkout", "--quiet", "-b", "work")
    old = [made.commit(f"Work on the mast {number}") for number in range(2)]
    taken_in(society, made)
    made.git("checkout", "--quiet", "main")
    made.commit("Meanwhile")
    made.git("checkout", "--quiet", "work")
    made.git("rebase", "--quiet", "main")
    report = taken_in(society, made)
    assert (report.ingested.new, report.gone, report.commits) == (3, 2, 4)
    found = [one.commit.hash for one in asked(society, "the mast").commits]
    assert len(found) == 2
    assert not set(found) & set(old)
    # By force: the branch now holds a history that has nothing to do with the former one.
    made.git("checkout", "--quiet", "--orphan", "other")
    made.commit("Another beginning")
    made.git("branch", "--quiet", "--delete", "--force", "main", "work")
    report = taken_in(society, made)
    assert (report.ingested.new, report.gone, report.commits) == (1, 4, 1)
    assert subjects(society, "beginning mast") == ["Another beginning"]


@pytest.mark.slow
@pytest.mark.parametrize("moment", [1, 3, 4, 5, 8, 11])
def test_killed_in_the_middle_it_goes_on(
    society: Society, made: Repository, monkeypatch: pytest.MonkeyPatch, moment: int
):
    monkeypatch.setattr(pipelining, "AT_ONCE", 3)
    names = [made.commit(f"Number {number}", {"same.txt": f"{number}\n"}) for number in range(12)]

    def killed(count: int) -> None:
        if count == moment:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        taken_in(society, made, done=killed)
    report = taken_in(society, made)
    assert [*remembered(society)] == names
    assert report.ingested.new == 12 - moment // 3 * 3
    assert len(_links(society, LinkType.TOUCHED_AGAIN)) == 1 + 2 + 3 * 9


def test_reverts_fixes_and_what_is_touched_again_are_linked(society: Society, made: Repository):
    first = made.commit("Use oars", {"boat.py": "oars = 2\n", "test_boat.py": "assert oars == 2\n"})
    made.commit("Write about it", {"README.md": "a boat\n"})
    made.git("revert", "--no-edit", first)
    made.commit(f"Mend the boat\n\nFixes: {first[:10]}", {"wall.py": "x\n"})
    taken_in(society, made)
    assert _links(society, LinkType.REVERTS) == {('Revert "Use oars"', "Use oars")}
    assert _links(society, LinkType.FIXES) == {("Mend the boat", "Use oars")}
    assert _links(society, LinkType.TOUCHED_AGAIN) == {('Revert "Use oars"', "Use oars")}
    found = {one.commit.subject: one for one in asked(society, "use oars", limit=10).commits}
    mended = found["Mend the boat"]
    assert mended.why[-1] == "linked"
    assert found["Use oars"].commit.hash == first
    assert mended.linked_to in {found["Use oars"].commit.hash, found['Revert "Use oars"'].commit.hash}


def test_what_was_forgotten_does_not_come_back(society: Society, made: Repository):
    made.commit("A secret cove")
    made.commit("Boats")
    taken_in(society, made)
    (found,) = asked(society, "secret cove").commits
    society.corrections.forget(ADMIN, AGENT, [found.id])
    assert taken_in(society, made).ingested.new == 0
    assert subjects(society, "secret cove") == []


def test_two_repositories_are_kept_apart(society: Society, made: Repository, tmp_path: Path):
    made.commit("Harbour")
    other = Repository(tmp_path / "mill")
    other.commit("Mill")
    taken_in(society, made)
    report = taken_in(society, other)
    assert (report.ingested.new, report.gone, report.commits) == (1, 0, 1)
    assert len(remembered(society)) == 2


def test_a_question_names_what_it_means(society: Society, made: Repository):
    made.commit("Tidy", {"src/retry_queue.py": "class RetryQueue:\n    size = 1\n"})
    made.commit("Clean the queue of boats, and try again", {"docs/queue.md": "boats queue and retry\n"})
    named = made.commit("Nothing to see\n\nCloses #77.", {"c.txt": "c\n"})
    taken_in(society, made)
    assert subjects(society, "why was retry_queue.py changed")[0] == "Tidy"
    assert subjects(society, "what is RetryQueue for")[0] == "Tidy"
    (first, *_) = asked(society, "what closed #77").commits
    assert (first.commit.hash, first.why[0], first.commit.issues) == (named, "named", ("#77",))


def test_a_question_for_tests_or_documentation_prefers_commits_that_change_them(
    society: Society, made: Repository
):
    for path in ("boats.py", "tests/test_boats.py", "docs/boats.md"):
        made.commit(f"Boats in {path[:2]}", {path: "boats\n"})
    taken_in(society, made)
    assert subjects(society, "are boats tested")[0] == "Boats in te"
    assert subjects(society, "where are boats documented")[0] == "Boats in do"


def test_dates_and_authors_count(society: Society, made: Repository):
    made.commit("Boats in autumn")
    made.git(
        "commit", "--quiet", "--allow-empty", "--message=Boats by Bob", "--author=Bob Miller <b@c.example>"
    )
    taken_in(society, made)
    assert subjects(society, "what did Bob Miller do with boats")[0] == "Boats by Bob"
    (first, *_) = asked(society, "which boats came on 2023-11-14").commits
    assert "date" in first.why


def test_who_may_not_read_it_learns_nothing(society: Society, made: Repository):
    made.commit("Boats")
    taken_in(society, made)
    view = asked(society, "boats", Caller("user_toad", "toad", Role.PLAYER))
    assert view.commits == ()


def _links(society: Society, sort: LinkType) -> set[tuple[str, str]]:
    """(subject, subject) of all links of a sort."""
    store, agent_id = society.store, society.find(AGENT).id
    entries = {entry.id: entry.extra["data"]["commit"]["subject"] for entry in store.archive(agent_id)}
    found = store.links_of(agent_id, [*entries])
    return {(entries[link.source], entries[link.target]) for link in found if link.type is sort}


PATHS = st.sampled_from("abcdef")


@given(st.lists(st.dictionaries(PATHS, PATHS | st.just(""), max_size=4), max_size=30))
def test_links_lead_back_are_bounded_and_are_never_weak(changes: list[dict[str, str]]):
    commits = [
        RememberedCommit(
            an_entry(at),
            replace(
                a_commit(f"subject {at}", at),
                files=tuple(FileChange(path, 1, 1, before) for path, before in paths.items()),
                reverts=(f"{at // 2:040x}",),
            ),
        )
        for at, paths in enumerate(changes, 1)
    ]
    found = list(links(commits))
    assert all(link.target < link.source for link in found)
    touched = [link for link in found if link.type is LinkType.TOUCHED_AGAIN]
    assert all(LEAST_OVERLAP <= link.strength <= 1.0 for link in touched)
    assert all(sum(link.source == one.entry.id for link in touched) <= MOST_TOUCHED for one in commits)
