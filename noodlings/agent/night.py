"""The night: an agent goes over what it perceived, step by step, and changes what follows from it.

A step is a function: entries and links in, proposed changes out. What is proposed is committed page by page,
and other tasks run between any two. Whatever a step looks at is in the archive, also the time: now is when
the last thing was perceived. Only which days are over, and get a journal, the world's clock says. So a night
that was killed goes on, and a second one changes nothing more.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from noodlings.agent.journal_writing import JournalWriting
from noodlings.agent.services import AgentServices
from noodlings.agent.state import AgentCore
from noodlings.agent.unit_of_work import UnitOfWork
from noodlings.errors import LLMError
from noodlings.reflection.hindsight import HindsightReader
from noodlings.reflection.relations import RelationReader
from noodlings.values.audience import Tier
from noodlings.values.memory import Link, LinkType
from noodlings.values.percept import SPOKEN

if TYPE_CHECKING:
    from noodlings.agent.agent import Agent

REFLECTING = "let a character reflect"
PAGE = 20
"""Entries between two moments in which other tasks run."""
_NEWER = frozenset({LinkType.CONTRADICTS, LinkType.REPLACED})
"""Links from what holds now to what held before."""


@dataclass(frozen=True, slots=True)
class NightProgress:
    """How far a night is, or how the last one ended.

    Attributes:
        running: whether one is under way.
        done, total: new entries that were related with others, of all that are new.
        contradictions, causes: links that were found.
        reweighed: memories whose reasons to weigh more or less have changed.
        written: days of which a model has worded the journal.
    """

    running: bool = False
    done: int = 0
    total: int = 0
    contradictions: int = 0
    causes: int = 0
    reweighed: int = 0
    written: int = 0


@dataclass(eq=False)
class Night:
    core: AgentCore
    services: AgentServices
    unit_of_work: UnitOfWork
    journal_writing: JournalWriting
    progress: NightProgress = field(default_factory=NightProgress)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def new(self) -> int:
        """How many entries came since they were last related with others."""
        return max(self.core.memory.last_id - self.core.related, 0)

    async def run(self, agent: Agent, dry_run: bool = False, lately: bool = False) -> NightProgress:
        """Go over everything; returns what was found.

        Args:
            dry_run: change nothing.
            lately: write no more of the journal than the last days.

        Raises:
            LLMError: not all of the journal was written; everything else is done.
            StoreError: something could not be kept.
            The next night goes on from there.
        """
        failed = None
        if self.core.memory.hierarchical:
            async with self._lock:
                self.progress = NightProgress(True)
                try:
                    try:  # first of all, as it makes new entries
                        async for _ in self.journal_writing.write(agent, dry_run, lately):
                            self.progress = replace(self.progress, written=self.progress.written + 1)
                    except LLMError as error:
                        failed = error
                    self.progress = replace(self.progress, total=self.new)
                    await self._look_back(dry_run, await self._relate(dry_run))
                finally:
                    self.progress = replace(self.progress, running=False)
        if failed is not None:
            raise failed
        return self.progress

    async def _relate(self, dry_run: bool) -> list[Link]:
        """Link what contradicts or explains what the same person told; returns links that were not kept."""
        core, since, proposed = self.core, self.core.related, list[Link]()
        reader = RelationReader()
        if not self.new:
            return proposed
        async for page in self.services.archive_pages(core.id, PAGE):
            links = list[Link]()
            for entry in page:
                if entry.kind not in SPOKEN or entry.user_id in core.persona.own_ids:
                    continue
                if entry.id <= since:
                    reader.pass_over(entry)
                    continue
                for read, _ in enumerate(reader.catch_up(entry), 1):
                    if read % PAGE == 0:
                        await asyncio.sleep(0)
                links += reader.links_of(entry)
                await asyncio.sleep(0)
            if page[-1].id <= since:
                continue
            kinds, before = [link.type for link in links], self.progress
            self.progress = replace(
                before,
                done=before.done + sum(entry.id > since for entry in page),
                contradictions=before.contradictions + kinds.count(LinkType.CONTRADICTS),
                causes=before.causes + kinds.count(LinkType.CAUSES),
            )
            if dry_run:
                proposed += links
            else:
                core.journal.linked(links)
                core.related = page[-1].id
                self.unit_of_work.commit()
        return proposed

    async def _look_back(self, dry_run: bool, proposed: list[Link]) -> None:
        """Work out anew what each memory weighs in hindsight."""
        core, store, names = self.core, self.services.store, self.services.names()
        memory = core.memory
        reader = HindsightReader(core.persona.own_ids, {name.lower(): one for one, name in names.items()})
        async for page in self.services.archive_pages(core.id, PAGE):
            for entry in page:
                reader.read(entry)
        async for page in self.services.archive_pages(core.id, PAGE):
            entries = {read.id: memory.find(read.id) or read for read in page if read.tier < Tier.SEALED}
            links = [*store.links_of(core.id, list(entries)), *proposed]
            links = [link for link in links if link.type in _NEWER and link.target in entries]
            there = store.entries(core.id, sorted({link.source for link in links}))
            newer = [(link.target, there[link.source].audience) for link in links if link.source in there]
            reasons = {
                number: reader.reasons(entry, [audience for old, audience in newer if old == number])
                for number, entry in entries.items()
            }
            changed = [number for number, entry in entries.items() if entry.hindsight != reasons[number]]
            self.progress = replace(self.progress, reweighed=self.progress.reweighed + len(changed))
            if changed and not dry_run:
                for number in changed:
                    memory.look_back(entries[number], reasons[number])
                self.unit_of_work.commit_memory()
