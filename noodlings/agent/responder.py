"""Steps 5 to 7 of an event: what comes to mind, a thought in words, and what the transistors make of it.

Before that a model may refine what was felt, for recall, mood and voice; the entry keeps what was encoded.
There is always an answer within the time of a turn, whether the model works or not.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from noodlings.affect.mood import Mood
from noodlings.agent.memory_question import TALK, uncalled
from noodlings.agent.perceiving import without_shouting
from noodlings.agent.recollection import (
    in_latest_form,
    in_mind,
    latest_of,
    may_come,
    name_told,
    newer_forms,
    remind,
    talk_budget,
)
from noodlings.agent.regard import moved, relationships
from noodlings.agent.services import AgentServices
from noodlings.agent.state import AgentCore
from noodlings.agent.tone import SORROW_SECONDS, felt_with, tone_of, touched
from noodlings.agent.turn import Turn, timed
from noodlings.errors import LLMError
from noodlings.ports import Utterance, Voice
from noodlings.transistors.base import DisclosedMemories, DisclosedSymbols, ThoughtState
from noodlings.values.acting import acts_of, sounding
from noodlings.values.affect import Affect
from noodlings.values.audience import Audience, disclosed
from noodlings.values.caller import display_name
from noodlings.values.memory import MemoryEntry, Recalled, Why, hearsay
from noodlings.values.percept import Percept, told_name
from noodlings.values.persona import TRANSISTORS
from noodlings.values.tone import ToneSource
from noodlings.values.trace import talk_before

MOST_ANEW = 2
"""How often a model begins an answer anew because something that it was shown was forgotten."""

log = logging.getLogger(__name__)


@dataclass(eq=False)
class Responder:
    core: AgentCore
    services: AgentServices

    async def refine(self, turn: Turn, entry: MemoryEntry) -> None:
        """Let a model appraise the percept in place of our own appraisal, for all later steps.

        The mood becomes what it would be after this push alone.
        """
        model, before, core = self.services.feeling_model, turn.before, self.core
        if model is None or before is None or not entry.user_text or not self._may_tell(turn):
            return
        try:
            with timed(turn.milliseconds, "refine"):
                words = without_shouting(self.services, entry.user_id, entry.user_text)
                refined = await model.appraise(words, turn.percept.addressed, turn.allowance)
        except LLMError as error:
            turn.degraded.append(f"own appraisal: {error}")
            log.warning("%s keeps its own appraisal, because the model failed: %s", core.id, error)
            return
        turn.appraised_by, turn.alone = "llm", moved(refined, turn.regard.feeling)
        self._replace_feeling(turn, before, turn.alone)

    def _may_tell(self, turn: Turn) -> bool:
        """Whether a model may see what is to be answered."""
        return turn.entry.tier <= self.services.reach

    def _replace_feeling(self, turn: Turn, before: Mood, affect: Affect) -> None:
        """Replace what was felt about the percept, and its push on the mood."""
        core, now = self.core, turn.percept.timestamp
        was, instead = before.pushed(turn.affect, now), before.pushed(affect, now)
        core.feelings = core.feelings.corrected(was, instead)
        turn.affect, turn.mood = affect, instead.current
        if turn.entry.step == core.step:  # nothing was perceived since
            core.affect = affect

    async def remember(self, turn: Turn) -> None:
        """Set what is in mind for the answer, oldest to newest, and its tone."""
        percept = turn.percept
        reminded = await remind(self.core, self.services, turn)
        also = [*name_told(self.core.archive, turn), *reminded]
        budget = talk_budget(self.services.context, len(also))
        turn.recalled = self.core.memory.context(
            percept.user_id,
            turn.affect,
            budget,
            also=also,
            present=percept.listeners,
            without=(turn.entry.id,),
            min_similarity=self.services.memory.affect_threshold,
        )
        store, allowed = self.services.store, may_come(percept)
        turn.recalled = in_latest_form(turn.recalled, self.core.id, store, allowed)
        by_words = any(one.why != (Why.TOLD,) for one in reminded)
        turn.recalled = in_mind(turn.recalled, by_words, percept, self.core.persona)
        if self.core.archive is not None and self.core.archive.relationships:
            await self.core.archive.within(0.0)
        speaker = percept.user_id
        others = [] if self.services.voice is None else sorted(percept.present - {speaker})
        turn.relationships = relationships(self.core, percept, [speaker, *others], [turn.entry.id])
        self._feel_again(turn)

    def _feel_again(self, turn: Turn) -> None:
        """Feel the percept together with the memory that it touches on, unless it sets the tone by itself."""
        percept, now = turn.percept, turn.percept.timestamp
        earlier = [
            entry
            for entry in disclosed(self.core.memory.retrieve_working(), percept.listeners)
            if entry.id < turn.entry.id
            and entry.user_id == percept.user_id
            and 0.0 <= now - entry.timestamp <= SORROW_SECONDS
        ]
        importance = turn.entry.importance
        text = uncalled(percept.text, self.core.persona)
        again = touched(text, turn.entry, turn.recalled, turn.reading)
        turn.tone = tone_of(turn.alone, importance, again, earlier)
        felt = turn.alone
        if again is not None and turn.tone.why is not ToneSource.SAID:
            felt = felt_with(felt, importance, again)
        if felt != turn.affect and turn.before is not None:
            self._replace_feeling(turn, turn.before, felt)

    async def think(self, turn: Turn) -> None:
        """Make the thought of a turn and its answer: by a model, else by the offline voice."""
        utterance = self.utterance(turn)
        await self._put_into_words(turn, utterance)
        await self._adapt_to_persona(turn, utterance)

    async def _put_into_words(self, turn: Turn, utterance: Utterance) -> None:
        if self.services.voice is not None and self._may_tell(turn):
            try:
                if turn.anew > MOST_ANEW:
                    raise LLMError("some of what it was shown was forgotten each time it answered")
                told = replace(utterance, history=self._history(turn), reach=self.services.reach)
                await self._by_model(turn, told, self.services.voice)
                return
            except LLMError as error:
                turn.degraded.append(f"offline voice: {error}")
                log.warning("%s uses the offline voice: %s", self.core.id, error)
        await self._serial(turn, utterance, self.services.offline)

    async def choose(self, turn: Turn) -> None:
        """Choose the action for the answer: by the model where it spoke, else by the rule."""
        services, utterance, said = self.services, self.utterance(turn), turn.response or ""
        if services.action_model is not None and turn.voice != services.offline.name:
            try:
                told = replace(utterance, reach=services.reach)
                turn.action = await services.action_model.choose(told, said, turn.allowance)
                return
            except LLMError as error:
                turn.degraded.append(f"action by rule: {error}")
                log.warning("%s chooses its action by rule: %s", self.core.id, error)
        turn.action = await services.action_rule.choose(utterance, said, turn.allowance)

    def _history(self, turn: Turn) -> tuple[MemoryEntry, ...]:
        """What was said and done before that all listeners may know, in corrected words."""
        before, allowed = talk_before(turn.entry.id), may_come(turn.percept)
        heard = [
            entry
            for entry in self.core.memory.retrieve_working()
            if entry.id in before and entry.kind in TALK
        ]
        latest = {entry.id: entry for entry in heard}
        if newer := newer_forms(self.core.id, self.services.store, latest, allowed):
            heard = [replace(one, user_text=latest[latest_of(one.id, newer)].user_text) for one in heard]
        return (*turn.earlier, *disclosed(heard, turn.percept.listeners))

    async def _adapt_to_persona(self, turn: Turn, utterance: Utterance) -> None:
        """Let a nonverbal character only act, and add the sounds that a character must make."""
        persona, said = self.core.persona, turn.response or ""
        if not persona.verbal:
            said = acts_of(said)
            if not said:
                turn.degraded.append("offline gesture: the model spoke for a character that never speaks")
                said = (await self.services.offline.speak(utterance, turn.allowance)).text
        chance = self.core.random(turn.entry.id)
        turn.response = sounding(said, persona.voice.sounds, chance, persona.voice.case)

    def utterance(self, turn: Turn) -> Utterance:
        """Everything that a voice may use for the answer of a turn."""
        felt = replace(turn.percept, affect=turn.affect)
        again = turn.entry.response is not None  # another answer must not come out as the one it replaces
        moment = turn.percept.timestamp if again else turn.entry.id
        utterance = self.utterance_of(felt, turn.recalled, moment, turn.earlier)
        importance = turn.entry.encoded_importance
        known = turn.relationships
        heard = replace(utterance, tone=turn.tone, importance=importance, reading=turn.reading)
        return replace(heard, mood=turn.mood, relationships=known)

    def utterance_of(
        self,
        percept: Percept,
        in_mind: Sequence[Recalled],
        moment: float | None = None,
        earlier: Sequence[MemoryEntry] = (),
    ) -> Utterance:
        """The same for a percept that is not kept; `moment` seeds the random choices."""
        core, names = self.core, self.services.names()
        game, rules, now = core.feelings.game, self.services.rules, percept.timestamp
        heard = [*(found.entry for found in in_mind), *core.memory.retrieve_working(), *earlier]
        texts = (text for entry in heard for text in (entry.user_text, entry.response or ""))
        there = {percept.user_id, core.id, *percept.listeners, *(entry.user_id for entry in heard)}
        there.update(one for entry in heard for chain in hearsay(entry) for one in chain)
        named = game.mood(rules, now) if game.began else None
        known, characters = names.among(there, (percept.text, *texts)), self.services.characters()
        return Utterance(
            persona=core.persona,
            percept=percept,
            speaker=display_name(percept.user_id, names),
            mood=core.feelings.mood.at_time(now),
            recalled=tuple(in_mind),
            names=known,
            everybody=names,
            characters=frozenset(user_id for user_id in known if user_id in characters),
            own_lines=tuple(core.said),
            named_mood=named or "",
            manner=rules.moods.get(named, "") if named else "",
            blocks=game.blocks(rules, now),
            seed=core.seed_of(now if moment is None else moment),
        )

    def truly_recalled(self, turn: Turn) -> list[Recalled]:
        """What an answer came from: what the voice used, or for a model all but the merely recent."""
        if turn.voice == self.services.offline.name:
            return [found for found in turn.recalled if found.entry.id in turn.used]
        return [found for found in turn.recalled if found.why != (Why.RECENT,)]

    async def _by_model(self, turn: Turn, utterance: Utterance, voice: Voice) -> None:
        """All lenses in one call, or a call for each. Raises `LLMError` when the model says nothing."""
        if not self.services.fused:
            await self._serial(turn, utterance, voice)
            return
        core = self.core
        state, chain = self._state(turn, utterance, voice), core.chain
        seen = await chain.lenses(state)
        lensed = replace(utterance, lenses=seen.lenses)
        turn.audience = self._audience(lensed)
        known = all(lens.transistor in TRANSISTORS for lens in lensed.lenses) and not chain.changes_words
        turn.made_of = self._made_of(turn, lensed) if known else None
        persona = core.persona
        if chain.changes_words or persona.voice.sounds or not persona.verbal:
            turn.allowance.said = None  # what the model says is not yet what is said
        with timed(turn.milliseconds, "think"):
            speech = await voice.speak(lensed, turn.allowance)
        with timed(turn.milliseconds, "modulate"):
            coloured = await chain.own_way(speech.text, state)
        turn.say(voice.name, speech, coloured.text, (*seen.modulations, *coloured.modulations))
        turn.shown = lensed.relationships
        turn.degraded += (*seen.degraded, *coloured.degraded)

    async def _serial(self, turn: Turn, utterance: Utterance, voice: Voice) -> None:
        turn.allowance.said = None  # the transistors change what the voice says
        known = voice is self.services.offline and not self.core.chain.changes_words
        turn.made_of = self._made_of(turn, utterance) if known else None  # transistors read more meanwhile
        with timed(turn.milliseconds, "think"):
            speech = await voice.speak(utterance, turn.allowance)
        with timed(turn.milliseconds, "modulate"):
            state = self._state(turn, utterance, voice)
            coloured = await self.core.chain.serial(speech.text, state)
        turn.say(voice.name, speech, coloured.text, coloured.modulations)
        told = voice is not self.services.offline or speech.in_manner
        turn.shown = utterance.relationships if told else ()
        made_of = replace(utterance, lenses=coloured.lenses, relationships=turn.shown)
        turn.audience = self._audience(made_of)
        turn.degraded += coloured.degraded
        if voice is self.services.offline:
            theirs = (one.entry for one in turn.recalled if one.entry.user_id == turn.percept.user_id)
            named = {one.id: name for one in theirs if (name := told_name(one.user_text))}
            turn.used |= {one for one, name in named.items() if name.casefold() in coloured.text.casefold()}

    def _made_of(self, turn: Turn, utterance: Utterance) -> frozenset[int]:
        return utterance.entry_ids.union(turn.regard.evidence, {turn.entry.id})

    def _audience(self, utterance: Utterance) -> Audience:
        """Who may learn of what was said; the agent itself is among them."""
        return utterance.audience.joined_by(self.core.id)

    def _state(self, turn: Turn, utterance: Utterance, voice: Voice) -> ThoughtState:
        core, percept = self.core, turn.percept
        now = percept.timestamp
        return ThoughtState(
            persona=core.persona,
            affect=turn.affect,
            mood=turn.mood,
            percept=percept,
            recalled=utterance.recalled,
            memory=DisclosedMemories(core.memory, percept.listeners, utterance.reach),
            subconscious=DisclosedSymbols(core.subconscious, percept.listeners, utterance.reach),
            goals=core.feelings.appetites.goals(self.services.drives, now),
            appetites=core.feelings.appetites.at_time(self.services.drives, now),
            present=percept.listeners,
            said=utterance.said,
            now=now,
            phenomenal_state=core.mind.state,
            surprise=turn.entry.surprise,
            voice=voice,
            utterance=utterance,
            allowance=turn.allowance,
        )
