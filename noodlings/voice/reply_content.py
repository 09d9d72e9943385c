"""The content of a reply, before it has words: the dialogue act, its memories, its feeling."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from noodlings.ports import Utterance
from noodlings.text import goes_on, shorten
from noodlings.values.affect import Affect
from noodlings.values.memory import MemoryEntry, Recalled, Why
from noodlings.values.percept import NOT_LIVED, SPOKEN, Percept
from noodlings.values.persona import Persona
from noodlings.values.relationship import Manner, manner_to
from noodlings.values.tone import ToneName, ToneSource
from noodlings.values.topic import SelfTopic, ToldTopic
from noodlings.values.wording import DialogueAct, SpokenFeeling
from noodlings.voice.answer_selection import reconsidered
from noodlings.voice.phrasebook import Phrasebook, feeling
from noodlings.voice.pronouns import in_first_person, turn
from noodlings.voice.question import (
    SENTENCE_BREAK,
    QuestionKind,
    answer_type,
    asked_part,
    asks_when,
    may_answer,
    prefers,
)
from noodlings.voice.reported_speech import LONGEST_PASSAGE, ReportedSpeech, report
from noodlings.voice.selection import (
    AGAIN,
    SURELY,
    WHAT_I,
    corrects,
    due_memory,
    greeting_memory,
    is_heavy_memory,
    known,
    likeliest_answer,
    names_others,
    nearest,
    reminders,
    shares_topic,
)
from noodlings.voice.understanding import HEAVY, UnderstoodLine, understand
from noodlings.voice.words import HOUR, calls_another, name_of, shown, tokens, topic_stems, words_for

_NAMED = re.compile(r"(?i:an?|the|some|my|your|our|their|his|her|one|two|three|\d+) |\S+['’]s? |[A-Z]")
MOST_THINGS = 12
"""Things in the room that are named."""
LONGEST_NAME = 40
"""Characters of a name or topic to say back; of a statement twice as many."""
FEW_WORDS = 8
"""Words of a statement so short that any thing in it is its topic."""
KEPT = 0.4
"""Importance from which a statement may be answered by promising to remember it."""
MOVES = 0.15
"""Valence from which it is more than a fact to remember."""
ACKNOWLEDGED = 0.6
"""How often such a promise is made."""

_BORNE_ON = frozenset({
    QuestionKind.ADVICE, QuestionKind.PERMISSION, QuestionKind.REQUEST, QuestionKind.YES_OR_NO,
    QuestionKind.PERSONAL,
})  # fmt: skip
"""Questions for advice, leave or a favour, and to the character itself, on which a memory may bear."""
_MAY_REMIND = frozenset({
    DialogueAct.STATEMENT, DialogueAct.LONG, DialogueAct.SAD, DialogueAct.AFRAID, DialogueAct.ANGRY,
    DialogueAct.GLAD, DialogueAct.TIRED, DialogueAct.BORED, DialogueAct.REMARK, DialogueAct.GRUMBLE,
    DialogueAct.SHORT, DialogueAct.EVENT, DialogueAct.EMOTE, DialogueAct.EMOTE_SAD,
})  # fmt: skip
"""Acts that may bring a memory back. News of a death gets sympathy alone."""
_MAY_TOUCH = _MAY_REMIND | {
    DialogueAct.REQUEST,
    DialogueAct.AVAILABILITY,
    DialogueAct.OFFER,
    DialogueAct.WARNING,
    DialogueAct.TEASING,
    DialogueAct.ADVICE,
    DialogueAct.YES_OR_NO,
    DialogueAct.PERSONAL,
}
_TELLS = frozenset({
    DialogueAct.STATEMENT, DialogueAct.REMARK, DialogueAct.TEASING, DialogueAct.GRUMBLE,
})  # fmt: skip
"""Acts of a line that only tells something: with good news in it they are gladness."""
_TO_SOMEBODY = frozenset({
    DialogueAct.GREETING, DialogueAct.FAREWELL, DialogueAct.THANKS, DialogueAct.APOLOGY, DialogueAct.PRAISE,
    DialogueAct.INSULT, DialogueAct.TEASING, DialogueAct.OFFER, DialogueAct.WARNING, DialogueAct.REQUEST,
    DialogueAct.SHORT, DialogueAct.ORDER, DialogueAct.MESSAGE, DialogueAct.AWAY,
})  # fmt: skip
"""Acts that are none of its business where they are for somebody else."""
_OF_NOW = frozenset({
    DialogueAct.HOW_ARE_YOU, DialogueAct.WHAT_IS_MY_NAME, DialogueAct.WHERE_ARE_WE, DialogueAct.WHO_IS_HERE,
    DialogueAct.WHAT_IS_HERE, DialogueAct.LIKES_YOU, DialogueAct.DOING,
})  # fmt: skip
"""Acts of questions to the character that only the moment answers."""
_OF_ITSELF = frozenset({
    DialogueAct.PERSONAL, DialogueAct.YES_OR_NO, DialogueAct.QUESTION, DialogueAct.REQUEST,
    DialogueAct.AVAILABILITY, DialogueAct.LIKES, DialogueAct.DISLIKES, DialogueAct.FORGOTTEN,
    DialogueAct.STATEMENT,
})  # fmt: skip
"""Acts that have nothing to say to a question to the character about itself."""
_MEETS = frozenset({DialogueAct.GREETING, DialogueAct.TOLD_NAME})
"""Acts whose own words come before what is said on the topic of the line."""
OF_THE_WORLD = frozenset({
    SelfTopic.DIRECTIONS, SelfTopic.LOCAL, SelfTopic.LENDING, SelfTopic.KNOWLEDGE, SelfTopic.PROSPECTS,
    SelfTopic.VERDICT,
})  # fmt: skip
"""Topics of questions that need not be to the character about itself, and that what was told may answer."""
_MEETINGS = frozenset({SelfTopic.TOMORROW, SelfTopic.COME_ALONG})
"""Topics of an offer, and of a question for leave or a favour: "may I come again?"."""
_BRINGS_UP = frozenset({DialogueAct.REMINDED, DialogueAct.REUNION, DialogueAct.DUE})
"""Acts that tell a memory that nobody asked for."""
_COMFORTED = _TELLS | {DialogueAct.SHORT, DialogueAct.EMOTE, DialogueAct.TIRED}
"""Acts that get comfort where the tone is grave."""
_GLAD = frozenset({DialogueAct.GLAD, DialogueAct.PLEASURE, DialogueAct.AMUSING})
"""Fine acts of joy."""
_NOT_IN_GRIEF = _GLAD | {DialogueAct.REMARK, DialogueAct.SURPRISE, DialogueAct.PLAN, DialogueAct.ASIDE}
"""Fine acts out of place where the tone is grave."""
_HEAVY_NEWS = frozenset({DialogueAct.SAD, DialogueAct.WORRIED, DialogueAct.WRONGED})
"""Fine acts out of place where the tone is glad."""
_FELT_BY_VALENCE = {DialogueAct.GLAD: 1.0, DialogueAct.SAD: -1.0}
"""Fine acts that the valence of the line must bear out, and its sign."""
COMFORTED_FROM = 0.25
"""Probability that a line calls for comfort from which it goes on with an earlier grief."""
DONE_AT_ONCE = frozenset({
    DialogueAct.EMERGENCY, DialogueAct.ORDER, DialogueAct.MESSAGE, DialogueAct.AWAY,
})  # fmt: skip
"""Fine acts that need an answer and nothing beside it: no memory comes up."""
_DARK = frozenset({SpokenFeeling.SORROW, SpokenFeeling.FEAR, SpokenFeeling.ANGER})
CLEARLY = 0.4
"""Valence times importance from which a feeling without words decides the act."""
STILL_SAD = -0.25
"""Valence up to which a line after a sad one is comforted."""
PLEASANT = 0.3
"""Valence of a line from which a dark memory is out of place."""
_FELT_WITH = {
    DialogueAct.COMFORT: SpokenFeeling.SORROW, DialogueAct.GLAD: SpokenFeeling.JOY,
    DialogueAct.KEEP: SpokenFeeling.CALM,
}  # fmt: skip
"""Acts with a fixed feeling."""
_COMES, _GOES = (DialogueAct.GREETING, DialogueAct.ARRIVE), (DialogueAct.FAREWELL, DialogueAct.LEAVE)
_BY_MANNER = {
    Manner.WARM: dict.fromkeys(_COMES, DialogueAct.GREETING_WARM)
    | dict.fromkeys(_GOES, DialogueAct.FAREWELL_WARM),
    Manner.PLAIN: {},
    Manner.RESERVED: dict.fromkeys(_COMES, DialogueAct.GREETING_RESERVED)
    | dict.fromkeys(_GOES, DialogueAct.FAREWELL_RESERVED),
}
IN_MANNER = frozenset(act for acts in _BY_MANNER.values() for act in acts.values())
"""Acts that a relationship chose."""
_AIMED = frozenset({DialogueAct.EMOTE_WARM, DialogueAct.EMOTE_HARSH, DialogueAct.EMOTE_GIFT})
"""Gestures to somebody, perhaps somebody else."""
_YOU_ARE = re.compile(r"You are (?P<name>[^,.]+)(?:, (?P<kind>[^.!?]+)|\. (?P<deed>You [^.!?]+))[.!?]")
LONGEST_SELF = 24
COVERED, COVERED_ANYHOW = 0.5, 0.6
"""Share of a question's topic words that an answer has: of a type that was asked for, and of any."""
_MAY_BE_OF_ITSELF = (QuestionKind.PERSONAL, QuestionKind.YES_OR_NO, QuestionKind.UNKNOWN, QuestionKind.MEMORY)
_TO_ITSELF = (QuestionKind.PERSONAL, QuestionKind.YES_OR_NO)
"""Questions to the character about itself, unless they are about who asks as well."""
_OPINION = re.compile(r"\bwhat do you (?:think|make|reckon) (?:of|about)\b", re.I)
_YOU = re.compile(r"\byou\b|^your\b", re.I)
_OF_YOU = re.compile(r"\byou(?:rs?|rself)?\b", re.I)
FEW_ASKED = 3
"""Words of a question, beside the last, up to which what it asks stands in the rest: "is that true?"."""
_TO_YOU = re.compile(r"\b(?:yo)?u(?:rs?|rself)?\b|\by(?:a|er)\b|\bth(?:ou|ee|y)\b", re.I)
"""Words to the listener, without which nothing is asked about them."""
_ASKS_ANYHOW = re.compile(
    r"(?:(?:and|so|but|well|please|go on|i)\W+)*(?:tell|sing|play|got|know|want|need|ever|any|bet|suppose"
    r"|guess|reckon|wonder|you (?:must|never|don['’]?t|can['’]?t|look|seem))\b",
    re.I,
)
"""How a line begins that may ask about the listener without such words, or without the form of a question."""
_SEEKS_ASSENT = re.compile(
    r"\w\W{1,9}(?:do|would|ca)n['’]t (?:yo)?u (?:find|think|agree|say|see|know)\W*$", re.I
)
"""A question that wants no answer, after a remark: "there's a chill in the air, don't you find?"."""
_FOR_ME = re.compile(r"\b(?:for|to) (?:me|us|him|her|them)\b", re.I)
_HOW_MANY = re.compile(r"\bhow (?:long\b(?! ago)|many (\w+))", re.I)
_SPAN = "(?:year|month|week|day|hour|night|summer|winter)s?"
_PRONOUN = re.compile(r"\b(?:(he|his)|(she|her)|its?)\b", re.I)
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
class ReplyContent:
    """The content of a reply.

    Attributes:
        act: which lines are for it.
        told: the memories in it, the first one first.
        felt: the feeling that colours it.
        heavy: it is no moment for anything light.
        comforts: it is one for comfort.
        answers: something was asked.
        about_itself: what it is asked about itself, where nothing else answers that.
        on_topic: what it is told of along with a greeting or a name.
    """

    act: DialogueAct
    told: tuple[ReportedSpeech, ...]
    felt: SpokenFeeling
    heavy: bool
    comforts: bool
    answers: bool
    about_itself: SelfTopic | None = None
    on_topic: ToldTopic | None = None

    @property
    def light(self) -> bool:
        """Whether something playful may be added."""
        return not self.heavy and self.felt in (SpokenFeeling.CALM, SpokenFeeling.JOY, SpokenFeeling.BOREDOM)


def decide(understood: UnderstoodLine, utterance: Utterance, book: Phrasebook) -> ReplyContent:
    topic = self_topic(understood, utterance)
    may_be_told = topic in OF_THE_WORLD and (likeliest_answer(utterance) or 0.0) >= AGAIN
    known = topic in utterance.persona.voice.about_itself and not may_be_told
    about_itself = topic is not None
    act, told = (
        (DialogueAct.PERSONAL, ()) if known else _choose_act(understood, utterance, book, about_itself)
    )
    felt = _memory_feeling(told[0], utterance) if told else _moment_feeling(understood, utterance)
    felt = _FELT_WITH.get(act, felt)
    sorrowful = act in _BRINGS_UP and felt is SpokenFeeling.SORROW
    heavy = utterance.tone.grave or understood.heavy or sorrowful or act is DialogueAct.COMFORT
    practical = act is understood.fine_act and act not in HEAVY
    still_sad = not practical and _still_sad(understood, utterance)
    comforts = heavy and (understood.heavy or sorrowful or still_sad)
    answers = understood.question is not QuestionKind.NONE
    asked_of_itself = topic if act in _OF_ITSELF else None
    on_topic = _told_topic(understood, utterance) if act in _MEETS and not heavy else None
    return ReplyContent(act, told, felt, heavy, comforts, answers, asked_of_itself, on_topic)


def _told_topic(understood: UnderstoodLine, utterance: Utterance) -> ToldTopic | None:
    """What the line tells of, if it asks nothing."""
    asks = understood.question is not QuestionKind.NONE
    if asks or utterance.reading is None or utterance.percept.kind not in SPOKEN:
        return None
    return utterance.reading.topics.told


def self_topic(understood: UnderstoodLine, utterance: Utterance) -> SelfTopic | None:
    """What the character is asked about itself, if it speaks; None where it is asked about anybody else, or
    is told of something grave."""
    topic = None if utterance.reading is None else utterance.reading.topics.itself
    if topic is None or not asks_about_itself(understood, utterance):
        return None
    for_them = understood.answered in (DialogueAct.OFFER, DialogueAct.PERMISSION) or (
        understood.question is QuestionKind.REQUEST and _FOR_ME.search(utterance.percept.text)
    )
    return None if understood.act in _OF_NOW or (for_them and topic not in _MEETINGS) else topic


def asks_about_itself(understood: UnderstoodLine, utterance: Utterance) -> bool:
    """Whether a line to a character that speaks may ask about it, and about nobody else, as far as words can
    tell."""
    percept, kind, text = utterance.percept, understood.question, utterance.percept.text
    if not utterance.persona.verbal or percept.kind not in SPOKEN:
        return False
    grave = understood.heavy or (utterance.tone.grave and utterance.tone.why is ToneSource.SAID)
    of_speaker = WHAT_I.search(text) or (kind.may_be_known and _OF_ONESELF.search(text))
    about_others = of_speaker or names_others(utterance) or calls_another(utterance)
    asked = asked_part(text, tokens(text))
    where = text if asked.count(" ") < FEW_ASKED else asked
    to_it = asked and _TO_YOU.search(where) and not _SEEKS_ASSENT.search(text)
    return not (grave or about_others) and bool(to_it or _ASKS_ANYHOW.match(asked or text))


def understood_line(utterance: Utterance) -> UnderstoodLine:
    """The line as it is understood; a feeling without words counts where it is clear."""
    felt = _clearly_felt(utterance.percept.affect, utterance.importance)
    return understand(utterance.percept, utterance.persona, felt=felt, reading=utterance.reading)


def _clearly_felt(affect: Affect | None, importance: float) -> bool:
    return affect is not None and importance * abs(affect.valence) >= CLEARLY


def is_heavy(utterance: Utterance) -> bool:
    return utterance.tone.grave or understood_line(utterance).heavy


def slots(
    understood: UnderstoodLine, content: ReplyContent, utterance: Utterance, book: Phrasebook
) -> dict[str, str]:
    """The values for the slots of a line; a slot without a value is missing."""
    persona, place = utterance.persona, utterance.percept.place
    of_itself = told_of_itself(understood, utterance)
    strongest = max(persona.appetites, key=lambda a: persona.appetites[a], default="")
    found = {
        "name": shorten(name_of(utterance), LONGEST_NAME),
        "me": persona.name,
        "species": persona.species,
        "self": _self_description(persona),
        "topic": understood.topic if _is_central(understood, content, utterance) else "",
        "echo": understood.echo if len(understood.echo) <= 2 * LONGEST_NAME else "",
        "memory": _memory(content.told, utterance, book) if content.told else of_itself,
        "place": f"the {place.replace('_', ' ')}" if 0 < len(place) <= LONGEST_NAME else "",
        "want": _WANTS.get(strongest, ""),
        "present": _present(utterance),
        "things": _listed([_named(thing) for thing in utterance.percept.things[:MOST_THINGS]]),
    }
    return {slot: value for slot, value in found.items() if value}


def _self_description(persona: Persona) -> str:
    """How its story describes it: "an old lighthouse keeper", "I keep the light"; else ""."""
    told = _YOU_ARE.match(persona.story)
    if told is None or told["name"] not in persona.called:
        return ""
    said = turn(told["kind"] or told["deed"], to_speaker=True)
    return said if len(said.split()) <= LONGEST_SELF else ""


def told_of_itself(understood: UnderstoodLine, utterance: Utterance) -> str:
    """The sentence that answers a question, without its full stop; "" where the recipe tells nothing."""
    text, persona = utterance.percept.text, utterance.persona
    if understood.question not in _MAY_BE_OF_ITSELF or _OF_ONESELF.search(text) or names_others(utterance):
        return ""
    counted, kind = _HOW_MANY.search(text), answer_type(text)
    no_topic = " ".join([*persona.called, counted[0] if counted else ""])
    wanted = understood.stems - topic_stems(tokens(no_topic))
    if len(wanted) < 1 + (understood.question is QuestionKind.UNKNOWN and not _YOU.search(text)):
        return ""
    number = rf"(?:\d|\b(?:{'|'.join(words_for('numbers'))}))[ -]{(counted and counted[1]) or _SPAN}\b"

    def covered(sentence: str) -> float:
        tells = may_answer(sentence, text) and (kind is None or kind.told_by(sentence))
        tells = re.search(number, sentence, re.I) is not None if counted else tells
        return tells * len(wanted & topic_stems(tokens(sentence))) / len(wanted)

    best = max(_in_own_words(persona.name, persona.story, persona.description), key=covered, default="")
    return best if covered(best) >= (COVERED if kind or counted else COVERED_ANYHOW) else ""


@lru_cache(maxsize=256)
def _in_own_words(name: str, story: str, description: str) -> tuple[str, ...]:
    """What its recipe lets it tell: sentences in the first person, without what cannot be turned."""
    first = _PRONOUN.search(f"{description} {story}")
    pronoun = "it" if first is None else "he" if first[1] else "she" if first[2] else "it"
    mine = [turn(one, True) if _YOU.search(one) else one for one in SENTENCE_BREAK.split(story)]
    mine += [in_first_person(one, pronoun, name) for one in SENTENCE_BREAK.split(description)]
    return tuple(shorten(one.rstrip(" .!?…"), LONGEST_PASSAGE) for one in mine if one)


def _is_central(understood: UnderstoodLine, content: ReplyContent, utterance: Utterance) -> bool:
    """Whether a topic may be said back; in a long line only if it is the speaker's own."""
    told = content.act is DialogueAct.STATEMENT and not understood.topic.startswith("your ")
    central = not told or len(tokens(utterance.percept.text)) <= FEW_WORDS
    return central and len(understood.topic) <= LONGEST_NAME


def _present(utterance: Utterance) -> str:
    """The people here, "Bob, you and I"."""
    percept = utterance.percept
    others = sorted(shown(user, utterance) for user in percept.present - {percept.user_id})
    return _listed([*others, "you", "I"])


def _named(thing: str) -> str:
    """A thing in the middle of a sentence: "the pond", "a bench", "Maren's lamp"."""
    thing = shorten(thing, LONGEST_NAME)
    named = _NAMED.match(thing) is not None
    return thing if named else f"the {thing}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def stable(*parts: object) -> int:
    """A hash that is the same in every process."""
    return zlib.crc32("\n".join(map(str, parts)).encode("utf-8", "replace"))


def _choose_act(
    understood: UnderstoodLine, utterance: Utterance, book: Phrasebook, about_itself: bool
) -> tuple[DialogueAct, tuple[ReportedSpeech, ...]]:
    desperate = understood.act is DialogueAct.DESPAIR
    if desperate or (understood.heavy and understood.question is QuestionKind.AVAILABILITY):
        # Who wants to die is not told where the rope is.
        understood = replace(understood, question=QuestionKind.NONE)
    if understood.question in _TO_ITSELF and not _OF_ONESELF.search(utterance.percept.text):
        bearing = tuple(
            one for one in utterance.recalled if _bears_on_itself(one.entry, understood, utterance)
        )
        utterance = replace(utterance, recalled=bearing)
    told = known(understood, utterance) if _asks_for_memory(understood, utterance) else []
    if understood.question in (QuestionKind.MEMORY, QuestionKind.UNKNOWN):
        told = reconsidered(told, understood, utterance, about_itself)
    if (found := _learned(understood, utterance)) and not (told and _nearer(told[0], found[0], utterance)):
        return DialogueAct.LEARNED, tuple(found)
    if told:
        return (DialogueAct.REMEMBER if told[0].sure else DialogueAct.UNSURE), tuple(told)
    if told_of_itself(understood, utterance):
        return DialogueAct.LEARNED, ()
    if understood.question.may_be_known and _told_already(understood, utterance):
        return DialogueAct.NOTHING_MORE, ()
    asks_opinion = _OPINION.search(utterance.percept.text) and understood.topic[:1].islower()
    if understood.question is QuestionKind.LIKING or asks_opinion:
        return _opinion(understood, utterance), ()
    if understood.question is QuestionKind.NONE and corrects(utterance):
        return DialogueAct.KEEP, ()
    if understood.answered in _TO_SOMEBODY and calls_another(utterance):
        return DialogueAct.OVERHEARD, ()
    at_once = understood.fine_act in DONE_AT_ONCE
    likely = None if understood.question is QuestionKind.NONE else likeliest_answer(utterance)
    may_touch = understood.act in _MAY_TOUCH and not at_once and (likely is None or likely >= AGAIN)
    touched = nearest(understood, utterance) if may_touch else []
    reminded = reminders(understood, utterance) if understood.act in _MAY_REMIND and not at_once else []
    if reminded and _in_tune(reminded[0], understood, utterance):
        return DialogueAct.REMINDED, tuple(reminded)
    glad = understood.act is DialogueAct.GLAD
    spoiled = glad and touched and _memory_feeling(touched[0], utterance) in _DARK
    if touched and not spoiled:
        return DialogueAct.REMINDED, tuple(touched)
    if (fine_act := _fine_act_in_tone(understood, utterance)) is not None:
        return fine_act, ()
    if understood.act in _COMFORTED and utterance.tone.grave:
        if not _still_sad(understood, utterance):
            return DialogueAct.KEEP, ()
        by_itself = utterance.tone.why is ToneSource.SAID and understood.act is not DialogueAct.EMOTE
        if not by_itself:
            return DialogueAct.COMFORT, ()
        # Of what may as well be no grief, comfort would be out of place: that it is kept never is.
        clear = _clearly_felt(utterance.percept.affect, utterance.importance)
        return (DialogueAct.SAD if clear else DialogueAct.KEEP), ()
    if understood.act in _TELLS and utterance.tone.name is ToneName.GLAD:
        return DialogueAct.GLAD, ()
    if understood.act in _AIMED and names_others(utterance):
        return DialogueAct.EMOTE, ()
    tells = understood.act in (DialogueAct.STATEMENT, DialogueAct.LONG)
    affect = utterance.percept.affect
    moves = affect is not None and abs(affect.valence) >= MOVES
    if tells and utterance.importance >= KEPT and not moves and book.chance(ACKNOWLEDGED):
        return DialogueAct.KEEP, ()
    manner = manner_to(utterance.percept.user_id, utterance.relationships)
    met = _BY_MANNER[manner].get(understood.act, understood.act)
    returns = understood.act in _COMES and manner is not Manner.RESERVED
    if returns and (due := due_memory(utterance)):
        # Of a funeral nobody asks how it went.
        dark = understood_then(due[0].entry, utterance).heavy or _memory_feeling(due[0], utterance) in _DARK
        return (DialogueAct.REUNION if dark else DialogueAct.DUE), tuple(due)
    if returns and (missed := greeting_memory(utterance)) and book.chance(0.6):
        return DialogueAct.REUNION, tuple(missed)
    return met, ()


def _asks_for_memory(understood: UnderstoodLine, utterance: Utterance) -> bool:
    """Whether a memory may answer: one that surely bears on it goes before advice and leave, too ("shall we
    have nuts?" of somebody who told of an allergy)."""
    if understood.question not in _BORNE_ON:
        return understood.question.may_be_known
    likely = likeliest_answer(utterance)
    return likely is not None and likely >= SURELY


def _bears_on_itself(entry: MemoryEntry, understood: UnderstoodLine, utterance: Utterance) -> bool:
    """Whether a memory may answer a question about the character.

    Where Ann comes from is no answer to where the character does, however well it reads as one.
    """
    text, called = entry.user_text, utterance.persona.called
    about = _OF_YOU.search(text) or any(re.search(rf"\b{re.escape(one)}\b", text, re.I) for one in called)
    return entry.kind in NOT_LIVED or bool(about) or shares_topic(entry, understood)


def _fine_act_in_tone(understood: UnderstoodLine, utterance: Utterance) -> DialogueAct | None:
    """The fine act as far as the tone allows it: in a grave one there is no small talk, and where a line's
    feeling is heard in two ways, a promise to remember it is never wrong."""
    fine_act, tone, affect = understood.fine_act, utterance.tone, utterance.percept.affect
    if fine_act is None:
        return None
    valence = affect.valence if affect is not None else 0.0
    if tone.grave and fine_act in _NOT_IN_GRIEF:
        heard_in_two_ways = tone.why is ToneSource.SAID and fine_act in _GLAD
        return DialogueAct.KEEP if heard_in_two_ways else None
    light = fine_act in _NOT_IN_GRIEF and understood.act in HEAVY
    heavy = fine_act in _HEAVY_NEWS and tone.name is ToneName.GLAD
    borne_out = valence * _FELT_BY_VALENCE.get(fine_act, 0.0) >= MOVES or understood.act is fine_act
    unclear = fine_act in _FELT_BY_VALENCE and not borne_out
    startling = fine_act is DialogueAct.SURPRISE and valence <= -MOVES
    return DialogueAct.KEEP if light or heavy or unclear or startling else fine_act


def _hears_sorrow(utterance: Utterance) -> bool:
    """Whether a model found in the line what calls for comfort, or none read it."""
    fine_acts = utterance.reading.fine_acts if utterance.reading is not None else ()
    return not fine_acts or sum(likely for act, likely in fine_acts if act in HEAVY) >= COMFORTED_FROM


def _told_already(understood: UnderstoodLine, utterance: Utterance) -> bool:
    """Whether what is nearest to a question is not told because it has only just been told."""
    again = nearest(understood, replace(utterance, own_lines=()))
    return bool(again) and not nearest(understood, utterance)


def _still_sad(understood: UnderstoodLine, utterance: Utterance) -> bool:
    """Whether a line is grave by itself, or goes on with what was grave a moment ago: "he slept on my bed".

    Who says next that there are sausages needs neither comfort nor a joke; a gesture speaks of the sorrow.
    """
    percept = utterance.percept
    sad = percept.affect is not None and percept.affect.valence <= STILL_SAD
    more = sad or understood.act not in _TELLS or (goes_on(percept.text) and _hears_sorrow(utterance))
    return more or utterance.tone.why is ToneSource.SAID


CLOSE = 0.1
"""Difference of evidence within which two answers are told."""

_ABOUT_LORE = frozenset({
    QuestionKind.MEMORY, QuestionKind.UNKNOWN, QuestionKind.YES_OR_NO, QuestionKind.ADVICE,
    QuestionKind.REQUEST, QuestionKind.PERSONAL, QuestionKind.AVAILABILITY, QuestionKind.PERMISSION,
})  # fmt: skip
"""Questions that what was read or is known may answer."""
_OF_ONESELF = re.compile(
    r"\b(?:my|mine|ours?)\b|\b(?:did|have|had|didn['’]t|haven['’]t) (?:i|we)\b"
    r"|\b(?:i|we) (?:told|said|mentioned)\b",
    re.IGNORECASE,
)


def _learned(understood: UnderstoodLine, utterance: Utterance) -> list[ReportedSpeech]:
    """What answers a question out of what was read or is known, best first, at most two."""
    if understood.question not in _ABOUT_LORE or _OF_ONESELF.search(utterance.percept.text):
        return []
    found = [one for one in utterance.recalled if one.entry.kind in NOT_LIVED]
    found.sort(key=lambda one: (-_evidence(one), one.entry.id))
    near = [one.entry for one in found[:2] if _evidence(one) >= _evidence(found[0]) - CLOSE]
    worded = (report(entry, utterance, understood.stems) for entry in near)
    return [told for told in worded if told is not None]


def _evidence(found: Recalled) -> float:
    """How well an entry answers, by its meaning and the words it shares with the question."""
    return found.scores.get(Why.SEMANTIC, 0.0) + 0.3 * found.scores.get(Why.LEXICAL, 0.0)


def _nearer(told: ReportedSpeech, found: ReportedSpeech, utterance: Utterance) -> bool:
    """Whether a lived memory fits the question at least as well as what was read or is known."""
    near = {one.entry.id: _evidence(one) for one in utterance.recalled}
    return near[told.entry.id] >= near[found.entry.id]


def _in_tune(told: ReportedSpeech, understood: UnderstoodLine, utterance: Utterance) -> bool:
    """Whether a memory may come up now: no old sorrow at good news, no merriment at bad."""
    affect, felt = utterance.percept.affect, _memory_feeling(told, utterance)
    entry = told.entry
    if understood.heavy:
        return is_heavy_memory(entry, utterance) or entry.pinned
    if understood.act is DialogueAct.GLAD or (affect is not None and affect.valence > PLEASANT):
        return felt not in _DARK
    return felt is not SpokenFeeling.JOY or understood.act is not DialogueAct.ANGRY


def understood_then(entry: MemoryEntry, utterance: Utterance) -> UnderstoodLine:
    """How a remembered line was understood when it was said."""
    said_then = Percept(entry.user_id, entry.user_text, entry.timestamp, entry.kind, affect=entry.affect)
    return understand(said_then, utterance.persona, felt=_clearly_felt(entry.affect, entry.importance))


def _opinion(understood: UnderstoodLine, utterance: Utterance) -> DialogueAct:
    """Whether it likes something: always the same answer from the same character."""
    if not understood.topic:
        return DialogueAct.YES_OR_NO
    if understood.topic == "you":
        return DialogueAct.LIKES_YOU
    if prefers(utterance.percept.text):
        return DialogueAct.LIKES
    return (DialogueAct.LIKES, DialogueAct.DISLIKES)[
        stable(utterance.persona.id, understood.topic.casefold()) % 2
    ]


def _memory_feeling(told: ReportedSpeech, utterance: Utterance) -> SpokenFeeling:
    """The feeling of a memory: as it was stored, else by its words."""
    entry = told.entry
    stored = feeling(entry.affect) if entry.affect else SpokenFeeling.CALM
    if stored is not SpokenFeeling.CALM:
        return stored
    return understood_then(entry, utterance).feeling or SpokenFeeling.CALM


def _moment_feeling(understood: UnderstoodLine, utterance: Utterance) -> SpokenFeeling:
    """The feeling of the line, else the one that clearly came with it, else the mood."""
    affect = utterance.percept.affect
    clear = _clearly_felt(affect, utterance.importance)
    given = feeling(affect) if affect is not None and clear else SpokenFeeling.CALM
    return understood.feeling or (given if given is not SpokenFeeling.CALM else feeling(utterance.mood))


def _memory(told: tuple[ReportedSpeech, ...], utterance: Utterance, book: Phrasebook) -> str:
    """One or two memories as a clause without its full stop."""
    first = told[0]
    if first.entry.kind in NOT_LIVED:
        return ". ".join(one.clause for one in told)
    text = first.dated if asks_when(utterance.percept.text) or book.chance(0.5) else first.clause
    if any(found.entry.id == first.entry.id and found.supersedes for found in utterance.recalled):
        text = f"in the end {first.clause}"
    for other in told[1:]:
        teller, verb, rest = other.clause.partition(" told me ")
        same = verb and first.clause.startswith(f"{teller} told me ")
        text += ", and earlier" if _was_so_before(first, other) else ", and"
        text += f" that {rest}" if same else f" {other.clause}"
    return text


def _was_so_before(newer: ReportedSpeech, older: ReportedSpeech) -> bool:
    """Whether two memories tell of one thing at different times."""
    both = (topic_stems(tokens(told.entry.user_text)) for told in (newer, older))
    return newer.entry.timestamp - older.entry.timestamp > HOUR and not next(both).isdisjoint(next(both))
