"""MemoryListWrapper: a list of dicts, as old bridges keep one, with a hierarchical memory behind it.

It is a real `list` of the very dicts that were appended, the last 500 of them, so slices, comprehensions,
`in`, `json.dumps` and `.copy()` are Python's own. Every row is encoded; the last 20 are working memory, and
what matters stays in `hm` after it has left the list: removing a dict from the list is not forgetting. Rows
that a host writes and reads again bring the memory back with them (`noodlings.bridge.row_marks`).

    class Bridge:
        conversation_context = MemoryListWrapper.attribute()

    self.conversation_context.append({...})                                # encoded
    self.conversation_context = self.conversation_context[-100:]           # nothing lost
    self.conversation_context = []                                         # empties working memory only
    self.conversation_context = json.load(file)                            # the memory of these rows is back
    self.conversation_context.hm.get_context_for_response(user, affect)    # what came of it
    self.conversation_context.save("servnak.json")                         # and .load, see `memory/saved.py`

Threads may share it: every change, with its effect on the memory, runs alone, and a slice or a copy is of one
moment. As with any list, iterate over a slice while others append.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from threading import Lock, RLock
from typing import Any, SupportsIndex

from noodlings.bridge.host_rows import Row, mark_of, read_row, words_of
from noodlings.bridge.row_marks import Content, RowMarks, content_of, has_entry, unmarked
from noodlings.bridge.shown_rows import ShownRows
from noodlings.errors import UserError
from noodlings.memory.encode import encode
from noodlings.memory.hierarchical import HierarchicalMemory, one_at_a_time
from noodlings.memory.saved import MARK_KEY, Saved, SavedEntry, read, write
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import Percept

SHOWN = 500
"""How many rows are shown by default: as many as old bridges keep."""
KNOWN_AGAIN = 500
"""How many rows are recognized after they have left the list, when a host assigns a list that holds them."""


@one_at_a_time(but=("save", "load", "context_for_response"))
class MemoryListWrapper(list[Row]):
    """A list of the latest rows, over a `HierarchicalMemory`.

    For what a row may hold see `noodlings.bridge.host_rows`. What the memory perceives in other ways appears
    in the list, and what it forgets leaves it. A dict that another list already shows is shown as a copy.

    Args:
        hm: the memory behind it, or rows for a new one.
        shown: how many rows are shown, ≥ 1; never fewer than working memory holds, which are the last.

    Raises:
        UserError: `shown` is less than 1.
    """

    def __init__(self, hm: HierarchicalMemory | Iterable[Row] = (), *, shown: int = SHOWN) -> None:
        if shown < 1:
            raise UserError(f"shown is {shown}: it must be at least 1")
        super().__init__()
        self.hm = hm if isinstance(hm, HierarchicalMemory) else HierarchicalMemory()
        self.capacity = max(shown, self.hm.working_capacity)
        # The entry id of each shown row, and entry id → `mark_of` the rows encoded lately, oldest first.
        self._ids: list[int] = []
        self._known: dict[int, int] = {}
        self._marks = RowMarks(self.hm)
        self._changing = False
        self._changed: set[int] = set()
        self._rows = ShownRows()
        self.hm.mirror(self._follow)
        self._follow(None)
        if not isinstance(hm, HierarchicalMemory):
            self.extend(hm)

    @property
    def lock(self) -> RLock:
        return self.hm.lock

    @classmethod
    def attribute(
        cls,
        make: Callable[[], HierarchicalMemory] = HierarchicalMemory,
        *,
        shown: int = SHOWN,
        use_hierarchical: bool | None = None,
    ) -> Any:
        """A class attribute that stays a wrapper, whatever the host assigns to it.

        Each instance of the host has its own list, which is empty at first. In a dataclass it is a field that
        is empty unless a list is given. A host with `__slots__` needs `__dict__` among them (`UserError`).

        Args:
            make: builds the memory behind it.
            shown: how many rows are shown.
            use_hierarchical: False makes the attribute a plain list. None reads the setting
                `memory.use_hierarchical`, once, when it is first needed.
        """
        return ListAttribute(lambda: cls(make(), shown=shown), use_hierarchical)

    @staticmethod
    def context_for_response(
        rows: list[Row],
        user_id: str | None,
        current_affect: Any,
        working_n: int = 5,
        episodic_n: int = 3,
        affect_similar_n: int = 2,
        total_size: int | None = None,
    ) -> Sequence[MemoryEntry | Row]:
        """What to have in mind when answering, oldest to newest, whether `rows` is a wrapper or a plain list.

        For a wrapper it is `hm.get_context_for_response`, for a plain list the last rows. The results have
        `["text"]` and `.get("user")` either way.
        """
        sizes = (working_n, episodic_n, affect_similar_n)
        if isinstance(rows, MemoryListWrapper):
            return rows.hm.get_context_for_response(user_id, current_affect, *sizes, total_size)
        size = sum(sizes) if total_size is None else total_size
        return rows[max(len(rows) - size, 0) :]

    def append(self, row: Row) -> None:
        """Encode a row and show it as the last one."""
        if MARK_KEY in row or self._ids != sorted(self._ids):
            self._show([*self, row], [*self._ids, *self._take_in([row], [None], several=False)])
            return
        with self._alone():
            self._ids.append(self._encode(row))
            super().append(self._shown_for(row))
            if len(self) > self.capacity:
                first = self[0]
                super().__delitem__(0)
                del self._ids[0]
                self._rows.let_go(first, self)
        self._mark_rows()

    def extend(self, rows: Iterable[Row]) -> None:
        more = list(rows)
        ids = self._take_in(more, [None] * len(more), several=len(more) > 1)
        self._show([*self, *more], [*self._ids, *ids])

    def insert(self, index: SupportsIndex, row: Row) -> None:
        """Encode a row and show it there."""
        rows, ids = [*self], [*self._ids]
        rows.insert(index, row)
        ids.insert(index, *self._take_in([row], [None], several=False))
        self._show(rows, ids)

    def assign(self, rows: Iterable[Row]) -> None:
        """Show the last of `rows`. Rows that were encoded before are not encoded or counted again."""
        rows = list(rows)
        self._show(rows, self._ids_of(rows))

    def clear(self) -> None:
        """Show nothing; episodic memory stays."""
        self._show([], [])

    def pop(self, index: SupportsIndex = -1) -> Row:
        row = self[index]
        del self[index]
        return row

    def remove(self, row: Row) -> None:
        del self[self.index(row)]

    def reverse(self) -> None:
        self._change(lambda rows: rows.reverse())

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        self._change(lambda rows: rows.sort(key=key, reverse=reverse))

    def save(self, path: str | PathLike[str]) -> None:
        """Save the memory and the shown rows in a file; see `noodlings.memory.saved.write`.

        Arrays in a row are loaded as lists, and values that JSON cannot hold as their text.
        """
        write(self.saved(), Path(path))

    def load(self, path: str | PathLike[str]) -> int:
        """Load a saved list and its memory; see `noodlings.memory.saved.read`.

        Returns the number of entries. If there is no file yet, it is 0, and nothing changes.
        """
        saved = read(Path(path))
        if saved is not None:
            self.take_up(saved)
        return 0 if saved is None else len(saved.entries)

    def saved(self) -> Saved:
        """The memory with the shown rows, in their order, as a value."""
        saved = self.hm.saved()
        kept = {one.entry.id: one for one in saved.entries}
        for entry_id, row in zip(self._ids, self, strict=True):
            one = kept.pop(entry_id, None) or SavedEntry(self._entry(entry_id, row), False, False)
            kept[entry_id] = replace(one, row=unmarked(row))
        return replace(saved, entries=tuple(kept.values()))

    def take_up(self, saved: Saved) -> None:
        """Replace the list and its memory by saved ones."""
        with self._alone():
            self.hm.take_up(saved)
        self._known.clear()
        rows = {kept.entry.id: kept.entry.row() if kept.row is None else kept.row for kept in saved.entries}
        for entry_id in sorted(rows):
            self._know(entry_id, rows[entry_id])
        shown = [
            kept.entry.id
            for kept in saved.entries
            if (kept.working or kept.row is not None) and not self.hm.is_forgotten(kept.entry.id)
        ]
        self._marks.clear()
        self._changed.update(rows)
        self._show([rows[entry_id] for entry_id in shown], shown)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._change(lambda rows: rows.__setitem__(index, value))

    def __delitem__(self, index: SupportsIndex | slice) -> None:
        self._change(lambda rows: rows.__delitem__(index))

    def __iadd__(self, rows: Iterable[Row]) -> MemoryListWrapper:  # type: ignore[override, misc]
        self.extend(rows)
        return self

    def __imul__(self, times: SupportsIndex) -> MemoryListWrapper:
        self._change(lambda rows: rows.__imul__(times))
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """Copied or pickled as the plain list that it shows; `deepcopy` copies the memory, too."""
        return list, ([*self],)

    def __deepcopy__(self, memo: dict[int, Any]) -> MemoryListWrapper:
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        list.extend(twin, copy.deepcopy([*self], memo))
        copied = {name: value for name, value in vars(self).items() if name != "_rows"}
        vars(twin).update(copy.deepcopy(copied, memo))
        twin._rows = ShownRows(twin)
        twin._mark_rows(all_rows=True)
        return twin

    def _change(self, change: Callable[[list[Row]], Any]) -> None:
        """Change a plain list, and show that."""
        rows = [*self]
        change(rows)
        self._show(rows, self._ids_of(rows))

    def _ids_of(self, rows: list[Row]) -> list[int]:
        """The entry ids of rows; new rows are encoded."""
        shown: dict[int, list[int]] = {}
        for row, entry_id in zip(self, self._ids, strict=True):
            shown.setdefault(id(row), []).append(entry_id)
        ids = [same.pop(0) if (same := shown.get(id(row))) else None for row in rows]
        if None not in ids:
            return [entry_id for entry_id in ids if entry_id is not None]
        self._know_again(rows, ids)
        return self._take_in(rows, ids, several=True)

    def _know_again(self, rows: list[Row], ids: list[int | None]) -> None:
        """Fill in the ids of rows encoded before, known by their words, unless the entry is in their mark."""
        known: dict[int, list[int]] = {}
        taken = frozenset(ids)
        for entry_id, mark in self._known.items():
            if entry_id not in taken:
                known.setdefault(mark, []).append(entry_id)
        for place in reversed(range(len(rows))):  # equal rows match the latest entries
            if ids[place] is None and not has_entry(rows[place]):
                same = known.get(mark_of(rows[place]))
                ids[place] = same.pop() if same else None

    def _take_in(self, rows: list[Row], ids: list[int | None], *, several: bool) -> list[int]:
        """The entry ids of rows: unknown ones are encoded, or restored from their marks.

        A row without a mark before a row with one was not in mind when they were written, and is not now. A
        dict that this list already shows was said once more; its mark belongs to the first time.
        """
        unread = [{} if row in self._rows else row for row in rows]
        marks = self._marks.read(unread, several=several)
        told = [mark.entry if mark else None for mark in marks]
        last = max((place for place, entry in enumerate(told) if entry), default=-1)
        here = self._marks.known() if any(marks) else {}
        taken = {entry_id for entry_id in ids if entry_id is not None}
        found: list[int] = []
        with self._alone():
            self._take_in_others([other for mark in marks if mark for other in mark.others], told, here)
            for place, (row, entry_id) in enumerate(zip(rows, ids, strict=True)):
                own = told[place]
                if entry_id is None and own is not None:
                    entry_id = here.get(content_of(own.entry)) or self._readmit(own, row)
                    entry_id = None if entry_id in taken else entry_id
                elif entry_id is None and place < last:
                    entry_id = self.hm.readmit(SavedEntry(self._entry_of(row), False, False)).id
                    self._know(entry_id, row)
                found.append(self._encode(row) if entry_id is None else entry_id)
                taken.add(found[-1])
            for mark in filter(None, marks):
                self.hm.count_at_least(mark.perceived, mark.consolidated)
        return found

    def _take_in_others(
        self, others: list[SavedEntry], told: list[SavedEntry | None], here: dict[Content, int]
    ) -> None:
        """Restore episodic entries that have no row among those that come in."""
        with_row = {content_of(own.entry) for own in told if own}
        for other in sorted(others, key=lambda other: other.entry.id):
            content = content_of(other.entry)
            if content not in here and content not in with_row:
                here[content] = self._readmit(other, other.entry.row())

    def _readmit(self, kept: SavedEntry, row: Row) -> int:
        kept = replace(kept, entry=self.hm.readmit(kept))
        self._marks.keep(kept)
        self._know(kept.entry.id, row)
        return kept.entry.id

    def _show(self, rows: list[Row], ids: list[int]) -> None:
        rows = rows[-self.capacity :]
        known = [row in self._rows for row in rows]
        shown = [row if is_known else self._shown_for(row) for row, is_known in zip(rows, known, strict=True)]
        self._rows.keep(shown)
        super().__setitem__(slice(None), shown)
        self._ids = ids[-self.capacity :]
        working = slice(-self.hm.working_capacity, None)
        if not self.hm.holds_working(self._ids[working]):
            with self._alone():
                latest = zip(self._ids[working], self[working], strict=True)
                self.hm.set_working([self._entry(*pair) for pair in latest])
        self._mark_rows(all_rows=not all(known))

    def _encode(self, row: Row) -> int:
        percept, extra = read_row(row, self._now())
        entry = self.hm.add(**percept, **extra)
        self._know(entry.id, row)
        return entry.id

    def _entry(self, entry_id: int, row: Row) -> MemoryEntry:
        """The entry of a row; if it has left both streams, it is read from the row again."""
        return self.hm.find(entry_id) or replace(
            self._marks.entry(entry_id) or self._entry_of(row), id=entry_id
        )

    def _entry_of(self, row: Row) -> MemoryEntry:
        given, extra = read_row(row, self._now())
        response = given.pop("response")
        who, text, when = (given.pop(name) for name in ("user_id", "user_text", "timestamp"))
        percept = Percept(who, text, when, audience=())
        entry = encode(0, self.hm.weights, percept, **given, extra=extra)
        return replace(entry, response=response)

    def _know(self, entry_id: int, row: Row) -> None:
        self._known[entry_id] = mark_of(row)
        if len(self._known) > self.capacity + KNOWN_AGAIN:
            del self._known[next(iter(self._known))]

    def _now(self) -> float:
        return max(self.hm.now, 0.0)

    def _shown_for(self, row: Row) -> Row:
        """The dict that is shown for a row: a copy if another list shows it, or marked it last."""
        if self._marks.is_elsewhere(row):
            row = unmarked(row)
        return self._rows.claim(row, unmarked(row)) if row not in self._rows else row

    # -- what the memory does

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._changing = True
        try:
            yield
        finally:
            self._changing = False

    def _mark_rows(self, all_rows: bool = False) -> None:
        """Write into the rows what became of their entries."""
        self._marks.update(self._changed, self._ids, self, all_rows)
        self._changed.clear()

    def _follow(self, ids: Collection[int] | None) -> None:
        """React to a change of these entries in the memory, or of all entries (None)."""
        if self._changing:
            self._changed.update(ids or ())
            return
        shown = dict(zip(self._ids, self, strict=True))
        if ids is None:
            working = self.hm.retrieve_working()
            rows = {entry.id: self._row_of(entry, shown.get(entry.id)) for entry in working}
            self._marks.clear()
            self._changed.update(rows, (entry.id for entry in self.hm.retrieve_episodic(limit=None)))
        else:
            self._changed.update(ids)
            rows = {one: row for one, row in shown.items() if not self.hm.is_forgotten(one)}
            new = sorted(one for one in ids if one not in rows and self.hm.is_working(one))
            rows |= {one: self._row_of(entry) for one in new if (entry := self.hm.find(one)) is not None}
        if [*rows] == self._ids and all(row is shown[one] for one, row in rows.items()):
            self._mark_rows()
        else:
            self._show([*rows.values()], [*rows])

    def _row_of(self, entry: MemoryEntry, row: Row | None = None) -> Row:
        """The row of an entry: this one if it matches, or a new one."""
        if row is None or words_of(row) != content_of(entry)[1:]:
            row = entry.row()
            self._know(entry.id, row)
        return row


_making = Lock()
"""Several threads may be the first to use a list."""


class ListAttribute:
    """The descriptor behind `MemoryListWrapper.attribute`; `make` makes an empty list."""

    def __init__(self, make: Callable[[], MemoryListWrapper], use_hierarchical: bool | None) -> None:
        self._make = make
        self._use_hierarchical = use_hierarchical
        self._name = self._own_name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name, self._own_name = f"_{name}_wrapper", name

    def __get__(self, host: Any, owner: type | None = None) -> Any:
        if host is None:
            return self
        if not hasattr(host, "__dict__"):
            raise UserError(f"{type(host).__name__} has __slots__, and needs '__dict__' among them")
        held = vars(host)
        if self._use_hierarchical is None:
            self._use_hierarchical = _setting()
        if (
            self._name not in held
            or isinstance(held[self._name], MemoryListWrapper) != self._use_hierarchical
        ):
            with _making:
                self._begin(held)
        return held[self._name]

    def _begin(self, held: dict[str, Any]) -> None:
        """Start with nothing, or with the rows of a host that was pickled or made without this descriptor."""
        rows = held.get(self._name, held.pop(self._own_name, []))
        if not self._use_hierarchical:
            held.setdefault(self._name, rows)
        elif not isinstance(rows, MemoryListWrapper):
            made = self._make()
            made.assign(rows or ())
            held[self._name] = made

    def __set__(self, host: Any, rows: Iterable[Any] | ListAttribute | None) -> None:
        """Show other rows. A dataclass without a value for the field assigns the descriptor itself."""
        shown = self.__get__(host)
        if isinstance(shown, MemoryListWrapper):
            shown.assign(() if rows is None or isinstance(rows, ListAttribute) else rows)
        else:
            vars(host)[self._name] = [] if isinstance(rows, ListAttribute) else rows

    def __delete__(self, host: Any) -> None:
        """Delete the list and the memory behind it."""
        del vars(host)[self._name]


def _setting() -> bool:
    """`memory.use_hierarchical`; a vendored copy has no settings and takes the default."""
    try:
        from noodlings.config import load_settings
    except ImportError:
        return True
    return load_settings().memory.use_hierarchical
