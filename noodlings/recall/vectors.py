"""Vectors: how near in meaning each entry is to a query, exactly, for all rows at once.

The rule it keeps: one index holds the vectors of one model. Rows without a vector (not embedded yet, or
forgotten) are zero and say so. One product over a contiguous matrix is what a machine does best, up to some
thousand rows. Beyond, reading them all is what takes long: there the signs of the numbers, one bit each, tell
roughly how near each row is, and only the nearest of all are multiplied, so that what is brought is measured
exactly (docs/decisions/0008-search.md). Where the vectors have most of their direction in common, or few
numbers, signs tell too little, and all are measured exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from noodlings.errors import UserError
from noodlings.recall.growing_array import GrowingArray
from noodlings.recall.neighbours import NOWHERE, Mask, Neighbours, Numbers, Rows
from noodlings.recall.rank import best_rows

# Above this share of all rows, one product over everything is faster than collecting the rows.
_WHOLE = 0.2
# So many rows are mixed with their neighbours in one go: what that takes fits into a cache, and is little
# enough for the allocator to hand out again.
_AT_ONCE = 128
EXACT = 4_096
"""Rows up to which all are measured exactly, without a look at their signs."""
CANDIDATES = 1_024
"""So many of the roughly nearest are measured exactly, at least."""
LEAST_DIMENSIONS = 256
"""Numbers below which a vector has too few signs to tell how near it is."""
MOST_COMMON = 0.5
"""Mean cosine of any two vectors above which signs tell too little: most are those of what all share."""
_SAMPLE = 256


class VectorIndex:
    """Unit vectors by row, of one model.

    Attributes:
        model: the name of the model; vectors of another never come in.
        dimensions: numbers in a vector.
    """

    def __init__(self, model: str, dimensions: int) -> None:
        if dimensions < 1:
            raise UserError(f"a vector must have at least one number, not {dimensions}")
        self.model = model
        self.dimensions = dimensions
        self._matrix = GrowingArray(np.float32, dimensions)
        self._present = GrowingArray(np.bool_)
        # 1 / length of a row mixed with its neighbours; 0 where there is no vector at all around.
        self._scale = GrowingArray(np.float32)
        # The signs of the numbers, 64 in each word, word by word: so all rows are compared at once.
        self._signs = [GrowingArray(np.uint64) for _ in range(0, dimensions, 64)]
        differing = np.arange(64 * len(self._signs) + 1)
        self._angles = np.cos(np.minimum(np.pi * differing / dimensions, np.pi)).astype(np.float32)
        self._missing = 0
        self._room: Numbers = np.empty(0, np.float32)  # for products; fresh memory costs as much as a sort

    def __len__(self) -> int:
        return len(self._matrix)

    @property
    def count(self) -> int:
        return len(self) - self._missing

    def count_of(self, rows: Rows) -> int:
        return int(self._present.rows[rows].sum())

    def reserve(self, rows: int) -> None:
        self._matrix.reserve(rows)

    def add(self, embedded: Mask, vectors: Numbers | None, neighbours: Neighbours) -> None:
        """Add rows; those that are `embedded` have the vectors, as `all_checked` returns them."""
        first = len(self)
        self.extend(len(embedded))
        self._put(first + np.flatnonzero(embedded), 0.0 if vectors is None else vectors)
        self._refresh(np.arange(first, len(self)), neighbours)

    def extend(self, rows: int) -> None:
        """Add this many rows without a vector."""
        for numbers in (self._matrix, self._present, self._scale, *self._signs):
            numbers.extend(rows)
        self._missing += rows

    def place(self, rows: Rows, vectors: Numbers, neighbours: Neighbours) -> None:
        """Give some rows (rising) vectors, as `all_checked` returns them."""
        self._put(rows, vectors)
        self._refresh(rows, neighbours)

    def clear(self, rows: Rows, neighbours: Neighbours) -> None:
        self._missing += int(self._present.rows[rows].sum())
        self._matrix.rows[rows] = 0.0
        self._present.rows[rows] = False
        self._refresh(rows, neighbours)

    def checked(self, vector: npt.ArrayLike) -> Numbers:
        """A vector as float32 of length 1 and shape (dimensions,), or `UserError`."""
        checked: Numbers = self.all_checked([vector])[0]
        return checked

    def all_checked(self, vectors: Sequence[npt.ArrayLike] | Numbers) -> Numbers:
        """The same for several vectors, shape (n, dimensions)."""
        try:
            numbers = np.asarray(vectors, np.float64)
        except (TypeError, ValueError) as error:
            raise UserError(f"a vector must be {self.dimensions} numbers, not {vectors!r:.60}") from error
        if numbers.shape[1:] != (self.dimensions,):
            raise UserError(
                f"a vector of {self.model} has shape ({self.dimensions},), not {numbers.shape[1:]}: "
                "vectors of two models do not mix"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.sqrt(np.einsum("ij,ij->i", numbers, numbers))
        if not (np.isfinite(lengths) & (lengths != 0.0)).all():
            raise UserError(f"a vector must be finite and not all zero; its length is {lengths.min()}")
        return np.asarray(numbers / lengths[:, None], np.float32)

    def many(self, rows: Rows | None) -> bool:
        """Whether these rows (None: all) are too many to measure exactly, and signs tell enough about them.

        Other rows do not count, so that hidden rows change nothing.
        """
        count = len(self) if rows is None else len(rows)
        if count <= EXACT or self.dimensions < LEAST_DIMENSIONS:
            return False
        places = np.arange(0, count, max(count // _SAMPLE, 1))
        some = places if rows is None else rows[places]
        common = self._matrix.rows[some].sum(axis=0) / max(self.count_of(some), 1)
        return bool(common @ common <= MOST_COMMON)

    def search(
        self, query: npt.ArrayLike, limit: int = 10, rows: Rows | None = None
    ) -> list[tuple[int, float]]:
        """The nearest of `rows` (None: all) with their cosines, nearest first, without their neighbours."""
        query = self.checked(query)
        if self._missing:
            rows = np.flatnonzero(self._present.rows) if rows is None else rows[self._present.rows[rows]]
        if self.many(rows):
            rough = self._rough(query)[:-1]
            near = np.sort(best_rows(rough if rows is None else rough[rows], candidates(limit)))
            rows = near if rows is None else rows[near]
        cosines = self._products(query)[:-1] if rows is None else self._matrix.rows[rows] @ query
        best = best_rows(cosines, limit)
        found = best if rows is None else rows[best]
        return [(int(row), float(cosine)) for row, cosine in zip(found, cosines[best], strict=True)]

    def only(self, rows: Rows) -> VectorIndex:
        """A copy with these rows alone, as if there were no others."""
        part = VectorIndex(self.model, self.dimensions)
        part._matrix, part._present = self._matrix.taken(rows), self._present.taken(rows)
        part._missing = len(rows) - int(part._present.rows.sum())
        part._scale.extend(len(rows))
        part._scale.rows[:] = np.nan  # not known yet; `_scales` measures it
        part._signs = [signs.taken(rows) for signs in self._signs]
        return part

    def meaning(
        self,
        query: npt.ArrayLike,
        neighbours: Neighbours,
        connected: float = 1.0,
        rows: Rows | None = None,
        hidden: Rows = NOWHERE,
        average: float | None = None,
        rough: bool = False,
        common: Numbers | float = 0.0,
    ) -> Numbers:
        """Cosine of the query with each row, by itself and mixed with its neighbours, 0…1.

        The mixed vectors are never built: the product of a sum is the sum of the products. A row around which
        nothing is embedded yet counts as average, so that it can still be found by its words.

        Args:
            connected: how much the mix counts beside the row by itself, 0…1.
            rows: only these; None for all.
            hidden: rows whose vectors count nowhere.
            average: what a row without a vector counts; None for the mean of `rows`.
            rough: by the signs alone, which is off by .06 or so and reads a thirtieth of the memory.
            common: what is subtracted from the query and from each row, shape (dimensions,): what is like
                everything that is said counts less, what is unlike it more.
        """
        query = self.checked(query) - np.asarray(common, np.float32)
        take: Rows | slice = slice(None) if rows is None else rows
        cosines = self._rough(query) if rough else self._cosines(query, rows, neighbours)
        cosines[:-1] -= np.float32(np.sum(common * query)) * self._present.rows
        own: Numbers = cosines[:-1][take]
        if connected < 1.0:
            own = own.clip(0.0, 1.0)
            _fill(own, ~self._present.rows[take], average)
        if connected == 0.0:
            return own
        cosines[hidden] = 0.0
        scale = self._scales(neighbours, rows, hidden, rough)
        mixed = neighbours.gather(cosines, rows)
        mixed *= scale
        np.clip(mixed, 0.0, 1.0, out=mixed)
        _fill(mixed, scale == 0.0, average)
        if connected == 1.0:
            return mixed
        mixed -= own
        mixed *= np.float32(connected)
        mixed += own
        return mixed

    def coherence(self, earlier: Rows, later: Rows) -> tuple[float, Numbers]:
        """How much nearer in meaning lines that follow each other are than any two of them, −1…1; their mean.

        The mean cosine of each pair, less that of all pairs of the later lines (the squared length of their
        mean). Near 0 in a room where everybody talks about something else.

        Args:
            earlier, later: rows, pair by pair.
        """
        after = self._matrix.rows[later]
        mean: Numbers = after.mean(axis=0)
        pairs = np.einsum("ij,ij->i", self._matrix.rows[earlier], after)
        return float(pairs.mean() - mean @ mean), mean

    def cosine(self, query: npt.ArrayLike, row: int) -> float:
        """The cosine of the query with one row, without its neighbours; 0 where it has no vector."""
        return float(self._matrix.rows[row] @ self.checked(query))

    def vector(self, row: int) -> Numbers:
        """The vector of a row, shape (dimensions,); all zero where it has none."""
        vector: Numbers = self._matrix.rows[row]
        return vector

    def likeness(self, one: int, other: int) -> float | None:
        """The cosine of two rows, −1…1; None where one has no vector."""
        both = self._present.rows[one] and self._present.rows[other]
        return float(self._matrix.rows[one] @ self._matrix.rows[other]) if both else None

    def _scales(self, neighbours: Neighbours, rows: Rows | None, hidden: Rows, rough: bool) -> Numbers:
        """The scale of `rows` (None: all). What is mixed with a hidden row is measured without it, or the
        score would tell how near in meaning the hidden row is."""
        scale = self._scale.rows if rows is None else self._scale.rows[rows]
        unmeasured = np.isnan(scale)
        if len(hidden):
            unseen = np.zeros(len(self) + 1, np.bool_)
            unseen[hidden] = True
            unmeasured |= neighbours.beside(unseen, rows)
        else:
            unseen = None
        if not unmeasured.any():
            return scale
        scale, beside = scale.copy(), np.flatnonzero(unmeasured)
        whose = beside if rows is None else rows[beside]
        if rough:
            scale[beside] = self._rough_scale(neighbours, whose, unseen)
            return scale
        for start in range(0, len(beside), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            scale[beside[some]] = _scale(neighbours.gather(self._matrix.rows, whose[some], unseen))
        return scale

    def _cosines(self, query: Numbers, rows: Rows | None, neighbours: Neighbours) -> Numbers:
        """Cosines of the query with each row, shape (n + 1,), the last 0; 0 for what `rows` do not need."""
        if rows is None or len(rows) > _WHOLE * len(self):
            return self._products(query)
        near = neighbours.around(rows)
        cosines = np.zeros(len(self) + 1, np.float32)
        cosines[near] = self._matrix.rows[near] @ query
        return cosines

    def _products(self, query: Numbers) -> Numbers:
        """The query times each row, shape (n + 1,), the last 0, in memory that the next call reuses."""
        if len(self._room) <= len(self):
            self._room = np.empty(len(self) + len(self) // 2 + 1, np.float32)
        products = self._room[: len(self) + 1]
        np.dot(self._matrix.rows, query, out=products[:-1])
        products[-1] = 0.0
        return products

    def _rough(self, query: Numbers) -> Numbers:
        """The query times each row by the signs alone, shape (n + 1,); 0 without a vector."""
        differing = np.zeros(len(self), np.uint16)
        room = np.empty(len(self), np.uint64)
        for signs, word in zip(self._signs, _signs(query[None])[0], strict=True):
            np.bitwise_xor(signs.rows, word, out=room)
            differing += np.bitwise_count(room)
        cosines = np.empty(len(self) + 1, np.float32)
        np.take(self._angles, differing, out=cosines[:-1])
        cosines[:-1] *= np.float32(np.linalg.norm(query)) * self._present.rows
        cosines[-1] = 0.0
        return cosines

    def _rough_scale(self, neighbours: Neighbours, rows: Rows, unseen: Mask | None) -> Numbers:
        """As `_scale` of the mixed vectors of `rows`, by the signs alone."""
        near = neighbours.near(rows, unseen)
        present = [np.append(self._present.rows, False)[others] for _, others in near]
        squares = sum(weight * weight * there for (weight, _), there in zip(near, present, strict=True))
        for (one, (mine, here)), (other, (theirs, there)) in combinations(enumerate(near), 2):
            differing = np.zeros(len(rows), np.uint16)
            for signs in self._signs:
                differing += np.bitwise_count(signs.rows[here] ^ signs.rows[there])
            squares += 2.0 * mine * theirs * self._angles[differing] * (present[one] & present[other])
        squares = np.maximum(squares, 0.0).astype(np.float32)
        scale: Numbers = np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0.0)
        return scale

    def _put(self, rows: Rows, vectors: Numbers | float) -> None:
        self._missing -= int((~self._present.rows[rows]).sum())
        self._matrix.rows[rows] = vectors
        self._present.rows[rows] = True

    def _refresh(self, rows: Rows, neighbours: Neighbours) -> None:
        """Update the signs of some rows and the scale of all rows that they are mixed into."""
        for signs, words in zip(self._signs, _signs(self._matrix.rows[rows]).T, strict=True):
            signs.rows[rows] = words
        mixed = neighbours.whose(rows)
        for start in range(0, len(mixed), _AT_ONCE):
            some = mixed[start : start + _AT_ONCE]
            self._scale.rows[some] = _scale(neighbours.gather(self._matrix.rows, some))


def candidates(limit: int) -> int:
    """How many of the roughly nearest rows are measured exactly to find the `limit` nearest."""
    return max(CANDIDATES, 4 * limit)


def _signs(vectors: Numbers) -> npt.NDArray[np.uint64]:
    """The signs of vectors of shape (n, dimensions), 64 in each word, shape (n, words)."""
    octets = np.packbits(vectors > 0.0, axis=1)
    if missing := -octets.shape[1] % 8:
        octets = np.pad(octets, ((0, 0), (0, missing)))
    return octets.view(np.uint64)


def _fill(values: Numbers, unknown: Mask, average: float | None) -> None:
    """Replace unknown values by the average; None for the mean of the known ones."""
    if unknown.any():
        if average is None:
            average = float(values[~unknown].mean()) if not unknown.all() else 0.0
        values[unknown] = average


def _scale(mixed: Numbers) -> Numbers:
    """1 / length of each row of shape (n, dimensions), 0 where that is 0."""
    lengths = np.sqrt(np.einsum("ij,ij->i", mixed, mixed))
    scale: Numbers = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
    return scale
