"""Searching an agent's archive on behalf of somebody who looks.

Whoever may not read everything finds what they themselves told the agent, as if nobody else had ever said a
word to it: what a search for one user promises (`noodlings.recall.search`).
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
from noodlings.inspect.rights import readable_by
from noodlings.recall.filters import Filters
from noodlings.recall.search import Hit

LOADING_SECONDS = 5.0
"""So long a question waits for an archive that is not loaded yet; then it is answered by what there is."""


class Find(Protocol):
    """A search on behalf of a caller; `options` as in `noodlings.recall.search.Searcher.search`."""

    async def __call__(self, query: str, filters: Filters, limit: int, **options: Any) -> Sequence[Hit]:
        """Hits, best first."""


def search_for(look: Look) -> Find:
    """Finds what this caller may read, in everything that is kept of an agent.

    Raises, when called:
        UserError: there is nothing to look for, or the agent's memory is a plain list.
        StoreError: the archive cannot be read.
    """
    caller, archive = look.caller, searchable(look)

    async def search(query: str, filters: Filters, limit: int, **options: Any) -> Sequence[Hit]:
        archive.begin()
        with suppress(TimeoutError):
            await asyncio.wait_for(archive.whole(), LOADING_SECONDS)
        options |= {"limit": limit, "asker": caller.user_id}
        return await archive.search(subject(query), readable_by(caller, filters), **options)

    return search


def searchable(look: Look) -> AgentArchive:
    """The archive of the agent that is looked at. Raises `UserError` where its memory is a plain list."""
    if look.agent.archive is None:
        raise UserError(
            f"{look.name}'s memory is a plain list, which cannot be searched; "
            "set memory.use_hierarchical to true"
        )
    return look.agent.archive
