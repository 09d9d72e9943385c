"""What is meant and said: how well each line fits the words and the meaning of a question.

A line is also found by the lines around it (`noodlings.recall.neighbours`). The rule kept here: afterwards it
can be told which of the two it was.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from noodlings.recall.archive import Archive
from noodlings.recall.cues import Cues
from noodlings.recall.neighbours import Neighbours, Numbers, Rows
from noodlings.recall.vectors import VectorIndex

MEANT = 0.3
"""Cosine from which a line means something of what is asked by itself (docs/decisions/0009-asking.md)."""


@dataclass(frozen=True, slots=True)
class Content:
    """The components that tell what is meant and said, for the rows that were asked for.

    Attributes:
        meaning: with neighbours, 0…1; None where words alone decide.
        words: with neighbours, 0…1; `own` is how much of that is by the words that stand in a line itself.
    """

    meaning: Numbers | None
    words: Numbers
    own: Numbers
    _rows: Rows | None
    _near: Neighbours
    _asks: npt.NDArray[np.bool_]
    _vectors: VectorIndex | None
    _query: npt.ArrayLike | None

    def only_near(self, place: int) -> bool:
        """Whether the lines around it alone speak for a line: it says and means nothing of what is asked.

        What was said right after a question answers that, in whatever words, and counts as one with it.
        """
        if self.own[place] > 0.0:
            return False
        row = place if self._rows is None else int(self._rows[place])
        before = self._near.before(row)
        if before is not None and self._asks[before]:
            return False
        if self._vectors is None or self._query is None:
            return True
        return self._vectors.cosine(self._query, row) < MEANT


def content(
    archive: Archive,
    question: Cues,
    query_vector: npt.ArrayLike | None,
    rows: Rows | None,
    told: Rows | None,
    hidden: Rows,
) -> Content:
    """What is meant and said in `rows` (all where None) and around them.

    Of those whom the filters ask for it is all they `told` and nothing else, as if nobody else had ever said
    a word; and what is `hidden` counts nowhere: no score tells that it is there.
    """
    words, near, asks = archive.words, archive.neighbours, archive.asks.rows
    vectors = None if query_vector is None else archive.vectors
    if told is not None and rows is not None:
        hidden = np.flatnonzero(np.isin(told, hidden))
        rows = np.searchsorted(told, rows)
        words, near, asks = words.only(told, question.words), near.only(told), asks[told]
        vectors = None if vectors is None else vectors.only(told, near)
    if len(hidden):
        asks = asks.copy()
        asks[hidden] = False
    meaning = None
    if vectors is not None and query_vector is not None:
        meaning = vectors.score(query_vector, near, rows, hidden)
    scores, own = words.score(question.words, near, hidden)
    if rows is not None:
        scores, own = scores[rows], own[rows]
    return Content(meaning, scores, own, rows, near, asks, vectors, query_vector)
