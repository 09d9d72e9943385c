"""Neighbours in the conversation: what was said just before and after helps to find a line.

"Yes, last Tuesday" answers a question that only the line before it contains. So a line is also found by its
neighbours in the same talk, of which nearer ones count more. The same weights hold for words and vectors.
A row that stands aside, such as a thought of the agent's own, has no neighbours and interrupts no talk.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from noodlings.recall.growing_array import GrowingArray

BEFORE = (0.6, 0.4)
"""How much the line before, and the one before that, count for a line."""
AFTER = 0.6
"""How much the line after it counts."""

TALK_GAP = 3_600.0
"""World seconds of silence after which it is another talk."""

Rows = npt.NDArray[np.intp]
Numbers = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

NOWHERE: Rows = np.empty(0, np.intp)
_NONE = -1  # no such row


class Neighbours:
    """Which rows of an archive follow each other in the same talk."""

    def __init__(self) -> None:
        self._times = GrowingArray(np.float64)
        self._places = GrowingArray(np.int32)
        self._aside = GrowingArray(np.bool_)
        self._codes: dict[str, int] = {}
        # The row before each, the one before that, and the one after it, in the same talk.
        self._one = GrowingArray(np.intp)
        self._two = GrowingArray(np.intp)
        self._next = GrowingArray(np.intp)
        self._latest = _NONE

    def __len__(self) -> int:
        return len(self._times)

    def extend(self, timestamps: Sequence[float], places: Sequence[str], aside: Sequence[bool]) -> None:
        """Add rows. The same talk goes on unless there was a long silence or the place is another."""
        first, codes = len(self), self._codes
        self._times.extend(np.array(timestamps, np.float64))
        self._places.extend(np.array([codes.setdefault(place, len(codes)) for place in places], np.int32))
        self._aside.extend(np.array(aside, np.bool_))
        for numbers in (self._one, self._two, self._next):
            numbers.extend(np.full(len(timestamps), _NONE))
        lines = first + np.flatnonzero(~self._aside.rows[first:])
        if len(lines):
            self._join(lines if self._latest == _NONE else np.concatenate(([self._latest], lines)))
            self._latest = int(lines[-1])

    def _join(self, lines: Rows) -> None:
        """Record which of these lines (rising) continue the talk of the line before them."""
        times, places = self._times.rows[lines], self._places.rows[lines]
        goes_on = (places[1:] == places[:-1]) & (np.abs(times[1:] - times[:-1]) <= TALK_GAP)
        earlier, later = lines[:-1][goes_on], lines[1:][goes_on]
        self._one.rows[later] = earlier
        self._next.rows[earlier] = later
        self._two.rows[later] = self._one.rows[earlier]

    def only(self, rows: Rows) -> Neighbours:
        """A copy with these rows (rising) alone, as if there were no others."""
        part = Neighbours()
        part._times, part._places = self._times.taken(rows), self._places.taken(rows)
        part._aside = self._aside.taken(rows)
        for numbers in (part._one, part._two, part._next):
            numbers.extend(np.full(len(rows), _NONE))
        part._join(np.flatnonzero(~part._aside.rows))
        return part

    def before(self, row: int) -> int | None:
        """The row before a row in the same talk."""
        one = int(self._one.rows[row])
        return None if one == _NONE else one

    def pairs(self, most: int, hidden: Rows = NOWHERE) -> tuple[Rows, Rows]:
        """The latest `most` pairs of rows that follow each other in a talk, none of them `hidden`."""
        unseen = np.zeros(len(self) + 1, np.bool_)
        unseen[hidden] = True
        unseen[_NONE] = True
        seen = ~unseen[:-1] & ~unseen[self._one.rows]
        later = np.flatnonzero(seen)[-most:]
        return self._one.rows[later], later

    def whose(self, rows: Rows) -> Rows:
        """These rows and the rows that have one of them as a neighbour, rising."""
        after, second = self._after(rows)
        near = {*rows.tolist(), *self._one.rows[rows].tolist(), *after.tolist(), *second.tolist()}
        return np.array(sorted(near - {_NONE}), np.intp)

    def _after(self, rows: Rows) -> tuple[Rows, Rows]:
        """The row after each in the same talk, and the one after that; −1 for none."""
        after = self._next.rows[rows]
        return after, np.where(after == _NONE, _NONE, self._next.rows[after])

    def around(self, rows: Rows) -> Rows:
        """These rows and all their neighbours, rising, without duplicates."""
        near = np.zeros(len(self) + 1, np.bool_)
        for some in (rows, self._one.rows[rows], self._two.rows[rows], self._next.rows[rows]):
            near[some] = True
        return np.flatnonzero(near[:-1])

    def gather(self, values: Numbers, rows: Rows | None = None, unseen: Mask | None = None) -> Numbers:
        """Values of all rows, (n,) or (n, m) → for each of `rows` (None: all) the weighted sum around it.

        Args:
            values: may have one more at the end, which must be 0.
            unseen: rows that count for no other row, shape (n + 1,), the last False.
        """
        spare = len(values) > len(self)
        (_, own), *near = self.near(rows, unseen)
        total: Numbers = values[: len(self)].copy() if rows is None else values[own]
        for weight, others in near:
            taken: Numbers = values.take(others, axis=0)
            if not spare:
                taken[others == _NONE] = 0.0
            taken *= np.float32(weight)
            total += taken
        return total

    def near(self, rows: Rows | None, unseen: Mask | None = None) -> list[tuple[float, Rows]]:
        """Each weight with the row that has it around each of `rows` (None: all); −1 for none."""
        own = np.arange(len(self)) if rows is None else rows
        near = [(1.0, own)]
        for weight, others in ((BEFORE[0], self._one), (BEFORE[1], self._two), (AFTER, self._next)):
            at: Rows = others.rows if rows is None else others.rows[rows]
            near.append((weight, at if unseen is None else np.where(unseen[at], _NONE, at)))
        return near

    def beside(self, unseen: Mask, rows: Rows | None) -> Mask:
        """Which of `rows` (None: all) have a neighbour that is `unseen` (as in `gather`)."""
        beside: Mask = np.logical_or.reduce([unseen[others] for _, others in self.near(rows)[1:]])
        return beside

    def spread(self, rows: Rows, values: Numbers) -> list[tuple[Rows, Numbers]]:
        """Values found at some rows, as (rows, what they count there): for themselves and for neighbours.

        A row of −1 stands for none: it is the last place of an array with one more than there are rows.
        Within each pair every other row occurs once.
        """
        after, second = self._after(rows)
        return [
            (rows, values),
            (after, values * np.float32(BEFORE[0])),
            (second, values * np.float32(BEFORE[1])),
            (self._one.rows[rows], values * np.float32(AFTER)),
        ]
