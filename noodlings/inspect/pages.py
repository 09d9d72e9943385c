"""What anybody may know of an agent's people and days, as pages for the notes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from noodlings.inspect.journal import JournalDayView, days_of
from noodlings.inspect.people import FactView, PersonCardView, cards_of
from noodlings.inspect.viewpoint import Viewpoint
from noodlings.ports import Repository
from noodlings.text import clean
from noodlings.values.caller import Caller, Names, Role
from noodlings.values.memory import MemoryEntry
from noodlings.values.page import Page, Statement
from noodlings.values.persona import Persona

T = TypeVar("T")


class OpenViewpoint(Viewpoint):
    """What anybody may know of an agent. It needs neither an agent nor an event loop: any thread can use it.

    Args:
        names: a copy that nobody changes.
    """

    def __init__(self, store: Repository, persona: Persona, names: Names, now: float) -> None:
        self.caller = Caller("", "", Role.VIEWER)
        self.persona, self.archive = persona, None
        self.agent_id, self.name = persona.id, clean(persona.name)
        self.store, self.names, self.now, self.characters = store, names, now, ()

    async def pause(self) -> None:
        await asyncio.sleep(0)

    async def aside(self, work: Callable[[], T]) -> T:
        return work()

    def stored(self, ids: Sequence[int]) -> dict[int, MemoryEntry]:
        return {number: entry for number, entry in super().stored(ids).items() if not entry.private}


async def pages_of(viewpoint: OpenViewpoint) -> list[Page]:
    """A page for each person and each day that something is told of."""
    cards, _, _ = await cards_of(viewpoint, bare=False)
    days = [_day(day) async for day in days_of(viewpoint) if day.sentences]
    return [*map(_person, cards), *days]


def _person(card: PersonCardView) -> Page:
    plans = [Statement(plan.words, (plan.evidence,), plan.when[:10]) for plan in card.plans]
    facts = [_fact(fact, card.name) for fact in (*card.facts, *card.superseded)]
    return Page(card.of, card.name, (*plans, *facts), also=card.also, also_evidence=card.also_evidence)


def _fact(fact: FactView, about: str) -> Statement:
    """Who told it is said where that was somebody else."""
    by = "" if fact.told_by.casefold() == about.casefold() else f", told by {fact.told_by}"
    evidence = tuple(sorted({*fact.evidence, *fact.superseded_evidence}))
    return Statement(fact.words, evidence, f"{fact.kind}{by}", fact.superseded_by)


def _day(day: JournalDayView) -> Page:
    told = tuple(Statement(one.text, one.evidence) for one in day.sentences)
    worded_in = tuple(one.worded_in for one in day.sentences if one.worded_in is not None)
    return Page(day.day, day.day, told, day=True, also_evidence=worded_in)
