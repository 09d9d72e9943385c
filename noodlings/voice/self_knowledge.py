"""What a character knows of itself: the sentence of its recipe that answers a question, in the first person.

The identity speaks to it ("You have kept the light"), the description tells of it ("she keeps the light").
What the identity wants hidden is never said, nor are the sentences around it, which may be about the same.
"""

from __future__ import annotations

import re
from functools import lru_cache

from noodlings.ports import Utterance
from noodlings.text import shorten
from noodlings.values.persona import Persona
from noodlings.voice.pronouns import in_first_person, turn
from noodlings.voice.question import QuestionKind, answer_type, may_answer
from noodlings.voice.reported_speech import LONGEST_PASSAGE
from noodlings.voice.selection import names_others
from noodlings.voice.understanding import UnderstoodLine
from noodlings.voice.words import tokens, topic_stems, words_for

COVERED = 0.5
"""Share of a question's topic words that an answer has: at least, if it tells what type of answer is asked
for, else more."""

_MAY_BE_TOLD = frozenset(
    {QuestionKind.PERSONAL, QuestionKind.YES_OR_NO, QuestionKind.UNKNOWN, QuestionKind.MEMORY}
)
_OF_THE_ASKER = re.compile(r"\b(?:i|we|my|mine|ours?|us)\b", re.I)
_YOU = re.compile(r"\b(?:you|your|yours|yourself)\b", re.I)
_HOW_MANY = re.compile(r"\bhow (?:long\b(?! ago)|many (\w+))", re.I)
_SPAN = r"(?:year|month|week|day|hour|night|summer|winter)s?"
_SENTENCE_BREAK = re.compile(r"(?<=[.!?…])\s+")
_HIDDEN = re.compile(
    r"secret|\bhid(?:e|es|den|ing)\b|\bto yourself\b|\blie about\b"
    r"|(?:\bnever|\bnot|n['’]t)(?: \w+ly| ever)? (?:tell|say|speak|talk|mention|reveal|admit|confess)\b"
    r"|\b(?:nobody|no one|not|never)\b.*\b(?:know|learn|find out|suspect)s?\b",
    re.I,
)
_INSTRUCTS = re.compile(
    r"(?:keep|never|always|do|don['’]t|be|speak|answer|use|write|say|stay|remember|avoid)\b", re.I
)
_PRONOUNS = {"he": "he", "his": "he", "she": "she", "her": "she", "it": "it", "its": "it"}
_PRONOUN = re.compile(rf"\b(?:{'|'.join(_PRONOUNS)})\b", re.I)
_OWNED = {"he": "his", "she": "her", "it": "its"}


def told_of_itself(understood: UnderstoodLine, utterance: Utterance) -> str:
    """The sentence that answers a question, without its full stop; "" where the recipe tells nothing."""
    text, persona = utterance.percept.text, utterance.persona
    if understood.question not in _MAY_BE_TOLD or _OF_THE_ASKER.search(text) or names_others(utterance):
        return ""
    counted, kind = _HOW_MANY.search(text), answer_type(text)
    names = " ".join([*persona.called, counted[0] if counted else ""])
    wanted = understood.stems - topic_stems(tokens(names))
    if len(wanted) < (1 if understood.question is not QuestionKind.UNKNOWN or _YOU.search(text) else 2):
        return ""
    typed = kind is not None or counted is not None
    found = []
    for sentence in _sentences(persona):
        shared = len(wanted & topic_stems(tokens(sentence))) / len(wanted)
        tells = may_answer(sentence, text) if counted is None else _counts(counted, sentence)
        tells = tells and (counted is not None or kind is None or kind.told_by(sentence))
        if tells and (shared > COVERED or (typed and shared == COVERED)):
            found.append((shared, sentence))
    return max(found, key=lambda pair: pair[0], default=(0.0, ""))[1]


def _counts(asked: re.Match[str], sentence: str) -> bool:
    """Whether a number of what is asked for is told: "how many years", "how long"."""
    numbers, unit = "|".join(sorted(words_for("numbers"))), re.escape(asked[1]) if asked[1] else _SPAN
    return re.search(rf"(?:\d|\b(?:{numbers}))[ -](?:\w+ )?{unit}\b", sentence, re.I) is not None


def _sentences(persona: Persona) -> tuple[str, ...]:
    names = tuple(name for name in persona.called if name not in persona.aliases)
    return _in_own_words(names, persona.identity, persona.description)


@lru_cache(maxsize=256)
def _in_own_words(names: tuple[str, ...], identity: str, description: str) -> tuple[str, ...]:
    """What a recipe tells, sentence by sentence in the first person; what cannot be turned is left out."""
    told = _SENTENCE_BREAK.split(identity)
    hidden = {near for at, one in enumerate(told) if _HIDDEN.search(one) for near in (at - 1, at, at + 1)}
    open_ones = [one for at, one in enumerate(told) if at not in hidden and not _INSTRUCTS.match(one)]
    first = _PRONOUN.search(f"{description} {identity}")
    pronoun = _PRONOUNS[first[0].lower()] if first else "it"
    named = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})(['’]s)?(?!\w)")
    mine = [turn(one, to_speaker=True) for one in open_ones if _YOU.search(one)]
    third = [one for one in open_ones if not _YOU.search(one) and (named.search(one) or _PRONOUN.search(one))]
    for one in (*third, *_SENTENCE_BREAK.split(description)):
        called = named.sub(lambda found: _OWNED[pronoun] if found[1] else pronoun, one)
        mine.append(in_first_person(called, pronoun))
    return tuple(shorten(one.rstrip(" .!?…"), LONGEST_PASSAGE) for one in mine if one)
