"""An agent: the way of one event, from percept to trace.

    1 appraise   what is felt about it           5 recall    what comes to mind
    2 mood       pushed by it                    6 think     a reply in plain words
    3 predict    how surprising it was           7 modulate  coloured by the transistors
    4 remember   encoded, linked, committed      8 respond   the entry is completed, and linked
                                                 9 settle    symbols, embeddings: in the background
                                                10 trace     stored

Steps 1 to 4 never wait for anything: when `perceive` first yields, the percept is on disk, whatever a slow
or failing model does afterwards. Steps 5 to 10 of one agent run one turn at a time. Before them a model may
refine what was felt, for recall, mood and voice; the entry keeps what was encoded.
"""

from __future__ import annotations

import asyncio
import logging
import random
import zlib
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any

from noodlings.affect.game_events import GameFeeling
from noodlings.affect.game_rules import GameRules
from noodlings.agent.archive import AgentArchive
from noodlings.agent.asking import TALK, question, remind
from noodlings.agent.decision import decide
from noodlings.agent.events import event_in
from noodlings.agent.faculties import Faculties
from noodlings.agent.feelings import Feelings
from noodlings.agent.linking import followed, recalled
from noodlings.agent.salience import identity_salience
from noodlings.agent.state import STATE_VERSION, read_state
from noodlings.agent.turn import Turn, timed
from noodlings.errors import LLMError
from noodlings.memory.context import Budget
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.journal import Journal
from noodlings.memory.plain import PlainMemory
from noodlings.memory.subconscious import SubconsciousMemory
from noodlings.mind.appetites import Goal
from noodlings.mind.mind import Mind
from noodlings.ports import (
    AgentRecord,
    AgentState,
    Changes,
    Forgotten,
    Speech,
    Utterance,
)
from noodlings.recall.search import Searcher
from noodlings.text import clean
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.caller import shown_name
from noodlings.values.memory import Link, MemoryEntry, Recalled
from noodlings.values.percept import Percept
from noodlings.values.persona import Persona
from noodlings.values.trace import Trace
from noodlings.values.vector import EntryVector

log = logging.getLogger(__name__)

SAID = 40
"""An agent's own latest lines, which its voice does not repeat."""

GIVEN, BY_RULE = "given", "event"
"""How an affect is known that was not made of words: the world said it, or the rule of a game's event."""

BY_MODEL = "llm"
"""How an affect is known that a model made of the words."""


class Agent:
    """One character: who it is, what it feels, what it remembers.

    Attributes:
        persona: who it is.
        memory: what it has in mind.
        subconscious: what intense moments became.
        mood: its slow feeling, an `Affect`.
        affect: what it felt about the latest percept.
        mind: expectation and phenomenal state.
        archive: everything it ever perceived, as it can be searched; None for a plain list.
    """

    def __init__(
        self,
        persona: Persona,
        memory: HierarchicalMemory | PlainMemory,
        subconscious: SubconsciousMemory,
        journal: Journal,
        faculties: Faculties,
        archive: AgentArchive | None = None,
    ) -> None:
        self.persona = persona
        self.memory = memory
        self.subconscious = subconscious
        self.archive = archive
        self.affect: Affect = NEUTRAL
        self.mind = Mind()
        self._feelings = Feelings.of(persona, faculties.clock.now())
        self._journal = journal
        self._with = faculties
        self._step = 0
        self._said: deque[str] = deque(maxlen=SAID)
        self._last_spoke: float | None = None
        self._speaking = asyncio.Lock()
        self._forgettings = 0

    @property
    def id(self) -> str:
        """The persona's id."""
        return self.persona.id

    @property
    def searcher(self) -> Searcher | None:
        """Finds in everything it ever perceived; None for a plain list."""
        return None if self.archive is None else self.archive.searcher

    @property
    def forgettings(self) -> int:
        """How often something was forgotten: whatever was read of it before may be gone."""
        return self._forgettings

    @property
    def mood(self) -> Affect:
        """The slow feeling now."""
        return self._feelings.mood.at_time(self._with.clock.now())

    @property
    def baseline(self) -> Affect:
        """What the mood returns to."""
        return self._feelings.mood.baseline

    @property
    def rules(self) -> GameRules:
        """What events of a game do to it."""
        return self._with.rules

    @property
    def game(self) -> GameFeeling:
        """What a game's events left: its named mood, how things stand, what was notable."""
        return self._feelings.game

    @property
    def named_mood(self) -> str:
        """chill, hyped, nervous or frustrated, as a game's events left it."""
        return self._feelings.game.mood(self._with.rules, self._with.clock.now()).value

    @property
    def appetites(self) -> dict[str, float]:
        """The eight drives now, 0 (sated) … 1."""
        return self._feelings.appetites.at_time(self._with.drives, self._with.clock.now())

    @property
    def goals(self) -> tuple[Goal, ...]:
        """What it wants now, the strongest first."""
        return self._feelings.appetites.goals(self._with.drives, self._with.clock.now())

    async def perceive(self, percept: Percept) -> Trace:
        """The whole way of one event. Returns the stored trace; its `response` is None for silence."""
        if self.archive is not None:
            self.archive.begin()
        turn = self._take_in(percept)
        if not turn.decision.speak:
            return turn.trace(self.id)
        async with self._speaking:
            return await self._answer(turn)

    async def idle(self, now: float) -> str | None:
        """Something it does of its own accord, or None: a line in quotation marks is spoken."""
        fresh = [act for act in self.persona.voice.idle if act not in self._said]
        if not fresh:
            return None
        act = self._random(now).choice(fresh)
        self._note_said(act, now)
        return act

    # -- corrections, see `noodlings.agent.corrections`

    def entry(self, entry_id: int) -> MemoryEntry | None:
        """An entry as it is by now, in mind or only in the archive; None when there is none, or no more."""
        return self.memory.find(entry_id) or self._with.store.entries(self.id, [entry_id]).get(entry_id)

    def keep(self) -> None:
        """Commit what was changed by hand."""
        self._commit(None)

    def link(self, link: Link) -> None:
        """Commit a link that was made by hand between two of its entries."""
        self._journal.linked([link])
        self.keep()

    def forget(self, entry_ids: Sequence[int], by_user: str, now: float) -> Forgotten:
        """Delete entries for good: from every stream, archive, traces, notes and the agent's own state.

        Raises:
            StoreError: nothing was forgotten.
        """
        store = self._with.store
        # The state goes first, so that erasing takes the old one off the disk with the rest: what it lately
        # said may quote them, what it heard is familiar, and what a game told is noted down.
        moments = {entry.timestamp for entry in store.entries(self.id, entry_ids).values()}
        self._said.clear()
        self.mind.forget(moments)
        self._feelings = self._feelings.without(moments)
        self._commit(None)
        delete = partial(store.forget, self.id, entry_ids, by_user=by_user, timestamp=now)
        notes = self._with.notes
        forgotten = delete() if notes is None else notes.forget(self.id, entry_ids, delete)
        self._forgettings += 1
        self.subconscious.forget(entry_ids)
        if self.archive is not None:
            self.archive.forget(entry_ids, forgotten.redacted)
        record = store.load(self.id)
        if record is not None:
            self._recollect(record)
        return forgotten

    # -- steps 1 to 4: at once

    def _take_in(self, percept: Percept) -> Turn:
        milliseconds: dict[str, float] = {}
        degraded: list[str] = []
        text = clean(percept.text)
        event = event_in(percept.kind, percept.data)
        with timed(milliseconds, "appraise"):
            vector = self._with.meaning.vector(text)
            if self._with.meaning.failed:
                degraded.append(f"words alone: {self._with.meaning.failed}")
            self._feelings, of_event = self._feelings.after_event(self._with.rules, percept)
            self.affect, appraised_by = self._appraise(percept, of_event, text, vector)
        before = self._feelings.mood
        with timed(milliseconds, "mood"):
            # The words of an event are a name and facts: what it does to the mood, its rule alone says.
            if not event or appraised_by in (GIVEN, BY_RULE):
                self._feelings = self._feelings.pushed(self.affect, percept.timestamp)
        with timed(milliseconds, "predict"):
            meant = self._with.meaning.of(text, vector)
            expectation = self.mind.perceive(self.affect, meant, percept.timestamp)
            surprise = expectation.surprise if percept.surprise is None else percept.surprise
            self._feelings = self._feelings.fed(self._with.drives, percept, self.affect, surprise)
        self._step += 1
        with timed(milliseconds, "remember"):
            entry = self.memory.add(
                percept.timestamp,
                self._step,
                percept.user_id,
                text,
                self.affect,
                expectation.state,
                surprise,
                identity_salience=max(percept.identity_salience, identity_salience(text, self.persona)),
                kind=percept.kind,
                addressed=percept.addressed,
                audience=percept.audience,
                place=percept.place,
                data=percept.data,
            )
            if vector is not None and (
                self.archive is None or self.archive.model == self._with.meaning.model
            ):
                self._journal.embedded(EntryVector(entry.id, self._with.meaning.model, vector))
            self._journal.linked(followed(entry, self.memory.retrieve_working()))
            decision = decide(percept, self.persona, surprise, self._last_spoke, self._random(entry.id))
        mood = self._feelings.mood.current
        turn = Turn(percept, entry, self.affect, appraised_by, mood, decision, milliseconds, degraded)
        if not event and appraised_by not in (GIVEN, BY_RULE):
            turn.before = before
        if decision.speak:
            with timed(milliseconds, "commit"):
                self._commit(None)
        else:
            self._commit(turn.trace(self.id))
        return turn

    def _appraise(
        self, percept: Percept, of_event: Affect | None, text: str, vector: Any
    ) -> tuple[Affect, str]:
        """What is felt, and by what means it is known."""
        if percept.affect is not None:
            return percept.affect, GIVEN
        if of_event is not None:
            return of_event, BY_RULE
        heard = self._heard(percept.user_id, text)
        appraisal = self._with.appraiser.appraise(heard, addressed=percept.addressed, vector=vector)
        return appraisal.affect, appraisal.by

    def _heard(self, user_id: str, text: str) -> str:
        """Words as they sound: capitals are no shouting in somebody who never speaks otherwise."""
        return text.lower() if user_id in self._with.loud else text

    # -- steps 5 to 10: one turn at a time

    async def _answer(self, turn: Turn) -> Trace:
        await self._refine(turn)
        speech = await self._think(turn)
        entry = self.entry(turn.entry.id)  # revised by now, perhaps, or gone
        if speech is None or entry is None:
            return turn.unsaid(self.id)
        turn.thought = turn.response = speech.text
        turn.used = frozenset(speech.used)
        with timed(turn.milliseconds, "respond"):
            self._note_said(speech.text, turn.percept.timestamp)
            turn.entry = self.memory.complete(entry, speech.text)
            truly = self._truly_recalled(turn)
            self.memory.reinforce(truly, turn.percept.timestamp)
            self._journal.linked(recalled(turn.entry, turn.recalled, truly))
        trace = turn.trace(self.id)
        self._commit(trace)
        return trace

    async def _refine(self, turn: Turn) -> None:
        """What a model feels about it, in place of our own appraisal, for all that is still to come.

        The mood becomes what it would be had it been pushed by that alone: one event, one push.
        """
        model, before, entry = self._with.feeling_model, turn.before, self.entry(turn.entry.id)
        if model is None or before is None or entry is None or not entry.user_text:
            return
        try:
            with timed(turn.milliseconds, "refine"):
                heard = self._heard(entry.user_id, entry.user_text)
                refined = await model.appraise(heard, turn.percept.addressed, turn.allowance)
        except LLMError as error:
            turn.degraded.append(f"own appraisal: {error}")
            log.warning("%s keeps its own appraisal: %s", self.id, error)
            return
        now = turn.percept.timestamp
        was, instead = before.pushed(turn.affect, now), before.pushed(refined, now)
        self._feelings = self._feelings.corrected(was, instead)
        turn.affect, turn.appraised_by, turn.mood = refined, BY_MODEL, instead.current
        if turn.entry.step == self._step:  # nothing was perceived since
            self.affect = refined

    async def _think(self, turn: Turn) -> Speech | None:
        """The reply; None when what it answers was forgotten while it waited or thought.

        Whatever is forgotten meanwhile may be in the words by then, so it thinks again without it.
        """
        while self.entry(turn.entry.id) is not None:
            forgettings = self._forgettings
            with timed(turn.milliseconds, "recall"):
                turn.recalled = self._recall(turn, await self._remind(turn))
            with timed(turn.milliseconds, "think"):
                speech = await self._speak(turn)
            if self._forgettings == forgettings:
                return speech
        return None

    async def _remind(self, turn: Turn) -> list[Recalled]:
        """What is brought back by what was said, from everything it ever perceived."""
        if self.archive is None or not self._with.context.relevant:
            return []
        talk = [entry for entry in self.memory.retrieve_working(TALK + 1) if entry.id < turn.entry.id]
        asked = question(turn.percept, self.persona, talk, (goal.text for goal in self.goals))
        return await remind(self.archive, self.memory, asked, turn, self._with.context)

    def _recall(self, turn: Turn, also: Sequence[Recalled]) -> list[Recalled]:
        sizes, percept = self._with.context, turn.percept
        budget = Budget(sizes.working, sizes.episodic, sizes.affect_similar, max_tokens=sizes.max_tokens)
        return self.memory.context(
            percept.user_id,
            turn.affect,
            budget,
            also=also,
            present=percept.present | {percept.user_id},
            without=(turn.entry.id,),
            min_similarity=self._with.memory.affect_threshold,
        )

    async def _speak(self, turn: Turn) -> Speech:
        names, game, rules = self._with.names(), self._feelings.game, self._with.rules
        now = turn.percept.timestamp
        named = game.mood(rules, now) if game.began else None
        utterance = Utterance(
            persona=self.persona,
            percept=turn.percept,
            speaker=shown_name(turn.percept.user_id, names),
            mood=turn.mood,
            recalled=tuple(turn.recalled),
            names=names,
            said=tuple(self._said),
            named_mood=named or "",
            manner=rules.moods.get(named, "") if named else "",
            blocks=game.blocks(rules, now),
            seed=self._seed(turn.entry.id),
        )
        if self._with.voice is not None:
            try:
                turn.voice = self._with.voice.name
                return await self._with.voice.speak(utterance, turn.allowance)
            except LLMError as error:
                turn.degraded.append(f"offline voice: {error}")
                log.warning("%s speaks with the offline voice: %s", self.id, error)
        turn.voice = self._with.offline.name
        return await self._with.offline.speak(utterance, turn.allowance)

    def _truly_recalled(self, turn: Turn) -> list[int]:
        """What this answer came from: what the voice says it used; of a model, all but the merely recent."""
        if turn.voice == self._with.offline.name:
            return sorted(turn.used)
        return [found.entry.id for found in turn.recalled if found.why != ("recent",)]

    # -- keeping

    def _commit(self, trace: Trace | None) -> None:
        noted = self._journal.drain()
        changes = Changes(
            self.id,
            noted.added,
            noted.updated,
            noted.episodic,
            noted.evicted,
            self.state(),
            trace,
            noted.links,
            noted.vectors,
            noted.symbols,
            noted.faded,
        )
        self._with.store.commit(changes)
        if self.archive is not None:
            self.archive.kept(changes)
        if self._with.notes is not None:
            self._with.notes.follow(changes)

    def state(self) -> AgentState:
        """Everything but the memories, as stored."""
        return AgentState(
            self.id,
            {
                "version": STATE_VERSION,
                "step": self._step,
                "said": list(self._said),
                "last_spoke": self._last_spoke,
                "affect": self.affect.as_list(),
                "feelings": self._feelings.as_dict(),
                "mind": self.mind.state_dict(),
            },
        )

    def restore(self, record: AgentRecord) -> None:
        """Take up where the stored agent left off. Raises `UserError` when its state is damaged."""
        self._recollect(record)
        if record.state.data:
            state = read_state(record.state.data)
            self._step = state.step
            self._said.extend(state.said)
            self._last_spoke = state.last_spoke
            self.affect = Affect.of(state.affect)
            self._feelings = Feelings.from_dict(state.feelings.model_dump(), self.persona)
            self.mind.load_state(state.mind)

    def _recollect(self, record: AgentRecord) -> None:
        """Have in mind what is stored."""
        self.memory.restore(
            record.working, record.episodic, record.perceived, record.consolidated, record.last_id
        )
        self.subconscious.restore(record.symbols, record.last_symbol_id)

    def _note_said(self, text: str, now: float) -> None:
        self._said.append(text)
        self._last_spoke = now

    def _seed(self, moment: float) -> int:
        return zlib.crc32(f"{self._with.seed}:{self.id}:{moment}".encode())

    def _random(self, moment: float) -> random.Random:
        return random.Random(self._seed(moment))  # noqa: S311 -- reproducible, not secret
