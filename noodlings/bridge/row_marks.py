"""Marks: what rows carry of the memory behind them, so that what a host writes of its list brings it back.

A host keeps its list in its own way, as JSON most often, and may keep only a part of it. So a row whose entry
is episodic, pinned or answered has under `KEY` what the memory knows of it, and the newest of these rows also
what is episodic besides, of rows that the list no longer shows too.

A mark may come from any file, so it is read like one: what cannot be read, or tells of another row, is as if
it were not there.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from noodlings.bridge.host_rows import KEY, Row, words_of
from noodlings.errors import UserError
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.saved import SavedEntry, count, read_record, record_of
from noodlings.text import clean
from noodlings.values.memory import MemoryEntry

log = logging.getLogger(__name__)

Record = dict[str, Any]
_ENTRY, _OTHERS, _PERCEIVED, _CONSOLIDATED = "entry", "others", "perceived", "consolidated"


class RowMarks:
    """Keeps the marks of the rows that a list shows as its memory is."""

    def __init__(self, hm: HierarchicalMemory) -> None:
        self._hm = hm
        self._records: dict[int, Record] = {}  # of what is episodic, and of what else rows tell
        self._bearer: Row | None = None
        self._most = 2 * hm.stats().episodic_capacity

    def entry(self, entry_id: int) -> MemoryEntry | None:
        """The entry that a row's mark tells of."""
        record = self._records.get(entry_id)
        return None if record is None else read_record(record).entry

    def keep(self, kept: SavedEntry) -> None:
        """Know of an entry what its mark told, also when it is in neither stream."""
        self._records[kept.entry.id] = record_of(kept)

    def clear(self) -> None:
        """Know nothing: the memory holds something else altogether."""
        self._records.clear()

    def update(
        self, changed: Collection[int], ids: Sequence[int], rows: Sequence[Row], all_rows: bool
    ) -> None:
        """Let the rows tell what became of their entries.

        Args:
            changed: the ids of entries that are held otherwise than before.
            ids, rows: what is shown.
            all_rows: other rows are shown than before, not only one more at the end.
        """
        for entry_id in changed:
            record = self._record(entry_id)
            if record is None:
                self._records.pop(entry_id, None)
            else:
                self._records[entry_id] = record
        if len(self._records) > len(ids) + self._most:
            for entry_id in self._records.keys() - set(ids):
                if not self._records[entry_id]["episodic"]:
                    del self._records[entry_id]
        places: Iterable[int] = range(len(ids))
        if not all_rows:
            places = [ids.index(entry_id) for entry_id in changed if entry_id in ids]
        for place in places:
            record = self._records.get(ids[place])
            if _mark(rows[place]).get(_ENTRY) is not record:
                _put(rows[place], record)
        self._bear(rows)

    def _record(self, entry_id: int) -> Record | None:
        entry = self._hm.find(entry_id)
        if entry is None:  # what was answered stays so when it leaves both streams
            before = self._records.get(entry_id)
            return None if before is None or before["override"] is None else before | {"episodic": False}
        episodic = self._hm.is_episodic(entry_id)
        if not (episodic or entry.pinned or entry.override is not None):
            return None
        return record_of(SavedEntry(entry, False, episodic))

    def _bear(self, rows: Sequence[Row]) -> None:
        """Let the newest row with a mark tell of what is episodic besides; without any, the newest row."""
        marked = (row for row in reversed(rows) if _ENTRY in _mark(row))
        still = (row for row in rows if row is self._bearer)
        free = (row for row in reversed(rows) if _is_free(row))
        bearer = next(chain(marked, still, free), None)
        if self._bearer is not None and self._bearer is not bearer:
            _put(self._bearer, _mark(self._bearer).get(_ENTRY))
        self._bearer = bearer
        if bearer is None:
            return
        own = _mark(bearer).get(_ENTRY)
        others = [one for one in self._records.values() if one["episodic"] and one is not own]
        if own is not None or others:
            counts = {_PERCEIVED: self._hm.perceived, _CONSOLIDATED: self._hm.consolidated}
            bearer[KEY] = ({} if own is None else {_ENTRY: own}) | {_OTHERS: others} | counts
        elif _is_free(bearer):
            bearer.pop(KEY, None)


def _mark(row: Row) -> Mapping[str, Any]:
    mark = row.get(KEY)
    return mark if isinstance(mark, Mapping) else {}


def _is_free(row: Row) -> bool:
    """Whether a mark may be put there: a host may use the key for something of its own."""
    return KEY not in row or not {_ENTRY, _OTHERS}.isdisjoint(_mark(row))


def _put(row: Row, record: Record | None) -> None:
    """A new mark each time, never a changed one: hosts copy rows, and write the copies later."""
    if not _is_free(row):
        return
    if record is not None:
        row[KEY] = {_ENTRY: record}
    else:
        row.pop(KEY, None)


@dataclass(frozen=True, slots=True)
class Marked:
    """What the marks of rows tell.

    Attributes:
        own: by the place of its row, the entry of each row that has a mark.
        others: entries that were episodic and have no row here, oldest first.
        perceived, consolidated: the counts of the memory.
    """

    own: dict[int, SavedEntry]
    others: list[SavedEntry]
    perceived: int = 0
    consolidated: int = 0


def read_marks(rows: Sequence[Row]) -> Marked:
    """What the marks of these rows tell; of marks that cannot be read, nothing."""
    own: dict[int, SavedEntry] = {}
    others: dict[int, SavedEntry] = {}
    counts = [0, 0]
    for place, row in enumerate(rows):
        mark = _mark(row)
        kept = _read(mark.get(_ENTRY))
        if kept is not None and (kept.entry.user_id, kept.entry.user_text) == words_of(row):
            own[place] = kept
        listed = mark.get(_OTHERS)
        for record in listed if isinstance(listed, list) else ():
            if (kept := _read(record)) is not None:
                others[kept.entry.id] = kept
        counts = [max(pair) for pair in zip(counts, _counts(mark), strict=True)]
    shown = {kept.entry.id for kept in own.values()}
    return Marked(own, [others[one] for one in sorted(others.keys() - shown)], *counts)


def _read(record: Any) -> SavedEntry | None:
    if record is None:
        return None
    try:
        return read_record(record)
    except UserError as error:
        log.warning("a row's memory is passed over: %s", clean(str(error)))
        return None


def _counts(mark: Mapping[str, Any]) -> tuple[int, int]:
    try:
        return count(mark.get(_PERCEIVED, 0), _PERCEIVED), count(mark.get(_CONSOLIDATED, 0), _CONSOLIDATED)
    except UserError as error:
        log.warning("a row's counts are passed over: %s", clean(str(error)))
        return 0, 0
