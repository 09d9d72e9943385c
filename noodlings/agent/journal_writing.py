"""The journal of past days in a model's words: sentences, kept as memories that rest on what they cite.

Each day is written once, when it is over: the agent's state says which were, and changes in the commit that
keeps the sentences. One call holds what may be known by the same people, so that no sentence is made of words
that its reader may not know. A sentence is forgotten with any line that the model was shown for it.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from noodlings.agent.memory_question import uncalled
from noodlings.agent.services import AgentServices
from noodlings.agent.state import AgentCore
from noodlings.errors import LLMError
from noodlings.ports import Allowance, DayLine, JournalWriter, ToldDay
from noodlings.reflection.journal import TOLD, WORTH_TELLING, chosen, quotation
from noodlings.reflection.plans import DAY
from noodlings.text import clean
from noodlings.values.affect import NEUTRAL
from noodlings.values.audience import OPEN, Audience, Tier, of_all
from noodlings.values.caller import Names, display_name
from noodlings.values.memory import Link, LinkType, MemoryEntry
from noodlings.values.page import Statement
from noodlings.values.percept import Kind, Percept
from noodlings.values.persona import Persona

if TYPE_CHECKING:
    from noodlings.agent.agent import Agent

SOURCE = "journal"
"""The source of sentences that a model worded."""
LATELY = 7
"""Days before today that are caught up with every night."""
FAILURES = 2
"""Days in a row that may fail: one may do so by itself, with more the model is away."""
PAGE = 100
_FIRST = date(1970, 1, 1).toordinal()


@dataclass(eq=False)
class JournalWriting:
    core: AgentCore
    services: AgentServices

    async def unwritten(self, lately: bool = False) -> dict[date, list[int]]:
        """The days that are over, tell of something and are not written yet, the earliest first; with the ids
        of what they tell of. None without a model, or where it may not be told what a journal says.

        Args:
            lately: only the last `LATELY` days.
        """
        days, after = defaultdict[int, list[int]](list), -1
        least = self.services.tiers.get(Kind.JOURNAL, Tier.OPEN)
        if self.services.journal_writer is None or least > self._reach:
            return {}
        today = _day(self.services.clock.now())
        since = today - LATELY if lately else 0
        while page := self.services.store.archive(self.core.id, after, PAGE):
            for entry in page:
                day = _day(entry.timestamp)
                if since <= day < today and day not in self.core.written and self._tells(entry):
                    days[day].append(entry.id)
            after = page[-1].id
            await asyncio.sleep(0)
        return {date.fromordinal(day): ids for day, ids in sorted(days.items())}

    async def write(self, agent: Agent, lately: bool = False) -> AsyncIterator[date]:
        """Write the days that are `unwritten`; yields each once it is kept.

        Raises:
            LLMError: the model failed; what is missing will be written another time.
            StoreError: a day could not be kept.
        """
        writer, failed, failures = self.services.journal_writer, None, 0
        if writer is None:
            return
        for day, ids in (await self.unwritten(lately)).items():
            try:
                while not await self._write(agent, writer, day, ids):
                    pass
            except LLMError as error:
                failed, failures = error, failures + 1
                if failures == FAILURES:
                    break
            else:
                failures = 0
                yield day
        if failed is not None:
            raise failed

    @property
    def _reach(self) -> Tier:
        return min(self.services.reach, Tier.SECRET)

    def _tells(self, entry: MemoryEntry) -> bool:
        return entry.kind in TOLD and entry.importance >= WORTH_TELLING and entry.tier <= self._reach

    async def _write(self, agent: Agent, writer: JournalWriter, day: date, ids: Sequence[int]) -> bool:
        """Write a day; False if something was forgotten meanwhile, which a sentence may hold."""
        core, forgettings = self.core, agent.forgettings
        names, alike = self.services.names(), defaultdict[Audience, list[MemoryEntry]](list)
        for at in range(0, len(ids), PAGE):
            for entry in self.services.store.entries(core.id, ids[at : at + PAGE]).values():
                alike[entry.audience if entry.private else OPEN].append(entry)
            await asyncio.sleep(0)
        written = list[tuple[tuple[DayLine, ...], tuple[Statement, ...]]]()
        for entries in alike.values():
            lines = await asyncio.to_thread(_lines, entries, core.persona, names)
            if agent.forgettings != forgettings:
                return False
            told = ToldDay(core.persona.name, core.persona.prompt, day, lines)
            if lines:
                written.append((lines, await writer.write(told, Allowance())))
        if agent.forgettings != forgettings:
            return False
        for lines, sentences in written:
            self._remember(agent, [line.entry_id for line in lines], sentences)
        core.written = core.written.with_range(day.toordinal() - 1, day.toordinal())
        agent.keep()
        return True

    def _remember(self, agent: Agent, shown: Sequence[int], sentences: Sequence[Statement]) -> None:
        """Encode sentences, each linked to what it cites and to what else the model was shown."""
        entries = {number: entry for number in shown if (entry := agent.entry(number)) is not None}
        for one in sentences:
            cited = [entries[number] for number in one.evidence]
            if any(entry.override == 0.0 for entry in cited):
                continue  # it was corrected since the model was asked
            at = cited[0].timestamp
            # Whom the lines may be told now, as some may have been confined since.
            percept = Percept(self.core.id, one.text, at, Kind.JOURNAL, audience=of_all(entries.values()))
            sentence = agent.remember_told(percept, SOURCE, NEUTRAL, None)
            kinds = (LinkType.UNDERSTOOD_WITH, LinkType.UNDERSTOOD)
            self.core.journal.linked(
                Link(sentence.id, number, kinds[number in one.evidence], 1.0, at) for number in entries
            )


def _day(timestamp: float) -> int:
    """The ordinal of a day of world time, as `datetime.date` has it."""
    return _FIRST + int(timestamp // DAY)


def _lines(entries: Sequence[MemoryEntry], persona: Persona, names: Names) -> tuple[DayLine, ...]:
    """What matters most of these, as the journal tells it without a model."""

    def name(user_id: str) -> str:
        return clean(display_name(user_id, names))

    in_time = sorted(entries, key=lambda one: (one.timestamp, one.id))
    day = [replace(one, user_text=clean(uncalled(one.user_text, persona))) for one in in_time]
    return tuple(
        DayLine(
            group[-1].id,
            name(group[-1].user_id),
            group[-1].user_text,
            quotation(group, persona.id, name).text,
        )
        for group in chosen(day, lambda entry: entry.importance, WORTH_TELLING)
    )
