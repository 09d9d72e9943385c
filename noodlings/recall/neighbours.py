"""Neighbours in the conversation: what was said just before and after helps to find a line.

"Yes, last Tuesday" answers a question that only the line before it contains. So a line is also found by its
neighbours: those of the same talk, nearer ones more. One table of weights serves words and vectors alike.
What stands aside, such as a thought of the agent's own, has no neighbours and interrupts no talk.
"""

from __future__ import annotations

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

    def append(self, timestamp: float, place: str, aside: bool = False) -> None:
        """The next row: the same talk goes on unless it was long silent or is elsewhere."""
        row, latest = len(self), _NONE if aside else self._latest
        code = self._codes.setdefault(place, len(self._codes))
        if latest != _NONE:
            silence = abs(timestamp - self._times.rows[latest])
            if self._places.rows[latest] != code or silence > TALK_GAP:
                latest = _NONE
        self._times.append(timestamp)
        self._places.append(code)
        self._aside.append(aside)
        self._one.append(latest)
        self._two.append(_NONE if latest == _NONE else self._one.rows[latest])
        self._next.append(_NONE)
        if latest != _NONE:
            self._next.rows[latest] = row
        if not aside:
            self._latest = row

    def only(self, rows: Rows) -> Neighbours:
        """Which of some rows (rising) follow each other, as if there were no others."""
        part = Neighbours()
        part._times, part._places = self._times.taken(rows), self._places.taken(rows)
        part._aside = self._aside.taken(rows)
        lines = np.flatnonzero(~part._aside.rows)
        times, places = part._times.rows[lines], part._places.rows[lines]
        goes_on = (places[1:] == places[:-1]) & (np.abs(np.diff(times)) <= TALK_GAP)
        for numbers in (part._one, part._two, part._next):
            numbers.extend(len(rows))
            numbers.rows[:] = _NONE
        earlier, later = lines[:-1][goes_on], lines[1:][goes_on]
        part._one.rows[later] = earlier
        part._next.rows[earlier] = later
        part._two.rows[later] = part._one.rows[earlier]
        return part

    def of(self, row: int) -> list[tuple[float, int]]:
        """(weight, row) of a row itself and of those of its neighbours that there are."""
        near = ((BEFORE[0], self._one), (BEFORE[1], self._two), (AFTER, self._next))
        others = [(weight, int(rows.rows[row])) for weight, rows in near]
        return [(1.0, row), *((weight, other) for weight, other in others if other != _NONE)]

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

    def whose(self, row: int) -> list[int]:
        """Those whose neighbour a row is, and the row itself."""
        after = int(self._next.rows[row])
        rows = [
            row,
            int(self._one.rows[row]),
            after,
            _NONE if after == _NONE else int(self._next.rows[after]),
        ]
        return [other for other in rows if other != _NONE]

    def around(self, rows: Rows) -> Rows:
        """The rows and whatever may count for them, rising, without doubles."""
        near = np.zeros(len(self) + 1, np.bool_)
        for some in (rows, self._one.rows[rows], self._two.rows[rows], self._next.rows[rows]):
            near[some] = True
        return np.flatnonzero(near[:-1])

    def gather(self, values: Numbers, rows: Rows | None = None, unseen: Mask | None = None) -> Numbers:
        """Values of all rows, (n,) or (n, m) → for each of `rows` (None: all) the weighed sum around it.

        Args:
            unseen: by row, and False for none at the end, shape (n + 1,): these count for no other.
        """
        at: Rows | slice = slice(None) if rows is None else rows
        total: Numbers = values[at].copy()
        for weight, near in ((BEFORE[0], self._one), (BEFORE[1], self._two), (AFTER, self._next)):
            others = near.rows[at]
            if unseen is not None:
                others = np.where(unseen[others], _NONE, others)
            total += np.float32(weight) * _taken(values, others)
        return total

    def beside(self, unseen: Mask, rows: Rows) -> Rows:
        """Those of `rows`, by their place in it, around which one is `unseen` (as in `gather`)."""
        near = (unseen[others.rows[rows]] for others in (self._one, self._two, self._next))
        return np.flatnonzero(np.logical_or.reduce(list(near)))

    def spread(self, rows: Rows, values: Numbers) -> list[tuple[Rows, Numbers]]:
        """Values found at some rows as (row, what they count there), for themselves and around.

        A row of −1 stands for none: it falls onto the last place of an array with one more than there are
        rows. Within each pair no other row comes twice.
        """
        after = self._next.rows[rows]
        second = np.where(after == _NONE, _NONE, self._next.rows[after])
        return [
            (rows, values),
            (after, values * np.float32(BEFORE[0])),
            (second, values * np.float32(BEFORE[1])),
            (self._one.rows[rows], values * np.float32(AFTER)),
        ]


def _taken(values: Numbers, rows: Rows) -> Numbers:
    """The values of some rows, 0 where there is no such row."""
    taken: Numbers = values.take(rows, axis=0)
    taken[rows == _NONE] = 0.0
    return taken
