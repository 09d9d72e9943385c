"""Which dicts a list shows; no two lists of this process show the same dict.

A host may append one dict to the lists of several characters. But what one of them remembers is written into
its rows (`noodlings.bridge.row_marks`), and must not get into those of another.
"""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterable
from threading import Lock

from noodlings.bridge.host_rows import Row

_shown: set[int] = set()
"""The `id()` of every dict that any list shows."""
_changing = Lock()


class ShownRows:
    """The dicts that one list shows, until it is garbage-collected."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._ids: set[int] = set()
        weakref.finalize(self, _shown.difference_update, self._ids)
        self.keep(rows)

    def __contains__(self, row: Row) -> bool:
        return id(row) in self._ids

    def keep(self, rows: Iterable[Row]) -> None:
        """Show these dicts and no others."""
        now = {id(row) for row in rows}
        with _changing:
            _shown.difference_update(self._ids - now)
            _shown.update(now)
            self._ids.intersection_update(now)
            self._ids.update(now)

    def claim(self, row: Row, instead: Row) -> Row:
        """Show a row, or another dict `instead` if another list shows it; returns the dict that is shown."""
        with _changing:
            row = instead if id(row) in _shown and row not in self else row
            self._ids.add(id(row))
            _shown.add(id(row))
        return row

    def let_go(self, row: Row, still: Collection[Row]) -> None:
        """Stop showing a row, unless it is among those that still are shown."""
        if not any(row is one for one in still):
            with _changing:
                self._ids.discard(id(row))
                _shown.discard(id(row))
