"""How a feeling shows in a reply: in rhythm, punctuation and gestures. It is never named.

A weak feeling shows in the rhythm alone, if that changes anything; a strong one also in a gesture. The reply
is changed sentence by sentence. Gestures stand in asterisks; quotations are never changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from noodlings.text import clean
from noodlings.values.acting import cased
from noodlings.values.lens import Lens
from noodlings.values.persona import Persona
from noodlings.values.wording import SIGNS, SpokenFeeling, parse
from noodlings.voice.phrasebook import Phrasebook, shared_voice
from noodlings.voice.words import GESTURE, tokens

_UNTOUCHED = re.compile(r"(\*[^*]*\*?|“[^”]*”?)")
_LEANING = re.compile(r"\b(?:it|its|that|this|they|them|their|he|him|his|she|her|so|then|there)\b", re.I)
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"”')]*+(?=\s|$)")


def spoken(text: str) -> str:
    """A reply without its gestures."""
    return clean(GESTURE.sub(" ", text))


def in_speech(text: str, change: Callable[[str], str]) -> str:
    """The text with a change made to each stretch of speech outside of gestures and quotations."""
    pieces = _UNTOUCHED.split(text)
    return "".join(piece if at % 2 else change(piece) for at, piece in enumerate(pieces))


def with_sentence(text: str, sentence: str, case: str) -> str:
    """The reply with one sentence more: after what is said, before a gesture at the end.

    A question stays last, as it waits for its answer, unless it refers to the sentence before it ("What did
    you do about it?").
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
    """The reply without a mannerism of the character, if something else is left."""
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
    """Whether a gesture, without its asterisks, was made from one of these phrases."""
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


SEEN = 0.5
"""Strength from which a feeling shows in a gesture."""

OUTBURST_WORDS = 2
"""Words of a first sentence that is an outburst."""

_LAST_STOP = re.compile(r"(?<![.…])\.(?=[\"”')]*\s*$)")
_LOUD = re.compile(r"\?!+|!+\?|!+")
_PAUSE = re.compile(r"(?<=\w)\.(?= +\S)")


def embodied(thought: str, lens: Lens, persona: Persona, book: Phrasebook) -> str:
    """The reply of somebody with this feeling; unchanged for a cue that is no such feeling."""
    if lens.cue not in SIGNS:
        return thought
    heard = _RHYTHMS[lens.cue](thought, persona)
    if lens.strength < SEEN and heard != thought:
        return heard
    return _with_sign(heard, lens.cue, persona, book, must=heard == thought)


def in_body(acts: str, lens: Lens, persona: Persona, book: Phrasebook) -> str:
    """The acts of a nonverbal character, with a sign of a feeling that is strong enough."""
    sign = _sign(lens.cue, persona, book) if lens.cue in SIGNS and lens.strength >= SEEN else ""
    return f"{acts} {sign}" if sign else acts


def _with_sign(thought: str, cue: str, persona: Persona, book: Phrasebook, must: bool) -> str:
    """Add a sign of the body, in place of an idle gesture or by itself, else an outburst.

    A reply that begins with an outburst gets no second one, unless the feeling `must` show and shows nowhere
    else.
    """
    done = list(GESTURE.finditer(thought))
    idle = persona.voice.gestures or shared_voice().gestures
    for gesture in done:
        if made_of(gesture.group().strip("*"), idle):
            sign = _sign(cue, persona, book)
            return f"{thought[: gesture.start()]}{sign}{thought[gesture.end() :]}" if sign else thought
    at_end = bool(done) and done[-1].end() == len(thought)
    if len(done) < 2 and not at_end and (sign := _sign(cue, persona, book)):
        first = not done and book.chance(0.4)
        return f"{sign} {thought}" if first else f"{thought} {sign}"
    if not must and len(thought.split(".", 1)[0].split()) <= OUTBURST_WORDS:
        return thought
    outburst = cased(book.one_of(book.interjections(SpokenFeeling(cue)), rest=2), persona.voice.case)
    again = not outburst or tokens(outburst)[:1] == tokens(thought)[:1] or outburst in thought
    return thought if again else f"{outburst} {thought}"


def _sign(cue: str, persona: Persona, book: Phrasebook) -> str:
    sign = book.colour(cue)
    return f"*{cased(sign, persona.voice.case)}*" if sign else ""


def _sorrow(thought: str, persona: Persona) -> str:
    """Nothing loud, and a pause after the first sentence."""
    quiet = in_speech(thought, _quieter)
    paused = False

    def pause(piece: str) -> str:
        nonlocal paused
        if paused:
            return piece
        changed = _PAUSE.sub("…", piece, count=1)
        paused = changed != piece
        return changed

    return in_speech(quiet, pause)


def _anger(thought: str, persona: Persona) -> str:
    return in_speech(without_mannerism(thought, persona), lambda piece: _quieter(piece).replace("…", "."))


def _at_last(thought: str, mark: str) -> str:
    """Replace the last full stop of what is said by another mark."""
    trailing = re.search(r"(?:\s*\*[^*]+\*)?\s*$", thought)
    at = trailing.start() if trailing else len(thought)
    words, rest = thought[:at], thought[at:]
    return f"{_LAST_STOP.sub(mark, words)}{rest}" if spoken(words) else thought


def _quieter(piece: str) -> str:
    return _LOUD.sub(lambda found: "?" if "?" in found.group() else ".", piece)


_RHYTHMS: dict[str, Callable[[str, Persona], str]] = {
    "joy": lambda thought, persona: _at_last(thought, "!"),
    "sorrow": _sorrow,
    "fear": without_mannerism,
    "anger": _anger,
    "boredom": lambda thought, persona: _at_last(in_speech(thought, _quieter), "…"),
}
