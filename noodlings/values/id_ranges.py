"""Ids up to which something was done, where that did not always go on in order."""

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
        made = cls()
        for after, upto in pairs:
            made = made.with_range(after, upto)
        return made

    def __contains__(self, number: int) -> bool:
        return any(after < number <= upto for after, upto in self.ranges)

    @property
    def first_gap(self) -> int:
        """The id up to which everything from the first one on is in it."""
        return self.ranges[0][1] if self.ranges and self.ranges[0][0] == 0 else 0

    def with_range(self, after: int, upto: int) -> IdRanges:
        """The same with all ids above one, up to another."""
        if upto <= after:
            return self
        apart = [pair for pair in self.ranges if pair[1] < after or upto < pair[0]]
        joined = [(after, upto), *(pair for pair in self.ranges if pair not in apart)]
        whole = min(pair[0] for pair in joined), max(pair[1] for pair in joined)
        return IdRanges(tuple(sorted([*apart, whole])))
