"""What a feeling does to a reply: its rhythm, its punctuation, a sign of the body. It is never named.

A weak feeling is heard in the rhythm alone where that changes anything; a strong one is seen as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from noodlings.values.persona import Persona
from noodlings.values.trace import Lens
from noodlings.values.wording import SIGNS, Feeling
from noodlings.voice.colour_text import GESTURE, cased, in_speech, made_of, spoken, without_mannerism
from noodlings.voice.lexicon import tokens
from noodlings.voice.phrasebook import Phrasebook, shared_voice

SEEN = 0.5
"""Strength from which a feeling is seen, and not only heard."""

SHORT = 2
"""Words of a first sentence that is an outburst."""

_LAST_STOP = re.compile(r"(?<![.…])\.(?=[\"”')]*\s*$)")
_LOUD = re.compile(r"\?!+|!+\?|!+")
_PAUSE = re.compile(r"(?<=\w)\.(?= +\S)")


def embodied(thought: str, lens: Lens, persona: Persona, book: Phrasebook) -> str:
    """The reply of somebody who feels like that; the thought itself for a cue that is no such feeling."""
    if lens.cue not in SIGNS:
        return thought
    heard = _RHYTHMS[lens.cue](thought, persona)
    if lens.strength < SEEN and heard != thought:
        return heard
    return _seen(heard, lens.cue, persona, book, must=heard == thought)


def _seen(thought: str, cue: str, persona: Persona, book: Phrasebook, must: bool) -> str:
    """With a sign of the body: in place of an idle gesture, or of its own; else with an outburst.

    What begins with an outburst gets no second one, unless the feeling `must` show and shows in nothing else.
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
    if not must and len(thought.split(".", 1)[0].split()) <= SHORT:
        return thought
    outburst = cased(book.one_of(book.interjections(Feeling(cue)), rest=2), persona.voice.case)
    again = not outburst or tokens(outburst)[:1] == tokens(thought)[:1] or outburst in thought
    return thought if again else f"{outburst} {thought}"


def _sign(cue: str, persona: Persona, book: Phrasebook) -> str:
    sign = book.colour(cue)
    return f"*{cased(sign, persona.voice.case)}*" if sign else ""


def _joy(thought: str, persona: Persona) -> str:
    return _at_last(thought, "!")


def _sorrow(thought: str, persona: Persona) -> str:
    """No loud word, and a pause after the first sentence."""
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


def _fear(thought: str, persona: Persona) -> str:
    """Nothing beside the point."""
    return without_mannerism(thought, persona)


def _anger(thought: str, persona: Persona) -> str:
    """Nothing beside the point, and quiet."""
    return in_speech(without_mannerism(thought, persona), lambda piece: _quieter(piece).replace("…", "."))


def _boredom(thought: str, persona: Persona) -> str:
    return _at_last(in_speech(thought, _quieter), "…")


def _at_last(thought: str, mark: str) -> str:
    """With another mark in place of the last full stop of what is said."""
    trailing = re.search(r"(?:\s*\*[^*]+\*)?\s*$", thought)
    at = trailing.start() if trailing else len(thought)
    words, rest = thought[:at], thought[at:]
    return f"{_LAST_STOP.sub(mark, words)}{rest}" if spoken(words) else thought


def _quieter(piece: str) -> str:
    return _LOUD.sub(lambda found: "?" if "?" in found.group() else ".", piece)


_RHYTHMS: dict[str, Callable[[str, Persona], str]] = {
    "joy": _joy,
    "sorrow": _sorrow,
    "fear": _fear,
    "anger": _anger,
    "boredom": _boredom,
}
