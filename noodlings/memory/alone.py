"""One at a time: a class whose methods several threads may call.

Hosts keep their list in one thread and write it to disk, or ask a model, in another. So whatever is public in
a memory runs alone, and nobody sees half of a change. What takes long, such as a file, stays outside.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")

_FREE = frozenset({"__init__", "__getstate__", "__setstate__"})


def one_at_a_time(but: Collection[str] = ()) -> Callable[[type[T]], type[T]]:
    """Let every method of a class, own or inherited, hold `self.lock` while it runs.

    The lock is reentrant, so that methods may call each other. Names with one underscore are called by those
    that hold it already; attributes and what is written in C are alone anyway.

    Args:
        but: methods that do not hold it.
    """

    def decorate(cls: type[T]) -> type[T]:
        for name, method in inspect.getmembers(cls, inspect.isfunction):
            public = not name.startswith("_") or name.startswith("__")
            if public and name not in _FREE and name not in but:
                setattr(cls, name, _alone(method))
        return cls

    return decorate


def _alone(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def alone(self: Any, *args: Any, **named: Any) -> Any:
        with self.lock:
            return method(self, *args, **named)

    return alone
