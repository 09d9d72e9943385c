"""An agent: the way of one event, from percept to trace.

    1 appraise   what is felt about it           5 recall    what comes to mind
    2 mood       pushed by it                    6 think     a reply in plain words
    3 predict    how surprising it was           7 modulate  coloured by the transistors
    4 remember   encoded, linked, committed      8 respond   the entry is completed, and linked
                                                 9 trace     stored with what changed
                                                10 settle    symbols, links, thoughts: in the background

Steps 1 to 4 wait for nothing but the few milliseconds in which a model on this machine embeds the words, on
a thread of its own; then the percept is on disk, whatever a slow or failing model does afterwards. Percepts
are taken in in the order in which they came, and steps 5 to 10 of one agent run one turn at a time.
"""

from __future__ import annotations

import asyncio
import logging
import time
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from noodlings.affect.game import GameFeeling
from noodlings.affect.game_rules import GameRules
from noodlings.agent.fact_reading import FactReading
from noodlings.agent.follow_up import FollowUp
from noodlings.agent.journal_writing import JournalWriting
from noodlings.agent.linking import recalled
from noodlings.agent.night import Night, NightProgress
from noodlings.agent.perceiving import (
    ASKED,
    GIVEN,
    PerceptPipeline,
    appraise,
    asked_to_remember,
    identity_salience,
    shield,
    shielded,
    shielded_talk,
    take_in,
    with_least_tier,
    with_words,
    without_words,
)
from noodlings.agent.responder import Responder
from noodlings.agent.services import AgentServices
from noodlings.agent.state import AgentCore
from noodlings.agent.turn import Turn, timed, trace_of
from noodlings.agent.unit_of_work import MADE_OF, UnitOfWork
from noodlings.mind.appetites import DriveTable
from noodlings.ports import AgentRecord, AgentState, Allowance, Changes, Forgotten, OwnLine, ReadTraces
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.audience import OPEN, Audience, Tier, of_all, of_audiences, within
from noodlings.values.floor import Decision, Floor
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.memory import CLIENT_BODY, CLIENT_KEY, CORRECTION, KNOWN_BY, Link, LinkType, MemoryEntry
from noodlings.values.percept import Kind, Percept
from noodlings.values.relationship import NO_REGARD
from noodlings.values.sent_prompt import SentPrompt
from noodlings.values.trace import Trace, TurnEvent

log = logging.getLogger(__name__)


class Agent:
    """One character: who it is, what it feels, what it remembers.

    Attributes:
        archive: everything it ever perceived, as it can be searched; None with a plain memory.
        prompts: entry id → what models were asked in its turn; of the last turns since the program began.
    """

    def __init__(self, core: AgentCore, services: AgentServices) -> None:
        self.id, self.persona = core.id, core.persona
        self.memory, self.subconscious, self.archive = core.memory, core.subconscious, core.archive
        self.mind = core.mind
        self.prompts: Mapping[int, Sequence[SentPrompt]] = core.prompts
        self._core = core
        self._services = services
        self._unit_of_work = UnitOfWork(core, services)
        self._pipeline = PerceptPipeline(core, services, self._unit_of_work)
        self._responder = Responder(core, services)
        self._facts = FactReading(core, services)
        self.night = Night(core, services, self._unit_of_work, JournalWriting(core, services))
        self._follow_up = FollowUp(core, services, self._unit_of_work, self._responder, weakref.ref(self))
        self._deciding = asyncio.Lock()
        self._speaking = asyncio.Lock()

    # -- who it is

    @property
    def forgettings(self) -> int:
        """How often something was forgotten: what was read before may be gone."""
        return self._services.forgettings[self.id]

    @property
    def gains(self) -> dict[str, float]:
        """How strong each of its transistors is set, 0…1, in order."""
        return {transistor.name: transistor.gain for transistor in self._core.chain.transistors}

    @property
    def affect(self) -> Affect:
        """What it felt about the latest percept."""
        return self._core.affect

    @property
    def mood(self) -> Affect:
        return self._core.feelings.mood.at_time(self._services.clock.now())

    @property
    def baseline(self) -> Affect:
        """What the mood returns to."""
        return self._core.feelings.mood.baseline

    @property
    def rules(self) -> GameRules:
        return self._services.rules

    @property
    def game(self) -> GameFeeling:
        """What the events of a game left: a named mood, the state of the game, notable events."""
        return self._core.feelings.game

    @property
    def named_mood(self) -> str:
        """chill, hyped, nervous or frustrated, by the events of a game."""
        return self._core.feelings.game.mood(self._services.rules, self._services.clock.now()).value

    @property
    def appetites(self) -> dict[str, float]:
        """The eight drives now, 0 (sated) … 1."""
        return self._core.feelings.appetites.at_time(self._services.drives, self._services.clock.now())

    @property
    def drives(self) -> DriveTable:
        return self._services.drives

    # -- what it does

    async def perceive(
        self,
        percept: Percept,
        said: Callable[[str], None] = lambda text: None,
        earlier: tuple[MemoryEntry, ...] = (),
    ) -> Trace:
        """Take an event all the way. Returns the stored trace; its `response` is None for silence.

        Args:
            said: called with each part of the answer as soon as it may be heard, see `TurnEvent.said`.
            earlier: see `Turn.earlier`; for a model, and not remembered.

        Raises `StoreError`: the percept or its outcome could not be kept.
        """
        turn = await self._pipeline.hear(percept, self._tell)
        if self.archive is not None and not self.archive.embedding.local:
            self.archive.begin()
        with self._going_on(turn):
            turn.earlier = await shielded_talk(self._services, earlier)
            if percept.floor is not None:
                await self._take_turns(turn, percept.floor)
            if turn.decision.speak:
                async with self._speaking:
                    await self._answer(turn, said)
            await self._follow_up.follow(turn)
            if turn.percept.actions and turn.response is not None:
                await self._choose(turn)
        trace = turn.trace(self.id)
        self._tell(turn, "turn")
        return trace

    @contextmanager
    def _going_on(self, turn: Turn) -> Iterator[None]:
        """While a turn is under way, it is parted from whoever the agent is parted from."""
        self._unit_of_work.under_way.append(turn)
        try:
            yield
        finally:
            others = [other for other in self._unit_of_work.under_way if other is not turn]
            self._unit_of_work.under_way = others

    async def answer_again(
        self,
        entry_id: int,
        said: Callable[[str], None] = lambda text: None,
        earlier: tuple[MemoryEntry, ...] = (),
    ) -> Trace | None:
        """Answer once more what is kept already. What was perceived and felt stays; the new answer replaces
        the old one in memory, trace, links and its own lines. Without a new answer the old one stays.

        Returns the new trace, or None where the entry is gone or was the agent's own. See `perceive` for the
        rest.
        """
        entry = self.entry(entry_id)
        if entry is None or entry.user_id == self.id or entry.tier is Tier.SEALED:
            return None
        felt = trace_of(self._services.store, self.id, entry_id)
        alone = entry.affect or NEUTRAL
        turn = Turn(
            Percept(
                entry.user_id,
                entry.user_text,
                self._services.clock.now(),
                entry.kind,
                addressed=True,
                audience=entry.audience,
                present=entry.audience.witnesses - {self.id},
                place=entry.place,
            ),
            entry,
            alone if felt is None else felt.affect,
            GIVEN if felt is None else felt.appraised_by,
            self.mood,
            Decision(True, "asked for another answer"),
            {},
            [],
            entry.audience,
            alone,
            NO_REGARD if felt is None else felt.regard,
        )
        self._core.prompts.pop(entry_id, None)
        with self._going_on(turn):
            turn.earlier = await shielded_talk(self._services, earlier)
            async with self._speaking:
                await self._answer(turn, said)
        if self.archive is not None:
            self.archive.forget((), (entry_id,))  # the words of the old answer
        self._tell(turn, "turn")
        return turn.trace(self.id)

    async def idle(self, now: float) -> str | None:
        """Something it does by itself, or None: a line in quotation marks is spoken. Raises `StoreError`."""
        await self._follow_up.think_alone(now)
        core = self._core
        done = {line.text for line in core.said}
        fresh = [act for act in self.persona.voice.idle if act not in done]
        if not fresh:
            return None
        act = core.random(now).choice(fresh)
        core.note_said(OwnLine(act, OPEN), now)
        self.keep()
        return act

    def without_personal(self, value: Any) -> Any:
        """A text or JSON-compatible data without the personal data that `privacy.personal` masks."""
        return shield(self._services, value)[0]

    async def read_facts(self, latest: bool = False) -> int:
        """Let the model read the next lines of what it was told; see `FactReading.read_next`."""
        return await self._facts.read_next(self, latest)

    async def unread_lines(self) -> int:
        """How many of the lines it was told a model has still to read."""
        return await self._facts.unread()

    async def reflect(self, dry_run: bool = False, lately: bool = False) -> NightProgress:
        """Go over what it perceived since it last did so, see `Night.run`."""
        return await self.night.run(self, dry_run, lately)

    async def begin_reflecting(self) -> None:
        """The same in the background, after the model has read what is unread."""
        if not self.night.progress.running:
            await self._follow_up.reflect()

    async def taken_in(self) -> None:
        """Wait until what it perceived so far is kept."""
        async with self._pipeline.order:
            pass

    async def settle(self) -> None:
        """Wait for what it does in the background."""
        await self._follow_up.settle()

    async def hurry(self) -> None:
        """End what it does in the background, without waiting for a model."""
        await self._follow_up.hurry()

    @property
    def abandoned(self) -> bool:
        """Whether it keeps nothing any more, see `UnitOfWork`."""
        return self._unit_of_work.abandoned

    def abandon(self) -> None:
        """Keep nothing any more, see `UnitOfWork`."""
        self._unit_of_work.abandoned = True

    def forgot_elsewhere(self) -> None:
        """Keep nothing any more, and show nothing that was read before, as something of it is forgotten."""
        self._unit_of_work.forgot_elsewhere()

    async def _take_turns(self, turn: Turn, floor: Floor) -> None:
        """Let the room decide who answers a percept that is kept by now."""
        own = turn.decision
        floor.bid(self.id, own)
        async with self._deciding:
            turn.decision = await floor.decision(self.id)
        if own.speak and not turn.decision.speak:
            self._unit_of_work.commit(turn.trace(self.id))

    async def _answer(self, turn: Turn, said: Callable[[str], None]) -> None:
        """Steps 5 to 8 and 10. Changes nothing where the entry was forgotten meanwhile."""
        late = False
        turn.begin()
        # The turn holds what is called in it, and that the turn: an agent in it would never be freed.
        living = weakref.ref(self)

        def is_late() -> None:
            nonlocal late
            if not late and (agent := living()) is not None:  # a second thought is late from the start
                late = True
                agent._tell(turn, "thinking")

        def hear(part: str) -> bool:
            """Say a part of the answer, unless something was forgotten or came between."""
            agent = living()
            if agent is None or turn.outdated:
                return False
            if late and not turn.said and agent._overtaken(turn):
                return False
            turn.said = f"{turn.said} {part}".lstrip()
            agent._tell(turn, "speech", part)
            said(part)
            return True

        def sent(prompt: SentPrompt) -> None:
            agent = living()
            # Where something was forgotten since, it may hold that.
            if agent is not None and not turn.outdated:
                agent._core.note_prompt(turn.entry.id, prompt)

        until = time.monotonic() + self._services.patience
        turn.allowance = Allowance(turn.percept.user_id, until, is_late, hear, sent)
        entry = self.entry(turn.entry.id)
        if entry is not None:
            await self._responder.refine(turn, entry)
        while (entry := self.entry(turn.entry.id)) is not None:
            turn.begin()
            with timed(turn.milliseconds, "recall"):
                await self._responder.remember(turn)
            self._tell(turn, "recall")
            await self._responder.think(turn)
            if turn.said or not turn.outdated:
                break  # else an answer might be made of what was forgotten while it was thought out
            turn.anew += 1
        entry = self.entry(turn.entry.id)  # revised by now, perhaps, or gone
        if entry is None:
            turn.unsay("what it heard has been forgotten")
            return
        overtaken = late and not turn.said and self._overtaken(turn)
        if overtaken:
            turn.unsay(overtaken)
        elif turn.said and turn.outdated:
            turn.unsay("something it remembered was forgotten while it was speaking")
        if not self._services.store.entries(self.id, turn.regard.evidence).keys() >= {*turn.regard.evidence}:
            turn.regard = NO_REGARD  # what it rests on has been forgotten since
        if turn.response is None and entry.response is not None:
            return  # it was to be answered once more, and is not: the old answer and its trace stay
        self._respond(turn, entry)
        self._unit_of_work.commit(turn.trace(self.id))
        if rest := (turn.response or "").removeprefix(turn.said).lstrip():
            hear(rest)

    async def _choose(self, turn: Turn) -> None:
        """Choose an action after the words are said."""
        before = self._came_between(turn)
        turn.allowance.until = time.monotonic() + self._services.patience  # the words had their own time
        with timed(turn.milliseconds, "choose"):
            await self._responder.choose(turn)
        entry = self.entry(turn.entry.id)
        if turn.outdated or entry is None or entry.response != turn.entry.response:
            turn.unsay("what it said was forgotten or taken back while it was choosing what to do")
            return  # what is left of the turn is kept already
        if self._came_between(turn) != before:
            turn.action = None
            turn.degraded.append(f"no action: {self._came_between(turn)}")
        self._unit_of_work.commit(turn.trace(self.id))

    def _respond(self, turn: Turn, entry: MemoryEntry) -> None:
        """Complete the entry with the response, and link it with what the response came from."""
        turn.entry = entry
        if turn.response is None:
            return
        with timed(turn.milliseconds, "respond"):
            before = self._unanswer(entry)
            self._core.note_said(OwnLine(turn.response, turn.audience), turn.percept.timestamp)
            both = of_all((entry, turn))
            turn.entry = self.memory.complete(entry, turn.response, both if both.confined else None)
            if turn.entry.audience != entry.audience:
                self._facts.confine(turn.entry)
            truly = self._responder.truly_recalled(turn)
            fresh = [found.entry for found in truly if found.entry.id not in before]
            self.memory.reinforce(fresh, turn.percept.timestamp)
            self._core.journal.linked(recalled(turn.entry, truly))

    def _unanswer(self, entry: MemoryEntry) -> frozenset[int]:
        """Take back the answer of an entry; returns the ids of what came to mind for it."""
        if entry.response is None:
            return frozenset()
        self._core.unsay(entry.response)
        links = self._services.store.links_of(self.id, [entry.id])
        theirs = [link for link in links if link.source == entry.id and link.type is LinkType.RECALLED]
        self._core.journal.unlinked(theirs)
        return frozenset(link.target for link in theirs)

    def _overtaken(self, turn: Turn) -> str:
        """Why a late answer makes no sense any more, or ""."""
        # Whoever asks for another answer waits for it.
        return self._came_between(turn) if turn.entry.response is None else ""

    def _came_between(self, turn: Turn) -> str:
        """What the person who is answered did since that makes an answer too late, or ""."""
        user_id = turn.percept.user_id
        for entry in self.memory.retrieve_working():
            if entry.id > turn.entry.id and entry.user_id == user_id and entry.place == turn.entry.place:
                if entry.kind is Kind.LEAVE:
                    return "thought for so long that the other had gone"
                if entry.parts.addressed:
                    return "thought for so long that something else had been asked"
        return ""

    def _tell(self, turn: Turn, step: str, said: str = "") -> None:
        """Tell the watchers. An error in a watcher is logged and changes nothing."""
        if self._services.watchers:
            turn_event = TurnEvent(self.id, turn.entry.id, step, turn.trace(self.id), turn.percept, said)
            for watcher in tuple(self._services.watchers):
                try:
                    watcher(turn_event)
                except Exception:
                    log.exception("a watcher of %s failed at step '%s'", self.id, step)

    # -- corrections, see `noodlings.agent.corrections`

    def entry(self, entry_id: int) -> MemoryEntry | None:
        """An entry as it is now, from memory or the archive; None when there is none any more."""
        return self.memory.find(entry_id) or self._services.store.entries(self.id, [entry_id]).get(entry_id)

    def keep(self) -> None:
        self._unit_of_work.commit()

    async def know(self, about: str, text: str, by: str) -> MemoryEntry:
        """Keep a hand-written fact about somebody: pinned, of importance 1, neither felt nor answered.

        Args:
            about: the id of a user or an agent.
            by: the id of the author.

        Raises:
            UserError: it cannot be pinned; nothing has changed.
            StoreError: it could not be kept.
        """
        core, now = self._core, self._services.clock.now()
        fact = Percept(about, text, now, Kind.EVENT, affect=NEUTRAL, surprise=0.0, data={KNOWN_BY: by})
        fact, _ = shielded(self._services, fact)
        fact = with_least_tier(self._services, fact)
        async with self._pipeline.order:  # whoever has somebody forgotten waits for it, as for a percept
            words = await self._services.heard.understood(fact.text, by=by)
        self.memory.require_room()  # what is taken in is kept, so whatever may refuse it comes first
        feelings, felt = core.feelings, core.affect
        turn = take_in(core, self._services, fact, words, {})
        core.feelings, core.affect = feelings, felt
        turn.decision = Decision(False, "written by hand")
        turn.entry = self.memory.pin(self.memory.set_importance(turn.entry, 1.0))
        self._unit_of_work.commit(turn.trace(self.id))
        return turn.entry

    def feel_told(self, percept: Percept) -> tuple[Affect, float | None]:
        """What it feels about something from a source, and how far the words are worth keeping, 0…1.

        Judged by the words alone, as the embedding comes later; nothing in the agent changes.
        """
        affect, _, significance = appraise(self._services, percept, None, None)
        return affect, significance

    def remember_told(
        self, percept: Percept, source: str, affect: Affect, significance: float | None
    ) -> MemoryEntry:
        """Encode something from a source, to be kept with `keep_told`.

        Unlike in `take_in`, mood, mind, appetites and working memory stay as they are.
        """
        percept, _ = shielded(self._services, percept)
        core, salience = self._core, identity_salience(percept.text, self.persona)
        percept = with_least_tier(self._services, percept)
        entry = self.memory.remember(
            replace(without_words(percept), audience=percept.heard_by.joined_by(self.id)),
            step=core.step,
            affect=affect,
            significance=significance,
            keep=ASKED if asked_to_remember(percept, self.persona) else 0.0,
            identity_salience=max(percept.identity_salience, salience),
            source=source,
        )
        if entry.tier is Tier.SEALED:
            self._core.journal.sealed(with_words(entry, percept))
        return entry

    def keep_told(
        self,
        records: Iterable[IngestedRecord] = (),
        links: Iterable[Link] = (),
        first: Callable[[], None] = lambda: None,
    ) -> None:
        """Commit what was encoded of a source, with what became of its records.

        Args:
            first: called before; what it raises undoes all of it, too.

        Raises `StoreError`: nothing of it was kept, and the agent is back in its stored state.
        """
        for record in records:
            self._core.journal.taken(record)
        self._core.journal.linked(links)
        self._unit_of_work.commit_told(first)

    def correct(self, entry: MemoryEntry, text: str) -> MemoryEntry:
        """Remember other words for an entry: of the same person, moment and audience, and as important.

        The former entry is kept, without importance, and gives way to the new one whenever it comes to mind.
        So does what a model made of it: facts, and sentences of a journal that cite it.

        Raises `StoreError`: nothing was kept.
        """
        data = {name: value for name, value in entry.extra.items() if name != "data"}
        data |= entry.extra.get("data") or {}
        percept = Percept(
            entry.user_id,
            text,
            entry.timestamp,
            entry.kind,
            audience=entry.audience,
            identity_salience=entry.identity_salience,
            place=entry.place,
            data={name: value for name, value in data.items() if name not in (CLIENT_KEY, CLIENT_BODY)},
            tier=entry.tier,
        )
        former = self.memory.set_importance(entry, 0.0)  # refused by a plain list, so it comes first
        if entry.pinned:
            self.memory.pin(former, pinned=False)
        made = self.remember_told(percept, entry.source or CORRECTION, *self.feel_told(percept))
        if made.importance < entry.importance:
            made = self.memory.set_importance(made, entry.importance)
        if entry.pinned:
            made = self.memory.pin(made)
        links = self.give_way(entry, made, self._services.clock.now())
        # What was made of others stays confined with them, and is forgotten with them.
        about = self._services.store.links_of(self.id, [entry.id])
        made_of = [link for link in about if link.type in MADE_OF and link.source == entry.id]
        self.keep_told((), [*links, *(replace(link, source=made.id) for link in made_of)])
        return made

    def give_way(self, former: MemoryEntry, newer: MemoryEntry, at: float) -> list[Link]:
        """Let an entry, with the facts and the journal made of it, give way to a newer form of it.

        Returns the links for this, to be kept with the newer one.
        """
        links = self._services.store.links_of(self.id, [former.id])
        facts = [
            link.source for link in links if link.type is LinkType.UNDERSTOOD and link.target == former.id
        ]
        for fact in self._core.journal.pending(self._services.store.entries(self.id, facts)).values():
            self.memory.set_importance(fact, 0.0)
        return [Link(newer.id, number, LinkType.REPLACED, 1.0, at) for number in (former.id, *facts)]

    def limit_told(self, entry_ids: Iterable[int], audience: Audience) -> bool:
        """Let nobody but this audience learn of entries, of what they replaced, and of what was understood
        from these; to be kept with `keep_told`. Returns whether more people could learn of any of it before.
        """
        ids, limited = [*entry_ids], False
        ids += self._unit_of_work.corrected_by(ids)
        for entry in self._core.journal.pending(self._services.store.entries(self.id, ids)).values():
            if entry.tier < audience.tier or not within(entry.audience, audience):
                limited = True
                self._facts.confine(self.memory.limit(entry, of_audiences((entry.audience, audience))))
        return limited

    def limit_answers(
        self, entry_ids: Iterable[int], audience: Audience, traces: Mapping[int, Trace]
    ) -> list[MemoryEntry]:
        """Let nobody but this audience learn of these entries, and of the answers that would be forgotten
        with them; to be kept with `keep_told`. Their traces and the agent's own lines are kept at once.

        Args:
            traces: all traces of the agent by the id of their entry, as they were before any was confined;
                by what is confined already, it would not be known who was told of it then.

        Returns the entries of these answers. Raises `StoreError`.
        """
        core, store, made_by = self._core, self._services.store, self._unit_of_work
        known, newest = set[int](), [*entry_ids]
        turns, answered = frozenset[int](), tuple[int, ...]()
        while newest:
            newest += made_by.corrected_by(newest)
            known.update(newest, made_by.made_of(newest))
            turns, answered = store.made_of(self.id, sorted(known), traces)
            newest = [number for number in made_by.made_of(answered) if number not in known]
        known.update(answered)
        entries = store.entries(self.id, sorted(known)).values()
        answers = [entry for entry in entries if entry.response]
        self.limit_told(known, audience)
        self.subconscious.fade(known)
        if audience.tier is Tier.SEALED:
            core.let_go({entry.timestamp for entry in entries})
        said = {entry.response for entry in answers}
        for at, line in enumerate(core.said):
            if line.text in said:
                core.said[at] = replace(line, audience=of_audiences((line.audience, audience)))
        for number in turns.union(known) & traces.keys():
            trace = trace_of(store, self.id, number)  # as confined by now
            if trace is None:
                continue
            confined = of_audiences((trace.audience, audience))
            if confined != trace.audience:
                store.commit(Changes(self.id, trace=replace(trace, audience=confined)))
        store.commit(Changes(self.id, state=core.state()))
        return answers

    def link(self, links: Iterable[Link]) -> None:
        """Add links. Raises `StoreError`: none was kept."""
        self._core.journal.linked(links)
        self.keep()

    def unlink(self, links: Iterable[Link]) -> None:
        """Remove links. Raises `StoreError`: none was removed."""
        self._core.journal.unlinked(links)
        self.keep()

    def forget(
        self,
        entry_ids: Sequence[int],
        by_user: str,
        now: float,
        told_by: str = "",
        known: ReadTraces = MappingProxyType({}),
    ) -> Forgotten:
        """Delete entries for good from every stream, archive, trace, note and symbol, with thoughts and
        facts made of them.

        Args:
            told_by: also delete what of this user waits to be taken in from a source; "" for nothing.
            known: see `noodlings.ports.Repository.forget`.

        Raises `StoreError`: nothing was forgotten.
        """
        return self._unit_of_work.forget(entry_ids, by_user, now, told_by, known)

    def part_from(self, user_ids: Collection[str], names: Collection[str] = ()) -> None:
        """Remove these users from the witnesses of everything, as authors, and with their `names` from what
        others observed. Raises `StoreError`."""
        for turn in self._unit_of_work.under_way:
            if not turn.percept.listeners.isdisjoint(user_ids):
                turn.part_from(user_ids)
                self._unit_of_work.count_forgetting()
        self._unit_of_work.part_from(frozenset(user_ids), names)

    # -- as it is stored

    def state(self) -> AgentState:
        """Everything but the memories."""
        return self._core.state()

    def restore(self, record: AgentRecord) -> None:
        """Continue from the stored agent. Raises `UserError` when its state is damaged."""
        self._core.restore(record)
