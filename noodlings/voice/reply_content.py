"""What a reply is about, before it has words: the occasion, the memories it tells, the feeling in it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from noodlings.ports import Utterance
from noodlings.text import clean, shorten
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import Percept
from noodlings.values.wording import Feeling, Occasion
from noodlings.voice.phrasebook import Phrasebook, feeling
from noodlings.voice.question import Question, asks_when
from noodlings.voice.reported_speech import Told
from noodlings.voice.selection import answers, greeting_memory, names_others, reminders
from noodlings.voice.understanding import Heard, hear
from noodlings.voice.words import HOUR, proper, tokens, topic_stems

LONGEST_NAME = 40
"""Characters of a name or topic that are said back; of a statement twice as many."""
REUNIONS = 0.6
"""How often a greeting brings up what is remembered of whoever comes."""
DATED = 0.5
"""How often a memory is told with its age when nobody asked for that."""

_MAY_REMIND = frozenset(
    {
        Occasion.STATEMENT, Occasion.LONG, Occasion.SAD, Occasion.AFRAID, Occasion.ANGRY, Occasion.GLAD,
        Occasion.TIRED, Occasion.BORED, Occasion.EVENT, Occasion.EMOTE, Occasion.EMOTE_SAD,
    }
)  # fmt: skip
"""News of a death are met with sympathy alone."""
_MOURNED_AFTER = frozenset({Occasion.STATEMENT, Occasion.SHORT, Occasion.EMOTE, Occasion.TIRED})
"""What a sorrow that was told a moment ago still lies on."""
_CONSOLED = frozenset({Occasion.GLAD, Occasion.PRAISE, Occasion.GREETING, Occasion.FAREWELL})
_SORROWS = frozenset({Occasion.GRIEF, Occasion.DESPAIR, Occasion.SAD, Occasion.EMOTE_SAD})
MOURNED = 600.0
"""So many seconds of world time a sorrow lies on what is said after it …"""
MOURNED_LINES = 2
"""… and on so many lines."""
_DARK = frozenset({Feeling.SORROW, Feeling.FEAR, Feeling.ANGER})
PLEASANT = 0.3
"""Valence from which a line is no moment for a dark memory."""
_AIMED = frozenset({Occasion.EMOTE_WARM, Occasion.EMOTE_HARSH, Occasion.EMOTE_GIFT})
"""Gestures that are made to somebody, who may be somebody else."""
_WANTS = {
    "curiosity": "to find out how things work",
    "status": "to be thought well of",
    "mastery": "to do one thing really well",
    "novelty": "to see something I have never seen",
    "safety": "to know that everybody got home",
    "social_bond": "good company",
    "comfort": "a warm corner and no hurry",
    "autonomy": "to go my own way",
}


@dataclass(frozen=True, slots=True)
class Content:
    """What a reply says.

    Attributes:
        occasion: which lines are for it.
        told: the memories in it, the first one first.
        felt: what colours it.
        heavy: it is a moment for comfort, not for small talk.
    """

    occasion: Occasion
    told: tuple[Told, ...]
    felt: Feeling
    heavy: bool

    @property
    def light(self) -> bool:
        """Whether something playful may be added."""
        return not self.heavy and self.felt in (Feeling.CALM, Feeling.JOY, Feeling.BOREDOM)


def decide(heard: Heard, utterance: Utterance, book: Phrasebook) -> Content:
    """What to say to this."""
    occasion, told = _occasion(heard, utterance, book)
    felt = _of_memory(told[0], utterance) if told else _of_moment(heard, utterance)
    if occasion is Occasion.COMFORT:
        felt = Feeling.SORROW
    sorrowful = occasion in (Occasion.REMINDED, Occasion.REUNION) and felt is Feeling.SORROW
    heavy = heard.heavy or sorrowful or occasion is Occasion.COMFORT
    return Content(occasion, told, felt, heavy)


def is_heavy(utterance: Utterance) -> bool:
    """Whether what is answered asks for comfort, by itself or for what was told just before."""
    heard = hear(utterance.percept, utterance.persona)
    return heard.heavy or (heard.occasion in _MOURNED_AFTER and _in_mourning(utterance))


def slots(heard: Heard, content: Content, utterance: Utterance, book: Phrasebook) -> dict[str, str]:
    """What lines may be filled with; a slot without a value is missing."""
    persona, place = utterance.persona, utterance.percept.place
    strongest = max(persona.appetites, key=lambda a: persona.appetites[a], default="")
    found = {
        "name": shorten(clean(proper(utterance.speaker)), LONGEST_NAME) or "friend",
        "me": persona.name,
        "species": persona.species,
        "topic": heard.topic if len(heard.topic) <= LONGEST_NAME else "",
        "echo": heard.echo if len(heard.echo) <= 2 * LONGEST_NAME else "",
        "memory": _memory(content.told, utterance, book) if content.told else "",
        "place": f"the {place.replace('_', ' ')}" if 0 < len(place) <= LONGEST_NAME else "",
        "want": _WANTS.get(strongest, ""),
    }
    return {slot: value for slot, value in found.items() if value}


def stable(*parts: object) -> int:
    """A number that is the same in every process, unlike `hash`."""
    return zlib.crc32("\n".join(map(str, parts)).encode("utf-8", "replace"))


def _occasion(heard: Heard, utterance: Utterance, book: Phrasebook) -> tuple[Occasion, tuple[Told, ...]]:
    if heard.question.may_be_known and (known := answers(heard, utterance)):
        return Occasion.REMEMBER, tuple(known)
    if heard.question is Question.LIKING:
        return _opinion(heard, utterance), ()
    if heard.occasion in _MOURNED_AFTER and _in_mourning(utterance):
        return Occasion.COMFORT, ()
    reminded = reminders(heard, utterance) if heard.occasion in _MAY_REMIND else []
    if reminded and _in_tune(reminded[0], heard, utterance):
        return Occasion.REMINDED, tuple(reminded)
    if heard.occasion in _AIMED and names_others(utterance):
        return Occasion.EMOTE, ()
    returns = heard.occasion in (Occasion.GREETING, Occasion.ARRIVE)
    if returns and (missed := greeting_memory(utterance)) and book.chance(REUNIONS):
        return Occasion.REUNION, tuple(missed)
    return heard.occasion, ()


def _in_mourning(utterance: Utterance) -> bool:
    """Whether whoever speaks has just told a sorrow, and nothing better since."""
    percept = utterance.percept
    theirs = [found.entry for found in utterance.recalled if found.entry.user_id == percept.user_id]
    lately = [entry for entry in theirs if 0.0 <= percept.timestamp - entry.timestamp <= MOURNED]
    for entry in sorted(lately, key=lambda entry: -entry.timestamp)[:MOURNED_LINES]:
        then = heard_then(entry, utterance)
        if then.occasion in _CONSOLED:
            return False
        if then.occasion in _SORROWS and then.question is Question.NONE:
            return True
    return False


def _in_tune(told: Told, heard: Heard, utterance: Utterance) -> bool:
    """Whether a memory may come up now: no old sorrow at good news, and no merriment at bad."""
    affect, felt = utterance.percept.affect, _of_memory(told, utterance)
    entry = told.entry
    if heard.heavy:
        said_then = Percept(entry.user_id, entry.user_text, entry.timestamp, entry.kind)
        return hear(said_then, utterance.persona).heavy or entry.pinned
    if heard.occasion is Occasion.GLAD or (affect is not None and affect.valence > PLEASANT):
        return felt not in _DARK
    return felt is not Feeling.JOY or heard.occasion is not Occasion.ANGRY


def heard_then(entry: MemoryEntry, utterance: Utterance) -> Heard:
    """A memory as its line was understood when it was said, with what was felt about it."""
    said_then = Percept(entry.user_id, entry.user_text, entry.timestamp, entry.kind, affect=entry.affect)
    return hear(said_then, utterance.persona)


def _opinion(heard: Heard, utterance: Utterance) -> Occasion:
    """Whether it likes something: always the same answer from the same character, whoever asks."""
    if not heard.topic:
        return Occasion.YES_OR_NO
    if heard.topic == "you":
        return Occasion.LIKES_YOU
    return (Occasion.LIKES, Occasion.DISLIKES)[stable(utterance.persona.id, heard.topic.casefold()) % 2]


def _of_memory(told: Told, utterance: Utterance) -> Feeling:
    """How a memory feels: as it was stored, else as its words sound."""
    entry = told.entry
    stored = feeling(entry.affect) if entry.affect else Feeling.CALM
    if stored is not Feeling.CALM:
        return stored
    return heard_then(entry, utterance).feeling or Feeling.CALM


def _of_moment(heard: Heard, utterance: Utterance) -> Feeling:
    """What the line makes one feel, else what came with it, else the mood."""
    affect = utterance.percept.affect
    given = feeling(affect) if affect else Feeling.CALM
    return heard.feeling or (given if given is not Feeling.CALM else feeling(utterance.mood))


def _memory(told: tuple[Told, ...], utterance: Utterance, book: Phrasebook) -> str:
    """One or two memories as a clause without its full stop."""
    first = told[0]
    text = first.dated if asks_when(utterance.percept.text) or book.chance(DATED) else first.clause
    for other in told[1:]:
        teller, verb, rest = other.clause.partition(" told me ")
        same = verb and first.clause.startswith(f"{teller} told me ")
        text += ", and earlier" if _was_so_before(first, other) else ", and"
        text += f" that {rest}" if same else f" {other.clause}"
    return text


def _was_so_before(newer: Told, older: Told) -> bool:
    """Whether two memories tell of one thing at different times."""
    both = (topic_stems(tokens(told.entry.user_text)) for told in (newer, older))
    return newer.entry.timestamp - older.entry.timestamp > HOUR and not next(both).isdisjoint(next(both))
