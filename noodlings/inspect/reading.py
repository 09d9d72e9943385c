"""Reading everything that a caller may know of an agent, however much that is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence

from noodlings.inspect.viewpoint import Viewpoint
from noodlings.values.memory import MemoryEntry, Order

PAGE = 20
"""Memories read at a time."""
PATIENCE = 0.005
"""Seconds of work after which other tasks have their turn."""


def readable_ids(viewpoint: Viewpoint) -> list[int]:
    """Ids of what the caller may read, oldest first. `may_read` must still be asked about each entry."""
    caller, agent_id = viewpoint.caller, viewpoint.agent_id
    if caller.sees_all:
        return viewpoint.store.in_order(agent_id, Order.WHEN, falling=False)
    return viewpoint.store.told_by(agent_id, caller.user_id)


async def read_unhurried(viewpoint: Viewpoint, ids: Sequence[int]) -> AsyncIterator[MemoryEntry]:
    """Those of these memories that the caller may read, in this order; other tasks run in between."""
    began = time.perf_counter()
    for at in range(0, len(ids), PAGE):
        page = ids[at : at + PAGE]
        entries = viewpoint.readable(page)
        for entry_id in page:
            if entry_id in entries:
                yield entries[entry_id]
            if time.perf_counter() - began > PATIENCE:
                await asyncio.sleep(0)
                began = time.perf_counter()
