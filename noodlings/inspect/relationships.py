"""What an agent makes of people, as one caller may read it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from noodlings.inspect.viewpoint import Viewpoint, cut, readable_by
from noodlings.inspect.views import View, ViewOfAgent
from noodlings.recall.filters import Filters


@dataclass(frozen=True, slots=True)
class RelationshipView(View):
    """What an agent makes of one person.

    Attributes:
        of, name: the id of the person, and the name as shown.
        words: what it is to them: "fond of them".
        lines: how many lines of theirs that is made of.
        pleasant, unpleasant: how many of those moved it for and against them.
        evidence: ids of the few that weigh most, rising.
        last_age: seconds since the last of the lines.
    """

    of: str
    name: str
    words: str
    lines: int
    pleasant: int
    unpleasant: int
    evidence: tuple[int, ...]
    last_age: float


@dataclass(frozen=True, slots=True)
class ProfileView(ViewOfAgent):
    """A page of the relationships of an agent, the strongest first.

    Attributes:
        offset: of the first of `relationships`; total: how many there are.
    """

    relationships: tuple[RelationshipView, ...]
    offset: int
    total: int


def relationship_with(viewpoint: Viewpoint, of: str) -> tuple[float, RelationshipView] | None:
    """How strong a relationship is, 0…2, and the relationship.

    None with a stranger, and where relationships are turned off or not loaded yet.
    """
    archive = viewpoint.archive
    seen = readable_by(viewpoint.caller, Filters(user=of))
    made = None if archive is None else archive.relationship(seen, viewpoint.now)
    if made is None or not made.lines:
        return None
    name, last_age = viewpoint.called(of), viewpoint.since(made.last)
    counts = (made.lines, made.pleasant, made.unpleasant)
    view = RelationshipView(of, name, made.words, *counts, made.evidence, last_age)
    return made.familiarity + abs(made.warmth), view


async def profile_of(viewpoint: Viewpoint, limit: int | None = None, offset: int = 0) -> ProfileView:
    """A page of the relationships. Raises `UserError` for a limit below 1, or an offset below 0."""
    cut((), limit, offset)  # refused before any work
    archive, caller, found = viewpoint.agent.archive, viewpoint.caller, list[tuple[float, RelationshipView]]()
    if archive is not None and archive.relationships:
        await archive.whole()
        for of in sorted(archive.index.people.met) if caller.sees_all else [caller.user_id]:
            if of not in viewpoint.agent.persona.own_ids and (one := relationship_with(viewpoint, of)):
                found.append(one)
            await asyncio.sleep(0)
    found.sort(key=lambda pair: -pair[0])
    shown = tuple(view for _, view in cut(found, limit, offset))
    return ProfileView(*viewpoint.of_agent, shown, offset, len(found))
