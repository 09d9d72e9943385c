"""A numpy array that grows at its end: adding is cheap on average, and reading costs nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_FIRST = 64


class GrowingArray:
    """Rows of one shape and type, contiguous in memory. The capacity grows by half.

    Args:
        width: numbers in a row; None for a row that is a single number.
    """

    def __init__(self, dtype: npt.DTypeLike, width: int | None = None) -> None:
        self._tail = () if width is None else (width,)
        self._data: npt.NDArray[Any] = np.zeros((_FIRST, *self._tail), dtype)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def rows(self) -> npt.NDArray[Any]:
        """All rows, as a view that is valid until the next `extend`. Writing to it is allowed."""
        return self._data[: self._length]

    def taken(self, rows: npt.NDArray[np.intp]) -> GrowingArray:
        """A copy of some rows, in their order."""
        copy = GrowingArray(self._data.dtype, *self._tail)
        copy._data = self._data[rows]
        copy._length = len(rows)
        return copy

    def extend(self, rows: int | npt.NDArray[Any]) -> None:
        """Add these rows at the end, or this many rows of zeros."""
        many = rows if isinstance(rows, int) else len(rows)
        start, end = self._length, self._length + many
        if end > len(self._data):
            self.reserve(end + start // 2)
        if rows is not many:
            self._data[start:end] = rows
        self._length = end

    def reserve(self, rows: int) -> None:
        """Make room for `rows` rows in all, so that adding up to there copies nothing."""
        if rows > len(self._data):
            data = np.zeros((rows, *self._tail), self._data.dtype)
            data[: self._length] = self.rows
            self._data = data
