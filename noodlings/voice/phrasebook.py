"""The words of a character for a dialogue act and a feeling, the least used first.

A character's own lines come before the shared ones.
"""

from __future__ import annotations

import random
import re
from collections.abc import Container, Mapping, Sequence
from functools import lru_cache
from itertools import islice

import numpy as np

from noodlings.values.affect import Affect
from noodlings.values.persona import Persona, PersonaVoice
from noodlings.values.tone import ToneName
from noodlings.values.topic import SelfTopic, ToldTopic
from noodlings.values.wording import SLOTS, DialogueAct, Phrase, SpokenFeeling, calm, parse
from noodlings.voice.response_selection import (
    ASKED,
    ITSELF,
    TOPIC,
    Candidate,
    candidates,
    kind_probabilities,
    response_model,
    scores,
)
from noodlings.voice.words import load_yaml

NOTICEABLE = 0.3
"""A feeling weaker than this (0…1) is calm."""

MOOD_LINES = {
    SpokenFeeling.JOY: DialogueAct.MOOD_JOY,
    SpokenFeeling.SORROW: DialogueAct.MOOD_SORROW,
    SpokenFeeling.FEAR: DialogueAct.MOOD_FEAR,
    SpokenFeeling.ANGER: DialogueAct.MOOD_ANGER,
    SpokenFeeling.BOREDOM: DialogueAct.MOOD_BOREDOM,
}


def strengths(affect: Affect) -> dict[SpokenFeeling, float]:
    """How much of each feeling there is, 0…1.

    Anger is what is left of an unpleasant agitation after fear and sorrow.
    """
    agitation = max(2.0 * affect.arousal - 1.0, 0.0)
    displeasure = max(-affect.valence, 0.0)
    return {
        SpokenFeeling.SORROW: affect.sorrow,
        SpokenFeeling.FEAR: affect.fear,
        SpokenFeeling.JOY: max(affect.valence, 0.0) * (1.0 - affect.sorrow),
        SpokenFeeling.ANGER: displeasure
        * (0.3 + 0.7 * agitation)
        * (1.0 - affect.fear)
        * (1.0 - affect.sorrow),
        SpokenFeeling.BOREDOM: affect.boredom,
    }


def feeling(affect: Affect, least: float = NOTICEABLE) -> SpokenFeeling:
    """The strongest feeling, or calm where none is strong enough."""
    found = strengths(affect)
    strongest = max(found, key=lambda name: found[name])
    return strongest if found[strongest] >= least else SpokenFeeling.CALM


_ADJECTIVES = {
    SpokenFeeling.JOY: "happy",
    SpokenFeeling.SORROW: "sad",
    SpokenFeeling.FEAR: "afraid",
    SpokenFeeling.ANGER: "angry",
    SpokenFeeling.BOREDOM: "bored",
}


def in_words(affect: Affect) -> str:
    """A mood for a prompt: "very sad, a little afraid, drowsy"."""
    felt = sorted(strengths(affect).items(), key=lambda item: -item[1])
    words = [f"{_degree(much)}{_ADJECTIVES[name]}" for name, much in felt if much >= NOTICEABLE / 2]
    if affect.arousal > 0.75:
        words.append("wide awake")
    elif affect.arousal < 0.25:
        words.append("drowsy")
    return ", ".join(words) or "calm"


def _degree(much: float) -> str:
    return "very " if much >= 0.7 else "a little " if much < 0.4 else ""


OWN_REST = 7
"""Lines before a character's own phrase may come again."""
_TOLD_IF_KNOWN = frozenset({DialogueAct.WHO_ARE_YOU, DialogueAct.WHERE_ARE_WE, DialogueAct.WHAT_IS_HERE})
"""Acts with lines that must use their slots where these are known."""
OWN_BONUS = 1.5
"""What is added to the score of a character's own phrases for what it is told, or it would speak like all
others; asked something, it speaks of itself anyway."""
MOST_TIED = 3
"""Of so many best phrases one is chosen at random,"""
TIED_WITHIN = 0.5
"""if their scores differ by no more than this."""
LIKELY_KIND = 0.15
"""The probability of a kind of phrases from which they may stand in for those of the act."""
COLOUR_REST = 2
"""Lines before the same colouring may come again."""
WINDOW = 50
"""Latest lines in which the use of phrases is noticed."""


@lru_cache(maxsize=1)
def shared_voice() -> PersonaVoice:
    """The words that all characters share, in the form of `voice` in a recipe."""
    data, topics = load_yaml("phrases.yaml"), load_yaml("topics.yaml")
    return PersonaVoice(
        interjections={name: tuple(words) for name, words in data["interjections"].items()},
        mannerisms=tuple(data["mannerisms"]),
        gestures=tuple(data["gestures"]),
        lines={name: tuple(lines) for name, lines in data["lines"].items()},
        about_itself={name: tuple(lines) for name, lines in topics["about_itself"].items()},
        on_topics={name: tuple(lines) for name, lines in topics["on_topics"].items()},
    )


@lru_cache(maxsize=1)
def shared_colours() -> dict[str, tuple[str, ...]]:
    """The colouring phrases that all characters share, by `COLOURS`."""
    return {key: tuple(phrases) for key, phrases in load_yaml("colours.yaml").items()}


class Phrasebook:
    def __init__(self, persona: Persona, said: Sequence[str], seed: int) -> None:
        self._voice = persona.voice
        self._recent = [calm(line) for line in said[-WINDOW:]]
        self._all_recent = "\n".join(self._recent)
        self._slots: dict[str, str] = {}
        self._random = random.Random(seed)  # noqa: S311 -- words, not secrets; a replay must get the same

    def fill(self, slots: Mapping[str, str]) -> None:
        """Fill slots of later lines."""
        self._slots.update(slots)

    @property
    def own_mannerisms(self) -> bool:
        return bool(self._voice.mannerisms)

    @property
    def mannerisms(self) -> tuple[str, ...]:
        return self._voice.mannerisms or shared_voice().mannerisms

    @property
    def gestures(self) -> tuple[str, ...]:
        return self._voice.gestures or shared_voice().gestures

    def interjections(self, felt: SpokenFeeling) -> tuple[str, ...]:
        own = self._voice.interjections
        return own.get(felt.value, ()) if own else shared_voice().interjections.get(felt.value, ())

    def line(self, act: DialogueAct) -> str:
        own = self._lines(act, self._voice.lines.get(act.value, ()))
        shared = self._lines(act, shared_voice().lines.get(act.value, ()))
        if own and (phrase := self._freshest(own, at_least=OWN_REST)) is not None:
            return self._expand(phrase)
        phrase = self._freshest([*own, *shared])
        return self._expand(phrase) if phrase else ""

    def about_itself(self, topic: SelfTopic) -> str:
        """What it says of itself, by its recipe or else by what holds for all; "" where there is nothing."""
        own = self._voice.about_itself.get(topic)
        return self.one_of(own or shared_voice().about_itself.get(topic, ()), rest=0)

    def on_topic(self, topic: ToldTopic) -> str:
        """What it says to what it is told; "" where all that fits was said lately."""
        own, shared = self._voice.on_topics.get(topic, ()), shared_voice().on_topics.get(topic, ())
        return self.one_of(own) or self.one_of(shared)

    def best_response(
        self,
        response_embedding: Sequence[float],
        act: DialogueAct,
        tone: ToneName,
        but: Container[str],
        topic: SelfTopic | None = None,
    ) -> tuple[str, str] | None:
        """The kind and the words of the phrase that answers a line best; None where all that does was said
        lately.

        Where no kind of phrases is likely enough, it is one of those for the act.

        Args:
            response_embedding, act, tone: see `scores`.
            but: kinds of phrases that are out of place; those for the act itself never are.
            topic: what the character is asked about itself, if that was heard: only what is on it answers.
        """
        asks = act in ASKED
        among, kind_index = candidates(self._voice, shared_voice(), asks=asks), response_model().kind_index
        score = scores(among, response_embedding, act, tone)
        if topic is None:
            allowed = kind_probabilities(among, score) >= LIKELY_KIND
            allowed &= [kind not in but for kind in kind_index]
            allowed[kind_index[act]] = True
        else:
            allowed = np.array([kind == f"{ITSELF}{topic}" for kind in kind_index])
        if not asks:
            score[: among.own] += OWN_BONUS
        usable = (
            at
            for at in np.argsort(-score, kind="stable").tolist()
            if allowed[among.kinds[at]] and self._may_say(among.all[at], own=at < among.own)
        )
        best = list(islice(usable, MOST_TIED))
        if not best:
            return None
        tied = [at for at in best if score[at] >= score[best[0]] - TIED_WITHIN]
        chosen = among.all[self._random.choice(tied)]
        return chosen.kind, self._expand(parse(chosen.source))

    def colour(self, key: str, about: Sequence[str] = (), *, asking: bool = True) -> str:
        """A phrase that colours a reply (`noodlings.values.wording.COLOURS`), or "" when all are used up.

        Args:
            about: words; a phrase with one of them goes first.
            asking: whether it may be a question.
        """
        own = self._usable(self._voice.colours.get(key, ()))
        shared = self._usable(shared_colours()[key])
        if not asking:
            own = [phrase for phrase in own if "?" not in phrase.source]
            shared = [phrase for phrase in shared if "?" not in phrase.source]
        words = [word.casefold() for word in about]
        fitting = [phrase for phrase in own if any(word in phrase.source.casefold() for word in words)]
        for phrases, rest in ((fitting, OWN_REST), (own, OWN_REST), ([*own, *shared], COLOUR_REST)):
            if (phrase := self._freshest(phrases, at_least=rest)) is not None:
                return self._expand(phrase)
        return ""

    def one_of(self, sources: Sequence[str], rest: int = WINDOW) -> str:
        """One of these, or "" when all were used in the last `rest` lines."""
        phrase = self._freshest(self._usable(sources), at_least=rest)
        return self._expand(phrase) if phrase else ""

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._random.random() < probability

    def _lines(self, act: DialogueAct, sources: Sequence[str]) -> list[Phrase]:
        usable = self._usable(sources)
        telling = [phrase for phrase in usable if act in _TOLD_IF_KNOWN and phrase.slots & SLOTS[act]]
        return telling or usable

    def _usable(self, sources: Sequence[str]) -> list[Phrase]:
        filled = self._slots.keys() | {"percent", "address"}
        return [phrase for phrase in map(parse, sources) if filled >= phrase.slots]

    def _freshest(self, phrases: Sequence[Phrase], at_least: int = 0) -> Phrase | None:
        """The phrase unused for longest, by chance among equals; None when all are too recent."""
        best, best_rest = None, at_least - 1
        for phrase in self._random.sample(phrases, len(phrases)):
            rest = self._rest(phrase)
            if rest > best_rest:
                best, best_rest = phrase, rest
            if rest == WINDOW:
                break
        return best

    def _may_say(self, candidate: Candidate, *, own: bool) -> bool:
        """Whether its slots are filled and it was not said lately; what is on a topic is noticed longer."""
        rest = OWN_REST if own and not candidate.kind.startswith(TOPIC) else WINDOW
        return any(self._rest(phrase) >= rest for phrase in self._usable([candidate.source]))

    def _rest(self, phrase: Phrase) -> int:
        """How many lines ago it was used; `WINDOW` when it was not."""
        if not phrase.is_in(self._all_recent):
            return WINDOW
        for ago, line in enumerate(reversed(self._recent)):
            if phrase.is_in(line):
                return ago
        return WINDOW

    def _expand(self, phrase: Phrase) -> str:
        chance = {
            "percent": f"{self._random.uniform(71, 99.9):.1f}%",
            "address": self._random.choice(self._voice.address or (self._slots.get("name", "friend"),)),
        }
        said = phrase.expand(self._random, {**self._slots, **chance})
        species = self._slots.get("species", "")
        if species[:1].lower() in tuple("aeiou"):
            return re.sub(rf"\b(a) (?={re.escape(species)}\b)", r"\1n ", said, flags=re.I)
        return said
