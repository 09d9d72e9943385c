"""Asking for the history of a code base that an agent has read: which commits answer a question, and why.

The search of memories finds and ranks them (`noodlings.recall.search`), for names and dates in a question as
for everything else. Commits have three things beside: a message, whose words say more than names of files; a
hash, a file or an issue that a question may name outright; and links to commits that belong to them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from noodlings.ingest.sources.git import TAG, split_words
from noodlings.inspect.recall import ArchiveView, archive_state, search_for
from noodlings.inspect.viewpoint import Viewpoint, cut, may_read
from noodlings.inspect.views import View, iso
from noodlings.ports import Repository
from noodlings.recall.filters import Filters
from noodlings.recall.lexical import stems
from noodlings.text import clean
from noodlings.values.audience import may_learn
from noodlings.values.memory import LinkType, MemoryEntry, Why, given, tags_of
from noodlings.values.percept import Kind

CANDIDATES = 60
"""Hits of the search that are looked at for one question."""
MESSAGE, NAMED = 0.2, 0.5
"""What the question's words in the message, and a hash, file or issue that it names, may add to a score."""
LINKING, LINKS = 5, 8
"""So many of the best bring in what they are linked with, and so many links of each are followed."""
LINKED = {LinkType.REVERTS: 0.9, LinkType.FIXES: 0.9, LinkType.TOUCHED_AGAIN: 0.6}
"""How much of a score a link of full strength hands on."""
_EXACT = re.compile(r"#\d+|[\w./-]*\w[./_-][\w./-]*\w|\b[0-9a-f]{7,64}\b|\b\w*[a-z][A-Z]\w*\b")


@dataclass(frozen=True, slots=True)
class CommitFileView(View):
    """A file of a commit.

    Attributes:
        path: where it is.
        added, removed: lines; null where it is not text.
        before: where it was, if it was moved.
    """

    path: str
    added: int | None
    removed: int | None
    before: str


@dataclass(frozen=True, slots=True)
class CommitView(View):
    """A commit that was found.

    Attributes:
        score: 0…1, what the list is ranked by.
        why: semantic, lexical, date: what found it, the strongest first; named: the question names its hash,
            an issue, a file or an identifier in it; linked: it belongs to the commit of `linked_to`.
        scores: each component, 0…1: those of the search, and message: the question's words in the message.
        linked_to: the hash of the commit that it was found by, or nothing.
        id: the number of the memory.
        hash: its object name in full.
        author: the name of the author.
        authored: when, in seconds since 1970-01-01 UTC; the memory is dated so.
        when: the same as ISO 8601.
        subject: the first line of the message.
        body: the rest of the message.
        files: the files that it changes, as far as they are kept.
        file_count: how many files there are.
        added, removed: lines in all files.
        issues: ids in the message, such as #12 or ABC-7.
        reverts, fixes: object names that the message says it reverts or fixes.
        names: what is defined where the diff changes something.
        shown: some of the lines that it adds.
        left_out: what of a large commit was not kept, in words.
    """

    score: float
    why: tuple[str, ...]
    scores: dict[str, float]
    linked_to: str
    id: int
    hash: str
    author: str
    authored: float
    when: str
    subject: str
    body: str
    files: tuple[CommitFileView, ...]
    file_count: int
    added: int
    removed: int
    issues: tuple[str, ...]
    reverts: tuple[str, ...]
    fixes: tuple[str, ...]
    names: tuple[str, ...]
    shown: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChronicleView(View):
    """What an agent knows from the history of code bases on a question, as far as the caller may read it.

    Attributes:
        query: what was asked.
        by_meaning: whether meaning was compared, or words alone.
        commits: the commits, best first.
        archive: how far the archive is.
    """

    agent: str
    name: str
    query: str
    by_meaning: bool
    commits: tuple[CommitView, ...]
    archive: ArchiveView


async def chronicle(viewpoint: Viewpoint, repository: Repository, query: str, limit: int) -> ChronicleView:
    """The best `limit` commits (1…1000) on a question; those that no branch reaches any more are not told.

    Raises:
        UserError: a value is out of range, nothing is asked, or the memory is a plain list.
    """
    here = frozenset({viewpoint.caller.user_id})
    filters = Filters(kinds=frozenset({Kind.READ}), tags=frozenset({TAG}), present=here)
    exact = _EXACT.findall(clean(query))
    wanted = " ".join([query, *map(split_words, exact)])
    hits = await search_for(viewpoint)(wanted, filters, max(limit, CANDIDATES))
    entries = repository.entries(viewpoint.agent_id, [hit.entry_id for hit in hits])
    found = [
        _commit(entries[hit.entry_id], hit.score, tuple(map(str, hit.why)), dict(hit.scores))
        for hit in hits
        if _is_told(viewpoint, entries.get(hit.entry_id))
    ]
    ranked = sorted(_weighed(query, {name.casefold() for name in exact}, found), key=_best_first)
    linked = _linked(viewpoint, repository, ranked)
    return ChronicleView(
        agent=viewpoint.agent_id,
        name=viewpoint.name,
        query=clean(query),
        by_meaning=any("meaning" in hit.scores for hit in hits),
        commits=tuple(cut(sorted(linked, key=_best_first), limit)),
        archive=archive_state(viewpoint),
    )


def _best_first(commit: CommitView) -> tuple[float, int]:
    return (-commit.score, commit.id)


def _is_told(viewpoint: Viewpoint, entry: MemoryEntry | None) -> bool:
    """Whether an entry is a commit of a history as it is now, for the caller to read."""
    caller = viewpoint.caller
    return (
        entry is not None
        and TAG in tags_of(entry)
        and may_read(caller, entry)
        and may_learn(frozenset({caller.user_id}), entry.audience)
    )


def _weighed(query: str, exact: Collection[str], found: Sequence[CommitView]) -> Iterator[CommitView]:
    """The same with what their messages, and names in the question that are `exact`, add."""
    asked = set(stems(query))
    said = [asked.intersection(stems(f"{one.subject} {one.body}")) for one in found]
    rare = {word: math.log(1.0 + len(found) / (0.5 + sum(word in words for words in said))) for word in asked}
    whole = sum(rare.values()) or 1.0
    most = 1.0 + MESSAGE + (NAMED if exact else 0.0)
    for one, words in zip(found, said, strict=True):
        message = sum(rare[word] for word in words) / whole
        named = any(_is_named(one, name) for name in exact)
        score = (one.score + MESSAGE * message + NAMED * named) / most
        why = ("named", *one.why) if named else one.why
        yield replace(one, score=score, why=why, scores=one.scores | {"message": message})


def _is_named(commit: CommitView, name: str) -> bool:
    """Whether a name (in small letters) is its hash, an issue in it, a file of it, or one of its names."""
    if commit.hash.startswith(name):
        return True
    paths = (f"/{path}".casefold() for file in commit.files for path in (file.path, file.before))
    own = (one.casefold() for one in (*commit.issues, *commit.names))
    return name in own or any(path.endswith(f"/{name}") for path in paths)


def _linked(viewpoint: Viewpoint, repository: Repository, ranked: Sequence[CommitView]) -> list[CommitView]:
    """The same, with what the best are linked with: each at what the strongest of them hands on."""
    by_id = {one.id: one for one in ranked}
    best = {one.id: one for one in ranked[:LINKING]}
    links = repository.links_of(viewpoint.agent_id, list(best), LINKS) if best else []
    ends = [
        (link, *ends) for link in links for ends in ((link.source, link.target), (link.target, link.source))
    ]
    pairs = [(link, best[here], there) for link, here, there in ends if here in best and link.type in LINKED]
    entries = repository.entries(viewpoint.agent_id, [there for *_, there in pairs if there not in by_id])
    for link, near, there in pairs:
        score = near.score * link.strength * LINKED[link.type]
        entry = entries.get(there)
        if there not in by_id and entry is not None and _is_told(viewpoint, entry):
            by_id[there] = _commit(entry, 0.0, (), {})
        if there in by_id and by_id[there].score < score:
            why = (*(one for one in by_id[there].why if one != Why.LINKED), str(Why.LINKED))
            by_id[there] = replace(by_id[there], score=score, why=why, linked_to=near.hash)
    return list(by_id.values())


def _commit(entry: MemoryEntry, score: float, why: tuple[str, ...], scores: dict[str, float]) -> CommitView:
    """A commit as its entry has it; what is not there, or of another shape, is left empty."""
    kept = given(entry, TAG)
    data: Mapping[str, Any] = kept if isinstance(kept, dict) else {}

    def text(name: str) -> str:
        value = data.get(name)
        return clean(value) if isinstance(value, str) else ""

    def texts(name: str) -> tuple[str, ...]:
        value = data.get(name)
        return tuple(clean(one) for one in value if isinstance(one, str)) if isinstance(value, list) else ()

    def count(name: str) -> int:
        value = data.get(name)
        return value if isinstance(value, int) else 0

    return CommitView(
        score=score,
        why=why,
        scores=scores,
        linked_to="",
        id=entry.id,
        hash=text("hash"),
        author=text("author"),
        authored=entry.timestamp,
        when=iso(entry.timestamp),
        subject=text("subject") or clean(entry.user_text),
        body=text("body"),
        files=tuple(_files(data.get("files"))),
        file_count=count("file_count"),
        added=count("added"),
        removed=count("removed"),
        issues=texts("issues"),
        reverts=texts("reverts"),
        fixes=texts("fixes"),
        names=texts("names"),
        shown=texts("shown"),
        left_out=texts("left_out"),
    )


def _files(kept: Any) -> Iterator[CommitFileView]:
    for file in kept if isinstance(kept, list) else ():
        match file:
            case [str(path), int() | None as added, int() | None as removed, str(before)]:
                yield CommitFileView(clean(path), added, removed, clean(before))
