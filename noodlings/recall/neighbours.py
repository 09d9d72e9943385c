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

_EDGE = 2  # empty rows before the first and after the last, so that no neighbour lies outside


class Neighbours:
    """Which rows of an archive follow each other in the same talk."""

    def __init__(self) -> None:
        self._talk = Growing(np.int32)
        self._last: tuple[float, str] | None = None
        # What the row 1 (2) before it counts for a row: its weight in the same talk, else 0.
        self._one = Growing(np.float32)
        self._two = Growing(np.float32)

    def append(self, timestamp: float, place: str) -> None:
        """The next row: the same talk goes on unless it was long silent or is elsewhere."""
        talks = self._talk.rows
        number = int(talks[-1]) if len(talks) else 0
        if self._last is not None and not (
            place == self._last[1] and abs(timestamp - self._last[0]) <= TALK_GAP
        ):
            number += 1
        self._last = (timestamp, place)
        self._one.append(BEFORE[0] if len(talks) >= 1 and talks[-1] == number else 0.0)
        self._two.append(BEFORE[1] if len(talks) >= 2 and talks[-2] == number else 0.0)
        self._talk.append(number)

    def of(self, row: int) -> list[tuple[float, int]]:
        """(weight, row) of a row itself and of those of its neighbours that there are."""
        talks = self._talk.rows
        near = [(1.0, row)]
        for source, weight in ((row - 1, BEFORE[0]), (row - 2, BEFORE[1]), (row + 1, AFTER)):
            if 0 <= source < len(talks) and talks[source] == talks[row]:
                near.append((weight, source))
        return near

    def around(self, rows: Rows) -> Rows:
        """The rows and whatever may count for them, sorted, without doubles."""
        near = np.zeros(len(self._talk) + 2 * _EDGE, np.bool_)
        for by in (-2, -1, 0, 1):
            near[rows + (_EDGE + by)] = True
        return np.flatnonzero(near[_EDGE:-_EDGE])

    def reach(self) -> Reach:
        """The neighbourhood of all rows as it is now, for one query."""
        return Reach(_padded(self._one.rows), _padded(self._two.rows))

    def gather(self, values: Numbers, rows: Rows | None = None) -> Numbers:
        """Values of all rows (n,) → for each of `rows` (all where None) the weighed sum around it."""
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
        total = self.one[at] * padded[before]
        total += self.two[at] * padded[second]
        total += self.one[after] * np.float32(AFTER / BEFORE[0]) * padded[after]
        total += padded[at]
        return total

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
    padded = np.zeros(len(values) + 2 * _EDGE, np.float32)
    padded[_EDGE:-_EDGE] = values
    return padded


def _moved(at: Rows | slice, by: int) -> Rows | slice:
    return slice(at.start + by, at.stop + by) if isinstance(at, slice) else at + by
