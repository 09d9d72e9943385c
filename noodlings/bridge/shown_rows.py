"""Which dicts a list shows, and that no other list of this process shows the same.

A host may append one dict to the lists of several characters. What one of them remembers is written into its
rows (`noodlings.bridge.row_marks`), and must not stand in those of another.
"""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterable
from threading import Lock

from noodlings.bridge.host_rows import Row

_shown: set[int] = set()
"""Python's ids of all dicts that any list shows."""
_changing = Lock()


class ShownRows:
    """The dicts that one list shows. When it goes, nobody shows them any more."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._ids: set[int] = set()
        weakref.finalize(self, _shown.difference_update, self._ids)
        self.keep(rows)

    def __contains__(self, row: Row) -> bool:
        return id(row) in self._ids

    def is_elsewhere(self, row: Row) -> bool:
        """Whether another list shows this dict."""
        return id(row) in _shown and id(row) not in self._ids

    def keep(self, rows: Iterable[Row]) -> None:
        """These dicts and no others are shown."""
        now = {id(row) for row in rows}
        with _changing:
            _shown.difference_update(self._ids - now)
            _shown.update(now)
            self._ids.intersection_update(now)
            self._ids.update(now)

    def claim(self, row: Row, instead: Row) -> Row:
        """The dict that is shown for a row from now on: itself, or another where another list shows it."""
        with _changing:
            row = instead if self.is_elsewhere(row) else row
            self._ids.add(id(row))
            _shown.add(id(row))
        return row

    def let_go(self, row: Row, still: Collection[Row]) -> None:
        """A row is shown no more, unless it is among those that still are."""
        if not any(row is one for one in still):
            with _changing:
                self._ids.discard(id(row))
                _shown.discard(id(row))
