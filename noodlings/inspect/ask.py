"""Searching an agent's archive on behalf of somebody who looks.

Whoever may read everything asks the archive itself. Anybody else asks an archive of what they themselves told
the agent and nothing more: in the whole one, the words of others would still show in the scores.
"""

from __future__ import annotations

from collections.abc import Sequence

from noodlings.errors import UserError
from noodlings.inspect.look import Look
from noodlings.inspect.rights import may_read
from noodlings.ports import Archive
from noodlings.recall.filters import Filters
from noodlings.recall.focus import Search
from noodlings.recall.search import Hit
from noodlings.values.memory import MemoryEntry


def search_for(look: Look, records: Archive) -> Search:
    """Finds what this caller may read, in everything that is kept of an agent.

    Raises, when called:
        UserError: there is nothing to look for, or the agent's memory is a plain list.
        StoreError: the archive cannot be read.
    """
    caller, archive = look.caller, look.agent.archive
    if archive is None:
        raise UserError(
            f"{look.name}'s memory is a plain list, which cannot be searched; "
            "set memory.use_hierarchical to true"
        )

    async def search(query: str, filters: Filters, limit: int) -> Sequence[Hit]:
        def admits(entry: MemoryEntry) -> bool:
            return may_read(caller, entry) and filters.admits(entry)

        await archive.whole()
        if caller.sees_all:
            return await archive.search(query, filters, limit=limit, asker=caller.user_id)
        own = await archive.part(records.told_by(look.agent_id, caller.user_id), admits)
        vector = await archive.vector(query, caller.user_id)
        return own.search(query, filters, limit=limit, query_vector=vector, asker=caller.user_id)

    return search
