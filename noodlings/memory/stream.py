"""A stream: the entries of one kind of memory, packed in columns.

An agent holds hundreds of entries and a society thousands of agents, so the numbers of a stream lie in
contiguous arrays, and an entry is built when somebody reads it, equal to the one that was packed.

Rows [0, len) are always in use. Removing one moves the last row into its place, so order is by id and never
by row.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable
from dataclasses import fields
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from noodlings.memory.importance import strength
from noodlings.memory.likeness import Metric
from noodlings.values.affect import Affect, builder
from noodlings.values.audience import Audience, may_learn
from noodlings.values.fact import Tells
from noodlings.values.memory import ImportanceParts, MemoryEntry

# Columns of the integer matrix. A circle is 0 for what is open; the last three are 0 or 1.
ID, STEP, USER, CIRCLE, RECALL_COUNT, HELD, PINNED, HAS_STATE = range(INTS := 8)
# Columns of the float matrix; the seven parts of importance, affect and what it tells follow. NaN stands for
# None.
TIMESTAMP, SURPRISE, ENCODED, OVERRIDE, SALIENCE, LAST_RECALLED, STABILITY, WEIGHT = range(8)
FLOATS = 22

Words = tuple[Any, ...]
"""user_id, text, response, kind, audience, place, override_by, extra, source, hindsight."""
AUDIENCE = 4

PUBLIC = 0
_NO_AFFECT = [math.nan] * 5
_NOT_READ = Tells(math.nan, math.nan)

_build_entry = builder(MemoryEntry)
_build_affect = builder(Affect)
_build_parts = builder(ImportanceParts)
_parts = attrgetter(*(field.name for field in fields(ImportanceParts)))


def packed(entry: MemoryEntry) -> tuple[tuple[int, ...], tuple[float, ...], Words]:
    """The integers, floats and words of an entry, in the order of the columns."""
    circle = code(entry.audience) if entry.audience.confined else PUBLIC
    has_state = entry.phenomenal_state is not None
    override = math.nan if entry.override is None else entry.override
    last_recalled = math.nan if entry.last_recalled is None else entry.last_recalled
    # fmt: off
    ints = (
        entry.id, entry.step, code(entry.user_id), circle,
        entry.recall_count, entry.held, entry.pinned, has_state,
    )
    floats = (
        entry.timestamp, entry.surprise, entry.encoded_importance, override, entry.identity_salience,
        last_recalled, entry.stability, entry.weight,
        *_parts(entry.parts),
        *(_NO_AFFECT if entry.affect is None else entry.affect.as_list()),
        *(_NOT_READ if entry.tells is None else entry.tells),
    )
    words = (
        entry.user_id, entry.user_text, entry.response, entry.kind, entry.audience, entry.place,
        entry.override_by, entry.extra or None, entry.source, entry.hindsight or None,
    )
    # fmt: on
    return ints, floats, words


def unpacked(ints: list[int], floats: list[float], words: Words, state: Any) -> MemoryEntry:
    """An entry from its row. NaN, which does not equal itself, stands for None."""
    entry_id, step, _, _, recall_count, _, pinned, has_state = ints
    # fmt: off
    (
        timestamp, surprise, encoded, override, salience, last_recalled, stability, _,
        p_surprise, p_intensity, p_salience, p_addressed, p_answered, p_remember, p_significance,
        valence, arousal, fear, sorrow, boredom,
        of_speaker, of_other,
    ) = floats
    user_id, text, response, kind, audience, place, override_by, extra, source, hindsight = words
    affect = _build_affect(valence, arousal, fear, sorrow, boredom) if valence == valence else None
    parts = _build_parts(
        p_surprise, p_intensity, p_salience, p_addressed, p_answered, p_remember, p_significance,
    )
    return _build_entry(
        entry_id, timestamp, step, user_id, text, affect, surprise, encoded, parts,
        override if override == override else None, override_by, response, salience,
        state if has_state else None, kind, audience, place, pinned == 1, recall_count,
        last_recalled if last_recalled == last_recalled else None, stability,
        {} if extra is None else extra, source, {} if hindsight is None else hindsight,
        Tells(of_speaker, of_other) if of_speaker == of_speaker else None,
    )
    # fmt: on


def code(of: Hashable) -> int:
    """64 bits for a user or an audience; never 0. Only compared within this process."""
    return hash(of) or 1


Rows = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

STATE_SIZE = 40
_FIRST_ROWS = 16

_SORTED_WHOLE = 512
"""Up to this many rows, sorting all of them is quicker than looking for the highest first."""


class Stream:
    """Up to `capacity` (≥ 1) entries with vectorised questions about all of them."""

    def __init__(self, capacity: int, metric: Metric) -> None:
        self.capacity = capacity
        self.metric = metric
        self._size = 0
        self._row_of: dict[int, int] = {}
        rows = min(capacity, _FIRST_ROWS)
        self._ints = np.zeros((rows, INTS), np.int64)
        self._floats = np.zeros((rows, FLOATS))
        self._features = np.zeros((rows, metric.width), order="F")  # they are compared column by column
        self._states = np.zeros((rows, STATE_SIZE), np.float32)
        self._words: list[tuple[Any, ...]] = []
        self._unfelt: list[int] | None = None  # rows without affect, where that is known
        self._circles: dict[Audience, Audience] = {}

    def __len__(self) -> int:
        return self._size

    def __contains__(self, entry_id: int) -> bool:
        return entry_id in self._row_of

    @property
    def full(self) -> bool:
        return self._size >= self.capacity

    # -- writing

    def put(self, entry: MemoryEntry) -> None:
        """Add an entry, or replace the one with its id. The caller makes room first."""
        row = self._row_of.get(entry.id)
        if row is None:
            if self.full:
                raise IndexError(f"the stream holds {self.capacity} entries and is full")
            row = self._size
            if row == len(self._ints):
                self._grow()
            self._size += 1
            self._row_of[entry.id] = row
            self._words.append(())
        self._write(row, entry)

    def drop(self, entry_id: int) -> None:
        """Take an entry out. Raises KeyError when it is not here."""
        row = self._row_of.pop(entry_id)
        last = self._size - 1
        self._unfelt = None
        if row != last:
            for matrix in (self._ints, self._floats, self._features, self._states):
                matrix[row] = matrix[last]
            self._words[row] = self._words[last]
            self._row_of[int(self._ints[row, ID])] = row
        self._words.pop()
        self._size = last

    def clear(self) -> None:
        self._row_of.clear()
        self._words.clear()
        self._size = 0
        self._unfelt = None

    def _write(self, row: int, entry: MemoryEntry) -> None:
        state = entry.phenomenal_state
        self._unfelt = None
        self._ints[row], self._floats[row], words = packed(entry)
        if len(self._circles) > self.capacity:
            self._circles.clear()
        circle = self._circles.setdefault(entry.audience, entry.audience)  # most entries share a few
        self._words[row] = (*words[:AUDIENCE], circle, *words[AUDIENCE + 1 :])
        self._features[row] = self.metric.row(entry.affect)
        self._states[row] = 0.0 if state is None else state

    def _grow(self) -> None:
        rows = min(2 * len(self._ints), self.capacity)
        self._ints, self._floats, self._features, self._states = (
            _longer(matrix, rows) for matrix in (self._ints, self._floats, self._features, self._states)
        )

    # -- reading: entries

    def get(self, entry_id: int) -> MemoryEntry | None:
        row = self._row_of.get(entry_id)
        if row is None:
            return None
        ints, floats = self._ints[row].tolist(), self._floats[row].tolist()
        return unpacked(ints, floats, self._words[row], self._states[row].copy())

    def entries(self, rows: Rows) -> list[MemoryEntry]:
        """The entries of these rows, in their order."""
        ints, floats = self._ints.take(rows, 0).tolist(), self._floats.take(rows, 0).tolist()
        words = map(self._words.__getitem__, rows.tolist())
        return list(map(unpacked, ints, floats, words, self._states.take(rows, 0)))

    def saying(self, user_id: str, text: str) -> frozenset[int]:
        """Ids of the entries in which a user says exactly this, ignoring case."""
        folded, theirs = text.casefold(), self.said_by(user_id).nonzero()[0]
        return frozenset(
            entry_id
            for row, entry_id in zip(theirs.tolist(), self.ids[theirs].tolist(), strict=True)
            if self._words[row][1].casefold() == folded
        )

    # -- reading: all rows at once, shape (len,)

    @property
    def ids(self) -> npt.NDArray[np.int64]:
        return self._ints[: self._size, ID]

    @property
    def pinned(self) -> Mask:
        return np.asarray(self._ints[: self._size, PINNED] != 0)

    @property
    def held(self) -> Mask:
        """Whether each row must not be evicted (pinned, or asked to be remembered)."""
        return np.asarray(self._ints[: self._size, HELD] != 0)

    def importances(self) -> Floats:
        return _in_force(self._floats[: self._size])

    def weights(self) -> Floats:
        """Importances as they look in hindsight."""
        return self._floats[: self._size, WEIGHT].copy()

    def strengths(self, now: float, rows: Rows | None = None) -> Floats:
        """Strength of `rows` (None: all) at world time `now`."""
        floats = self._floats[: self._size] if rows is None else self._floats[rows]
        recalled = floats[:, LAST_RECALLED]
        since = np.where(np.isnan(recalled), floats[:, TIMESTAMP], recalled)
        result: Floats = strength(_in_force(floats), now - since, floats[:, STABILITY])
        return result

    def likeness(self, affect: Affect) -> Floats:
        """Likeness of feeling of each row to `affect`, 0…1."""
        features = self._features[: self._size]
        if self._unfelt is None:
            self._unfelt = np.flatnonzero(np.isnan(features[:, 0])).tolist()
        return self.metric.alike(features, affect, self._unfelt)

    def said_by(self, user_id: str) -> Mask:
        """Whether each row is by this user."""
        return np.asarray(self._ints[: self._size, USER] == code(user_id))

    def known_to(self, listeners: frozenset[str] | None) -> Mask:
        """Whether each row may be spoken of before these listeners; None for no limit."""
        column = self._ints[: self._size, CIRCLE]
        if listeners is None or not column.any():
            return np.ones(self._size, dtype=np.bool_)
        circles: list[int] = column.tolist()
        knows = {PUBLIC: True}  # each circle is asked once, however many secrets it shares
        for row, circle in enumerate(circles):
            if circle not in knows:
                knows[circle] = may_learn(listeners, self._words[row][AUDIENCE])
        return np.fromiter(map(knows.__getitem__, circles), np.bool_, self._size)

    def allowed(self, present: frozenset[str] | None, without: Collection[int]) -> Mask:
        """Whether each row may be spoken of before `present` and is not among `without`."""
        mask = self.known_to(present)
        for entry_id in without:
            row = self._row_of.get(entry_id)
            if row is not None:
                mask[row] = False
        return mask

    def newest(self, count: int | None = None, mask: Mask | None = None) -> Rows:
        """Rows of the `count` latest entries (all by default) where `mask` holds, oldest first."""
        order = np.argsort(self.ids)
        if mask is not None:
            order = order[mask[order]]
        return order if count is None else order[max(len(order) - count, 0) :]

    def top(self, scores: Floats, limit: int, mask: Mask | None = None) -> Rows:
        """Rows of the `limit` highest scores where `mask` holds, best first; equal scores: newer first."""
        rows = np.arange(self._size) if mask is None else mask.nonzero()[0]
        if limit <= 0:
            return rows[:0]
        if len(rows) > _SORTED_WHOLE and len(rows) > limit:
            edge = np.partition(scores.take(rows), -limit)[-limit]
            rows = rows[scores.take(rows) >= edge]
        rising = np.lexsort((self._ints[:, ID].take(rows), scores.take(rows)))
        return rows[rising[: -limit - 1 : -1]]


def _in_force(floats: Floats) -> Floats:
    override = floats[:, OVERRIDE]
    return np.where(np.isnan(override), floats[:, ENCODED], override)


def _longer(matrix: npt.NDArray[Any], rows: int) -> npt.NDArray[Any]:
    """A copy with room for more rows, in the same memory order."""
    longer = np.zeros_like(matrix, shape=(rows, matrix.shape[1]))
    longer[: len(matrix)] = matrix
    return longer
