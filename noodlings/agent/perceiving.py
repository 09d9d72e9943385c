"""Steps 1 to 4 of an event: appraised, applied to mood and mind, forecast checked, remembered.

`take_in` never waits and commits nothing; its caller commits next. The pipeline handles percepts one at a
time, in the order in which they came. A percept is kept as soon as it is understood, even if the caller has
stopped waiting.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

from noodlings.agent.decision import decide
from noodlings.agent.events import event_in
from noodlings.agent.linking import followed
from noodlings.agent.memory_question import uncalled
from noodlings.agent.regard import comes_back, in_mind, moved
from noodlings.agent.services import AgentServices
from noodlings.agent.state import AgentCore
from noodlings.agent.turn import Turn, timed
from noodlings.agent.unit_of_work import UnitOfWork
from noodlings.errors import UserError
from noodlings.ports import Repository, Understood
from noodlings.text import CleanText, with_texts
from noodlings.values.affect import Affect
from noodlings.values.audience import TIER_WORDS, Tier
from noodlings.values.floor import Decision
from noodlings.values.memory import OWN_MARKS, EntryVector, MemoryEntry
from noodlings.values.percept import SAID, SPOKEN, Percept
from noodlings.values.persona import Persona
from noodlings.values.relationship import NO_REGARD, Regard

NAME_SALIENCE = 0.15
"""For the agent's name."""
IDENTITY_SALIENCE = 0.5
"""For one identity word; each further one adds half of the rest."""


def identity_salience(text: str, persona: Persona) -> float:
    """How much a text touches who the agent is, 0…1.

    Its name alone counts little, or every greeting would.
    """
    words = set(re.findall(r"[\w'-]+", text.casefold()))
    names = frozenset(persona.names)
    named = any(_mentions(words, text, name) for name in names)
    touched = sum(
        _mentions(words, text, word) for word in persona.identity_words if word.casefold() not in names
    )
    left = (1.0 - IDENTITY_SALIENCE) ** min(touched, 4) * (1.0 - NAME_SALIENCE if named else 1.0)
    return 1.0 - left


def _mentions(words: set[str], text: str, phrase: str) -> bool:
    folded = phrase.casefold()
    return folded in text.casefold() if " " in folded else folded in words


ASKED = 0.5
"""How much a request to remember counts; a host's own word counts 1."""
_ASKS_TO_REMEMBER = re.compile(
    r"^(?:please |and |also |always )*"
    r"(?:remember(?:[:,]| (?:this|that|my|our|i|i['’]m|i['’]ve|we|it|to|(?:the|a)(?! (?:time|day)\b))\b)"
    r"|(?:do not|don['’]?t|never) (?:you )?forget\b|keep in mind\b)"
    r"|\b(?:remember|keep) (?:it|that|this|them) (?:safe )?for me\b"
    r"|\bmind what i(?:['’]m)? (?:tell|say|telling|saying)\b",
    re.I,
)


def asked_to_remember(percept: Percept, persona: Persona) -> bool:
    """Whether the agent is asked to remember a line: "remember that my sister is called Ada"."""
    said = uncalled(percept.text, persona)
    asks = said.endswith("?") or percept.kind not in SPOKEN or percept.depth > 0
    return percept.addressed and not asks and _ASKS_TO_REMEMBER.search(said) is not None


def with_least_tier(services: AgentServices, percept: Percept) -> Percept:
    """The percept with the lowest tier that the settings allow for its kind.

    Raises `UserError` when it is to be kept secret and there is no key.
    """
    percept = replace(percept, tier=Tier(max(percept.tier, services.tiers.get(percept.kind, Tier.OPEN))))
    require_keepable(services.store, percept.heard_by.tier)
    return percept


def without_words(percept: Percept) -> Percept:
    """The percept without its words if it is sealed, else as it is."""
    if percept.heard_by.tier is not Tier.SEALED:
        return percept
    return replace(percept, text="", place="", data={}, things=(), actions=())


def with_words(entry: MemoryEntry, percept: Percept) -> MemoryEntry:
    """The entry of a percept without words with its words, for the store."""
    extra = {"data": percept.data} if percept.data else {}
    return replace(entry, user_text=CleanText(percept.text), place=percept.place, extra=extra)


def require_keepable(store: Repository, tier: Tier) -> None:
    """Raise `UserError` where something of this tier cannot be kept for want of a key."""
    if tier >= Tier.SECRET and not store.keeps_secrets:
        raise UserError(
            f"What is {TIER_WORDS[tier]} can only be kept encrypted, and there is no key: make one with"
            " noodlings key new FILE, and set store.key_file to it. Nothing of this was kept."
        )


def shield(services: AgentServices, value: Any) -> tuple[Any, str, Tier]:
    """Look for personal data in a text, or in every text of JSON-compatible data.

    Returns:
        It as `privacy.personal` lets it be kept or sent: with `mask`, personal data is replaced by its kind;
        the kinds that were found, in words; and the lowest tier that it may have: with `raise`, secret if
        there is a key and else confined.
    """
    find, kinds = services.personal, dict[str, None]()
    if find is None:
        return value, "", Tier.OPEN

    def masked(text: str) -> str:
        found = find(text)
        kinds.update(dict.fromkeys(datum.kind for datum in found))
        for datum in reversed(found) if services.mask_personal else ():
            text = f"{text[: datum.start]}[{datum.kind}]{text[datum.end :]}"
        return text

    masked_value = with_texts(value, masked)
    raised = Tier.SECRET if services.store.keeps_secrets else Tier.CONFINED
    return masked_value, ", ".join(kinds), raised if kinds and not services.mask_personal else Tier.OPEN


def shielded(services: AgentServices, percept: Percept) -> tuple[Percept, str]:
    """A percept as it may be kept, and what was done to it in words, "" for nothing; see `shield`.

    With `raise` only those who were there may learn of it. What others in the world saw and heard stays as it
    was.
    """
    marks = {name: value for name, value in percept.data.items() if name in OWN_MARKS}
    facts = {name: value for name, value in percept.data.items() if name not in OWN_MARKS}
    (text, place, things, facts), kinds, tier = shield(
        services, [percept.text, percept.place, percept.things, facts]
    )
    if not kinds:
        return percept, ""
    if services.mask_personal:
        percept = replace(percept, text=text, place=place, things=things, data=facts | marks)
        return percept, f"not remembered, because it is personal: {kinds}"
    raised = percept.heard_by.joined_by(*percept.listeners).at_least(tier)
    kept = "secret" if raised.tier is Tier.SECRET else "confined to those present"
    return replace(percept, audience=raised), f"{kept}, because it is personal: {kinds}"


async def shielded_talk(services: AgentServices, entries: Iterable[MemoryEntry]) -> tuple[MemoryEntry, ...]:
    """Earlier talk that a client sends along, as a model may be shown it; looked through in a thread, as it
    may be long."""
    talk = []
    for entry in entries:
        texts = [entry.user_text, entry.response]
        (text, response), _, tier = await asyncio.to_thread(shield, services, texts)
        audience = entry.audience.at_least(tier)
        talk.append(replace(entry, user_text=CleanText(text), response=response, audience=audience))
    return tuple(talk)


GIVEN, BY_RULE = "given", "event"
"""How an affect is known that comes from the world, or from the rule of a game's event."""


def take_in(
    core: AgentCore,
    services: AgentServices,
    percept: Percept,
    words: Understood | None,
    milliseconds: dict[str, float],
) -> Turn:
    """Make a percept a memory, and let it change the agent. What to answer is still open.

    Args:
        words: what they mean; None to go by the words alone.
        milliseconds: how long each step took so far; more are added.
    """
    degraded: list[str] = []
    text = percept.text
    vector, reading = (None, None) if words is None else (words.vector, words.reading)
    event = event_in(percept.kind, percept.data)
    with timed(milliseconds, "appraise"):
        trouble = services.heard.failed or (text and words is None and services.heard.trouble)
        if trouble:
            degraded.append(f"judged by words only: {trouble}")
        noted, of_event = core.feelings.after_event(services.rules, percept)
        if not percept.heard_by.confined:  # what a game told is told to everybody
            core.feelings = noted
        appraised, appraised_by, significance = appraise(services, percept, of_event, words)
        by_words = appraised_by not in (GIVEN, BY_RULE)
        known, regard = cache(partial(in_mind, core, percept, core.step)), NO_REGARD
        if by_words and comes_back(core, percept, known) and known().pull:
            regard = Regard(feeling=known().pull, evidence=known().evidence)
        core.affect = moved(appraised, regard.feeling)  # not what is kept, or a liking would feed on itself
    before = core.feelings.mood
    with timed(milliseconds, "mood"):
        # The words of an event are a name and facts: what it does to the mood, its rule alone says.
        if not (event and by_words):
            core.feelings = core.feelings.pushed(core.affect, percept.timestamp)
    with timed(milliseconds, "predict"):
        heard_by = percept.heard_by.joined_by(core.id)
        meaning = text if vector is None else vector
        expectation = core.mind.perceive(core.affect, meaning, percept.timestamp, heard_by, percept.listeners)
        surprise = expectation.surprise if percept.surprise is None else percept.surprise
        core.feelings = core.feelings.fed(services.drives, percept, core.affect, surprise)
    core.step += 1
    with timed(milliseconds, "remember"):
        salience = max(percept.identity_salience, identity_salience(text, core.persona))
        entry = core.memory.remember(
            replace(percept, audience=heard_by),
            step=core.step,
            affect=appraised,
            phenomenal_state=expectation.state,
            surprise=surprise,
            significance=significance,
            keep=ASKED if asked_to_remember(percept, core.persona) else 0.0,
            identity_salience=salience,
            tells=reading.tells if reading and percept.kind in SPOKEN else None,
        )
        if vector is not None and (core.archive is None or core.archive.model == services.heard.model):
            core.journal.embedded(EntryVector(entry.id, services.heard.model, vector))
        core.journal.linked(followed(entry, core.memory.retrieve_working))
        chance = core.random(entry.id)

        def liking() -> float:
            nonlocal regard
            if known().pull:
                regard = replace(regard, chance=known().pull, evidence=known().evidence)
            return known().pull

        felt, spoke = core.affect, core.last_spoke
        decision = decide(percept, core.persona, felt, surprise, spoke, chance, salience, liking)
    return Turn(
        percept,
        entry,
        core.affect,
        appraised_by,
        core.feelings.mood.current,
        decision,
        milliseconds,
        degraded,
        entry.audience,
        core.affect,
        regard,
        before=before if by_words and not event else None,
        reading=reading,
    )


def without_shouting(services: AgentServices, user_id: str, text: str) -> str:
    """A text to appraise: in lower case where the speaker always uses capitals."""
    return text.lower() if user_id in services.loud else text


def appraise(
    services: AgentServices, percept: Percept, of_event: Affect | None, words: Understood | None
) -> tuple[Affect, str, float | None]:
    """What is felt, how that is known, and how far the words are worth keeping (None where not judged)."""
    if percept.affect is not None:
        return percept.affect, GIVEN, None
    if of_event is not None:
        return of_event, BY_RULE, None
    text = without_shouting(services, percept.user_id, percept.text)
    addressed, said = percept.addressed, percept.kind in SAID
    appraisal = services.appraiser.appraise(text, addressed=addressed, said=said, understood=words)
    return appraisal.affect, appraisal.by, appraisal.significance


@dataclass(eq=False)
class PerceptPipeline:
    core: AgentCore
    services: AgentServices
    unit_of_work: UnitOfWork
    order: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def hear(self, percept: Percept, tell: Callable[[Turn, str], None]) -> Turn:
        """Take in a percept, after those that came before it; `tell` is called with the turn and the step
        done.

        Raises:
            UserError: it is secret and there is no key; nothing of it was kept.
            StoreError: it could not be kept.
        """
        others = frozenset(one for one in percept.present if one.casefold() not in self.core.persona.own_ids)
        percept = with_least_tier(self.services, replace(percept, present=others))
        if percept.heard_by.tier is Tier.SEALED:
            turn = self._seal(percept)
            tell(turn, "perceived")
            return turn
        milliseconds: dict[str, float] = {}
        percept, shield = shielded(self.services, percept)
        try:
            with timed(milliseconds, "embed"):
                async with self.order:
                    words = await self.services.heard.understood(percept.text, by=percept.user_id)
        except asyncio.CancelledError:
            tell(self._keep(percept, None, milliseconds, shield), "perceived")
            raise
        turn = self._keep(percept, words, milliseconds, shield)
        tell(turn, "perceived")
        return turn

    def _seal(self, percept: Percept) -> Turn:
        """Keep a sealed percept: it is felt, and its words go to the store and nowhere else."""
        felt, _, _ = appraise(self.services, percept, None, None)
        told = replace(without_words(percept), affect=felt, addressed=False)
        turn = take_in(self.core, self.services, told, None, {})
        turn.decision = Decision(False, "it is sealed")
        self.core.journal.sealed(with_words(turn.entry, percept))
        self.unit_of_work.commit(turn.trace(self.core.id))
        return turn

    def _keep(
        self, percept: Percept, words: Understood | None, milliseconds: dict[str, float], shield: str
    ) -> Turn:
        turn = take_in(self.core, self.services, percept, words, milliseconds)
        turn.degraded += [shield] if shield else []
        if turn.decision.speak:
            with timed(turn.milliseconds, "commit"):
                self.unit_of_work.commit_percept()
        else:
            self.unit_of_work.commit(turn.trace(self.core.id))
        return turn
