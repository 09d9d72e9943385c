"""Ids, or days, up to which something was done, where that did not always go on in order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IdRanges:
    """A set of ids, kept as ranges. A value.

    Attributes:
        ranges: pairs of ids, rising and apart: each stands for all ids above the first, up to the second.
    """

    ranges: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, pairs: Iterable[Iterable[int]]) -> IdRanges:
        """From pairs in any order; those that touch are joined."""
        joined: list[tuple[int, int]] = []
        for after, upto in sorted((after, upto) for after, upto in pairs if after < upto):
            if joined and after <= joined[-1][1]:
                joined[-1] = joined[-1][0], max(joined[-1][1], upto)
            else:
                joined.append((after, upto))
        return cls(tuple(joined))

    def __contains__(self, number: int) -> bool:
        return any(after < number <= upto for after, upto in self.ranges)

    @property
    def first_gap(self) -> int:
        """The id up to which everything from the first one on is in it."""
        return self.ranges[0][1] if self.ranges and self.ranges[0][0] == 0 else 0

    def with_range(self, after: int, upto: int) -> IdRanges:
        """The same with all ids above one, up to another."""
        return IdRanges.of([*self.ranges, (after, upto)])
