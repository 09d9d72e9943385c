"""A class attribute that is a list with a memory behind it, whatever a host assigns, or a plain list."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any

from noodlings.errors import UserError

_making = Lock()
"""Several threads may be the first to use a list."""


class ListAttribute:
    """The descriptor behind `MemoryListWrapper.attribute`.

    Args:
        kind: a class of lists, with a method `assign`.
        make: makes an empty one.
        use_hierarchical: False for a plain list; None reads the setting, once, when it is first needed.
    """

    def __init__(self, kind: type[list[Any]], make: Callable[[], Any], use_hierarchical: bool | None) -> None:
        self._kind = kind
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
        if self._name not in held or isinstance(held[self._name], self._kind) != self._use_hierarchical:
            with _making:
                self._begin(held)
        return held[self._name]

    def _begin(self, held: dict[str, Any]) -> None:
        """Start with nothing, or with the rows of a host that was pickled or made without this descriptor."""
        rows = held.get(self._name, held.pop(self._own_name, []))
        if not self._use_hierarchical:
            held.setdefault(self._name, rows)
        elif not isinstance(rows, self._kind):
            made = self._make()
            made.assign(rows or ())
            held[self._name] = made

    def __set__(self, host: Any, rows: Iterable[Any] | ListAttribute | None) -> None:
        """Show other rows. A dataclass without a value for the field assigns the descriptor itself."""
        shown = self.__get__(host)
        if isinstance(shown, self._kind):
            made: Any = shown
            made.assign(() if rows is None or isinstance(rows, ListAttribute) else rows)
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
