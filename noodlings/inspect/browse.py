"""Browsing memories page by page: sorted by any column, filtered by a few words.

Rights come before words: what a caller may not read is counted before anything is looked for, so that no
figure tells whether it would have been found.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

from noodlings.affect.feeling import feeling
from noodlings.errors import UserError
from noodlings.inspect.viewpoint import Viewpoint, cut
from noodlings.inspect.views import EntriesView
from noodlings.text import clean
from noodlings.values.caller import display_name
from noodlings.values.memory import STORED, MemoryEntry, Order

KEPT = 12
"""Sorted archives that are cached for the next page; one of 100,000 memories takes 0.8 MB."""
FEW = 10_000
"""Up to this many memories are looked up one by one faster than a whole archive is read."""


@dataclass(frozen=True, slots=True)
class Page:
    """Which memories are shown, and in which order.

    Attributes:
        order, falling: how they are sorted; falling means the most, the latest, or Z first.
        containing: only memories with these characters in what was said or answered or in who said it, and in
            episodic memory also in the feeling. Case does not matter (in the archive, only that of A to Z).
        everything: all that was ever perceived, instead of episodic memory alone.
        limit: at least 1; offset: at least 0.
    """

    order: str = Order.IMPORTANCE
    falling: bool = True
    containing: str = ""
    everything: bool = False
    limit: int = 100
    offset: int = 0


FIRST = Page()


class PageReader:
    """Reads pages of memories, and caches sorted archives for the next page."""

    def __init__(self) -> None:
        self._orders: OrderedDict[tuple[Hashable, str], Sequence[int]] = OrderedDict()

    async def page(self, viewpoint: Viewpoint, page: Page) -> EntriesView:
        """One page. Raises `UserError` for an unknown order, or a limit or an offset out of range."""
        if page.order not in set(Order):
            raise UserError(f"memories are sorted by {', '.join(Order)}, not by {page.order!r:.40}")
        return await self._archive(viewpoint, page) if page.everything else _mind(viewpoint, page)

    async def _archive(self, viewpoint: Viewpoint, page: Page) -> EntriesView:
        order, caller = Order(page.order), viewpoint.caller
        if order not in STORED:
            raise UserError(f"everything is sorted by {', '.join(STORED)}; {order} is known only in mind")
        perceived = viewpoint.agent.memory.stats().perceived
        ids = await self._ids(viewpoint, order, page)
        wanted = cut(ids, page.limit, page.offset)
        entries = await viewpoint.aside(partial(viewpoint.readable, wanted))
        seen = [entries[number] for number in wanted if number in entries]
        own = perceived if caller.sees_all else len(viewpoint.readable_ids())
        return viewpoint.entries("everything", seen, page.offset, len(ids), perceived - own)

    async def _ids(self, viewpoint: Viewpoint, order: Order, page: Page) -> Sequence[int]:
        """The ids of all that the caller may read, in order; cached until something is committed."""
        caller = viewpoint.caller
        wanted = clean(page.containing)
        kind = (viewpoint.agent_id, order, page.falling, caller.only_user, viewpoint.store.version())
        key = (kind, wanted)
        if key not in self._orders:
            among = self._few_with(kind, wanted)
            found = await viewpoint.aside(
                partial(viewpoint.store.in_order, viewpoint.agent_id, order, page.falling, wanted, among)
            )
            if not caller.sees_all and among is None:
                own = set(viewpoint.readable_ids())
                found = [number for number in found if number in own]
            if not caller.sees_all and order is Order.IMPORTANCE:
                known = await viewpoint.aside(partial(viewpoint.stored, found))
                seen = {number: viewpoint.figure(entry.importance) for number, entry in known.items()}
                found.sort(key=lambda number: (seen.get(number, 0.0), number), reverse=page.falling)
            self._orders[key] = array("q", found)
            while len(self._orders) > KEPT:
                self._orders.popitem(last=False)
        self._orders.move_to_end(key)
        return self._orders[key]

    def _few_with(self, kind: Hashable, wanted: str) -> Sequence[int] | None:
        """The ids found for a part of these characters, where they are few; else None."""
        found = [ids for (of, part), ids in self._orders.items() if of == kind and part and part in wanted]
        fewest = min(found, key=len, default=None)
        return fewest if fewest is not None and len(fewest) <= FEW else None


def _mind(viewpoint: Viewpoint, page: Page) -> EntriesView:
    kept, hidden = viewpoint.readable_entries(viewpoint.agent.memory.retrieve_episodic(limit=None))
    wanted = clean(page.containing).casefold()
    if wanted:
        kept = [entry for entry in kept if wanted in _searched(viewpoint, entry)]
    value = _values(viewpoint)[Order(page.order)]
    kept.sort(key=lambda entry: (value(entry), entry.id), reverse=page.falling)
    shown = cut(kept, page.limit, page.offset)
    return viewpoint.entries("episodic", shown, page.offset, len(kept), hidden)


def _values(viewpoint: Viewpoint) -> dict[Order, Callable[[MemoryEntry], float | str]]:
    return {
        Order.WHEN: lambda entry: entry.timestamp,
        Order.IMPORTANCE: lambda entry: viewpoint.figure(entry.importance),
        Order.STRENGTH: viewpoint.strength,
        Order.FEELING: lambda entry: feeling(entry.affect),
        Order.WHO: lambda entry: display_name(entry.user_id, viewpoint.names).casefold(),
        Order.TEXT: lambda entry: entry.user_text.casefold(),
    }


def _searched(viewpoint: Viewpoint, entry: MemoryEntry) -> str:
    name = display_name(entry.user_id, viewpoint.names)
    return "\n".join((entry.user_text, entry.response or "", feeling(entry.affect), name)).casefold()
