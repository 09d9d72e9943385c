"""How relationships shape a turn. All of it is made of lines that everybody who hears the answer may know."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from noodlings.agent.recollection import RETURNS, lately
from noodlings.agent.state import AgentCore
from noodlings.ports import EntryColumns
from noodlings.recall.archive import is_line
from noodlings.recall.filters import Filters
from noodlings.reflection.relationships import relationship
from noodlings.values.affect import Affect
from noodlings.values.audience import OPEN, disclosed
from noodlings.values.percept import Kind, Percept
from noodlings.values.relationship import Relationship, stance_of

MOST = 8
"""People of whom a model is told."""


def relationships(
    core: AgentCore, percept: Percept, people: Iterable[str], without: Iterable[int] = ()
) -> tuple[Relationship, ...]:
    """What an agent makes of the first `MOST` of these people; empty while that is not known.

    Args:
        without: ids of entries that do not count.
    """
    if core.archive is None:
        return ()
    seen = Filters(present=percept.listeners, without=frozenset(without))
    made = (core.archive.relationship(replace(seen, user=of), percept.timestamp) for of in [*people][:MOST])
    return tuple(one for one in made if one is not None)


def in_mind(core: AgentCore, percept: Percept, step: int) -> Relationship:
    """What an agent makes of whoever acts, by what it has in mind up to its percept number `step`.

    It is the same whether its archive is loaded or not.
    """
    memory, user = core.memory, percept.user_id
    if not _matters(core, percept):
        return Relationship(user)
    theirs = [one for one in disclosed(memory.retrieve_working(), percept.listeners) if one.user_id == user]
    theirs += memory.retrieve_episodic(user, limit=None, present=percept.listeners)
    lines = {one.id: one for one in theirs if one.step <= step and is_line(one.kind, bool(one.source))}
    told = EntryColumns.of([*lines.values()])
    stances = [*map(stance_of, told.kinds, told.texts)]
    columns = (told.ids, told.timestamps, told.affects, told.importances, stances)
    return relationship(user, percept.timestamp, OPEN, *map(np.array, columns))


def comes_back(core: AgentCore, percept: Percept, known: Callable[[], Relationship]) -> bool:
    """Whether somebody comes, or speaks for the first time, after `AWAY_SECONDS`.

    Args:
        known: what the agent makes of them; asked only where that cannot be said without it.
    """
    if not _matters(core, percept):
        return False
    working = core.memory.retrieve_working()
    if percept.kind is not Kind.ARRIVE and working and lately(working[0].timestamp, percept):
        return False  # in a busy room it remembers the talk of a few minutes, and cannot say
    latest = disclosed(working, percept.listeners)
    here = any(one.user_id == percept.user_id and lately(one.timestamp, percept) for one in latest)
    return not here and not lately(known().last, percept)


def _matters(core: AgentCore, percept: Percept) -> bool:
    return core.archive is not None and core.archive.relationships and percept.kind in RETURNS


def moved(affect: Affect, by: float) -> Affect:
    """An affect whose valence is changed, as far as there is room."""
    return replace(affect, valence=min(max(affect.valence + by, -1.0), 1.0)) if by else affect
