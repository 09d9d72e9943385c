"""What one user told: never anything of anybody else, however it is looked for, nor changed by it."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Collection
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.agent.archive import AgentArchive
from noodlings.embed.queue import EmbeddingQueue
from noodlings.notes.note import Note
from noodlings.notes.notebook import Notebook
from noodlings.notes.search import search
from noodlings.ports import Changes
from noodlings.recall.filters import Filters
from noodlings.recall.focus import HOUR, FocusHit, reconstruct_context
from noodlings.recall.links import ReachedEntry, explore
from noodlings.recall.narrative import Narrator
from noodlings.recall.search import Hit
from noodlings.store.memory import MemoryStore
from noodlings.values.memory import EntryVector, Hindsight, Link, LinkType, MemoryEntry
from tests.fakes import HashingEmbedder
from tests.memory.entries import JOYFUL, SORROWFUL, an_entry

ANN, BOB = "user_ann", "user_bob"
NOW = 1_000_000.0
EMBEDDER = HashingEmbedder()
NARRATOR = Narrator("phi", {"phi": "Phi", ANN: "Ann", BOB: "Bob"}, NOW)
WORDS = st.sampled_from(["boat", "storm", "mellon", "bob", "ann", "yesterday", "when", "march"])
TEXTS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
LINES = st.lists(
    st.tuples(
        st.sampled_from([ANN, BOB]),
        TEXTS,
        st.none() | TEXTS,
        st.floats(0.0, 30.0),
        st.sampled_from([None, JOYFUL, SORROWFUL]),
        st.booleans(),
    ),
    min_size=1,
    max_size=12,
)
PAIRS = st.sets(st.tuples(st.integers(1, 12), st.integers(1, 12)), max_size=20)


@given(LINES, PAIRS, TEXTS, st.integers(0, 5), st.none() | st.just(SORROWFUL))
@pytest.mark.slow
def test_what_one_user_told_is_found_as_if_nobody_else_had_ever_spoken(lines, pairs, query, level, mood):
    told = sorted(lines, key=lambda line: -line[3])
    entries = [
        an_entry(
            number, user_id=user, user_text=text, response=answer, timestamp=NOW - hours * HOUR, affect=felt
        )
        for number, (user, text, answer, hours, felt, _) in enumerate(told, 1)
    ]
    embedded = {number for number, line in enumerate(told, 1) if line[-1]}
    mine = [entry for entry in entries if entry.user_id == ANN]
    among_all, alone = (looked_for(known, embedded, pairs, query, level, mood) for known in (entries, mine))
    assert among_all == alone


@given(st.lists(TEXTS, min_size=20, max_size=25, unique=True), TEXTS)
@pytest.mark.slow
def test_what_one_user_told_is_found_whatever_others_made_of_it_in_hindsight(texts, query):
    plain = [an_entry(number, user_id=ANN, user_text=text) for number, text in enumerate(texts, 1)]
    recalled = [replace(one, hindsight={Hindsight.ANSWERED_WITH: 0.02 * one.id}) for one in plain]
    embedded = {one.id for one in plain}
    with_hindsight, without = (hits_among(known, embedded, query) for known in (recalled, plain))
    assert with_hindsight == without


def hits_among(entries: list[MemoryEntry], embedded: set[int], query: str) -> list[Hit]:
    """What a search of Ann's finds."""
    with closing(EmbeddingQueue(EMBEDDER, idle=True)) as embedding:
        archive = archive_of(entries, embedded, (), embedding)[1]
        return asyncio.run(archive.search(query, Filters(user=ANN), limit=5, mood=None))


def archive_of(
    entries: list[MemoryEntry],
    embedded: set[int],
    pairs: Collection[tuple[int, int]],
    embedding: EmbeddingQueue,
) -> tuple[MemoryStore, AgentArchive]:
    """These entries, linked in pairs, kept and loaded."""
    store = MemoryStore()
    there = {entry.id for entry in entries}
    store.commit(
        Changes(
            "phi",
            added=tuple(entries),
            links=tuple(
                Link(one, other, LinkType.RECALLED, 0.9, NOW)
                for one, other in sorted(pairs)
                if one != other and {one, other} <= there
            ),
            vectors=tuple(
                EntryVector(entry.id, EMBEDDER.name, EMBEDDER.embed([entry.user_text])[0])
                for entry in entries
                if entry.id in embedded
            ),
        )
    )
    archive = AgentArchive("phi", store, embedding, dict, len(entries))
    while not archive.loaded:
        archive.load_some()
    return store, archive


Everything = tuple[list[Hit], list[ReachedEntry], list[FocusHit], str, list[int]]


def looked_for(
    entries: list[MemoryEntry],
    embedded: set[int],
    pairs: set[tuple[int, int]],
    query: str,
    level: int,
    mood: object,
) -> Everything:
    """What Ann told, by search, links, focus and notes; all of it hers."""
    only_ann, embedding = Filters(user=ANN), EmbeddingQueue(EMBEDDER, idle=True)
    store, archive = archive_of(entries, embedded, pairs, embedding)

    async def focus_search(query: str, filters: Filters, limit: int) -> list[Hit]:
        return await archive.search(query, filters, limit=limit, mood=mood)

    hits = asyncio.run(focus_search(query, only_ann, 5))
    starts = {entry.id: 1.0 for entry in entries if entry.user_id == ANN}
    linked = [
        one for start in starts for one in explore(store, "phi", {start: 1.0}, 3, only_ann.admits).reached
    ]
    context = asyncio.run(
        reconstruct_context(query, ANN, level, search=focus_search, memory=store, narrator=NARRATOR)
    )
    embedding.close()
    noted = notes_of(entries, query)
    found = {hit.entry_id for hit in hits} | {one.entry.id for one in linked} | set(noted)
    found |= {brought.recalled.entry.id for brought in context.memories}
    assert found <= starts.keys()
    return hits, linked, list(context.memories), context.text, noted


def notes_of(entries: list[MemoryEntry], query: str) -> list[int]:
    """Ids that a search of Ann's notes finds."""
    with tempfile.TemporaryDirectory() as folder:
        notebook = Notebook(Path(folder) / "notes")
        notebook.folder.mkdir()
        for entry in entries:
            notebook.write(Note("phi", entry, "sad"))
        return [hit.entry_id for hit in search(notebook.folder, query, ANN).hits]
