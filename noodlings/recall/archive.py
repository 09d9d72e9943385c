"""The archive of one agent: an index of everything it ever perceived.

Entries come in the order in which they were perceived and get a row each, rising. A forgotten entry leaves an
empty row behind. One lock guards it all, so that several threads may fill and search an archive.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from threading import RLock

import numpy as np
import numpy.typing as npt

from noodlings.errors import UserError
from noodlings.ports import EntryColumns
from noodlings.recall.cues import PeopleIndex, day_happened, holds_time
from noodlings.recall.filters import EVERYTHING, FilterIndex, Filters
from noodlings.recall.growing_array import GrowingArray
from noodlings.recall.lexical import LexicalIndex, in_words, stems
from noodlings.recall.neighbours import Mask, Neighbours, Numbers, Rows
from noodlings.recall.vectors import VectorIndex
from noodlings.text import clean
from noodlings.values.circumstances import DAY_SECONDS
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import NOT_LIVED, SAID, Kind, told_name
from noodlings.values.relationship import stance_of

_ASIDE = NOT_LIVED | {Kind.THOUGHT}
"""Kinds that are no part of any talk."""


def is_line(kind: Kind, ingested: bool) -> bool:
    """Whether an entry is a line that the agent heard itself."""
    return kind in SAID and not ingested


class SearchIndex:
    """Everything one agent ever perceived, by row, for `noodlings.recall.search.Searcher`.

    Args:
        model, dimensions: of the embedder of the vectors; without them there are only words.

    Attributes:
        people: who may be named in a question; everybody with an entry is known by their id.
        affects: what was felt, shape (n, 5), NaN where nothing is known.
        lengths: how much was said to the agent, 0…1.
        with_time: whether a time is mentioned.
        happened: when what was told began and ended, as it was given or else by its words, shape (n, 2); NaN
            where neither tells.
        happened_given: whether it was given when it happened.
        with_name: whether it is a line that tells the name of whoever says it.
        asks: whether something is asked.
        stances: the `Stance` of each.
        lock: held while anything here is read or changed.
    """

    def __init__(self, model: str = "", dimensions: int = 0) -> None:
        self.people = PeopleIndex()
        self.ids = GrowingArray("int64")
        self.index = FilterIndex()
        self.neighbours = Neighbours()
        self.words = LexicalIndex()
        self.affects = GrowingArray("float32", 5)
        self.lengths = GrowingArray("float32")
        self.with_time = GrowingArray("bool")
        self.happened = GrowingArray("float64", 2)
        self.happened_given = GrowingArray("bool")
        self.with_name = GrowingArray("bool")
        self.asks = GrowingArray("bool")
        self.stances = GrowingArray("int8")
        self._is_line = GrowingArray("bool")
        self.lock = RLock()
        self._vectors = VectorIndex(model, dimensions) if model else None
        self._answered = GrowingArray("bool")  # whether the words of the response are in `words`

    def __len__(self) -> int:
        return len(self.index.row_of)

    def __contains__(self, entry_id: int) -> bool:
        return entry_id in self.index.row_of

    @property
    def vectors(self) -> VectorIndex:
        """The vectors. Raises `UserError` for an archive without a model."""
        if self._vectors is None:
            raise UserError("this archive has no embedding model, so it is searched by words only")
        return self._vectors

    def latest(self, filters: Filters, limit: int, timed: bool = False, naming: bool = False) -> list[int]:
        """Ids of the latest entries that pass, rising; if wanted only those `with_time` or `with_name`."""
        with self.lock:
            rows = self.index.rows(filters)
            if rows is None:
                rows = np.flatnonzero(self.index.alive.rows)
            if timed:
                rows = rows[self.with_time.rows[rows]]
            if naming:
                rows = rows[self.with_name.rows[rows]]
            return [int(number) for number in self.ids.rows[rows[-limit:]]]

    def in_time(self, entry_ids: Sequence[int]) -> list[int]:
        """Sort entries by when they happened, then by id; those that are not here come last."""
        with self.lock:
            rows = [self.index.row_of.get(number, -1) for number in entry_ids]
            moments = np.append(self.index.timestamps.rows, np.inf)[rows]
        return [entry_ids[at] for at in np.lexsort((np.array(entry_ids, np.int64), moments))]

    def extend(self, columns: EntryColumns, embedded: Mask, vectors: Numbers) -> None:
        """Add entries; those that are `embedded` have the vectors.

        Raises `UserError`: one is here already, or a vector does not belong to this archive's model.
        """
        with self.lock:
            if not self.index.row_of.keys().isdisjoint(columns.ids):
                raise UserError("some of these entries are already in the archive; use update")
            # All that can fail comes before anything is added, or the parts would no longer have the same
            # rows.
            checked = self.vectors.all_checked(vectors) if embedded.any() else None
            first, texts = len(self.ids), columns.texts
            stemmed, words = zip(*map(in_words, texts), strict=True) if texts else ((), ())
            answers = [
                _answer(response, said) if response else []
                for said, response in zip(stemmed, columns.responses, strict=True)
            ]
            is_lines = np.array([*map(is_line, columns.kinds, columns.ingested)], np.bool_)
            timed = [*map(holds_time, texts, words)]
            by_row = (
                (self.ids, np.array(columns.ids, np.int64)),
                (self.affects, columns.affects),
                (self.lengths, np.array([_length(len(said)) for said in stemmed], np.float32)),
                (self._answered, np.array([*map(bool, columns.responses)])),
                (self.with_time, np.array(timed)),
                (self.happened, _happened(columns, timed)),
                (
                    self.happened_given,
                    np.array([row in columns.happened for row in range(len(texts))], np.bool_),
                ),
                (self.with_name, is_lines & np.array([told_name(text) != "" for text in texts], np.bool_)),
                (self.asks, np.array(["?" in text for text in texts])),
                (self.stances, np.array([*map(stance_of, columns.kinds, texts)], np.int8)),
                (self._is_line, is_lines),
            )
            for user_id in dict.fromkeys(columns.users):
                self.people.meet(user_id)
            self.index.extend(columns)
            aside = [kind in _ASIDE for kind in columns.kinds]
            self.neighbours.extend(columns.timestamps, columns.places, aside)
            self.words.add(stemmed)
            for row, answer in enumerate(answers, first):
                self.words.extend(row, answer)
            for kept, rows in by_row:
                kept.extend(rows)
            if self._vectors is not None:
                self._vectors.add(embedded, checked, self.neighbours)

    def lines(self, filters: Filters) -> Rows:
        """Rows of lines that pass, see `is_line`, rising."""
        rows = self.index.rows(filters)
        found: Rows = np.flatnonzero(self._is_line.rows) if rows is None else rows[self._is_line.rows[rows]]
        return found

    def likeness(self, one: int, other: int) -> float | None:
        """The cosine of two entries, −1…1; None if one of them is unknown or has no vector."""
        with self.lock:
            if self._vectors is None or one not in self or other not in self:
                return None
            return self._vectors.likeness(self._row(one), self._row(other))

    def alike(self, entry_id: int, limit: int, filters: Filters = EVERYTHING) -> list[int]:
        """The entries nearest in meaning to one of them, nearest first; none while it has no vector."""
        with self.lock:
            if self._vectors is None or entry_id not in self:
                return []
            own = self._row(entry_id)
            if self._vectors.likeness(own, own) is None:
                return []
            chosen = self.index.rows(filters)
            nearest = self._vectors.search(self._vectors.vector(own), limit + 1, chosen)
            return [int(self.ids.rows[row]) for row, _ in nearest if row != own][:limit]

    def update(self, entry: MemoryEntry) -> None:
        """Update what may change about an entry: its importance, audience, response and tags."""
        with self.lock:
            row = self._row(entry.id)
            self.index.update(row, entry)
            if entry.response and not self._answered.rows[row]:
                self._answered.rows[row] = True
                self.words.extend(row, _answer(entry.response, stems(entry.user_text)))

    def redact(self, entry: MemoryEntry) -> None:
        """Remove the words of a response that an entry lost."""
        with self.lock:
            row = self._row(entry.id)
            said = stems(entry.user_text)
            self.words.remove([row])
            self.words.put(row, said)
            self.words.extend(row, _answer(entry.response or "", said))
            self._answered.rows[row] = bool(entry.response)

    def set_vector(self, entry_id: int, vector: npt.ArrayLike) -> None:
        """Set the vector of an entry. Raises `UserError` for an unknown entry or model."""
        with self.lock:
            row = np.array([self._row(entry_id)])
            self.vectors.place(row, self.vectors.checked(vector)[None], self.neighbours)

    def embedded(self, filters: Filters = EVERYTHING) -> tuple[int, int]:
        """How many entries (of the user in the filters, or all) have a vector, and how many there are."""
        with self.lock:
            rows = self.index.told(filters)
            if rows is None:
                return self.vectors.count, len(self)
            return self.vectors.count_of(rows), len(rows)

    def change_model(self, model: str, dimensions: int) -> None:
        """Drop all vectors, and expect those of another model."""
        with self.lock:
            self._vectors = VectorIndex(model, dimensions)
            self._vectors.extend(len(self.ids))

    def remove(self, entry_ids: Iterable[int]) -> None:
        """Forget entries, with their words, vectors and feelings. Unknown ids are ignored."""
        with self.lock:
            rows = self.index.remove(entry_ids)
            self.words.remove(rows)
            self.affects.rows[rows] = math.nan
            self.lengths.rows[rows] = 0.0
            self.happened.rows[rows] = math.nan
            for flags in (
                self.with_time,
                self.happened_given,
                self.with_name,
                self.asks,
                self.stances,
                self._is_line,
            ):
                flags.rows[rows] = 0
            if self._vectors is not None:
                self._vectors.clear(np.array(rows, np.intp), self.neighbours)

    def _row(self, entry_id: int) -> int:
        try:
            return self.index.row_of[entry_id]
        except KeyError:
            raise UserError(f"entry {entry_id} is not in the archive") from None


def _happened(columns: EntryColumns, timed: Sequence[bool]) -> npt.NDArray[np.float64]:
    """When each entry happened, see `SearchIndex.happened`; `timed`: whether its words mention a time."""
    spans = np.full((len(timed), 2), math.nan)
    for row in (row for row, mentions in enumerate(timed) if mentions):
        day = day_happened(columns.texts[row], columns.timestamps[row])
        if day is not None:
            spans[row] = day, day + DAY_SECONDS
    for row, when in columns.happened.items():
        spans[row] = when.begins, max(when.ends, math.nextafter(when.begins, math.inf))
    return spans


def _answer(response: str, said: Collection[str]) -> list[str]:
    """The stems of the agent's answer that were not said to it. The entry is found by these too, but they do
    not count for its length."""
    known = set(said)
    return [word for word in stems(clean(response)) if word not in known]


def _length(words: int) -> float:
    """How much is said, 0…1, by the number of words without stop words; 54 and more are 1."""
    return min(math.log1p(words) / 4.0, 1.0)
