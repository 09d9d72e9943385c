"""An agent's journal, from the memories that the caller may read.

A sentence that a model worded is told to whoever may read all that the model was shown for it; for the rest,
what was said is quoted. So what is forgotten is on no page.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator

from noodlings.agent.memory_question import uncalled
from noodlings.agent.unit_of_work import MADE_OF
from noodlings.errors import UserError
from noodlings.inspect.viewpoint import Viewpoint, cut
from noodlings.inspect.views import View, ViewOfAgent, iso
from noodlings.reflection.journal import WORTH_TELLING, chosen, met, quotation
from noodlings.text import clean, shorten
from noodlings.values.audience import Tier, may_learn
from noodlings.values.memory import LinkType, MemoryEntry, Order
from noodlings.values.page import Statement
from noodlings.values.percept import Kind

FEW = 20
"""Memories of one day that are told at once; more are told on a thread, while others go on."""


@dataclass(frozen=True, slots=True)
class JournalSentenceView(View):
    """A sentence of a journal.

    Attributes:
        text: in the first person, one line.
        evidence: ids of the memories that it rests on, rising.
        private: whether it is kept from some.
        worded_in: the memory in which a model worded it; null where it says what was said.
    """

    text: str
    evidence: tuple[int, ...]
    private: bool
    worded_in: int | None = None


@dataclass(frozen=True, slots=True)
class JournalDayView(View):
    """One day, in world time.

    Attributes:
        day: as "2026-11-23" (UTC).
        sentences: in the order in which things happened.
        perceived: how many memories of that day the caller may read.
    """

    day: Annotated[str, AfterValidator(_day)]
    sentences: tuple[JournalSentenceView, ...]
    perceived: int


@dataclass(frozen=True, slots=True)
class JournalView(ViewOfAgent):
    """Some days of an agent's journal, the latest first.

    Attributes:
        offset: how many days are later than the first of `days`.
        more: whether there are earlier days.
        hidden: how many memories of all days the caller may not read.
    """

    days: tuple[JournalDayView, ...]
    offset: int
    more: bool
    hidden: int


async def journal_of(
    viewpoint: Viewpoint, day: str | None = None, limit: int | None = None, offset: int = 0
) -> JournalView:
    """A page of the journal, or the page of one day.

    Args:
        day: as "2026-11-23", whatever the offset; None for the latest days.
        limit: days at most, None for all; offset: how many of the latest days are left out.

    Raises:
        UserError: there is no such day, a limit is below 1, or an offset below 0.
        StoreError: the archive cannot be loaded.
    """
    cut((), limit, offset)  # refused before any work
    wanted = None if day is None else _day(day)
    offset = offset if wanted is None else 0
    while True:
        forgettings = viewpoint.agent.forgettings
        ids = viewpoint.readable_ids()
        archive = viewpoint.agent.archive
        if archive is None:  # the ids of imported memories are not in the order of time
            ids = viewpoint.store.in_order(viewpoint.agent_id, Order.WHEN, False, among=ids)
        else:
            await archive.whole()
            ids = archive.index.in_time(ids)
        told, left_out, more = list[JournalDayView](), 0, False
        async for one, entries in _by_day(viewpoint, ids[::-1]):
            if wanted is not None and one > wanted:
                continue
            if wanted is not None and one < wanted:
                break
            if left_out < offset:
                left_out += 1
                continue
            if more := limit is not None and len(told) == limit:
                break
            told.append(await _told(viewpoint, one, entries[::-1]))
            await viewpoint.pause()
        if viewpoint.agent.forgettings == forgettings:  # else they may hold something forgotten meanwhile
            break
    return JournalView(*viewpoint.of_agent, tuple(told), offset, more, viewpoint.unread(len(ids)))


async def days_of(viewpoint: Viewpoint) -> AsyncIterator[JournalDayView]:
    """Every day, the earliest first, for whoever sees everything."""
    async for day, entries in _by_day(viewpoint, viewpoint.readable_ids()):
        yield await _told(viewpoint, day, entries)


async def _by_day(viewpoint: Viewpoint, ids: list[int]) -> AsyncIterator[tuple[str, list[MemoryEntry]]]:
    """Days with what was perceived on them, in the order of these ids: that of time, or its reverse."""
    day, entries = "", list[MemoryEntry]()
    async for entry in _read(viewpoint, ids):
        if (its_day := iso(entry.timestamp)[:10]) != day:
            if day:
                yield day, entries
            day, entries = its_day, []
        entries.append(entry)
    if day:
        yield day, entries


async def _read(viewpoint: Viewpoint, ids: list[int]) -> AsyncIterator[MemoryEntry]:
    """These memories, but no journal, without the agent's name where it was called by it."""
    async for entry in viewpoint.read(ids):
        if entry.kind is Kind.JOURNAL:
            continue
        yield replace(entry, user_text=clean(uncalled(entry.user_text, viewpoint.persona)))


def _day(day: str) -> str:
    said = clean(day)
    try:
        return datetime.strptime(said, "%Y-%m-%d").date().isoformat()
    except ValueError:
        raise UserError(
            f"There is no such day: {shorten(said, 20)}. A day is written as 2026-11-23."
        ) from None


async def _told(viewpoint: Viewpoint, day: str, entries: list[MemoryEntry]) -> JournalDayView:
    private = {entry.id for entry in entries if entry.private}

    def tell() -> tuple[Statement | None, list[list[MemoryEntry]]]:
        groups = chosen(
            entries, lambda entry: viewpoint.figure(entry.importance), viewpoint.least(WORTH_TELLING)
        )
        return met(entries, viewpoint.agent_id, viewpoint.called), groups

    first, groups = await viewpoint.aside(tell) if len(entries) > FEW else tell()
    places = {entry.id: place for place, group in enumerate(groups) for entry in group}
    sentences = _worded(viewpoint, list(places))
    covered = {number for one in sentences for number in one.evidence}
    quoted = [quotation(group, viewpoint.agent_id, viewpoint.called) for group in groups]
    quoted = [one for one in quoted if covered.isdisjoint(one.evidence)]
    sentences += [_quoted(one, private) for one in quoted]
    sentences.sort(key=lambda one: min(places[number] for number in one.evidence if number in places))
    talked = [] if first is None else [_quoted(first, private)]
    return JournalDayView(day, (*talked, *sentences), len(entries))


def _quoted(one: Statement, private: set[int]) -> JournalSentenceView:
    return JournalSentenceView(clean(one.text), one.evidence, not private.isdisjoint(one.evidence))


def _worded(viewpoint: Viewpoint, ids: list[int]) -> list[JournalSentenceView]:
    """What a model worded of these memories, as far as the caller may read all that it was shown."""
    agent_id, store, caller = viewpoint.agent_id, viewpoint.store, viewpoint.caller
    citing = {link.source for link in store.links_of(agent_id, ids) if link.type is LinkType.UNDERSTOOD}
    entries = viewpoint.stored(sorted(citing)) if citing else {}
    links = [link for link in store.links_of(agent_id, sorted(entries)) if link.type in MADE_OF]
    readable = viewpoint.readable(sorted({link.target for link in links}))
    worded = []
    for number, entry in sorted(entries.items()):
        shown = {link.target: link.type for link in links if link.source == number}
        may_read = caller.sees_all or may_learn(frozenset({caller.user_id}), entry.audience)
        holds = entry.kind is Kind.JOURNAL and entry.tier < Tier.SEALED and entry.override != 0.0
        if may_read and holds and shown.keys() <= readable.keys():
            cited = tuple(sorted(one for one in shown if shown[one] is LinkType.UNDERSTOOD))
            worded.append(JournalSentenceView(clean(entry.user_text), cited, entry.private, number))
    return worded
