"""MemoryListWrapper: a list of dicts, as old bridges keep one, with a hierarchical memory behind it.

It is a real `list` that shows working memory as the very dicts that were appended, so slices, comprehensions,
`in`, `json.dumps` and `.copy()` are Python's own. Whatever comes in is encoded, and what matters stays in
`hm` when the list has let it go: taking a dict out of the list is not forgetting.

    class Bridge:
        conversation_context = MemoryListWrapper.attribute()

    self.conversation_context.append({...})                                # encoded
    self.conversation_context = self.conversation_context[-500:]           # nothing lost
    self.conversation_context = []                                         # empties working memory only
    self.conversation_context.hm.get_context_for_response(user, affect)    # what came of it
    self.conversation_context.save("servnak.json")                         # and .load, see `memory/saved.py`

Threads may share it: every change runs alone, together with what it does to the memory, and a slice or a
copy is of one moment. As with any list, whoever goes through it while others append goes through a slice.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import Any, SupportsIndex

from noodlings.bridge.host_rows import Row, mark_of, read_row, row_of
from noodlings.errors import UserError
from noodlings.memory.encode import encode
from noodlings.memory.hierarchical import HierarchicalMemory, one_at_a_time
from noodlings.memory.saved import Saved, read, write
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import Percept

REMEMBERED_ROWS = 500
"""So many rows are known again when a host assigns a list that holds them: as many as old bridges keep."""


@one_at_a_time(but=("save", "load"))
class MemoryListWrapper(list[Row]):
    """A list of the latest rows, over a `HierarchicalMemory`.

    For what a row may hold see `noodlings.bridge.host_rows`. What comes into working memory by other ways, or
    leaves it, comes into the list, or leaves it.

    Args:
        hm: the memory behind it; a new one by default. Rows, as any list can be made of, go into a new one.
    """

    def __init__(self, hm: HierarchicalMemory | Iterable[Row] = ()) -> None:
        super().__init__()
        self.hm = hm if isinstance(hm, HierarchicalMemory) else HierarchicalMemory()
        self.capacity = self.hm.stats().working_capacity
        # The entry's id of each row shown, and the marks of the rows lately encoded by id, oldest first.
        self._ids: list[int] = []
        self._marks: dict[int, int] = {}
        self._changing = False
        self.hm.mirror(self._follow)
        self._follow()
        if not isinstance(hm, HierarchicalMemory):
            self.extend(hm)

    @property
    def lock(self) -> RLock:
        """That of the memory."""
        return self.hm.lock

    @classmethod
    def attribute(cls, make: Callable[[], HierarchicalMemory] = HierarchicalMemory) -> Any:
        """A class attribute that stays a wrapper, whatever the host assigns to it.

        Each instance of the host has its own, empty before the first assignment; `make` builds the memory
        behind it. In a dataclass it is a field that is empty unless a list is given. A host with `__slots__`
        needs `__dict__` among them, else `UserError`.
        """
        return _Attribute(lambda: cls(make()))

    def append(self, row: Row) -> None:
        """Encode a row and show it as the last one."""
        entry_id = self._encode(row)
        super().append(row)
        self._ids.append(entry_id)
        if len(self) > self.capacity:
            super().__delitem__(0)
            if self._ids.pop(0) > min(self._ids):  # not the oldest, for somebody put them in another order
                self._show([*self], self._ids)

    def extend(self, rows: Iterable[Row]) -> None:
        """Append each."""
        for row in list(rows):
            self.append(row)

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
        places = {entry_id: place for place, entry_id in enumerate(self._ids)}
        entries = [
            replace(kept, row=self[places[kept.entry.id]]) if kept.working else kept for kept in saved.entries
        ]
        entries.sort(key=lambda kept: places.get(kept.entry.id, -1))
        return replace(saved, entries=tuple(entries))

    def take_up(self, saved: Saved) -> None:
        """Be as this was when it was saved."""
        with self._alone():
            self.hm.take_up(saved)
        self._marks.clear()
        rows = {kept.entry.id: row_of(kept.entry) if kept.row is None else kept.row for kept in saved.entries}
        for entry_id in sorted(rows):
            self._mark(entry_id, rows[entry_id])
        shown = [kept.entry.id for kept in saved.entries if kept.working and self.hm.find(kept.entry.id)]
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
        vars(twin).update(copy.deepcopy(vars(self), memo))
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
        known: dict[int, list[int]] = {}
        for entry_id, mark in self._marks.items():
            if entry_id not in ids:
                known.setdefault(mark, []).append(entry_id)
        for place in reversed(range(len(rows))):  # of equal rows the latest are meant
            if ids[place] is None and (same := known.get(mark_of(rows[place]))):
                ids[place] = same.pop()
        return [
            self._encode(row) if entry_id is None else entry_id
            for row, entry_id in zip(rows, ids, strict=True)
        ]

    def _show(self, rows: list[Row], ids: list[int]) -> None:
        super().__setitem__(slice(None), rows[-self.capacity :])
        self._ids = ids[-self.capacity :]
        with self._alone():
            self.hm.set_working([self._entry(*pair) for pair in zip(self._ids, self, strict=True)])

    def _encode(self, row: Row) -> int:
        percept, extra = read_row(row, self._now())
        with self._alone():
            entry = self.hm.add(**percept, **extra)
        self._mark(entry.id, row)
        return entry.id

    def _entry(self, entry_id: int, row: Row) -> MemoryEntry:
        """The entry of a row; one that had left both streams is read from its row again."""
        entry = self.hm.find(entry_id)
        if entry is None:
            given, extra = read_row(row, self._now())
            response = given.pop("response")
            who, text, when = (given.pop(name) for name in ("user_id", "user_text", "timestamp"))
            percept = Percept(who, text, when, audience=())
            entry = encode(entry_id, self.hm.weights, percept, **given, extra=extra)
            entry = replace(entry, response=response)
        return entry

    def _mark(self, entry_id: int, row: Row) -> None:
        self._marks[entry_id] = mark_of(row)
        if len(self._marks) > REMEMBERED_ROWS:
            del self._marks[next(iter(self._marks))]

    def _now(self) -> float:
        return max(self.hm.now, 0.0)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._changing = True
        try:
            yield
        finally:
            self._changing = False

    def _follow(self) -> None:
        """Show what working memory holds, after it was changed by somebody else."""
        if self._changing:
            return
        entries = self.hm.retrieve_working()
        held = {entry.id for entry in entries}
        shown = {entry_id: row for entry_id, row in zip(self._ids, self, strict=True) if entry_id in held}
        for entry in entries:
            if entry.id not in shown:
                shown[entry.id] = row_of(entry)
                self._mark(entry.id, shown[entry.id])
        super().__setitem__(slice(None), shown.values())
        self._ids = [*shown]


class _Attribute:
    """The descriptor behind `MemoryListWrapper.attribute`."""

    def __init__(self, make: Callable[[], MemoryListWrapper]) -> None:
        self._make = make
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}_wrapper"

    def __get__(self, host: Any, owner: type | None = None) -> Any:
        if host is None:
            return self
        if not hasattr(host, "__dict__"):
            raise UserError(f"{type(host).__name__} has __slots__, and needs '__dict__' among them")
        wrapper = vars(host).get(self._name)
        if wrapper is None:
            wrapper = vars(host).setdefault(self._name, self._make())  # threads may come here at once
        return wrapper

    def __set__(self, host: Any, rows: Iterable[Row] | _Attribute) -> None:
        """Show other rows. A dataclass that was given none assigns the descriptor, as its default."""
        self.__get__(host).assign(() if isinstance(rows, _Attribute) else rows)
