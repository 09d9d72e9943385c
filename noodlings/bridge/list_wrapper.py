"""MemoryListWrapper: a list of dicts, as old bridges keep one, with a hierarchical memory behind it.

It is a real `list` of the very dicts that were appended, the last 500 of them, so slices, comprehensions,
`in`, `json.dumps` and `.copy()` are Python's own. Whatever comes in is encoded; the last 20 are working
memory, and what matters stays in `hm` when the list has let it go: taking a dict out of the list is not
forgetting. What a host writes of its rows brings the memory back with them (`noodlings.bridge.row_marks`).

    class Bridge:
        conversation_context = MemoryListWrapper.attribute()

    self.conversation_context.append({...})                                # encoded
    self.conversation_context = self.conversation_context[-100:]           # nothing lost
    self.conversation_context = []                                         # empties working memory only
    self.conversation_context = json.load(file)                            # the memory of these rows is back
    self.conversation_context.hm.get_context_for_response(user, affect)    # what came of it
    self.conversation_context.save("servnak.json")                         # and .load, see `memory/saved.py`

Threads may share it: every change runs alone, together with what it does to the memory, and a slice or a
copy is of one moment. As with any list, whoever goes through it while others append goes through a slice.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import Any, SupportsIndex

from noodlings.bridge.host_rows import KEY, Row, mark_of, read_row
from noodlings.bridge.row_marks import RowMarks, read_marks
from noodlings.errors import UserError
from noodlings.memory.encode import encode
from noodlings.memory.hierarchical import HierarchicalMemory, one_at_a_time
from noodlings.memory.saved import Saved, SavedEntry, read, write
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import Percept

SHOWN = 500
"""So many rows are shown: as many as old bridges keep."""
KNOWN_AGAIN = 500
"""So many rows that are shown no longer are known again when a host assigns a list that holds them."""

_owned: set[int] = set()
"""Python's ids of all dicts that any list shows. A host may append one dict to the lists of several agents,
and what one of them remembers must not stand in the rows of another."""


@one_at_a_time(but=("save", "load", "context_for_response"))
class MemoryListWrapper(list[Row]):
    """A list of the latest rows, over a `HierarchicalMemory`.

    For what a row may hold see `noodlings.bridge.host_rows`. What the memory perceives by other ways comes
    into the list, and what it forgets leaves it. A dict that another list shows already is shown as a copy.

    Args:
        hm: the memory behind it; a new one by default. Rows, as any list can be made of, go into a new one.
        shown: so many rows are shown, ≥ 1 and at least as many as working memory holds, which are the last.

    Raises:
        UserError: `shown` is less than 1.
    """

    def __init__(self, hm: HierarchicalMemory | Iterable[Row] = (), *, shown: int = SHOWN) -> None:
        if shown < 1:
            raise UserError(f"shown is {shown}: it must be at least 1")
        super().__init__()
        self.hm = hm if isinstance(hm, HierarchicalMemory) else HierarchicalMemory()
        self.capacity = max(shown, self.hm.working_capacity)
        # The entry's id of each row shown, and the marks of the rows lately encoded by id, oldest first.
        self._ids: list[int] = []
        self._known: dict[int, int] = {}
        self._marks = RowMarks(self.hm)
        self._changing = False
        self._changed: set[int] = set()
        self._own(())
        self.hm.mirror(self._follow)
        self._follow(None)
        if not isinstance(hm, HierarchicalMemory):
            self.extend(hm)

    @property
    def lock(self) -> RLock:
        """That of the memory."""
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

        Each instance of the host has its own, empty before the first assignment. In a dataclass it is a field
        that is empty unless a list is given. A host with `__slots__` needs `__dict__` among them, else
        `UserError`.

        Args:
            make: builds the memory behind it.
            shown: so many rows are shown.
            use_hierarchical: False takes it all back: then the attribute is a plain list. None asks the
                setting `memory.use_hierarchical`, once, when it is first needed.
        """
        return _Attribute(lambda: cls(make(), shown=shown), use_hierarchical)

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

        Of a wrapper it is `hm.get_context_for_response`, of a plain list the last so many rows. What comes
        answers `["text"]` and `.get("user")` either way.
        """
        sizes = (working_n, episodic_n, affect_similar_n)
        if isinstance(rows, MemoryListWrapper):
            return rows.hm.get_context_for_response(user_id, current_affect, *sizes, total_size)
        size = sum(sizes) if total_size is None else total_size
        return rows[max(len(rows) - size, 0) :]

    def append(self, row: Row) -> None:
        """Encode a row and show it as the last one."""
        if KEY in row or self._ids != sorted(self._ids):
            self.extend([row])
            return
        with self._alone():
            self._ids.append(self._encode(row))
            super().append(self._owned_row(row))
            if len(self) > self.capacity:
                self._let_go(self[0])
                super().__delitem__(0)
                del self._ids[0]
        self._mark_rows()

    def extend(self, rows: Iterable[Row]) -> None:
        """Append each."""
        more = list(rows)
        self._show([*self, *more], [*self._ids, *self._take_in(more)])

    def insert(self, index: SupportsIndex, row: Row) -> None:
        """Encode a row and show it there."""
        rows, ids = [*self], [*self._ids]
        rows.insert(index, row)
        ids.insert(index, self._encode(row))
        self._show(rows, ids)

    def assign(self, rows: Iterable[Row]) -> None:
        """Show the last of `rows`. Those that were encoded before are not encoded, or counted, again."""
        rows = list(rows)
        self._show(rows, self._ids_of(rows))

    def clear(self) -> None:
        """Show nothing; episodic memory stays."""
        self._show([], [])

    def pop(self, index: SupportsIndex = -1) -> Row:
        """Take one out of sight and return it."""
        row = self[index]
        del self[index]
        return row

    def remove(self, row: Row) -> None:
        """Take the first that equals `row` out of sight."""
        del self[self.index(row)]

    def reverse(self) -> None:
        """Show them the other way round."""
        self._change(lambda rows: rows.reverse())

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        """Show them in another order."""
        self._change(lambda rows: rows.sort(key=key, reverse=reverse))

    def save(self, path: str | PathLike[str]) -> None:
        """Keep the memory and the rows shown in a file; see `noodlings.memory.saved.write`.

        Arrays in a row come back as lists, and what JSON cannot hold as its text.
        """
        write(self.saved(), Path(path))

    def load(self, path: str | PathLike[str]) -> int:
        """Be as a saved list and its memory were; see `noodlings.memory.saved.read`.

        Returns how many entries there were: 0, and nothing changes, where there is no file yet.
        """
        saved = read(Path(path))
        if saved is not None:
            self.take_up(saved)
        return 0 if saved is None else len(saved.entries)

    def saved(self) -> Saved:
        """The memory with the rows shown, in their order, as a value."""
        saved = self.hm.saved()
        kept = {one.entry.id: one for one in saved.entries}
        for entry_id, row in zip(self._ids, self, strict=True):
            one = kept.pop(entry_id, None) or SavedEntry(self._entry(entry_id, row), False, False)
            kept[entry_id] = replace(one, row={name: value for name, value in row.items() if name != KEY})
        return replace(saved, entries=tuple(kept.values()))

    def take_up(self, saved: Saved) -> None:
        """Be as this was when it was saved."""
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
        """Copied or saved as the plain list it shows; `deepcopy` takes the memory along."""
        return list, ([*self],)

    def __deepcopy__(self, memo: dict[int, Any]) -> MemoryListWrapper:
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        list.extend(twin, copy.deepcopy([*self], memo))
        copied = {name: value for name, value in vars(self).items() if name != "_own_rows"}
        vars(twin).update(copy.deepcopy(copied, memo))
        twin._own(twin)
        return twin

    def _change(self, change: Callable[[list[Row]], Any]) -> None:
        """Do it to a plain list, and show that."""
        rows = [*self]
        change(rows)
        self._show(rows, self._ids_of(rows))

    def _ids_of(self, rows: list[Row]) -> list[int]:
        """The entries' ids; rows that were not encoded before are encoded now."""
        shown: dict[int, list[int]] = {}
        for row, entry_id in zip(self, self._ids, strict=True):
            shown.setdefault(id(row), []).append(entry_id)
        ids = [same.pop(0) if (same := shown.get(id(row))) else None for row in rows]
        if None not in ids:
            return [entry_id for entry_id in ids if entry_id is not None]
        known: dict[int, list[int]] = {}
        taken = frozenset(ids)
        for entry_id, mark in self._known.items():
            if entry_id not in taken:
                known.setdefault(mark, []).append(entry_id)
        for place in reversed(range(len(rows))):  # of equal rows the latest are meant
            if ids[place] is None and (same := known.get(mark_of(rows[place]))):
                ids[place] = same.pop()
        new = iter(self._take_in([row for row, entry_id in zip(rows, ids, strict=True) if entry_id is None]))
        return [next(new) if entry_id is None else entry_id for entry_id in ids]

    def _take_in(self, rows: list[Row]) -> list[int]:
        """Encode rows, and take in again what their marks tell.

        A row without a mark before one with was not in mind when they were written; it is not now. A dict
        that a list shows is said once more, and what its mark tells is of the first time.
        """
        marked = read_marks([{} if id(row) in _owned else row for row in rows])
        last = max(marked.own, default=-1)
        ids: list[int] = []
        with self._alone():
            for other in self._unheard_of(marked.others):
                entry = self.hm.readmit(other)
                self._know(entry.id, entry.row())
            for place, row in enumerate(rows):
                own = marked.own.get(place)
                if own is None and place >= last:
                    ids.append(self._encode(row))
                    continue
                kept = own or SavedEntry(self._entry_of(row), False, False)
                kept = replace(kept, entry=self.hm.readmit(kept))
                if own is not None:
                    self._marks.keep(kept)
                self._know(kept.entry.id, row)
                ids.append(kept.entry.id)
            self.hm.count_at_least(marked.perceived, marked.consolidated)
        return ids

    def _unheard_of(self, kept: list[SavedEntry]) -> list[SavedEntry]:
        """Those that are not in mind, and were not forgotten."""
        held = self.hm.retrieve_working() + self.hm.retrieve_episodic(limit=None) if kept else []
        here = {_who_said_what(entry) for entry in held}
        return [
            one
            for one in kept
            if _who_said_what(one.entry) not in here and not self.hm.is_forgotten(one.entry.id)
        ]

    def _show(self, rows: list[Row], ids: list[int]) -> None:
        rows = rows[-self.capacity :]
        before = frozenset(self._own_rows)
        self._own(row for row in rows if id(row) in before)
        shown = [row if id(row) in before else self._owned_row(row) for row in rows]
        super().__setitem__(slice(None), shown)
        self._ids = ids[-self.capacity :]
        working = slice(-self.hm.working_capacity, None)
        if not self.hm.holds_working(self._ids[working]):
            with self._alone():
                latest = zip(self._ids[working], self[working], strict=True)
                self.hm.set_working([self._entry(*pair) for pair in latest])
        self._mark_rows(all_rows=any(id(row) not in before for row in shown))

    def _encode(self, row: Row) -> int:
        percept, extra = read_row(row, self._now())
        entry = self.hm.add(**percept, **extra)
        self._know(entry.id, row)
        return entry.id

    def _entry(self, entry_id: int, row: Row) -> MemoryEntry:
        """The entry of a row; one that had left both streams is read from its row again."""
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

    # -- which dicts are shown

    def _own(self, rows: Iterable[Row]) -> None:
        """These dicts and no others are shown here."""
        if "_own_rows" not in vars(self):
            self._own_rows: set[int] = set()
            weakref.finalize(self, _owned.difference_update, self._own_rows)
        _owned.difference_update(self._own_rows)
        self._own_rows.clear()
        self._own_rows.update(map(id, rows))
        _owned.update(self._own_rows)

    def _owned_row(self, row: Row) -> Row:
        """The dict that is shown for a row: a copy where another list shows the row."""
        if self._is_elsewhere(row):
            row = {name: value for name, value in row.items() if name != KEY}
        self._own_rows.add(id(row))
        _owned.add(id(row))
        return row

    def _is_elsewhere(self, row: Row) -> bool:
        """Whether another list shows this dict."""
        return id(row) in _owned and id(row) not in self._own_rows

    def _let_go(self, first: Row) -> None:
        if sum(row is first for row in self) == 1:
            self._own_rows.discard(id(first))
            _owned.discard(id(first))

    # -- what the memory does

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._changing = True
        try:
            yield
        finally:
            self._changing = False

    def _mark_rows(self, all_rows: bool = False) -> None:
        """Let the rows tell what became of their entries."""
        self._marks.update(self._changed, self._ids, self, all_rows)
        self._changed.clear()

    def _follow(self, ids: Collection[int] | None) -> None:
        """The memory holds entries otherwise than before, or everything (None)."""
        if self._changing:
            self._changed.update(ids or ())
            return
        shown = dict(zip(self._ids, self, strict=True))
        if ids is None:
            rows = {entry.id: shown.get(entry.id) for entry in self.hm.retrieve_working()}
            self._marks.clear()
            self._changed.update(rows, (entry.id for entry in self.hm.retrieve_episodic(limit=None)))
        else:
            self._changed.update(ids)
            rows = {one: row for one, row in shown.items() if not self.hm.is_forgotten(one)}
            rows |= {one: None for one in sorted(ids) if one not in rows and self.hm.is_working(one)}
        for entry_id, row in rows.items():
            if row is None and (entry := self.hm.find(entry_id)) is not None:
                rows[entry_id] = entry.row()
                self._know(entry_id, entry.row())
        if [*rows] == self._ids:
            self._mark_rows()
        else:
            self._show([row for row in rows.values() if row is not None], [*rows])


def _who_said_what(entry: MemoryEntry) -> tuple[float, str, str]:
    return entry.timestamp, entry.user_id, entry.user_text


class _Attribute:
    """The descriptor behind `MemoryListWrapper.attribute`."""

    def __init__(self, make: Callable[[], MemoryListWrapper], use_hierarchical: bool | None) -> None:
        self._make = make
        self._use_hierarchical = use_hierarchical
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}_wrapper"

    def __get__(self, host: Any, owner: type | None = None) -> Any:
        if host is None:
            return self
        if not hasattr(host, "__dict__"):
            raise UserError(f"{type(host).__name__} has __slots__, and needs '__dict__' among them")
        held = vars(host)
        if self._name not in held:  # threads may come here at once
            held.setdefault(self._name, self._make() if self._hierarchical() else [])
        return held[self._name]

    def __set__(self, host: Any, rows: Iterable[Row] | _Attribute) -> None:
        """Show other rows. A dataclass that was given none assigns the descriptor, as its default."""
        rows = () if isinstance(rows, _Attribute) else rows
        shown = self.__get__(host)
        if isinstance(shown, MemoryListWrapper):
            shown.assign(rows)
        else:
            vars(host)[self._name] = rows if rows != () else []

    def _hierarchical(self) -> bool:
        if self._use_hierarchical is None:
            self._use_hierarchical = _setting()
        return self._use_hierarchical


def _setting() -> bool:
    """`memory.use_hierarchical`; where this was copied into a host there are no settings but its own."""
    try:
        from noodlings.config import load_settings
    except ImportError:
        return True
    return load_settings().memory.use_hierarchical
