"""Asking about the history of a code base that an agent has read: which commits answer a question, and why.

The search of memories (`noodlings.recall.search`) finds them, by names and dates in the question as well.
Their rank depends on more: the words and the meaning of the message alone, which says more than names of
files; a hash, a file or an issue that the question names; the sort of files that it asks about, such as
tests; and links to commits that belong to them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from noodlings.errors import NoodlingsError
from noodlings.ingest.commit import TAG, Commit, commit_of, split_words
from noodlings.inspect.recall import ArchiveView, archive_state, search, searchable
from noodlings.inspect.viewpoint import Viewpoint, cut
from noodlings.inspect.views import View, ViewOfAgent, iso
from noodlings.recall.filters import Filters
from noodlings.recall.lexical import stems
from noodlings.text import clean
from noodlings.values.audience import may_learn
from noodlings.values.memory import LinkType, MemoryEntry, Why
from noodlings.values.percept import Kind

CANDIDATES = 60
"""How many hits of the search are considered for one question."""
MESSAGE, MEANING, FILES, NAMED = 0.2, 0.3, 0.1, 0.5
"""How much may be added to a score: by words of the question in the message, by the meaning of the message,
by the sort of files that the question asks about, and by a hash, file or issue in it."""
SORTS = (
    (r"(^|/)tests?(/|_)|[_.](test|spec)\.", "test tests tested testing flaky"),
    (r"(^|/)docs?/|\.(md|rst|adoc)$", "documented documentation docs explained written readme manual guide"),
    (r"(^|/)(changelog|changes|news|history)\b", "release changelog announced"),
    (r"\.(svg|png|jpe?g|gif|webp)$", "screenshot picture illustration"),
    (r"bench", "benchmark measured performance quick slow fast"),
    (r"(^|/)\.(ci|github|gitlab)|makefile|dockerfile|\.(toml|lock|cfg)$", "ci build package wheel linter"),
)
"""Sorts of files: a pattern of their paths, and words of questions that ask about them."""
LINKING, LINKS = 5, 8
"""How many of the best commits bring in linked ones, and how many links of each are followed."""
LINKED = {LinkType.REVERTS: 0.9, LinkType.FIXES: 0.9, LinkType.TOUCHED_AGAIN: 0.6}
"""How much of a score a link of full strength passes on."""
_EXACT = re.compile(r"#\d+|(?<![\w./-])[\w./-]*\w[./_-][\w./-]*\w|\b[0-9a-f]{7,64}\b|\b\w*[a-z][A-Z]\w*\b")


@dataclass(frozen=True, slots=True)
class CommitView(View):
    """A commit that was found.

    Attributes:
        score: 0…1, what the list is ranked by.
        why: what found it, the strongest first: semantic, lexical, date; named (the question names its hash,
            an issue, a file or an identifier in it), linked (it belongs to the commit `linked_to`).
        scores: each component, 0…1: those of the search, and message: the question's words in the message;
            message_meaning: how near the message is in meaning; files: the share of the changed lines that
            stands in files of the sort that the question asks about.
        linked_to: the hash of the commit that it was found by, or "".
        id: the number of the memory.
        when: its date, ISO 8601.
    """

    score: float
    why: tuple[str, ...]
    scores: dict[str, float]
    linked_to: str
    id: int
    when: str
    commit: Commit


@dataclass(frozen=True, slots=True)
class ChronicleView(ViewOfAgent):
    """What an agent knows from the history of code bases about a question, as far as the caller may read it.

    Attributes:
        by_meaning: whether meaning was compared, or words alone.
        commits: best first.
    """

    query: str
    by_meaning: bool
    commits: tuple[CommitView, ...]
    archive: ArchiveView


async def commits_of(viewpoint: Viewpoint, query: str, limit: int = 5) -> ChronicleView:
    """The best `limit` (1…1000) commits for a question, without those that no branch reaches any more."""
    here = frozenset({viewpoint.caller.user_id})
    filters = Filters(kinds=frozenset({Kind.READ}), tags=frozenset({TAG}), present=here)
    exact = _EXACT.findall(clean(query))
    wanted = " ".join([query, *map(split_words, exact)])
    hits = await search(viewpoint, wanted, filters, max(limit, CANDIDATES))
    entries = viewpoint.readable([hit.entry_id for hit in hits])
    found = [
        replace(told, score=hit.score, why=tuple(map(str, hit.why)), scores=dict(hit.scores))
        for hit in hits
        if (told := _told(viewpoint, entries.get(hit.entry_id))) is not None
    ]
    by_meaning = any("meaning" in hit.scores for hit in hits)
    near = await _nearness(viewpoint, query, found, entries) if by_meaning else {}
    ranked = sorted(_weighed(query, {name.casefold() for name in exact}, found, near), key=_best_first)
    linked = _linked(viewpoint, ranked)
    return ChronicleView(
        *viewpoint.of_agent,
        query=clean(query),
        by_meaning=by_meaning,
        commits=tuple(cut(sorted(linked, key=_best_first), limit)),
        archive=archive_state(viewpoint),
    )


def _best_first(commit: CommitView) -> tuple[float, int]:
    return (-commit.score, commit.id)


def _told(viewpoint: Viewpoint, entry: MemoryEntry | None) -> CommitView | None:
    """The commit of an entry, if it still belongs to a history and the caller may learn of it."""
    here = frozenset({viewpoint.caller.user_id})
    if entry is None or not may_learn(here, entry.audience):
        return None
    commit = commit_of(entry)
    return None if commit is None else CommitView(0.0, (), {}, "", entry.id, iso(entry.timestamp), commit)


async def _nearness(
    viewpoint: Viewpoint, query: str, found: Sequence[CommitView], entries: Mapping[int, MemoryEntry]
) -> dict[int, float]:
    """How near to the question the best `CANDIDATES` messages are in meaning, 0…1, by id of the memory.

    What the embedder may not read is left out; if it fails, which its queue logs, everything is.
    """
    embedding = searchable(viewpoint).embedding
    messages = {
        one.id: f"{one.commit.subject}. {one.commit.body}"
        for one in found[:CANDIDATES]
        if entries[one.id].audience.tier <= embedding.reach
    }
    try:
        vectors = await viewpoint.aside(lambda: embedding.embed([clean(query), *messages.values()]))
    except NoodlingsError:
        return {}
    return dict(zip(messages, np.clip(vectors[1:] @ vectors[0], 0.0, 1.0).tolist(), strict=True))


def _weighed(
    query: str, exact: Collection[str], found: Sequence[CommitView], near: Mapping[int, float]
) -> Iterator[CommitView]:
    """These commits, with what their messages, their files and the `exact` names add to the scores."""
    asked = set(stems(query))
    said = [asked.intersection(stems(f"{one.commit.subject} {one.commit.body}")) for one in found]
    rare = {word: math.log(1.0 + len(found) / (0.5 + sum(word in words for words in said))) for word in asked}
    whole = sum(rare.values()) or 1.0
    sorts = [re.compile(paths, re.I) for paths, words in SORTS if asked.intersection(stems(words))]
    most = 1.0 + MESSAGE + (MEANING if near else 0.0) + (FILES if sorts else 0.0) + (NAMED if exact else 0.0)
    for one, words in zip(found, said, strict=True):
        message = sum(rare[word] for word in words) / whole
        meaning = near.get(one.id, 0.0)
        files = max((_share(one.commit, paths) for paths in sorts), default=0.0)
        named = any(_is_named(one.commit, name) for name in exact)
        score = one.score + MESSAGE * message + MEANING * meaning + FILES * files + NAMED * named
        parts = {"message": message, "message_meaning": meaning, "files": files}
        why = ("named", *one.why) if named else one.why
        yield replace(one, score=score / most, why=why, scores=one.scores | parts)


def _share(commit: Commit, paths: re.Pattern[str]) -> float:
    """The share of a commit's changed lines that is in files with such paths, 0…1."""
    lines = {file.path: 1 + (file.added or 0) + (file.removed or 0) for file in commit.files}
    return sum(lines[path] for path in lines if paths.search(path)) / (sum(lines.values()) or 1)


def _is_named(commit: Commit, name: str) -> bool:
    """Whether a lower-case name is the hash, an issue, a file, or an identifier of a commit."""
    if commit.hash.startswith(name):
        return True
    paths = (f"/{path}".casefold() for file in commit.files for path in (file.path, file.before))
    own = (one.casefold() for one in (*commit.issues, *commit.names))
    return name in own or any(path.endswith(f"/{name}") for path in paths)


def _linked(viewpoint: Viewpoint, ranked: Sequence[CommitView]) -> list[CommitView]:
    """These commits and those that the best are linked with, which get a part of the score of the best."""
    by_id = {one.id: one for one in ranked}
    best = {one.id: one for one in ranked[:LINKING]}
    links = viewpoint.store.links_of(viewpoint.agent_id, list(best), LINKS) if best else []
    ends = [
        (link, *ends) for link in links for ends in ((link.source, link.target), (link.target, link.source))
    ]
    pairs = [(link, best[here], there) for link, here, there in ends if here in best and link.type in LINKED]
    entries = viewpoint.readable([there for *_, there in pairs if there not in by_id])
    for link, near, there in pairs:
        score = near.score * link.strength * LINKED[link.type]
        if there not in by_id and (told := _told(viewpoint, entries.get(there))) is not None:
            by_id[there] = told
        if there in by_id and by_id[there].score < score:
            why = (*(one for one in by_id[there].why if one != Why.LINKED), str(Why.LINKED))
            by_id[there] = replace(by_id[there], score=score, why=why, linked_to=near.commit.hash)
    return list(by_id.values())
