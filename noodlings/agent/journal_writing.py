"""The journal of past days in a model's words: sentences, kept as memories that rest on what they cite.

Each day is written once, when it is over: the agent's state says which were. One call holds what may be known
by the same people, so that no sentence is made of words that its reader may not know. What a call brings is
kept at once, and a day that was interrupted goes on with the calls that are missing. A sentence is forgotten
with any line that the model was shown for it.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

from noodlings.agent.memory_question import uncalled
from noodlings.agent.services import AgentServices
from noodlings.agent.state import AgentCore
from noodlings.clock import calendar_time
from noodlings.errors import LLMError
from noodlings.ports import Allowance, JournalWriter, ToldDay
from noodlings.reflection.journal import TOLD, WORTH_TELLING, chosen, quotation
from noodlings.text import clean
from noodlings.values.acting import cased
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


@dataclass(eq=False)
class JournalWriting:
    core: AgentCore
    services: AgentServices

    async def write(self, agent: Agent, dry_run: bool = False, lately: bool = False) -> AsyncIterator[date]:
        """Write the days that are over, tell of something and are not written yet, the earliest first; yields
        each once it is kept. None without a model, or where it may not be told what a journal says.

        Args:
            dry_run: only say which.
            lately: only the last `LATELY` days.

        Raises:
            LLMError: the model failed; what is missing will be written another time.
            StoreError: a day could not be kept.
        """
        writer, least = self.services.journal_writer, self.services.tiers.get(Kind.JOURNAL, Tier.OPEN)
        if writer is None or least > self.services.reach:
            return
        failed, failures = None, 0
        for day, alike in sorted((await self._unwritten(lately)).items()):
            try:
                if not dry_run:
                    await self._write(agent, writer, day, alike)
            except LLMError as error:
                failed, failures = error, failures + 1
                if failures == FAILURES:
                    break
            else:
                failures = 0
                yield day
        if failed is not None:
            raise failed

    async def _unwritten(self, lately: bool) -> dict[date, dict[Audience, list[int]]]:
        """The days that are to be written, with the ids of what they tell of, by who may know of it; without
        what was worded and kept before."""
        days = defaultdict[date, dict[Audience, list[int]]](dict)
        kept = set[tuple[date, Audience]]()
        today = calendar_time(self.services.clock.now()).date()
        since = today - timedelta(LATELY) if lately else date.min
        async for page in self.services.archive_pages(self.core.id, PAGE):
            for entry in page:
                day, audience = calendar_time(entry.timestamp).date(), _known_to(entry)
                if not since <= day < today or day.toordinal() in self.core.written:
                    continue
                if entry.kind is Kind.JOURNAL:
                    kept.add((day, audience))
                elif self._tells(entry):
                    days[day].setdefault(audience, []).append(entry.id)
        for day, audience in kept:
            days[day].pop(audience, None)
        return days

    def _tells(self, entry: MemoryEntry) -> bool:
        matters = entry.kind in TOLD and entry.importance >= WORTH_TELLING
        return matters and entry.tier <= self.services.reach

    async def _write(
        self, agent: Agent, writer: JournalWriter, day: date, alike: Mapping[Audience, Sequence[int]]
    ) -> None:
        """Write what is missing of a day, and keep it call by call."""
        for audience, ids in alike.items():
            while not await self._word(agent, writer, day, audience, ids):
                pass
        self.core.written = self.core.written.with_range(day.toordinal() - 1, day.toordinal())
        agent.keep()

    async def _word(
        self, agent: Agent, writer: JournalWriter, day: date, audience: Audience, ids: Sequence[int]
    ) -> bool:
        """Word what only this audience may know of; False if something was forgotten meanwhile, which a
        sentence may hold."""
        forgettings, persona = agent.forgettings, self.core.persona
        # Others may have been confined, or kept from models, while the calls before were answered.
        entries = list[MemoryEntry]()
        for at in range(0, len(ids), PAGE):
            stored = self.services.store.entries(self.core.id, ids[at : at + PAGE]).values()
            entries += [one for one in stored if _known_to(one) == audience and self._tells(one)]
            await asyncio.sleep(0)
        told = await asyncio.to_thread(_told, entries, day, persona, self.services.names())
        if agent.forgettings == forgettings and told.lines:
            sentences = await writer.write(told, Allowance())
            if agent.forgettings == forgettings:
                shown = {number for line in told.lines for number in line.evidence}
                self._remember(agent, sorted(shown), sentences)
                agent.keep()
        return agent.forgettings == forgettings

    def _remember(self, agent: Agent, shown: Sequence[int], sentences: Sequence[Statement]) -> None:
        """Encode sentences, each linked to what it cites and to what else the model was shown."""
        entries = {number: entry for number in shown if (entry := agent.entry(number)) is not None}
        for one in sentences:
            cited = [entries[number] for number in one.evidence]
            if any(entry.override == 0.0 for entry in cited):
                continue  # it was corrected since the model was asked
            at, text = cited[0].timestamp, cased(one.text, self.core.persona.voice.case)
            # For whom the lines are by now, as some may have been confined since.
            percept = Percept(self.core.id, text, at, Kind.JOURNAL, audience=of_all(entries.values()))
            sentence = agent.remember_told(percept, SOURCE, NEUTRAL, None)
            kinds = (LinkType.UNDERSTOOD_WITH, LinkType.UNDERSTOOD)
            self.core.journal.linked(
                Link(sentence.id, number, kinds[number in one.evidence], 1.0, at) for number in entries
            )


def _known_to(entry: MemoryEntry) -> Audience:
    """What all have in common that may be worded in one call."""
    return entry.audience if entry.private else OPEN


def _told(entries: Sequence[MemoryEntry], day: date, persona: Persona, names: Names) -> ToldDay:
    """What matters most of these, as the journal tells it without a model."""

    def name(user_id: str) -> str:
        return clean(display_name(user_id, names))

    in_time = sorted(entries, key=lambda one: (one.timestamp, one.id))
    heard = [replace(one, user_text=clean(uncalled(one.user_text, persona))) for one in in_time]
    groups = chosen(heard, lambda entry: entry.importance, WORTH_TELLING)
    tellers = frozenset(name(group[0].user_id) for group in groups)
    lines = tuple(quotation(group, persona.id, name) for group in groups)
    return ToldDay(persona.name, persona.prompt, day, lines, tellers)
