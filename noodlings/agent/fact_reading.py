"""Facts about people, understood by a model from what they told, and kept as memories that rest on it.

Each line is read once: the agent's state says which were, and changes in the commit that keeps the facts.
Where many are unread, because there was no model before, what is told now is read first. A fact may be
learned by those who may learn of its line, and is forgotten with it and with what else was shown for it. One
call holds lines of one person and one audience, so that no fact is made of words that whoever learns of it
may not know.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from noodlings.agent.hearsay import compared
from noodlings.agent.learned import FACTS, former
from noodlings.agent.memory_question import uncalled
from noodlings.agent.services import AgentServices
from noodlings.agent.state import AgentCore
from noodlings.agent.unit_of_work import MADE_OF
from noodlings.ports import Allowance, ToldLines
from noodlings.recall.filters import Filters
from noodlings.reflection.plans import DAY
from noodlings.reflection.relations import TALK_SECONDS
from noodlings.values.affect import NEUTRAL
from noodlings.values.audience import Audience, of_audiences, within
from noodlings.values.caller import display_name
from noodlings.values.fact import ABOUT, FACT_KIND, UnderstoodFact
from noodlings.values.memory import HEARSAY, Link, LinkType, MemoryEntry, hearsay
from noodlings.values.percept import SPOKEN, Kind, Percept

if TYPE_CHECKING:
    from noodlings.agent.agent import Agent

SOURCE = "understood"
"""The source of facts that a model understood."""
TOLD_TO_IT, OVERHEARD = 0.1, 0.3
"""How significant a line must be to be read, 0…1: one that was said to the agent, and any other. Where nobody
judged the words, it is read from an importance of the latter."""
LINES = 8
"""Lines of one call."""
BACKLOG = 200
"""Entries that are caught up with by and by; where more are unread, what is told now is read first."""
BEFORE = 6
"""Entries before the first line of a call that may help to understand it."""
KNOWN = 12
"""Earlier facts that the model is shown."""
PAGE = 100


@dataclass(eq=False)
class FactReading:
    core: AgentCore
    services: AgentServices
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def unread(self) -> int:
        """How many lines are still to be read."""
        lines = 0
        async for entry in self._unread(self.core.read.first_gap):
            lines += self._tells(entry)
        return lines

    async def read_next(self, agent: Agent, latest: bool = False) -> int:
        """Read the next lines, and keep what they tell; returns how many were read, 0 if none are left.

        Without a model, or with a plain memory, nothing is read.

        Args:
            latest: where more than `BACKLOG` entries are unread, read the last of them.

        Raises:
            LLMError: the model did not read them; they will be read another time.
            StoreError: what they tell could not be kept.
        """
        reader = self.services.fact_reader
        if reader is None or not self.core.memory.hierarchical:
            return 0
        async with self._lock:
            after = self.core.memory.last_id - BACKLOG if latest else 0
            after = max(after, self.core.read.first_gap)
            lines, upto = await self._next(after)
            read = self.core.read.with_range(after, upto)
            if not lines:
                self.core.read = read
                return 0
            forgettings = agent.forgettings
            told = await self._told(lines)
            found = await reader.read(told, Allowance())
            if agent.forgettings == forgettings:  # else it may hold what was forgotten meanwhile
                self._remember(agent, told, found)
                self.core.read = read
                agent.keep()
            return len(lines)

    async def _next(self, after: int) -> tuple[list[MemoryEntry], int]:
        """The next unread lines of one call, and the id up to which everything is read with them."""
        lines, upto = list[MemoryEntry](), after
        async for entry in self._unread(after):
            if self._tells(entry):
                if lines and not _together(lines, entry):
                    break
                lines.append(entry)
            upto = entry.id
        return lines, upto

    async def _unread(self, after: int) -> AsyncIterator[MemoryEntry]:
        """What is not read yet of the archive after an id."""
        async for page in self.services.archive_pages(self.core.id, PAGE, after):
            for entry in page:
                if entry.id not in self.core.read:
                    yield entry

    def _tells(self, entry: MemoryEntry) -> bool:
        """Whether a memory is worth a call: somebody told it, it may matter, and the model may see it.

        What was given no importance by hand was corrected, or is not to matter.
        """
        least = TOLD_TO_IT if entry.parts.addressed else OVERHEARD
        return (
            entry.kind in SPOKEN
            and entry.user_id not in self.core.persona.own_ids
            and not entry.user_text.endswith("?")
            and entry.override != 0.0
            and (entry.parts.significance >= least or entry.importance >= OVERHEARD)
            and entry.tier <= self.services.reach
        )

    async def _told(self, lines: Sequence[MemoryEntry]) -> ToldLines:
        """What is read, with all that helps to understand it and is no more confined than it."""
        first, persona = lines[0], self.core.persona
        before = tuple(
            entry
            for entry in self.services.store.archive(self.core.id, first.id - BEFORE - 1, BEFORE)
            if entry.id < first.id
            and entry.kind in SPOKEN
            and entry.user_id == first.user_id
            and 0.0 <= first.timestamp - entry.timestamp <= TALK_SECONDS
            and _may_lend(entry.audience, first.audience)
        )
        name = display_name(first.user_id, self.services.names())
        return ToldLines(name, persona.name, tuple(lines), before, await self._known(lines))

    async def _known(self, lines: Sequence[MemoryEntry]) -> tuple[MemoryEntry, ...]:
        """Facts of the same person that hold: those most like the lines, else the latest; oldest first."""
        archive, first = self.core.archive, lines[0]
        if archive is None:
            return ()
        archive.begin()
        await archive.soon()
        words = uncalled(" ".join(line.user_text for line in lines), self.core.persona)
        among = Filters(kinds=FACTS, user=first.user_id)
        hits = await archive.search(words, among, first.tier, patient=True, limit=KNOWN)
        latest = reversed(archive.index.latest(among, KNOWN))
        found = archive.entries(list(dict.fromkeys([*(hit.entry_id for hit in hits), *latest]))[:KNOWN])
        replaced = former(found, archive, among)
        return tuple(
            found[number]
            for number in sorted(found)
            if number not in replaced and _may_lend(found[number].audience, first.audience)
        )

    def _remember(self, agent: Agent, told: ToldLines, found: Sequence[UnderstoodFact]) -> None:
        """Encode the facts of the lines, each linked to what it was made of and to what it replaces."""
        for fact in found:
            line = agent.entry(fact.entry_id)  # it may have changed since the model was asked
            if line is None or line.override == 0.0:
                continue
            data: dict[str, Any] = {ABOUT: fact.about, FACT_KIND: fact.kind.value}
            if chains := hearsay(line):
                data[HEARSAY] = chains
            percept = Percept(
                line.user_id,
                fact.words,
                line.timestamp,
                Kind.FACT,
                audience=line.audience,
                place=line.place,
                data=data,
            )
            entry = agent.remember_told(percept, SOURCE, line.affect or NEUTRAL, line.parts.significance)
            words = compared(fact.words) - compared(line.user_text) - compared(told.speaker)
            lent = (one for one in told.known if not words.isdisjoint(compared(one.user_text)))
            shown = {one.id for one in (*told.before, *told.lines, *lent)} - {line.id}
            links = [
                (line.id, LinkType.UNDERSTOOD),
                *((one, LinkType.UNDERSTOOD_WITH) for one in sorted(shown)),
            ]
            if fact.replaces is not None:
                links.append((fact.replaces, LinkType.REPLACED))
            made = (Link(entry.id, target, kind, 1.0, line.timestamp) for target, kind in links)
            self.core.journal.linked(made)

    def confine(self, line: MemoryEntry) -> None:
        """Confine what was made of a line, and what corrects it, as it is confined by now."""
        links = self.services.store.links_of(self.core.id, [line.id])
        kinds = MADE_OF | {LinkType.REPLACED}
        made = [one.source for one in links if one.type in kinds and one.target == line.id < one.source]
        memory = self.core.memory
        stored = self.services.store.entries(self.core.id, made)
        for entry in self.core.journal.pending(stored).values():
            limited = memory.limit(entry, of_audiences((entry.audience, line.audience)))
            if entry.kind is not Kind.FACT:  # a later fact has an audience of its own
                self.confine(limited)


def _together(lines: Sequence[MemoryEntry], entry: MemoryEntry) -> bool:
    """Whether a line can be read in one call with these: of one person, one audience and one day."""
    first = lines[0]
    same_day = entry.timestamp // DAY == first.timestamp // DAY
    same = (entry.user_id, entry.audience) == (first.user_id, first.audience)
    return same and same_day and len(lines) < LINES


def _may_lend(audience: Audience, to: Audience) -> bool:
    """Whether something may be shown for a line, and so be part of a fact that has the line's audience."""
    return within(to, audience) and audience.tier <= to.tier
