"""What a caller may read of an agent's memory: the one place where that is decided.

Admins and viewers read everything. Everybody else reads what they themselves told or did to the agent, and
nothing more: having stood beside somebody who spoke is not enough, and the agent's own thoughts are its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from noodlings.errors import Forbidden
from noodlings.recall.filters import Filters
from noodlings.values.audience import may_learn
from noodlings.values.caller import Caller
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import Kind

T = TypeVar("T")


def may_read(caller: Caller, entry: MemoryEntry) -> bool:
    """Whether this caller may know the words (and the feelings) of this entry."""
    own = entry.user_id == caller.user_id and entry.kind is not Kind.THOUGHT
    return caller.sees_all or (own and may_learn(frozenset({caller.user_id}), entry.audience))


def readable_by(caller: Caller, filters: Filters) -> Filters:
    """Filters that leave what `may_read` does, of what other filters leave."""
    if caller.sees_all:
        return filters
    kinds = (filters.kinds or frozenset(Kind)) - {Kind.THOUGHT}
    nothing = not kinds or filters.user not in (None, caller.user_id)
    among = frozenset() if nothing else filters.among
    user = caller.user_id
    return replace(filters, user=user, kinds=kinds, among=among, present=frozenset({user}))


def readable(
    caller: Caller, items: Iterable[T], entry_of: Callable[[T], MemoryEntry | None]
) -> tuple[list[T], int]:
    """The items whose entry may be read, in their order, and how many were left out.

    Args:
        entry_of: the entry behind an item; None where it no longer exists, which only those who see
            everything are told, because nobody knows any more whose it was.
    """
    kept, hidden = [], 0
    for item in items:
        entry = entry_of(item)
        if caller.sees_all if entry is None else may_read(caller, entry):
            kept.append(item)
        else:
            hidden += 1
    return kept, hidden


def require_all_history(caller: Caller) -> None:
    """Raise `Forbidden` unless this caller may read what others shared with an agent."""
    if not caller.sees_all:
        raise Forbidden("You may only read what you yourself shared with a character: --user me.")
