"""Small archives to search in."""

from __future__ import annotations

import numpy as np

from noodlings.ports import EntryColumns
from noodlings.recall.archive import SearchIndex
from noodlings.recall.search import Searcher
from noodlings.values.memory import ImportanceParts, MemoryEntry
from tests.fakes import HashingEmbedder, witnessed

EMBEDDER = HashingEmbedder()
APART = 7_200.0
"""Seconds between entries of which none continues the talk of another."""


def make_entry(entry_id, text, user="user_ann", **changes):
    """An entry in a talk of its own, unless a timestamp says otherwise."""
    fields = {
        "timestamp": entry_id * APART,
        "step": entry_id,
        "affect": None,
        "surprise": 0.0,
        "encoded_importance": 0.5,
        "parts": ImportanceParts(),
    }
    ids = changes.pop("audience", ())
    return witnessed(MemoryEntry(id=entry_id, user_id=user, user_text=text, **(fields | changes)), ids)


def vector_of(text):
    """As the embedder of these tests gives it, shape (64,)."""
    return EMBEDDER.embed([text])[0]


def add(archive, entry, vector=None):
    """Add one entry, with its vector if there is one."""
    vectors = [] if vector is None else [vector]
    archive.extend(EntryColumns.of([entry]), np.array([vector is not None]), vectors)


def archive_of(*entries, vectors=False):
    """A searcher over entries; a plain string is said by Ann, in a talk of its own."""
    archive = SearchIndex(EMBEDDER.name, EMBEDDER.dimensions) if vectors else SearchIndex()
    for number, entry in enumerate(entries):
        if isinstance(entry, str):
            entry = make_entry(number, entry)
        add(archive, entry, vector_of(entry.user_text) if vectors else None)
    return Searcher(archive)


def ids(hits):
    """The entries that were found, best first."""
    return [hit.entry_id for hit in hits]


def append_row(neighbours, timestamp, place="", aside=False):
    neighbours.extend([timestamp], [place], [aside])


def append_vector(index, vector, neighbours):
    """One more row of a vector index, without a vector where that is None."""
    index.add(np.array([vector is not None]), None if vector is None else vector[None], neighbours)


def neighbours_of(neighbours, row):
    """(weight, row) of a row itself and of those of its neighbours that there are."""
    near = [(weight, int(others[0])) for weight, others in neighbours.near(np.array([row]))]
    return [(weight, other) for weight, other in near if other != -1]


def without_vector(archive):
    """Ids of the entries that are still to be embedded."""
    return [
        number for number, row in archive.index.row_of.items() if archive.vectors.likeness(row, row) is None
    ]
