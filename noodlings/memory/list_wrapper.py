"""MemoryListWrapper: a list of dicts, as old bridges keep one, with a hierarchical memory behind it.

It is a real `list` that shows the last entries of working memory as the very dicts that were appended, so
slices, comprehensions, `in`, `json.dumps` and `.copy()` are Python's own. Whatever comes in is encoded, and
what matters stays in `hm` when the list has let it go: taking a dict out of the list is not forgetting.

    class Bridge:
        conversation_context = MemoryListWrapper.attribute()

    self.conversation_context.append({...})                                # encoded
    self.conversation_context = self.conversation_context[-500:]           # nothing lost
    self.conversation_context = []                                         # empties working memory only
    self.conversation_context.hm.get_context_for_response(user, affect)    # what came of it
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, SupportsIndex

from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.values.percept import Kind

Row = dict[str, Any]

UNKNOWN_USER = "unknown"
REMEMBERED_ROWS = 1_000
"""So many dicts are known again when a host assigns a list that holds them."""

# Keys that are read, under the names they have here.
_READ = frozenset(
    ("user", "text", "affect", "surprise", "timestamp", "identity_salience")
    + ("step", "phenomenal_state", "response")
)
# Names that `HierarchicalMemory.add` uses for something else than a host may mean by them.
_TAKEN = frozenset(inspect.signature(HierarchicalMemory.add).parameters)


class MemoryListWrapper(list[Row]):
    """A list of the latest dicts, over a `HierarchicalMemory`.

    A dict may lack anything: `user` ("unknown"), `text` (""), `timestamp` (that of the one before), `affect`
    (nothing known, as when it is empty), `surprise` and `identity_salience` (0; clamped to 0…1).

    Args:
        hm: the memory behind it; a new one by default.
    """

    def __init__(self, hm: HierarchicalMemory | None = None) -> None:
        super().__init__()
        self.hm = HierarchicalMemory() if hm is None else hm
        self.capacity = self.hm.stats().working_capacity
        # The entry's id of each dict shown, and ids by content of the dicts lately encoded, oldest first.
        self._ids: list[int] = []
        self._known: dict[int, list[int]] = {}

    @classmethod
    def attribute(cls, make: Callable[[], HierarchicalMemory] = HierarchicalMemory) -> Any:
        """A class attribute that stays a wrapper, whatever the host assigns to it.

        Each instance of the host has its own; `make` builds the memory behind it.
        """
        return _Attribute(lambda: cls(make()))

    def append(self, row: Row) -> None:
        """Encode a dict and show it as the last one."""
        self._ids.append(self._encode(row))
        super().append(row)
        if len(self) > self.capacity:
            super().__delitem__(0)
            del self._ids[0]

    def extend(self, rows: Iterable[Row]) -> None:
        """Append each."""
        for row in list(rows):
            self.append(row)

    def assign(self, rows: Iterable[Row]) -> None:
        """Show the last of `rows`. Those that were encoded before are not encoded, or counted, again."""
        rows = list(rows)
        known = {mark: list(ids) for mark, ids in self._known.items()}
        ids = []
        for row in rows:
            again = known.get(_mark(row))
            ids.append(again.pop(0) if again else self._encode(row))
        self._show(rows, ids)

    def clear(self) -> None:
        """Show nothing; episodic memory stays."""
        self._show([], [])

    def insert(self, index: SupportsIndex, row: Row) -> None:
        """Encode a dict and show it there."""
        self._change(lambda rows: rows.insert(index, row))

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

    def __deepcopy__(self, memo: dict[int, Any]) -> MemoryListWrapper:
        twin = type(self)(copy.deepcopy(self.hm, memo))
        list.extend(twin, copy.deepcopy([*self], memo))
        twin._ids = [*self._ids]
        twin._known = copy.deepcopy(self._known, memo)
        return twin

    def _change(self, change: Callable[[list[Row]], Any]) -> None:
        """Do it to a plain list; rows that stay keep their entries, new ones get one."""
        id_of = {id(row): entry_id for row, entry_id in zip(self, self._ids, strict=True)}
        rows = [*self]
        change(rows)
        self._show(rows, [id_of.get(id(row)) or self._encode(row) for row in rows])

    def _show(self, rows: list[Row], ids: list[int]) -> None:
        super().__setitem__(slice(None), rows[-self.capacity :])
        self._ids = ids[-self.capacity :]
        self.hm.set_working(self._ids)

    def _encode(self, row: Mapping[str, Any]) -> int:
        latest = self.hm.retrieve_working(1)
        timestamp = row.get("timestamp")
        entry = self.hm.add(
            timestamp=(latest[0].timestamp if latest else 0.0) if timestamp is None else timestamp,
            step=row.get("step") or 0,
            user_id=str(row.get("user") or UNKNOWN_USER),
            user_text=str(row.get("text") or ""),
            affect=row.get("affect"),
            phenomenal_state=row.get("phenomenal_state"),
            surprise=_clamped(row.get("surprise")),
            response=row.get("response"),
            identity_salience=_clamped(row.get("identity_salience")),
            kind=Kind.THOUGHT if row.get("is_rumination") or row.get("is_self_monitor") else Kind.SAY,
            **{_free(key): value for key, value in row.items() if key not in _READ},
        )
        self._known.setdefault(_mark(row), []).append(entry.id)
        if len(self._known) > REMEMBERED_ROWS:
            del self._known[next(iter(self._known))]
        return entry.id


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
        wrapper = vars(host).get(self._name)
        if wrapper is None:
            wrapper = vars(host)[self._name] = self._make()
        return wrapper

    def __set__(self, host: Any, rows: Iterable[Row]) -> None:
        wrapper = self.__get__(host)
        if rows is not wrapper:
            wrapper.assign(rows)


def _mark(row: Mapping[str, Any]) -> int:
    """Tells dicts apart by what was said when by whom; a host may have put anything in them."""
    return hash(repr((row.get("timestamp"), row.get("user"), row.get("text"))))


def _free(key: Any) -> str:
    return f"host_{key}" if key in _TAKEN else str(key)


def _clamped(value: Any) -> float:
    return min(max(float(value or 0.0), 0.0), 1.0)
