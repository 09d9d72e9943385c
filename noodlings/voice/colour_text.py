"""A reply as a text that can be worked on: what is spoken, what is done, sentence by sentence.

Gestures stand in asterisks and are no speech; what stands in quotation marks is never touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from noodlings.text import clean
from noodlings.values.persona import Persona
from noodlings.values.wording import parse
from noodlings.voice.phrasebook import shared_voice

GESTURE = re.compile(r"\*[^*]+\*")
_UNTOUCHED = re.compile(r"(\*[^*]*\*?|“[^”]*”?)")
_LEANING = re.compile(r"\b(?:it|its|that|this|they|them|their|he|him|his|she|her|so|then|there)\b", re.I)
_END = re.compile(r"[.!?…]+[\"”')]*(?=\s|$)")


def spoken(text: str) -> str:
    """What is said of a reply, without what is done."""
    return clean(GESTURE.sub(" ", text))


def cased(words: str, case: str) -> str:
    """Words in the letter case of a character ("plain", "upper", "lower")."""
    return {"upper": words.upper(), "lower": words.lower()}.get(case, words)


def in_speech(text: str, change: Callable[[str], str]) -> str:
    """The text with a change made to each stretch of speech outside of gestures and quotations."""
    pieces = _UNTOUCHED.split(text)
    return "".join(piece if at % 2 else change(piece) for at, piece in enumerate(pieces))


def with_sentence(text: str, sentence: str, case: str) -> str:
    """The reply with one sentence more: behind what is said, before what is done at the end of it.

    Questions wait for their answer, so they stay the last; unless one leans on what stands before it ("What
    did you do about it?"), for then nothing may come between the two.
    """
    sentences = list(_sentences(text))
    end = sentences[-1][1] if sentences else len(text)
    questions = list(takewhile(lambda span: text[span[0] : span[1]].endswith("?"), reversed(sentences)))
    leaning = any(_LEANING.search(text, *span) for span in questions)
    if not questions or leaning:
        at = end
    else:
        before = len(sentences) - len(questions) - 1
        at = sentences[before][1] if before >= 0 else questions[-1][0]
    return clean(f"{text[:at]} {cased(sentence, case)} {text[at:]}")


def without_mannerism(text: str, persona: Persona) -> str:
    """The reply without a sentence that its character likes to put in, if something else is left."""
    folded = text.casefold()
    for phrase in map(parse, persona.voice.mannerisms or shared_voice().mannerisms):
        # Looking for a fixed piece first is a tenth of the time.
        found = phrase.pattern.search(text) if phrase.is_in(folded) else None
        if found:
            shorter = clean(f"{text[: found.start()]} {text[found.end() :]}")
            if any(map(str.isalnum, spoken(shorter))):
                return shorter
    return text


def made_of(gesture: str, sources: Sequence[str]) -> bool:
    """Whether a gesture, without its asterisks, was made of one of these phrases."""
    return any(parse(source).pattern.fullmatch(gesture) for source in sources)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where spoken sentences begin and end, in order."""
    at = 0
    for piece in (*GESTURE.finditer(text), None):
        stop = piece.start() if piece else len(text)
        for end in _END.finditer(text, at, stop):
            if text.count("“", 0, end.end()) == text.count("”", 0, end.end()):
                yield _begin(text, at), end.end()
                at = end.end()
        if text[at:stop].strip():
            yield _begin(text, at), at + len(text[at:stop].rstrip())
        at = piece.end() if piece else stop


def _begin(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
