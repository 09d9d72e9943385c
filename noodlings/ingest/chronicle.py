"""The chronicle of a code base: an agent's memories of its commits, kept in step with the repository.

New commits are taken in by the pipeline, each once. Then what is remembered is compared with the branches as
they are now: a commit that no branch reaches any more stays, confined to the agent itself and told to nobody,
and is open again once a branch reaches it. At last commits are linked with what they revert, mend or touch
again. Each step begins with what is stored, so that after a kill in the middle it only has to be run again.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from noodlings.agent.agent import Agent
from noodlings.ingest.commit import Commit, commit_of
from noodlings.ingest.pipeline import IngestReport, Pipeline
from noodlings.ingest.record import SourceProblem, SourceRecord
from noodlings.ingest.sources.git import GitRepository
from noodlings.ports import Repository
from noodlings.values.memory import Link, LinkType, MemoryEntry

PAGE = 500
"""Commits read from the store at once."""
EARLIER, MOST_TOUCHED, LEAST_OVERLAP = 8, 3, 0.25
"""So many earlier commits of a file are looked at; a commit is linked with so many of those that share this
much of both their files."""
WIDE = 50
"""A commit of more files touches everything and goes on with nothing."""


@dataclass(frozen=True, slots=True)
class ChronicleReport:
    """What became of a repository.

    Attributes:
        ingested: what the pipeline says of the new commits.
        commits: that branches reach now.
        gone, back: that no branch reaches any more, and that one reaches again, since the last time.
        linked: new links between commits.
    """

    ingested: IngestReport
    commits: int
    gone: int
    back: int
    linked: int


@dataclass(frozen=True, slots=True, eq=False)
class RememberedCommit:
    """A commit, and the entry that it is remembered as."""

    entry: MemoryEntry
    commit: Commit


class CommitSource:
    """Some commits of a repository as a source; `done` is told how many were handed on."""

    def __init__(
        self, repository: GitRepository, hashes: Sequence[str], done: Callable[[int], object]
    ) -> None:
        self._repository = repository
        self._hashes = hashes
        self._done = done

    def records(self) -> Iterator[SourceRecord | SourceProblem]:
        """Each commit, in the order given."""
        for count, record in enumerate(self._repository.records(self._hashes), 1):
            yield record
            self._done(count)


class Chronicle:
    """Keeps what one agent remembers of one repository in step with it.

    Args:
        agent: who remembers. Nobody else may use it meanwhile.
        store: where it is kept.
        pipeline: takes records into this agent.
        repository: what is remembered.
    """

    def __init__(
        self, agent: Agent, store: Repository, pipeline: Pipeline, repository: GitRepository
    ) -> None:
        self._agent = agent
        self._store = store
        self._pipeline = pipeline
        self._repository = repository
        self._reachable = repository.reachable()
        held = {*store.held(agent.id, repository.source)}
        others = [name for name in self._reachable if name not in held]
        given = store.taken(agent.id, repository.source, others)
        self.new = [name for name in others if name not in given]
        """Hashes that were never given to the agent, each after its parents."""

    def take_in(self, done: Callable[[int], object] = lambda count: None) -> ChronicleReport:
        """Take in what is new, mark what is gone, open what came back, and link.

        Args:
            done: is told how many of `new` were read.

        Raises:
            UserError: git does not answer.
            StoreError: nothing more can be kept now; to run it again goes on from what was kept.
        """
        ingested = self._pipeline.run(CommitSource(self._repository, self.new, done))
        reachable = set(self._reachable)
        remembered, gone, back = {}, 0, 0
        for entry, name in self._entries():
            if entry.audience.confined == (name in reachable):
                self._agent.memory.confine(entry, name not in reachable)
                gone += name not in reachable
                back += name in reachable
            if name in reachable and (commit := commit_of(entry)) is not None:
                remembered[name] = RememberedCommit(entry, commit)
        made = links([remembered[name] for name in self._reachable if name in remembered])
        links_now = self._missing([*made])
        self._agent.keep_told((), links_now)
        return ChronicleReport(ingested, len(self._reachable), gone, back, len(links_now))

    def _entries(self) -> Iterator[tuple[MemoryEntry, str]]:
        """The memories of commits, each with its hash, those that were forgotten left out."""
        agent_id, source = self._agent.id, self._repository.source
        names = self._store.held(agent_id, source)
        for at in range(0, len(names), PAGE):
            records = self._store.taken(agent_id, source, names[at : at + PAGE]).values()
            by_id = {record.entry_id: record.id for record in records if record.entry_id is not None}
            for number, entry in self._store.entries(agent_id, [*by_id]).items():
                yield entry, by_id[number]

    def _missing(self, wanted: Sequence[Link]) -> list[Link]:
        """Those of the links that are not there yet."""
        sources = sorted({link.source for link in wanted})
        there = {
            (link.source, link.target, link.type)
            for at in range(0, len(sources), PAGE)
            for link in self._store.links_of(self._agent.id, sources[at : at + PAGE])
        }
        return [link for link in wanted if (link.source, link.target, link.type) not in there]


def links(commits: Sequence[RememberedCommit]) -> Iterator[Link]:
    """What each commit reverts, mends and touches again, of those before it.

    Args:
        commits: each after its parents.
    """
    by_prefix: dict[str, list[RememberedCommit]] = defaultdict(list)
    by_subject: dict[str, int] = {}
    latest: dict[str, deque[RememberedCommit]] = {}
    for one in commits:
        commit, entry = one.commit, one.entry
        named = {(LinkType.REVERTS, name) for name in commit.reverts}
        named |= {(LinkType.FIXES, name) for name in commit.fixes}
        meant = {
            (sort, other.entry.id)
            for sort, name in named
            for other in by_prefix[name[:7]]
            if other.commit.hash.startswith(name)
        }
        taken_back = by_subject.get(commit.subject.removeprefix('Revert "').removesuffix('"'))
        if commit.subject.startswith('Revert "') and taken_back is not None and not commit.reverts:
            meant.add((LinkType.REVERTS, taken_back))
        for sort, target in sorted(meant):
            yield Link(entry.id, target, sort, 1.0, entry.timestamp)
        if len(commit.files) <= WIDE:
            yield from _touched(one, latest)
        by_prefix[commit.hash[:7]].append(one)
        by_subject[commit.subject] = entry.id


def _touched(one: RememberedCommit, latest: dict[str, deque[RememberedCommit]]) -> Iterator[Link]:
    """Links with the earlier commits that share most files; and the files remember this one from now on."""
    shared: Counter[RememberedCommit] = Counter()
    files = one.commit.files
    for file in files:
        if file.before in latest:
            latest[file.path] = latest.pop(file.before)  # it moved, and its past with it
        earlier = latest.setdefault(file.path, deque(maxlen=EARLIER))
        shared.update(earlier)
        earlier.append(one)
    overlaps = [
        (count / (len(files) + len(other.commit.files) - count), other.entry.id)
        for other, count in shared.items()
    ]
    for overlap, target in sorted(overlaps, reverse=True)[:MOST_TOUCHED]:
        if overlap >= LEAST_OVERLAP:
            strength = min(overlap, 1.0)
            yield Link(one.entry.id, target, LinkType.TOUCHED_AGAIN, strength, one.entry.timestamp)
