"""What follows a turn: a symbol of an intense moment, a thought of the agent's own.

Without a model it is made at once, so that a replay includes it; with a model, in the background. What a
model does not finish in time is made without it.
"""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from noodlings.agent.perceiving import take_in, with_least_tier
from noodlings.agent.recollection import in_latest_form
from noodlings.agent.responder import Responder
from noodlings.agent.services import AgentServices
from noodlings.agent.state import AgentCore
from noodlings.agent.turn import Turn, timed
from noodlings.agent.unit_of_work import UnitOfWork
from noodlings.errors import LLMError, NoodlingsError
from noodlings.memory.context import ContextBudget
from noodlings.memory.subconscious import SYMBOL_INTENSITY
from noodlings.ports import Allowance, Speech, Symbolist, Utterance
from noodlings.recall.filters import EVERYTHING
from noodlings.values.audience import Audience, Tier
from noodlings.values.memory import Link, LinkType, Recalled, Symbol
from noodlings.values.percept import Kind, Percept
from noodlings.values.trace import Trace

if TYPE_CHECKING:
    from noodlings.agent.agent import Agent

log = logging.getLogger(__name__)

STIRRING = 0.5
"""Surprise or intensity from which something unanswered may become a thought."""
IN_MIND = ContextBudget(working=0, episodic=3, affect_similar=2)
"""What a thought is made of: what matters most, and what felt like now."""
THOUGHT_PAUSE = 86_400.0
"""Seconds in which an entry is not thought about again."""
AT_ONCE, MOST_AT_ONCE = 2, 20
"""Calls of a model to read facts that are due after one turn, and at most after many."""


@dataclass(eq=False)
class FollowUp:
    """Makes symbols and thoughts after the turns of one agent.

    The agent itself is held only while something is done in the background, to stay in memory that long.
    """

    core: AgentCore
    services: AgentServices
    unit_of_work: UnitOfWork
    responder: Responder
    agent: weakref.ref[Agent]
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _due_reads: int = 0

    async def follow(self, turn: Turn) -> None:
        """Do whatever follows from a turn that is kept by now."""
        if turn.entry.tier is Tier.SEALED:
            return
        if self.core.memory.hierarchical and turn.affect.intensity >= SYMBOL_INTENSITY:
            await self._run(self._symbol(turn), self.services.symbolist is not None)
        if self.services.fact_reader is not None:
            due = self._due_reads
            self._due_reads = min(due + AT_ONCE, MOST_AT_ONCE)
            if not due:
                await self._run(self._read_latest(), slow=True)
        if not turn.decision.speak and self._gives_to_think(turn):
            await self._run(self.ruminate(turn.percept.timestamp), self.services.voice is not None)

    async def think_alone(self, now: float) -> None:
        """Have a thought of its own, if it is pensive and now is a moment for it."""
        if self.services.ruminate and self.core.random(now).random() < self._pensiveness:
            await self._run(self.ruminate(now), self.services.voice is not None)

    async def reflect(self) -> None:
        """Read everything that it was told and was not read yet, and go over all of it, in the background."""
        await self._run(self._reflect(), slow=True)

    async def settle(self) -> None:
        """Wait for what is done in the background."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def hurry(self) -> None:
        """End what is done in the background: a symbol is then made without a model, a thought not at all."""
        for task in self._tasks:
            task.cancel()
        await self.settle()

    async def ruminate(self, now: float) -> Trace | None:
        """Have a thought and keep it as a memory that nobody else knows of; None with nothing to think about.

        Nor is there one where thoughts are sealed, as nothing could be made of it, or where it must be kept
        secret and there is no key.

        Raises `StoreError` when it could not be kept.
        """
        core, least = self.core, Tier(self.services.tiers.get(Kind.THOUGHT, Tier.OPEN))
        if least is Tier.SEALED or (least is Tier.SECRET and not self.services.store.keeps_secrets):
            return None
        in_mind = self._to_think_about(now)
        if not in_mind:
            return None
        # What one thinks oneself is no surprise.
        itself = Percept(core.id, "", now, Kind.THOUGHT, surprise=0.0)
        spent, degraded, forgettings = Allowance(), list[str](), self.services.forgettings[core.id]
        speech, tier = await self._words(self.responder.utterance_of(itself, in_mind), least, spent, degraded)
        thought = with_least_tier(self.services, replace(itself, text=speech.text, tier=tier))
        milliseconds = dict[str, float]()
        with timed(milliseconds, "embed"):
            words = await self.services.heard.understood(thought.text, by=core.id)
        if self.services.forgettings[core.id] != forgettings:  # it may hold what was forgotten meanwhile
            return None
        felt = core.affect
        turn = take_in(core, self.services, thought, words, milliseconds)
        core.affect = felt  # about what happened, which a thought of one's own is not
        turn.degraded += degraded
        turn.allowance = spent
        about = speech.used or tuple(found.entry.id for found in in_mind)
        core.journal.linked(
            Link(turn.entry.id, entry_id, LinkType.REFLECTED, 1.0, now) for entry_id in sorted(set(about))
        )
        trace = turn.trace(core.id)
        self.unit_of_work.commit(trace)
        return trace

    def _to_think_about(self, now: float) -> list[Recalled]:
        """What is in mind, without thoughts and without what was thought about lately.

        Otherwise one quiet night would replace what was said with thoughts about it.
        """
        core = self.core
        own = [
            entry.id
            for entry in core.memory.retrieve_episodic(limit=None)
            if entry.kind is Kind.THOUGHT or entry.tier is Tier.SEALED
        ]
        store = self.services.store
        in_mind = core.memory.context(None, core.affect, IN_MIND, without=own)
        in_mind = in_latest_form(in_mind, core.id, store, EVERYTHING)
        links = store.links_of(core.id, [found.entry.id for found in in_mind])
        lately = {
            link.target
            for link in links
            if link.type is LinkType.REFLECTED and 0.0 <= now - link.created < THOUGHT_PAUSE
        }
        return [found for found in in_mind if found.entry.id not in lately]

    @property
    def _pensiveness(self) -> float:
        """How readily it thinks about things, 0…0.5."""
        personality = self.core.persona.personality
        return (personality["openness"] + personality["neuroticism"]) / 4.0

    def _gives_to_think(self, turn: Turn) -> bool:
        if not self.services.ruminate or turn.percept.kind is Kind.THOUGHT:
            return False
        stirring = max(turn.entry.surprise, turn.affect.intensity) >= STIRRING
        return stirring and self.core.random(-turn.entry.id).random() < self._pensiveness

    async def _run(self, work: Coroutine[Any, Any, object], slow: bool) -> None:
        if not slow:
            await work
            return
        task = asyncio.get_running_loop().create_task(self._guarded(work, self.agent()))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guarded(self, work: Coroutine[Any, Any, object], agent: object) -> None:
        """Do the work and log its errors, as nobody waits for it. Holds the agent until then."""
        try:
            await work
        except NoodlingsError as error:
            log.warning("%s: the follow-up to a turn is lost: %s", self.core.id, error)
        except Exception:
            log.exception("%s: the follow-up to a turn is lost", self.core.id)

    async def _read_latest(self) -> None:
        """Read what it was told lately, with as many calls as are due."""
        agent = self.agent()
        try:
            while self._due_reads and agent is not None and await self._read_facts(agent, latest=True):
                self._due_reads -= 1
        finally:
            self._due_reads = 0

    async def _reflect(self) -> None:
        """Read everything that it was told, and go over it."""
        agent = self.agent()
        while agent is not None and await self._read_facts(agent):
            pass
        if agent is not None:
            try:
                await agent.reflect()
            except LLMError as error:
                log.info("%s will write its journal later, as the model failed: %s", self.core.id, error)

    async def _read_facts(self, agent: Agent, latest: bool = False) -> int:
        """How many lines were read, 0 if none are left or the model failed."""
        try:
            return await agent.read_facts(latest)
        except LLMError as error:
            log.info("%s: what it was told is read later, because the model failed: %s", self.core.id, error)
            return 0

    async def _symbol(self, turn: Turn) -> None:
        """Make a symbol by the model, else from our own images; none when every fitting image is recent."""
        try:
            made = await self._symbol_or_fallback(turn)
        except LLMError as error:
            log.info("%s: no symbol was made: %s", self.core.id, error)
            return
        if made is not None:
            self.unit_of_work.commit_memory()

    async def _symbol_or_fallback(self, turn: Turn) -> Symbol | None:
        if self.services.symbolist is not None and turn.entry.tier <= self.services.reach:
            try:
                return await self._imagine(turn, self.services.symbolist)
            except LLMError as error:
                log.warning("%s: uses a built-in image, because the model failed: %s", self.core.id, error)
            except asyncio.CancelledError:
                log.info("%s: uses a built-in image, because there is no time left", self.core.id)
        return await self._imagine(turn, self.services.images)

    async def _imagine(self, turn: Turn, symbolist: Symbolist) -> Symbol | None:
        entry, store = turn.entry, self.services.store

        def may_learn() -> Audience:
            return store.entries(self.core.id, [entry.id]).get(entry.id, entry).audience

        return await self.core.subconscious.encode_event(
            entry.user_text,
            turn.affect,
            entry.surprise,
            symbolist,
            entry_id=entry.id,
            timestamp=entry.timestamp,
            audience=may_learn,
            allowance=Allowance(entry.user_id),
        )

    async def _words(
        self, utterance: Utterance, least: Tier, spent: Allowance, degraded: list[str]
    ) -> tuple[Speech, Tier]:
        """A thought, and the tier of what it was made of; a model words it only if this tier may go there."""
        if self.services.voice is not None and least <= self.services.reach:
            told = replace(utterance, reach=self.services.reach)
            try:
                return await self.services.voice.speak(told, spent), told.audience.tier
            except LLMError as error:
                degraded.append(f"offline voice: {error}")
                log.info("%s thinks without the model, because it failed: %s", self.core.id, error)
        return await self.services.offline.speak(utterance, spent), utterance.audience.tier
