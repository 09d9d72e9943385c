"""Vectors: how near in meaning each entry is to a query, exactly, for all rows at once.

The rule it keeps: one index holds the vectors of one model. Rows without a vector (not embedded yet, or
forgotten) are zero and say so. One product over a contiguous matrix is what a machine does best; the rest is
made not to cost more than it: the best rows are found without sorting (`noodlings.recall.rank.best_rows`).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from noodlings.errors import UserError
from noodlings.recall.growing_array import GrowingArray
from noodlings.recall.neighbours import NOWHERE, Neighbours, Numbers, Rows
from noodlings.recall.rank import best_rows

# Above this share of all rows, one product over everything is faster than collecting the rows.
_WHOLE = 0.2
# So many rows are mixed with their neighbours in one go: what that takes fits into a cache, and is little
# enough for the allocator to hand out again.
_AT_ONCE = 128


class VectorIndex:
    """Unit vectors by row, of one model.

    Attributes:
        model: the name of the model; vectors of another never come in.
        dimensions: numbers in a vector.
    """

    def __init__(self, model: str, dimensions: int) -> None:
        if dimensions < 1:
            raise UserError(f"a vector has at least one number, not {dimensions}")
        self.model = model
        self.dimensions = dimensions
        self._matrix = GrowingArray(np.float32, dimensions)
        self._present = GrowingArray(np.bool_)
        # 1 / length of a row mixed with its neighbours; 0 where there is no vector at all around.
        self._scale = GrowingArray(np.float32)
        self._missing = 0
        self._room: Numbers = np.empty(0, np.float32)  # for products; fresh memory costs as much as a sort

    def __len__(self) -> int:
        return len(self._matrix)

    @property
    def missing(self) -> Rows:
        """Rows without a vector, rising."""
        return np.flatnonzero(~self._present.rows)

    @property
    def count(self) -> int:
        """How many rows have a vector."""
        return len(self) - self._missing

    def count_of(self, rows: Rows) -> int:
        """How many of some rows have one."""
        return int(self._present.rows[rows].sum())

    def reserve(self, rows: int) -> None:
        """Make room for `rows` rows in all."""
        self._matrix.reserve(rows)

    def append(self, vector: Numbers | None, neighbours: Neighbours) -> None:
        """The next row, with its vector (as `checked` returns it) or without one for now."""
        self._matrix.append(0.0 if vector is None else vector)
        self._present.append(vector is not None)
        self._missing += vector is None
        self._scale.append(0.0)
        self._refresh(len(self) - 1, neighbours)

    def extend(self, rows: int) -> None:
        """The next `rows` rows, all without a vector for now."""
        for numbers in (self._matrix, self._present, self._scale):
            numbers.extend(rows)
        self._missing += rows

    def set(self, row: int, vector: Numbers, neighbours: Neighbours) -> None:
        """Give a row its vector, as `checked` returns it."""
        self._matrix.rows[row] = vector
        self._missing -= not self._present.rows[row]
        self._present.rows[row] = True
        self._refresh(row, neighbours)

    def clear(self, row: int, neighbours: Neighbours) -> None:
        """Take the vector of a row away."""
        self._matrix.rows[row] = 0.0
        self._missing += bool(self._present.rows[row])
        self._present.rows[row] = False
        self._refresh(row, neighbours)

    def checked(self, vector: npt.ArrayLike) -> Numbers:
        """A vector as float32 of length 1 and shape (dimensions,), or `UserError`."""
        try:
            numbers = np.asarray(vector, np.float64)
        except (TypeError, ValueError) as error:
            raise UserError(f"a vector is {self.dimensions} numbers, not {vector!r:.60}") from error
        if numbers.shape != (self.dimensions,):
            raise UserError(
                f"a vector of {self.model} has shape ({self.dimensions},), not {numbers.shape}: "
                "vectors of two models do not mix"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            length = math.sqrt(float(numbers @ numbers))
        if not math.isfinite(length) or length == 0.0:
            raise UserError(f"a vector must be finite and not all zero; its length is {length}")
        return (numbers / length).astype(np.float32)

    def search(self, query: npt.ArrayLike, limit: int = 10) -> list[tuple[int, float]]:
        """The nearest rows with their cosines, nearest first, neighbours left aside."""
        cosines = self._products(self.checked(query))
        if self._missing:
            cosines[~self._present.rows] = -np.inf
        best = best_rows(cosines, min(limit, len(self) - self._missing))
        return [(int(row), float(cosines[row])) for row in best]

    def only(self, rows: Rows, neighbours: Neighbours) -> VectorIndex:
        """The vectors of some rows, as if there were no others; `neighbours` are those among them."""
        part = VectorIndex(self.model, self.dimensions)
        part._matrix, part._present = self._matrix.taken(rows), self._present.taken(rows)
        part._missing = len(rows) - int(part._present.rows.sum())
        part._scale.extend(len(rows))
        for start in range(0, len(rows), _AT_ONCE):
            some = np.arange(start, min(start + _AT_ONCE, len(rows)))
            part._scale.rows[some] = _scale(neighbours.gather(part._matrix.rows, some))
        return part

    def score(
        self,
        query: npt.ArrayLike,
        neighbours: Neighbours,
        rows: Rows | None = None,
        hidden: Rows = NOWHERE,
    ) -> Numbers:
        """Cosine of the query with each row mixed with its neighbours, 0…1, for `rows` or all of them.

        The mixed vectors are never built: the product of a sum is the sum of the products. A row around which
        nothing is embedded yet counts as average, so that it can still be found by its words.

        Args:
            hidden: rows whose vectors count nowhere.
        """
        query = self.checked(query)
        scale = self._scales(neighbours, rows, hidden)
        if rows is None or len(rows) > _WHOLE * len(self):
            cosines = self._products(query)
        else:
            near = neighbours.around(rows)
            cosines = np.zeros(len(self), np.float32)
            cosines[near] = self._matrix.rows[near] @ query
        cosines[hidden] = 0.0
        scores = neighbours.gather(cosines, rows)
        scores *= scale
        np.clip(scores, 0.0, 1.0, out=scores)
        unknown = scale == 0.0
        if unknown.any() and not unknown.all():
            scores[unknown] = scores[~unknown].mean()
        return scores

    def cosines(self, query: npt.ArrayLike, rows: Rows | None = None) -> Numbers:
        """Cosine of the query with each row by itself, 0…1, for `rows` or all of them.

        A row without a vector counts as average, so that it can still be found by its words.
        """
        query = self.checked(query)
        if rows is None:
            cosines, present = self._products(query).copy(), self._present.rows
        else:
            cosines, present = self._matrix.rows[rows] @ query, self._present.rows[rows]
        np.clip(cosines, 0.0, 1.0, out=cosines)
        if present.any():
            cosines[~present] = cosines[present].mean()
        return cosines

    def coherence(self, earlier: Rows, later: Rows) -> float:
        """How much nearer in meaning lines that follow each other are than any two of them, −1…1.

        The mean cosine of each pair, less that of all pairs of the later lines (the squared length of their
        mean). Near 0 in a room where everybody talks about something else.

        Args:
            earlier, later: rows, pair by pair.
        """
        after = self._matrix.rows[later]
        mean = after.mean(axis=0)
        pairs = np.einsum("ij,ij->i", self._matrix.rows[earlier], after)
        return float(pairs.mean() - mean @ mean)

    def cosine(self, query: npt.ArrayLike, row: int) -> float:
        """Of the query with one row, neighbours left aside; 0 where it has no vector."""
        return float(self._matrix.rows[row] @ self.checked(query))

    def vector(self, row: int) -> Numbers:
        """The vector of a row, shape (dimensions,); all zero where it has none."""
        vector: Numbers = self._matrix.rows[row]
        return vector

    def likeness(self, one: int, other: int) -> float | None:
        """The cosine of two rows, −1…1; None where one has no vector."""
        both = self._present.rows[one] and self._present.rows[other]
        return float(self._matrix.rows[one] @ self._matrix.rows[other]) if both else None

    def _scales(self, neighbours: Neighbours, rows: Rows | None, hidden: Rows) -> Numbers:
        """The scale of `rows` or all of them; what is mixed with a hidden row is measured without it.

        Else the length of the mix, and so each score, would tell how near in meaning the hidden row is.
        """
        if not len(hidden):
            return self._scale.rows if rows is None else self._scale.rows[rows]
        rows = np.arange(len(self)) if rows is None else rows
        scale: Numbers = self._scale.rows[rows]
        unseen = np.zeros(len(self) + 1, np.bool_)
        unseen[hidden] = True
        beside = neighbours.beside(unseen, rows)
        for start in range(0, len(beside), _AT_ONCE):
            some = beside[start : start + _AT_ONCE]
            scale[some] = _scale(neighbours.gather(self._matrix.rows, rows[some], unseen))
        return scale

    def _products(self, query: Numbers) -> Numbers:
        """The query times each row, shape (n,), in memory that the next call uses again."""
        if len(self._room) < len(self):
            self._room = np.empty(len(self) + len(self) // 2, np.float32)
        return np.dot(self._matrix.rows, query, out=self._room[: len(self)])

    def _refresh(self, row: int, neighbours: Neighbours) -> None:
        """Measure again what is mixed with the vector of a row."""
        for mixed in neighbours.whose(row):
            near = neighbours.of(mixed)
            weights = np.array([weight for weight, _ in near], np.float32)
            total = weights @ self._matrix.rows[[source for _, source in near]]
            length = math.sqrt(float(total @ total))
            self._scale.rows[mixed] = 1.0 / length if length else 0.0


def _scale(mixed: Numbers) -> Numbers:
    """1 / length of each row of shape (n, dimensions), 0 where that is 0."""
    lengths = np.sqrt(np.einsum("ij,ij->i", mixed, mixed))
    scale: Numbers = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
    return scale
