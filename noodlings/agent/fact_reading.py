"""Facts about people, understood by a model from what they told, and kept as memories that rest on it.

Lines are read in the order in which they were told, each once: the agent's state says up to which one, and
changes in the commit that keeps the facts. Where many are unread, because there was no model before, what is
told now is read first. A fact may be learned by those who may learn of its line, and is forgotten with it.
One call holds lines of one person and one audience, so that no fact is made of words that those who learn of
it may not know.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from noodlings.agent.linking import TALK_SECONDS
from noodlings.agent.recollection import FACTS, LINE, uncalled
from noodlings.agent.services import AgentServices
from noodlings.agent.state import AgentCore
from noodlings.memory.change_journal import ChangeJournal
from noodlings.ports import Allowance, FactReader, ToldLines
from noodlings.recall.filters import Filters
from noodlings.recall.lexical import stems
from noodlings.reflection.facts import TOLD
from noodlings.values.affect import NEUTRAL
from noodlings.values.audience import Audience, Tier, within
from noodlings.values.caller import display_name
from noodlings.values.fact import ABOUT, FACT_KIND, UnderstoodFact
from noodlings.values.memory import Link, LinkType, MemoryEntry
from noodlings.values.percept import Kind, Percept

if TYPE_CHECKING:
    from noodlings.agent.agent import Agent

SOURCE = "understood"
"""The source of facts that a model understood."""
TOLD_TO_IT, OVERHEARD = 0.1, 0.3
"""How significant a line must be to be read, 0…1: one that was said to the agent, and any other. Where nobody
judged the words, it is read from an importance of the latter."""
LINES = 8
"""Lines that are read, and kept as read, at once."""
BACKLOG = 200
"""Entries that are caught up with by and by; where more are unread, what is told now is read first."""
BEFORE = 6
"""Entries before the first line of a call that may help to understand it."""
KNOWN = 12
"""Earlier facts that the model is shown."""
PAGE = 100
SHOWN = 0.5
"""Strength of the link of a fact to what else lent it words. It is forgotten with that as with its line."""


@dataclass(eq=False)
class FactReading:
    """Reads what one agent was told."""

    core: AgentCore
    journal: ChangeJournal
    services: AgentServices
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _latest: int = 0

    async def unread(self) -> int:
        """How many lines are still to be read."""
        lines = 0
        async for page in self._pages(self.core.read_upto):
            lines += len(self._unread_in(page))
        return lines

    async def read_next(self, agent: Agent, reader: FactReader, *, latest: bool = False) -> int:
        """Read the next lines, and keep what they tell; returns how many were read, 0 if none are left.

        Args:
            latest: where more than `BACKLOG` entries are unread, read the last of them.

        Raises:
            LLMError: the model did not read them; they will be read another time.
            StoreError: what they tell could not be kept.
        """
        async with self._lock:
            after = self.core.read_upto
            if latest and (skipped := self.core.memory.last_id - BACKLOG) > after:
                after = max(skipped, self._latest)
            lines, upto = await self._next(after)
            forgettings = self.core.forgettings
            read = list[tuple[ToldLines, tuple[UnderstoodFact, ...]]]()
            for portion in lines.values():
                told = await self._told(portion)
                read.append((told, await reader.read(told, Allowance(portion[0].user_id))))
            if self.core.forgettings != forgettings:  # what was understood may hold what was forgotten
                return sum(map(len, lines.values()))
            for told, found in read:
                self._remember(agent, told, found)
            self._latest = upto
            if after == self.core.read_upto:
                self.core.read_upto = upto
            if lines:
                agent.keep()
            return sum(map(len, lines.values()))

    async def _next(self, after: int) -> tuple[dict[tuple[str, Audience], list[MemoryEntry]], int]:
        """The next lines by who told them and who may learn of them, and the id up to which they are all."""
        portions: dict[tuple[str, Audience], list[MemoryEntry]] = {}
        upto, lines = after, 0
        async for page in self._pages(after):
            for entry in self._unread_in(page):
                portions.setdefault((entry.user_id, entry.audience), []).append(entry)
                lines += 1
                if lines == LINES:
                    return portions, entry.id
            upto = page[-1].id
        return portions, upto

    async def _pages(self, after: int) -> AsyncIterator[list[MemoryEntry]]:
        """The archive after an id; other tasks run between its pages."""
        while page := self.services.store.archive(self.core.id, after, PAGE):
            yield page
            after = page[-1].id
            await asyncio.sleep(0)

    def _unread_in(self, page: Sequence[MemoryEntry]) -> list[MemoryEntry]:
        """The lines of a page that are worth a call, without those that told a fact already."""
        lines = [entry for entry in page if self._tells(entry)]
        links = self.services.store.links_of(self.core.id, [line.id for line in lines]) if lines else []
        reflected = (link for link in links if link.type is LinkType.REFLECTED and link.strength == LINE)
        about = {link.source: link.target for link in reflected}
        made = self.services.store.entries(self.core.id, list(about)) if about else {}
        told = {about[number] for number, entry in made.items() if entry.kind is Kind.FACT}
        return [line for line in lines if line.id not in told]

    def _tells(self, entry: MemoryEntry) -> bool:
        """Whether a memory is worth a call: somebody told it, it may matter, and the model may see it."""
        least = TOLD_TO_IT if entry.parts.addressed else OVERHEARD
        return (
            entry.kind in TOLD
            and entry.user_id not in self.core.persona.own_ids
            and not entry.user_text.endswith("?")
            and (entry.parts.significance >= least or entry.importance >= OVERHEARD)
            and entry.tier <= min(self.services.reach, Tier.SECRET)
        )

    async def _told(self, lines: Sequence[MemoryEntry]) -> ToldLines:
        """What is read, with all that helps to understand it and may be known to whoever learns of it."""
        first, persona = lines[0], self.core.persona
        ids = range(first.id - BEFORE, first.id)
        near = self.services.store.entries(self.core.id, list(ids))
        before = tuple(
            entry
            for number in ids
            if (entry := near.get(number)) is not None
            and entry.kind in TOLD
            and entry.user_id == first.user_id
            and 0.0 <= first.timestamp - entry.timestamp <= TALK_SECONDS
            and entry.tier <= self.services.reach
            and within(first.audience, entry.audience)
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
        hits = await archive.search(words, among, first.tier, limit=KNOWN)
        latest = reversed(archive.index.latest(among, KNOWN))
        found = archive.entries(list(dict.fromkeys([*(hit.entry_id for hit in hits), *latest]))[:KNOWN])
        links = self.services.store.links_of(self.core.id, list(found)) if found else []
        former = {link.target for link in links if link.type is LinkType.REPLACED}
        return tuple(
            found[number]
            for number in sorted(found)
            if number not in former and within(first.audience, found[number].audience)
        )

    def _remember(self, agent: Agent, told: ToldLines, found: Sequence[UnderstoodFact]) -> None:
        """Encode the facts of the lines, each linked to what it was made of and to what it replaces."""
        lines = {line.id: line for line in told.lines}
        for fact in found:
            line = lines[fact.entry_id]
            percept = Percept(
                line.user_id,
                fact.words,
                line.timestamp,
                Kind.FACT,
                audience=line.audience,
                place=line.place,
                data={ABOUT: fact.about, FACT_KIND: fact.kind.value},
            )
            affect, significance = line.affect or NEUTRAL, line.parts.significance
            entry = agent.remember_told(percept, SOURCE, affect, significance)
            made_of = {line.id: LINE, **dict.fromkeys(_lent_words(fact, line, told), SHOWN)}
            links = [(target, LinkType.REFLECTED, strength) for target, strength in made_of.items()]
            if fact.replaces is not None:
                links.append((fact.replaces, LinkType.REPLACED, 1.0))
            self.journal.linked(Link(entry.id, *link, line.timestamp) for link in links)


def _lent_words(fact: UnderstoodFact, line: MemoryEntry, told: ToldLines) -> list[int]:
    """Ids of what else was shown that has words of the fact which its line has not."""
    borrowed = set(stems(fact.words)) - set(stems(line.user_text)) - set(stems(told.speaker))
    shown = (entry for entry in (*told.before, *told.lines, *told.known) if entry is not line)
    return [
        entry.id
        for entry in shown
        if not borrowed.isdisjoint(stems(f"{entry.user_text} {entry.response or ''}"))
    ]
