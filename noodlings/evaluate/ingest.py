"""How an evaluation fills an archive and asks it: percepts in, hits out, and nothing else in between.

The rule it keeps: no function here is handed an answer, a piece of evidence or an expected id, so none of
them can reach ingestion or search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from noodlings.ports import Embedder
from noodlings.recall.archive import Archive
from noodlings.recall.search import Searcher
from noodlings.text import clean
from noodlings.values.affect import Affect
from noodlings.values.memory import ImportanceParts, MemoryEntry
from noodlings.values.percept import Percept

Vector = npt.NDArray[np.float32]


class Appraiser(Protocol):
    """Text to affect."""

    def appraise(self, text: str, *, vector: Any = None) -> Any:
        """An appraisal with `affect`."""


def ingest(
    percepts: Iterable[Percept],
    embedder: Embedder | None,
    appraiser: Appraiser | None,
    progress: Callable[[], None] = lambda: None,
) -> Archive:
    """An archive of what an agent perceived; ids are 0, 1, 2, … in the order of the percepts.

    Args:
        appraiser: what the agent feels about percepts without an affect; None for nothing.
        progress: called after each percept.
    """
    archive = Archive() if embedder is None else Archive(embedder.name, embedder.dimensions)
    for number, percept in enumerate(percepts):
        text = clean(percept.text)
        vector = embedder.embed([text])[0] if embedder is not None and text else None
        affect = percept.affect
        if affect is None and appraiser is not None:
            affect = appraiser.appraise(text, vector=vector).affect
        archive.add(
            MemoryEntry(
                id=number,
                timestamp=percept.timestamp,
                step=number + 1,
                user_id=percept.user_id,
                user_text=text,
                affect=affect,
                surprise=0.0,
                encoded_importance=0.0,
                parts=ImportanceParts(),
                kind=percept.kind,
                place=percept.place,
            ),
            vector,
        )
        progress()
    return archive


def embedded(searcher: Searcher, embedder: Embedder | None, question: str) -> Vector | None:
    """The vector of a question as search wants it, or None without an embedder."""
    return None if embedder is None else embedder.embed([searcher.wording(question)])[0]


def ask(
    searcher: Searcher, question: str, vector: Vector | None, limit: int, mood: Affect | None = None
) -> tuple[list[int], float]:
    """Ids of the hits with all defaults, best first, and the milliseconds that took."""
    started = perf_counter()
    hits = searcher.search(question, limit=limit, mood=mood, query_vector=vector)
    milliseconds = 1_000.0 * (perf_counter() - started)
    return [hit.entry_id for hit in hits], milliseconds
