"""Searching an agent's archive on behalf of somebody who looks.

Whoever may read everything asks the archive itself. Anybody else asks an archive of what they themselves told
the agent and nothing more: in the whole one, the words of others would still show in the scores.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Protocol

from noodlings.agent.archive import AgentArchive
from noodlings.agent.asking import subject
from noodlings.errors import UserError
from noodlings.inspect.look import Look
from noodlings.inspect.rights import may_read
from noodlings.ports import Archive
from noodlings.recall.filters import Filters
from noodlings.recall.search import Hit
from noodlings.values.memory import MemoryEntry

LOADING_SECONDS = 5.0
"""So long a question waits for an archive that is not loaded yet; then it is answered by what there is."""


class Find(Protocol):
    """A search on behalf of a caller; `options` as in `noodlings.recall.search.Searcher.search`."""

    async def __call__(self, query: str, filters: Filters, limit: int, **options: Any) -> Sequence[Hit]:
        """Hits, best first."""


def search_for(look: Look, records: Archive) -> Find:
    """Finds what this caller may read, in everything that is kept of an agent.

    Raises, when called:
        UserError: there is nothing to look for, or the agent's memory is a plain list.
        StoreError: the archive cannot be read.
    """
    caller, archive = look.caller, searchable(look)

    async def search(query: str, filters: Filters, limit: int, **options: Any) -> Sequence[Hit]:
        def admits(entry: MemoryEntry) -> bool:
            return may_read(caller, entry) and filters.admits(entry)

        query = subject(query)
        options |= {"limit": limit, "asker": caller.user_id}
        if caller.sees_all:
            archive.begin()
            with suppress(TimeoutError):
                await asyncio.wait_for(archive.whole(), LOADING_SECONDS)
            return await archive.search(query, filters, **options)
        own = await archive.part(records.told_by(look.agent_id, caller.user_id), admits)
        vector = await archive.vector(query, caller.user_id, own)
        return own.search(query, filters, query_vector=vector, **options)

    return search


def searchable(look: Look) -> AgentArchive:
    """The archive of the agent that is looked at. Raises `UserError` where its memory is a plain list."""
    if look.agent.archive is None:
        raise UserError(
            f"{look.name}'s memory is a plain list, which cannot be searched; "
            "set memory.use_hierarchical to true"
        )
    return look.agent.archive
