"""The chronicle of a code base: an agent's memories of its commits, kept in step with the repository.

The pipeline ingests each new commit once. The remembered commits are then compared with the current
branches: a commit that no branch reaches any more stays, but is confined to the agent and told to nobody
until a branch reaches it again. Finally, commits are linked with those that they revert, fix or touch again.
Each step starts from what is stored, so after a crash it is enough to run it again.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from noodlings.agent.agent import Agent
from noodlings.agent.recollection import newer_forms
from noodlings.ingest.commit import Commit, commit_of
from noodlings.ingest.pipeline import IngestReport, Pipeline
from noodlings.ingest.record import SourceProblem, SourceRecord
from noodlings.ingest.sources.git import GitRepository
from noodlings.ports import Repository
from noodlings.recall.filters import EVERYTHING
from noodlings.values.memory import Link, LinkType, MemoryEntry

PAGE = 500
"""Commits read from the store at a time."""
EARLIER, MOST_TOUCHED, LEAST_OVERLAP = 8, 3, 0.25
"""How many earlier commits of a file are compared; how many of them a commit is linked with at most; and the
share of files that two commits must have in common to be linked."""
WIDE = 50
"""A commit with more files than this is linked with no earlier one: it touches everything."""


@dataclass(frozen=True, slots=True)
class ChronicleReport:
    """The result of reading a repository.

    Attributes:
        ingested: the pipeline's report on the new commits.
        commits: how many commits the branches reach now.
        gone, back: how many stopped being reachable, or became reachable again, since the last run.
        linked: how many links between commits were added.
    """

    ingested: IngestReport
    commits: int
    gone: int
    back: int
    linked: int


@dataclass(frozen=True, slots=True, eq=False)
class RememberedCommit:
    entry: MemoryEntry
    commit: Commit


class Chronicle:
    """Keeps what one agent remembers of one repository in step with it.

    Args:
        agent: who remembers. Nothing else may use the agent meanwhile.
        store: where the agent's memories are stored.
        pipeline: ingests records for this agent.
        repository: the repository to remember.
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
        """Hashes of the commits not yet ingested, each after its parents."""

    def take_in(self, done: Callable[[int], object] = lambda count: None) -> ChronicleReport:
        """Ingest new commits, confine those that are gone, reopen those that are back, and add links.

        Args:
            done: called with how many of `new` were read so far.

        Raises:
            UserError: git does not answer.
            StoreError: the store refuses more. Running again continues from what was stored.
        """
        ingested = self._pipeline.run(self._counted(done))
        reachable = set(self._reachable)
        remembered: dict[str, RememberedCommit] = {}
        moved = set[str]()
        for entry, name in self._entries():
            if entry.audience.confined == (name in reachable):
                self._agent.memory.limit(entry, entry.audience.closed(name not in reachable))
                moved.add(name)
            if name in reachable and (commit := commit_of(entry)) is not None:
                remembered.setdefault(name, RememberedCommit(entry, commit))
        made = links([remembered[name] for name in self._reachable if name in remembered])
        links_now = self._missing([*made])
        self._agent.keep_told((), links_now)
        back = moved & reachable
        return ChronicleReport(ingested, len(self._reachable), len(moved - back), len(back), len(links_now))

    def _counted(self, done: Callable[[int], object]) -> Iterator[SourceRecord | SourceProblem]:
        for count, record in enumerate(self._repository.records(self.new), 1):
            yield record
            done(count)

    def _entries(self) -> Iterator[tuple[MemoryEntry, str]]:
        """The memories of commits and what corrects them, with their hashes, without forgotten ones."""
        agent_id, source = self._agent.id, self._repository.source
        names = self._store.held(agent_id, source)
        for at in range(0, len(names), PAGE):
            records = self._store.taken(agent_id, source, names[at : at + PAGE]).values()
            by_id = {record.entry_id: record.id for record in records if record.entry_id is not None}
            entries = self._store.entries(agent_id, [*by_id])
            for old, new in newer_forms(agent_id, self._store, entries, EVERYTHING).items():
                by_id[new] = by_id[old]
            for number, entry in entries.items():
                yield entry, by_id[number]

    def _missing(self, wanted: Sequence[Link]) -> list[Link]:
        sources = sorted({link.source for link in wanted})
        there = {
            (link.source, link.target, link.type)
            for at in range(0, len(sources), PAGE)
            for link in self._store.links_of(self._agent.id, sources[at : at + PAGE])
        }
        return [link for link in wanted if (link.source, link.target, link.type) not in there]


def links(commits: Sequence[RememberedCommit]) -> Iterator[Link]:
    """Links from each commit to the earlier ones that it reverts, fixes or touches again.

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
    """Links to the earlier commits that share most files. Adds this commit to `latest`."""
    shared: Counter[RememberedCommit] = Counter()
    files = one.commit.files
    for file in files:
        if file.before in latest:
            latest[file.path] = latest.pop(file.before)  # it moved, and its past with it
        earlier = latest.setdefault(file.path, deque(maxlen=EARLIER))
        shared.update(earlier)
        earlier.append(one)
    shared.pop(one, None)  # where a file took the place of one that moved
    overlaps = [
        (count / (len(files) + len(other.commit.files) - count), other.entry.id)
        for other, count in shared.items()
    ]
    for overlap, target in sorted(overlaps, reverse=True)[:MOST_TOUCHED]:
        if overlap >= LEAST_OVERLAP:
            strength = min(overlap, 1.0)
            yield Link(one.entry.id, target, LinkType.TOUCHED_AGAIN, strength, one.entry.timestamp)
