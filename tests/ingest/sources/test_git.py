"""Commits as records, of repositories that the real git program made."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noodlings.errors import NotFound, UserError
from noodlings.ingest.commit import Commit, commit_of, split_words
from noodlings.ingest.record import SourceProblem
from noodlings.ingest.sources import git as module
from noodlings.ingest.sources.git import MOST_FILES, GitRepository
from noodlings.text import clean
from tests.ingest.repositories import ADDRESS, Repository
from tests.store.records import an_entry


@pytest.fixture
def made(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "harbour")


def commits(made: Repository) -> list[Commit]:
    """All commits, oldest first; none of them a problem."""
    repository = GitRepository(made.folder)
    read = list(repository.commits(repository.reachable()))
    assert not [one for one in read if isinstance(one, SourceProblem)]
    return [one for one in read if isinstance(one, Commit)]


def test_a_commit_has_what_git_knows_of_it(made: Repository):
    made.commit("Begin", {"boat.py": "def row():\n    pass\n"})
    name = made.commit(
        "Row faster\n\nThe boat was slow (#12, see SHIP-7).\nUTF-8 is no issue.\n",
        {"boat.py": "def row():\n    return 'the oars move twice as fast now'\n"},
    )
    first, commit = commits(made)
    assert commit.hash == name
    assert commit.parents == (first.hash,)
    assert commit.author == "Ada Lovelace"
    assert commit.authored == commit.committed == 1_700_000_002.0
    assert commit.subject == "Row faster"
    assert commit.body == "The boat was slow (#12, see SHIP-7). UTF-8 is no issue."
    assert [(file.path, file.added, file.removed) for file in commit.files] == [("boat.py", 1, 1)]
    assert commit.issues == ("#12", "SHIP-7")
    assert commit.names == ("row",)
    assert commit.shown == ("return 'the oars move twice as fast now'",)
    record = commit.record("git:1", "harbour")
    assert record.id == name
    assert record.text.startswith("Row faster. The boat was slow")
    entry = an_entry(1, record.text, extra={"data": json.loads(json.dumps(record.data))})
    assert commit_of(entry) == commit
    assert commit_of(an_entry(2, "of something else")) is None


def test_the_first_commit_merges_and_renames(made: Repository):
    made.commit("Begin", {"old name.txt": "one\ntwo\nthree\n"})
    made.git("checkout", "--quiet", "-b", "side")
    made.commit("Beside", {"side.txt": "side\n"})
    made.git("checkout", "--quiet", "main")
    made.git("mv", "old name.txt", "new name.txt")
    made.commit("Move", {"main.txt": "main\n"})
    made.git("merge", "--quiet", "--no-ff", "-m", "Merge side", "side")
    by_subject = {commit.subject: commit for commit in commits(made)}
    assert by_subject["Begin"].files[0].added == 3
    moved = next(file for file in by_subject["Move"].files if file.before)
    assert (moved.before, moved.path, moved.added) == ("old name.txt", "new name.txt", 0)
    merge = by_subject["Merge side"]
    assert len(merge.parents) == 2
    assert [file.path for file in merge.files] == ["side.txt"]
    assert merge.left_out == ()


def test_names_of_files_may_hold_any_byte(made: Repository):
    made.commit("Hostile", {"with\nnewline\t.txt": "x\n", "\x1b[31mred": "x\n"})
    raw = os.path.join(os.fsencode(made.folder), b"not-utf8-\xff")
    Path(os.fsdecode(raw)).write_bytes(b"\x00\x01binary")
    made.commit("Bytes", {"a": "a\n"})
    hostile, binary = commits(made)
    assert {file.path for file in hostile.files} == {"with␤newline .txt", "red"}
    assert ("not-utf8-�", None, None) in [(one.path, one.added, one.removed) for one in binary.files]


@pytest.mark.slow
def test_a_hostile_message_is_only_a_message(made: Repository):
    first = made.commit("Begin")
    made.commit(f"\x1b]0;title\x07\x01{first}\nFixes: {first[:9]}\x01".encode() + b"\xff\xfe\n")
    made.commit("x" * 500_000 + "\n\n" + "y " * 500_000)
    begin, escapes, long = commits(made)
    assert begin.subject == "Begin"
    assert escapes.fixes == (first[:9],)
    assert escapes.subject.isprintable()
    assert len(long.subject) <= 400
    assert len(long.body) <= 3_000
    assert long.left_out == ("the message",)


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"])
def test_what_a_hook_is_told_of_its_own_repository_does_not_count(
    made: Repository, monkeypatch: pytest.MonkeyPatch, name: str
):
    made.commit("Begin")
    monkeypatch.setenv(name, "/nowhere")
    assert [commit.subject for commit in commits(made)] == ["Begin"]


def test_nobodys_address_is_kept_in_any_field(made: Repository):
    body = f"Signed-off-by: Ada <{ADDRESS}>\nSee Bob.Smith+x@Mail.Example.org, root@buildhost."
    made.commit(
        f"Thank {ADDRESS}\n\n{body}",
        {
            f"notes/{ADDRESS}.txt": f"write to {ADDRESS} about the harbour wall\n",
            "b.py": "@pytest.mark.slow\n",
        },
        address="root@buildhost",
    )
    made.commit("Again", address=ADDRESS.upper())
    made.commit("And again", address=ADDRESS)
    repository = GitRepository(made.folder)
    records = list(repository.records(repository.reachable()))
    told = repr(records).casefold()
    for address in (ADDRESS, "bob.smith", "root@buildhost"):
        assert address not in told
    assert "@pytest.mark.slow" in told
    _, upper, lower = commits(made)
    assert upper.author_hash == lower.author_hash != ""


@pytest.mark.slow
def test_a_huge_commit_is_kept_without_its_diff(made: Repository):
    stream = [b"blob\nmark :1\ndata 2\na\n"]
    stream.append(b"commit refs/heads/main\ncommitter A <a@b.example> 1700000000 +0000\ndata 5\nHuge\n\n")
    stream += [b"M 100644 :1 folder/%d.txt\n" % number for number in range(10_000)]
    made.git("fast-import", "--quiet", words=b"".join(stream))
    (huge,) = commits(made)
    assert (huge.file_count, len(huge.files), huge.added) == (10_000, MOST_FILES, 10_000)
    assert huge.left_out == ("9,800 files", "its diff")


def test_a_huge_file_is_kept_without_its_diff(made: Repository):
    made.commit("Begin", {"data.txt": "x" * 2_000_000, "boat.py": "def row(): ...\n"})
    (commit,) = commits(made)
    assert [(file.path, file.added) for file in commit.files] == [("boat.py", 1), ("data.txt", None)]
    assert commit.names == ("row",)


def test_git_tells_no_more_at_a_time_than_is_allowed(made: Repository, monkeypatch: pytest.MonkeyPatch):
    made.commit("Begin", {"boat.py": "def row(): ...\n"})
    made.commit("Store", {"stores.txt": "y" * 50_000})
    made.commit("x" * 50_000, {"pier.py": "def land(): ...\n"})
    made.commit("End", {"boat.py": "def sail(): ...\n"})
    monkeypatch.setattr(module, "MOST_BYTES", 20_000)
    repository = GitRepository(made.folder)
    given, outputs, run = repository.reachable(), list[int](), repository._run
    monkeypatch.setattr(
        repository, "_run", lambda *words, **more: outputs.append(len(told := run(*words, **more))) or told
    )
    begin, store, end, huge = repository.commits(given)
    assert max(outputs) == 20_001
    assert isinstance(huge, SourceProblem)
    assert f"too much of commit {given[2][:10]}" in huge.why
    assert [one.names for one in (begin, end) if isinstance(one, Commit)] == [("row",), ("row", "sail")]
    assert isinstance(store, Commit)
    assert (store.left_out, store.shown) == (("its diff",), ())


def test_submodules_are_files_like_others(made: Repository, tmp_path: Path):
    other = Repository(tmp_path / "other")
    other.commit("Elsewhere")
    made.git("submodule", "--quiet", "add", str(other.folder), "lib/other")
    made.commit("With a submodule", {"a.txt": "a\n"})
    (commit,) = commits(made)
    assert "lib/other" in [file.path for file in commit.files]


def test_a_shallow_clone_says_so(made: Repository, tmp_path: Path):
    for number in range(4):
        made.commit(f"Number {number}")
    there = Repository(tmp_path / "elsewhere")
    there.git("clone", "--quiet", "--depth=2", f"file://{made.folder}", "copy")
    copy = GitRepository(there.folder / "copy")
    assert copy.shallow
    assert len(list(copy.commits(copy.reachable()))) == 2


def test_the_id_stays_when_the_first_commit_is_made_anew(made: Repository, tmp_path: Path):
    first = made.commit("Begin")
    source = GitRepository(made.folder).source
    assert source == f"git:{first[:16]}"
    made.commit("Begin otherwise", amend=True)
    assert GitRepository(made.folder / ".git").source == source
    made.folder.rename(tmp_path / "moved")
    assert GitRepository(tmp_path / "moved").source == source


def test_what_cannot_be_read_is_said_in_words(
    made: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with pytest.raises(UserError, match="harbour has no commits yet"):
        GitRepository(made.folder)
    with pytest.raises(NotFound, match="is not a folder"):
        GitRepository(tmp_path / "nowhere")
    (tmp_path / "plain").mkdir()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(UserError, match="not a git repository"):
        GitRepository(tmp_path / "plain")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotFound, match="no git program"):
        GitRepository(made.folder)


def test_a_commit_that_git_does_not_tell_is_a_problem(made: Repository):
    name = made.commit("Begin")
    (made.folder / ".git" / "objects" / name[:2] / name[2:]).unlink()
    with pytest.raises(UserError, match="git cannot read"):
        GitRepository(made.folder)


def test_a_repository_cannot_have_a_program_run_to_fetch_what_it_lacks(
    made: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    ours = {name: value for name, value in module._environment().items() if name != "GIT_NO_LAZY_FETCH"}
    monkeypatch.setattr(module, "_environment", lambda: ours)  # as for a git that does not know it yet
    made.commit("Begin", {"boat.py": "one\n"})
    made.commit("Row", {"boat.py": "two\n"})
    blob = made.git("rev-parse", "HEAD:boat.py")
    (made.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    ran = tmp_path / "ran"
    for name, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", f"ext::touch {ran}"),
        ("protocol.ext.allow", "always"),
    ):
        made.git("config", name, value)
    with pytest.raises(UserError, match="git cannot read"):
        commits(made)
    assert not ran.exists()


def test_git_that_takes_too_long_is_said(made: Repository, monkeypatch: pytest.MonkeyPatch):
    made.commit("Begin")
    repository = GitRepository(made.folder)
    monkeypatch.setattr(module, "SECONDS", 0.0)
    with pytest.raises(UserError, match="took longer than"):
        repository.reachable()


def test_records_are_the_same_each_time_they_are_read(made: Repository):
    made.commit("Begin", {"a.py": "def one(): ...\ndef two(): ...\n"})
    repository = GitRepository(made.folder)
    first, second = (list(repository.records(repository.reachable())) for _ in range(2))
    assert first == second
    assert replace(first[0], line=3).digest == second[0].digest


@pytest.mark.slow
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(min_size=1, max_size=200))
def test_any_message_is_one_commit(tmp_path_factory: pytest.TempPathFactory, message: bytes):
    made = Repository(tmp_path_factory.mktemp("any") / "repository")
    made.commit(b"x" + message.replace(b"\0", b""))
    (commit,) = commits(made)
    assert commit.subject == clean(commit.subject)
    assert commit.body == clean(commit.body)


def test_identifiers_are_split_into_words():
    assert split_words("retryQueue_max2") == "retry queue max 2"
    assert split_words("HTTPServer") == "http server"
    assert split_words("__init__") == "init"
