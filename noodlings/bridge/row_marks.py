"""Marks: a part of the memory that rows carry, so that a list that a host has written brings its memory back.

A host saves its list in its own way, mostly as JSON, and may save only a part of it. So a row whose entry is
episodic, pinned or answered has under `MARK_KEY` what the memory knows of it, and the newest of these rows
also has all other episodic entries, even those whose rows have left the list.

- A mark says which list made it. Rows get from one character's list into another's, but what the first one
  remembers must not: see `RowMarks._trusts`.
- A mark may come from any file, so it is checked: one that cannot be read, or is of another row, is ignored.
- An entry is recognized by who said what and when: what is in mind does not come twice, and what was
  forgotten here does not come back.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any
from weakref import WeakValueDictionary

from noodlings.bridge.host_rows import Row, words_of
from noodlings.errors import UserError
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.saved import MARK_KEY, SavedEntry, count, read_record, record_of
from noodlings.text import clean
from noodlings.values.memory import MemoryEntry

log = logging.getLogger(__name__)

Record = dict[str, Any]
Content = tuple[float, str, str]
"""When, who, what: by this an entry is recognized."""

_OF, _ENTRY, _OTHERS, _PERCEIVED, _CONSOLIDATED = "of", "entry", "others", "perceived", "consolidated"

_alive: WeakValueDictionary[str, RowMarks] = WeakValueDictionary()
"""The marks of every list that exists in this process, by the list's id."""
_of_this_process: set[str] = set()
"""The ids of all lists that ever were in this process."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The mark of a row.

    Attributes:
        of: id of the list that made it.
        entry: the entry of the row, if it is in the mark.
        others: other episodic entries.
        perceived, consolidated: the counts of the memory, 0 if they are not in the mark.
    """

    of: str
    entry: SavedEntry | None
    others: tuple[SavedEntry, ...]
    perceived: int
    consolidated: int


class RowMarks:
    """Keeps the marks of a list's rows up to date, and reads those of new rows."""

    def __init__(self, hm: HierarchicalMemory) -> None:
        self._hm = hm
        self._of = secrets.token_hex(6)
        _alive[self._of] = self
        _of_this_process.add(self._of)
        self._continued = {self._of}
        self._records: dict[int, Record] = {}  # of episodic entries, and of others with a mark
        self._forgotten: dict[Content, int] = {}
        self._bearer: Row | None = None
        self._most = 2 * hm.stats().episodic_capacity

    def __deepcopy__(self, memo: dict[int, Any]) -> RowMarks:
        """The marks of a copied list, which has an id of its own: its rows must be marked anew."""
        twin = RowMarks(memo[id(self._hm)])
        twin._continued |= self._continued
        twin._forgotten = dict(self._forgotten)
        twin._records = dict(self._records)
        return twin

    def entry(self, entry_id: int) -> MemoryEntry | None:
        record = self._records.get(entry_id)
        return None if record is None else read_record(record).entry

    def keep(self, kept: SavedEntry) -> None:
        """Keep what a mark told of an entry, even if the entry is in neither stream."""
        self._records[kept.entry.id] = _record_of(kept)

    def clear(self) -> None:
        """Forget all records: the memory was replaced."""
        self._records.clear()

    # -- reading

    def read(self, rows: Sequence[Row], *, several: bool) -> list[Mark | None]:
        """The marks of new rows, None for those that are missing or not trusted.

        Args:
            several: the rows come together, as from a file, and not one by one.
        """
        marks = [_read(row) if _is_ours(row) else None for row in rows]
        trusted = {of for of in {mark.of for mark in marks if mark} if self._trusts(of, several)}
        self._continued |= trusted
        return [mark if mark is not None and mark.of in trusted else None for mark in marks]

    def is_elsewhere(self, row: Row) -> bool:
        """Whether another list of this process made the mark of a row."""
        of = _mark(row).get(_OF)
        return isinstance(of, str) and of != self._of and of in _alive

    def known(self) -> dict[Content, int]:
        """The ids of entries that are in mind, or were forgotten here."""
        held = self._hm.retrieve_working() + self._hm.retrieve_episodic(limit=None)
        return self._forgotten | {content_of(entry): entry.id for entry in held}

    def _trusts(self, of: str, several: bool) -> bool:
        """Whether a list's marks are the past of this list.

        They are if that list was continued here before. A list that exists in this process is another
        character's, unless this one has no episodic memory yet: a host may create itself again and load its
        old rows. A single row, which may just have been heard, is trusted only if it comes from another
        process and there is no memory yet.
        """
        if of in self._continued:
            return True
        if several:
            return of not in _alive or not self._hm.stats().episodic
        return of not in _of_this_process and not self._hm.perceived

    # -- writing

    def update(
        self, changed: Collection[int], ids: Sequence[int], rows: Sequence[Row], all_rows: bool
    ) -> None:
        """Write into the shown rows what became of their entries.

        Args:
            changed: ids of changed entries.
            all_rows: other rows are shown than before, not only one more at the end.
        """
        for entry_id in changed:
            self._note(entry_id)
        if len(self._records) > len(ids) + self._most:
            for entry_id in self._records.keys() - set(ids):
                if not self._records[entry_id]["episodic"]:
                    del self._records[entry_id]
        places: Iterable[int] = range(len(ids))
        if not all_rows:
            places = [ids.index(entry_id) for entry_id in changed if entry_id in ids]
        for place in places:
            record = self._records.get(ids[place])
            if record is None or _mark(rows[place]).get(_ENTRY) is not record:
                self._put(rows[place], record)
        self._bear(rows)

    def _note(self, entry_id: int) -> None:
        entry, before = self._hm.find(entry_id), self._records.pop(entry_id, None)
        if self._hm.is_forgotten(entry_id):
            if before is not None:
                self._forgotten[content_of(read_record(before).entry)] = entry_id
            return
        if entry is None:  # an answered entry stays answered after it has left both streams
            if before is not None and before["override"] is not None:
                self._records[entry_id] = before | {"episodic": False}
            return
        episodic = self._hm.is_episodic(entry_id)
        if episodic or entry.pinned or entry.override is not None:
            self._records[entry_id] = _record_of(SavedEntry(entry, False, episodic))

    def _bear(self, rows: Sequence[Row]) -> None:
        """Put the other episodic entries into the newest row with a mark or, without one, the newest row."""
        marked = (row for row in reversed(rows) if _ENTRY in _mark(row))
        still = (row for row in rows if row is self._bearer)
        free = (row for row in reversed(rows) if _is_free(row))
        bearer = next(chain(marked, still, free), None)
        if self._bearer is not None and self._bearer is not bearer:
            self._put(self._bearer, _mark(self._bearer).get(_ENTRY))
        self._bearer = bearer
        if bearer is None:
            return
        own = _mark(bearer).get(_ENTRY)
        others = [one for one in self._records.values() if one["episodic"] and one is not own]
        if own is not None or others:
            counts = {_PERCEIVED: self._hm.perceived, _CONSOLIDATED: self._hm.consolidated}
            mark: Row = {_OF: self._of} | ({} if own is None else {_ENTRY: own})
            bearer[MARK_KEY] = mark | {_OTHERS: others} | counts
        else:
            self._put(bearer, None)

    def _put(self, row: Row, record: Record | None) -> None:
        """Write a new mark and never change one: hosts copy rows, and save the copies later."""
        if record is None:
            if _is_ours(row):
                del row[MARK_KEY]
        elif _is_free(row):
            row[MARK_KEY] = {_OF: self._of, _ENTRY: record}


def content_of(entry: MemoryEntry) -> Content:
    return entry.timestamp, clean(entry.user_id), entry.user_text


def has_entry(row: Row) -> bool:
    """Whether the mark of a row has the row's own entry, and not only others."""
    return _ENTRY in _mark(row)


def unmarked(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != MARK_KEY or not _is_ours(row)}


def _record_of(kept: SavedEntry) -> Record:
    """A record as in a file, without the host's own containers, which may refer to other rows."""
    plain = {name: value for name, value in kept.entry.extra.items() if isinstance(value, str | int | float)}
    return record_of(replace(kept, entry=replace(kept.entry, extra=plain)))


def _mark(row: Row) -> Mapping[str, Any]:
    mark = row.get(MARK_KEY)
    return mark if isinstance(mark, Mapping) else {}


def _is_ours(row: Row) -> bool:
    """Whether a row has one of our marks under the key, which a host may use for something of its own."""
    mark = _mark(row)
    return isinstance(mark.get(_OF), str) and (_ENTRY in mark or _OTHERS in mark)


def _is_free(row: Row) -> bool:
    return MARK_KEY not in row or _is_ours(row)


def _read(row: Row) -> Mark:
    mark = _mark(row)
    entry = _entry(mark.get(_ENTRY))
    if entry is not None and content_of(entry.entry)[1:] != words_of(row):
        entry = None
    listed = mark.get(_OTHERS)
    others = map(_entry, listed if isinstance(listed, list) else ())
    return Mark(mark[_OF], entry, tuple(one for one in others if one), *_counts(mark))


def _entry(record: Any) -> SavedEntry | None:
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
