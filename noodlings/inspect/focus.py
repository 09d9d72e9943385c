"""What an agent remembers about a question, as far as one caller may read it."""

from __future__ import annotations

from noodlings.inspect.link_views import FocusEntryView, FocusView
from noodlings.inspect.look import Look
from noodlings.recall.filters import EVERYTHING, Filters
from noodlings.recall.focus import Brought, Search, reconstruct_context
from noodlings.recall.links import Linked
from noodlings.recall.narrative import Teller
from noodlings.text import clean
from noodlings.values.percept import Kind

_NOT_ITS_OWN = Filters(kinds=frozenset(Kind) - {Kind.THOUGHT})
"""Beside the user, what `noodlings.inspect.rights.may_read` asks for."""


async def focus_on(look: Look, memory: Linked, search: Search, query: str, level: int) -> FocusView:
    """A reconstructed context. Raises `UserError` where there is no such level, or nothing to look for."""
    query = clean(query)
    context = await reconstruct_context(
        query,
        look.caller.only_user,
        level,
        search=search,
        memory=memory,
        teller=Teller(look.agent_id, look.names, look.now),
        filters=EVERYTHING if look.caller.sees_all else _NOT_ITS_OWN,
    )
    return FocusView(
        agent=look.agent_id,
        name=look.name,
        query=query,
        level=level,
        limit=context.level.limit,
        hours=context.level.hours,
        depth=context.level.depth,
        memories=tuple(_memory(look, brought) for brought in context.memories),
        searched=context.searched,
        linked=context.linked,
        context=tuple(context.text.splitlines()),
        tokens=context.tokens,
    )


def _memory(look: Look, brought: Brought) -> FocusEntryView:
    recalled, reached = brought.recalled, brought.reached
    return FocusEntryView(
        score=recalled.score,
        why=tuple(map(str, recalled.why)),
        scores=dict(recalled.scores),
        via=reached.via if reached else None,
        type=reached.link.type.value if reached else None,
        strength=reached.link.strength if reached else None,
        depth=reached.depth if reached else 0,
        entry=look.entry(recalled.entry),
    )
