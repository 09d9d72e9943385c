"""How the offline voice colours a thought with a lens.

The gain of a lens is how often it shows at full strength; a weaker one shows less often, and fainter. One
random number decides for a whole reply, shifted for each transistor so that they take turns; at gain 1 each
always shows. After news, a greeting, a gift or a question, what a character wants, an image or another moment
shows less often than after a plain remark. Some rules come first:

- at most one sentence comes from a lens, and beyond `ENOUGH_WORDS` it replaces a mannerism if there is one;
  a reply of more than `MOST` words stays as it is;
- nothing light is added to something heavy;
- no colouring comes twice in a row, and no line is said again;
- a memory is told as it was, and only what the listener may hear of it: see `Lens.entries`;
- of a symbol only one thing out of its image may appear, never the whole of it nor what it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from noodlings.ports import Utterance
from noodlings.text import clean, goes_on, shorten
from noodlings.values.lens import Lens
from noodlings.values.memory import TOUCHED, Symbol, Why
from noodlings.values.percept import SPOKEN, Kind
from noodlings.values.persona import APPETITES, TRANSISTORS
from noodlings.values.wording import GENTLY, DialogueAct, SpokenFeeling
from noodlings.voice.colour_affect import embodied, in_body, spoken, with_sentence, without_mannerism
from noodlings.voice.composition import ENOUGH_WORDS
from noodlings.voice.phrasebook import COLOUR_REST, WINDOW, Phrasebook
from noodlings.voice.pronouns import to_past
from noodlings.voice.question import QuestionKind, only_asks
from noodlings.voice.reply_content import (
    DONE_AT_ONCE,
    KEPT,
    is_heavy,
    stable,
    understood_line,
    understood_then,
)
from noodlings.voice.reported_speech import report
from noodlings.voice.selection import MATTERS, RETELLS, just_said
from noodlings.voice.words import name_of, tokens, topic_stems, words_for

LONGEST_THING = 4
"""Words of a thing, without its article."""

_NAMED = re.compile(r"(?=\b(an?|the) ((?:[a-z][a-z'’-]*(?: |\b)){1,8}))", re.I)
_WITHIN = re.compile(r"\b(?:under|in|into|of|through|on|like|with|from|as) ([a-z][a-z'’-]{2,})\b", re.I)
_FIRST = re.compile(r"^((?:[a-z][a-z'’-]*(?: |\b)){1,8})", re.I)
_ENDS = frozenset(
    re.findall(
        r"\w+",
        "a an the my your his her its our their this that these those in on at of to into onto from with "
        "without under over above below behind before between beside across through along around against "
        "among near off out up down by for like as than and or but while when where which who whose until "
        "so not no is are was were has have had be being been left gone stands lies hangs it",
    )
)
_VERBAL = re.compile(r".*[aeiouy].*(?:ing|ed|ly)$|.*[^s'’u]s$")


def image_of(symbol: Symbol) -> str:
    """A thing in an image, "a cold tide" or "hornets"; "" where it is a word of the event itself."""
    event = topic_stems(tokens(symbol.literal_event))
    image = symbol.symbolic_encoding
    found = [(m.group(1).lower(), _thing(m.group(2))) for m in _NAMED.finditer(image)]
    first = _FIRST.match(image)
    things = [("", _thing(first.group(1)))] if first and _is_bare(first.group(1)) else []
    for articles in (("a", "an"), ("the",)):
        things += [(article, thing) for article, thing in found if article in articles]
    things += [("", m.group(1).lower()) for m in _WITHIN.finditer(image) if m.group(1).lower() not in _ENDS]
    for article, thing in things:
        if thing and not topic_stems(tokens(thing)) & event:
            return f"{article} {thing}".strip()
    return ""


def _is_bare(text: str) -> bool:
    """Whether an image begins with a thing without an article: hornets, wet wool."""
    first = text.split()[0].lower()
    return not (first in _ENDS or first in words_for("common") or first.endswith(("ing", "ly")))


def _thing(text: str) -> str:
    """The words up to the first that is not part of the thing; "a ring of salt" is one thing."""
    words: list[str] = []
    for word in text.lower().split():
        joins = word == "of" and words
        verb = words and words[-1] != "of" and (_VERBAL.fullmatch(word) or word in words_for("verbs"))
        if len(words) > LONGEST_THING or (word in _ENDS and not joins) or verb:
            break
        words.append(word)
    if words and words[-1] == "of":
        words.pop()
    return " ".join(words) if len(words) <= LONGEST_THING else ""


MOST = 40
"""Spoken words of a reply to which nothing is added."""
LONGEST_WANT = 60
LATELY = 12
"""Latest lines in which a memory must not have been told."""

_TURN = 0.382
"""Shift of the random number from one transistor to the next, which spreads five of them evenly."""
_ALIKE = re.compile(r"\b(?:from )?when (?:\S+ ){1,3}(?:told|asked|said)\b", re.IGNORECASE)
_TODAY = re.compile(r" (?:today|tonight|(?:right )?now)$", re.IGNORECASE)
_LIGHT = frozenset({"joy", "boredom"})
"""Feelings out of place in a heavy moment."""
_DARK = frozenset({"sorrow", "fear", "anger"})
"""Feelings out of place in a pleasant moment."""
_AGAINST = frozenset({"fear", "anger"})
"""Feelings that the speaker would take personally."""
_NO_DIGRESSION = DONE_AT_ONCE | {
    DialogueAct.REQUEST, DialogueAct.AVAILABILITY, DialogueAct.ADVICE, DialogueAct.ASIDE,
}  # fmt: skip
"""Acts of somebody who wants something done, or who says next to nothing."""
_ROOM_FOR_MORE = frozenset({
    DialogueAct.STATEMENT, DialogueAct.REMARK, DialogueAct.SHORT, DialogueAct.LONG, DialogueAct.NUMBERS,
    DialogueAct.SIGNS, DialogueAct.TEASING, DialogueAct.BORED, DialogueAct.SILENCE,
})  # fmt: skip
"""Acts of speech after which a character may go on about something else."""
_DIGRESSES = frozenset({"goal", "memory", "subconscious"})
"""Transistors that do."""
_HELD_BACK = 3.0
"""By what their strength is divided after another act."""
UNPLEASANT = -0.15
"""Valence of the line up to which they may show."""


def colour(thought: str, lens: Lens, utterance: Utterance) -> str:
    """The thought as it sounds through a lens; unchanged where the lens does not show."""
    if not _shows(lens, utterance) or _out_of_place(lens, utterance):
        return thought
    persona = utterance.persona
    book = Phrasebook(persona, utterance.said[-LATELY:], _seed(utterance, lens.transistor))
    book.fill({"name": name_of(utterance), "me": persona.name, "species": persona.species})
    if not persona.verbal:
        made = in_body(thought, lens, persona, book)
    elif lens.transistor == "affect":
        made = embodied(thought, lens, persona, book)
    else:
        sentence = _SENTENCES.get(lens.transistor, _own_phrase)(thought, lens, utterance, book)
        made = _with_sentence(thought, sentence, utterance)
    return thought if made.casefold() in map(str.casefold, utterance.said) else made


def _shows(lens: Lens, utterance: Utterance) -> bool:
    """Whether it shows in this reply: always at gain 1."""
    name = lens.transistor
    at = TRANSISTORS.index(name) if name in TRANSISTORS else stable(name) % 97
    act = understood_line(utterance).act
    room = name not in _DIGRESSES or utterance.percept.kind not in SPOKEN or act in _ROOM_FOR_MORE
    likely: float = lens.gain ** ((1.0 if room else _HELD_BACK) / lens.strength)
    return (_seed(utterance) / 2**32 + _TURN * at) % 1.0 < likely


def _out_of_place(lens: Lens, utterance: Utterance) -> bool:
    """Whether it is too light for what is answered. Despair and secrets are never coloured."""
    if understood_line(utterance).act in (DialogueAct.DESPAIR, DialogueAct.SECRET):
        return True
    affect = utterance.percept.affect
    valence = affect.valence if affect is not None else 0.0
    if lens.cue in _AGAINST and affect is not None:
        return valence > UNPLEASANT or understood_line(utterance).question is not QuestionKind.NONE
    if lens.cue in _DARK:
        return valence > 0.0
    return lens.cue in _LIGHT and (valence < 0.0 or is_heavy(utterance))


def _seed(utterance: Utterance, transistor: str = "") -> int:
    percept = utterance.percept
    return stable(utterance.seed, utterance.persona.id, percept.timestamp, percept.text, "colour", transistor)


def _with_sentence(thought: str, sentence: str, utterance: Utterance) -> str:
    """The thought with one sentence more, perhaps in place of a mannerism."""
    if not sentence or sentence.casefold() in thought.casefold():
        return thought
    words, persona = len(spoken(thought).split()), utterance.persona
    if words + len(sentence.split()) > ENOUGH_WORDS:
        shorter = without_mannerism(thought, persona)
        if shorter == thought and words > MOST:
            return thought
        thought = shorter
    return with_sentence(thought, sentence, persona.voice.case)


def _answers(thought: str, utterance: Utterance) -> bool:
    """Whether a thought answers what somebody wants or tells a memory, so that no digression is added.

    A moment added by another lens ("it was like this when …") does not count as a memory.
    """
    told, heard = RETELLS.search(_ALIKE.sub("", thought)) is not None, understood_line(utterance)
    return told or heard.question is not QuestionKind.NONE or heard.answered in _NO_DIGRESSION


def _goal_sentence(thought: str, lens: Lens, utterance: Utterance, book: Phrasebook) -> str:
    if lens.phrases:
        book.fill({"want": shorten(clean("".join(lens.notes[:1])), LONGEST_WANT)})
        return book.one_of(lens.phrases, rest=COLOUR_REST)
    if lens.cue not in APPETITES or _answers(thought, utterance):
        return ""
    gently = lens.cue in GENTLY and is_heavy(utterance)
    return book.colour(GENTLY[lens.cue] if gently else lens.cue, asking="?" not in thought)


def _memory_sentence(thought: str, lens: Lens, utterance: Utterance, book: Phrasebook) -> str:
    """The first moment that can be told in reported speech, else one that is quoted."""
    if _answers(thought, utterance):
        return ""
    lately = " ".join((thought, *utterance.said[-LATELY:])).casefold()
    quoted, heavy = "", is_heavy(utterance)
    recent = just_said(utterance)
    read = {
        found.entry.id: found.scores[Why.TOUCHED]
        for found in utterance.recalled
        if Why.TOUCHED in found.scores
    }
    for entry in lens.entries:
        # What somebody has only just said is no moment of another time.
        if entry.id in recent:
            continue
        # However alike it felt, what the line does not touch on is beside the point.
        if (read or utterance.reading is not None) and read.get(entry.id, 0.0) < TOUCHED:
            continue
        # What somebody else retold is no moment of its own, a question tells of none, and who "she" is in
        # "she laughs" nobody would know.
        text = entry.user_text.strip()
        told = entry.kind is not Kind.EMOTE
        if RETELLS.search(text) or (told and (only_asks(text) or goes_on(text))):
            continue
        # Nor is what another character says, or they would go on about each other's words.
        if entry.user_id in utterance.characters:
            continue
        # Nor is a trifle.
        if told and not entry.pinned and entry.importance < MATTERS:
            continue
        # In the face of a grief nobody speaks of mushrooms that were hated as much.
        if heavy and not understood_then(entry, utterance).heavy:
            continue
        made = report(entry, utterance, frozenset())
        if made is None:
            continue
        clause = made.clause if made.quoted else _TODAY.sub("", to_past(made.clause))
        if clause.casefold() in lately:
            continue
        if not made.quoted:
            return _with_memory(clause, book)
        quoted = quoted or clause
    return _with_memory(quoted, book) if quoted else ""


def _with_memory(clause: str, book: Phrasebook) -> str:
    book.fill({"memory": clause})
    return book.colour("alike")


def _image_sentence(thought: str, lens: Lens, utterance: Utterance, book: Phrasebook) -> str:
    # What is worth keeping is met for what it says, unless it is its feeling that brings the image up.
    # Beside a sorrow there is none.
    felt = understood_line(utterance).feeling
    to_keep = utterance.importance >= KEPT and felt is None
    said_little = understood_line(utterance).act in (DialogueAct.SHORT, DialogueAct.THANKS)
    if to_keep or said_little or felt is SpokenFeeling.SORROW or _answers(thought, utterance):
        return ""
    lately = " ".join((thought, *utterance.said[-WINDOW:])).casefold()
    for symbol in lens.symbols:
        image = image_of(symbol)
        if image and image.casefold() not in lately:
            book.fill({"image": image})
            return book.colour("image")
    return ""


def _ego_sentence(thought: str, lens: Lens, utterance: Utterance, book: Phrasebook) -> str:
    already = set(tokens(thought))
    return book.colour("self", [word for word in lens.notes if word.casefold() not in already])


def _own_phrase(thought: str, lens: Lens, utterance: Utterance, book: Phrasebook) -> str:
    """The phrases of a transistor that this voice does not know."""
    return book.one_of(lens.phrases, rest=COLOUR_REST)


_SENTENCES: dict[str, Callable[[str, Lens, Utterance, Phrasebook], str]] = {
    "goal": _goal_sentence,
    "memory": _memory_sentence,
    "subconscious": _image_sentence,
    "ego": _ego_sentence,
}
