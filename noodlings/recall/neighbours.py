"""Neighbours in the conversation: what was said just before and after helps to find a line.

"Yes, last Tuesday" answers a question that only the line before it contains. So a line is also found by its
neighbours: those of the same talk, nearer ones more. One table of weights serves words and vectors alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from noodlings.recall.growing import Growing

BEFORE = (0.6, 0.4)
"""How much the line before, and the one before that, count for a line."""
AFTER = 0.6
"""How much the line after it counts."""

TALK_GAP = 3_600.0
"""World seconds of silence after which it is another talk."""

Rows = npt.NDArray[np.intp]
Numbers = npt.NDArray[np.float32]

NOWHERE: Rows = np.empty(0, np.intp)

_EDGE = 2  # empty rows before the first and after the last, so that no neighbour lies outside


class Neighbours:
    """Which rows of an archive follow each other in the same talk."""

    def __init__(self) -> None:
        self._times = Growing(np.float64)
        self._places = Growing(np.int32)
        self._codes: dict[str, int] = {}
        # What the row 1 (2) before it counts for a row: its weight in the same talk, else 0.
        self._one = Growing(np.float32)
        self._two = Growing(np.float32)

    def append(self, timestamp: float, place: str) -> None:
        """The next row: the same talk goes on unless it was long silent or is elsewhere."""
        times, places, code = (
            self._times.rows,
            self._places.rows,
            self._codes.setdefault(place, len(self._codes)),
        )
        goes_on = len(times) > 0 and places[-1] == code and abs(timestamp - times[-1]) <= TALK_GAP
        went_on = len(times) > 0 and self._one.rows[-1] > 0.0
        self._one.append(BEFORE[0] if goes_on else 0.0)
        self._two.append(BEFORE[1] if goes_on and went_on else 0.0)
        self._times.append(timestamp)
        self._places.append(code)

    def of(self, row: int) -> list[tuple[float, int]]:
        """(weight, row) of a row itself and of those of its neighbours that there are."""
        one, two = self._one.rows, self._two.rows
        near = [(1.0, row)]
        if one[row]:
            near.append((BEFORE[0], row - 1))
        if two[row]:
            near.append((BEFORE[1], row - 2))
        if row + 1 < len(one) and one[row + 1]:
            near.append((AFTER, row + 1))
        return near

    def only(self, rows: Rows) -> Neighbours:
        """Which of some rows (rising) follow each other, as if there were no others."""
        part = Neighbours()
        part._times, part._places = self._times.taken(rows), self._places.taken(rows)
        times, places = part._times.rows, part._places.rows
        goes_on = np.zeros(len(rows), np.float32)
        goes_on[1:] = (places[1:] == places[:-1]) & (np.abs(np.diff(times)) <= TALK_GAP)
        part._one.extend(len(rows))
        part._one.rows[:] = goes_on * np.float32(BEFORE[0])
        part._two.extend(len(rows))
        part._two.rows[1:] = goes_on[1:] * goes_on[:-1] * np.float32(BEFORE[1])
        return part

    def around(self, rows: Rows) -> Rows:
        """The rows and whatever may count for them, sorted, without doubles."""
        near = np.zeros(len(self._times) + 2 * _EDGE, np.bool_)
        for by in (-2, -1, 0, 1):
            near[rows + (_EDGE + by)] = True
        return np.flatnonzero(near[_EDGE:-_EDGE])

    def reach(self) -> Reach:
        """The neighbourhood of all rows as it is now, for one query."""
        return Reach(_padded(self._one.rows), _padded(self._two.rows))

    def gather(self, values: Numbers, rows: Rows | None = None) -> Numbers:
        """Values of all rows, (n,) or (n, m) → for each of `rows` (None: all) the weighed sum around it."""
        reach, padded = self.reach(), _padded(values)
        at: Rows | slice = slice(_EDGE, _EDGE + len(values)) if rows is None else rows + _EDGE
        return reach.sum_at(padded, at)


@dataclass(frozen=True, slots=True)
class Reach:
    """What neighbours count, by row + 2, shape (n + 4,)."""

    one: Numbers
    two: Numbers

    def sum_at(self, padded: Numbers, at: Rows | slice) -> Numbers:
        """The weighed sums around some rows."""
        before, second, after = (_moved(at, by) for by in (-1, -2, 1))
        total = self.one[at] * padded[before].T
        total += self.two[at] * padded[second].T
        total += self.one[after] * np.float32(AFTER / BEFORE[0]) * padded[after].T
        total += padded[at].T
        return total.T

    def spread(self, rows: Rows, values: Numbers) -> list[tuple[Rows, Numbers]]:
        """Values found at some rows as (row + 2, what they count there), for themselves and around."""
        at = rows + _EDGE
        return [
            (at, values),
            (at + 1, values * self.one[at + 1]),
            (at + 2, values * self.two[at + 2]),
            (at - 1, values * self.one[at] * np.float32(AFTER / BEFORE[0])),
        ]

    def empty(self) -> Numbers:
        """Zeros by row + 2."""
        return np.zeros_like(self.one)

    @staticmethod
    def inner(padded: Numbers) -> Numbers:
        """By row again."""
        return padded[_EDGE:-_EDGE]


def _padded(values: Numbers) -> Numbers:
    padded = np.zeros((len(values) + 2 * _EDGE, *values.shape[1:]), np.float32)
    padded[_EDGE:-_EDGE] = values
    return padded


def _moved(at: Rows | slice, by: int) -> Rows | slice:
    return slice(at.start + by, at.stop + by) if isinstance(at, slice) else at + by
