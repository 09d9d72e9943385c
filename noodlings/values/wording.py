"""Phrases with room for variation, the dialogue acts they are for, and the feelings a character shows.

A recipe may give its character its own lines for any act (`voice.lines`); for the others the character speaks
the lines that all characters share. A phrase looks like this:

    "(Hello|Good day), {name}. (|I was hoping for company.)"

A choice is in round brackets, with its alternatives (which may be empty or nested) between bars. A slot is in
curly brackets and is filled when the phrase is used; `{Memory}` fills it with a capital letter. Round
brackets without a bar are just brackets.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache

from noodlings.errors import UserError
from noodlings.values.persona import APPETITES


class SpokenFeeling(StrEnum):
    """What an interjection expresses."""

    JOY = "joy"
    SORROW = "sorrow"
    FEAR = "fear"
    ANGER = "anger"
    BOREDOM = "boredom"
    CALM = "calm"


class DialogueAct(StrEnum):
    """What a line is an answer to. The docstrings say which slots beside the common ones it may use."""

    GREETING = "greeting"
    REUNION = "reunion"
    """A greeting by somebody of whom something important is remembered: {memory}."""
    DUE = "due"
    """A greeting by somebody who said that something would happen, when its time has come: {memory}."""
    GREETING_WARM = "greeting_warm"
    """A greeting by a friend; also when they arrive."""
    GREETING_RESERVED = "greeting_reserved"
    """A greeting by somebody who was unkind; also when they arrive."""
    FAREWELL = "farewell"
    FAREWELL_WARM = "farewell_warm"
    """A farewell to a friend; also when they leave."""
    FAREWELL_RESERVED = "farewell_reserved"
    TOLD_NAME = "told_name"
    THANKS = "thanks"
    APOLOGY = "apology"
    PRAISE = "praise"
    INSULT = "insult"
    SHORT = "short"
    """A word that asks for nothing: yes, no, ok, lol."""
    OVERHEARD = "overheard"
    """Somebody else is greeted, thanked, teased …: "well done, Bob"."""
    ASIDE = "aside"
    """Not meant for it, or in need of no answer: muttering, a word to others, a small gesture."""
    PUZZLED = "puzzled"
    """Somebody does not see what it means, or has heard it before."""

    HOW_ARE_YOU = "how_are_you"
    WHO_ARE_YOU = "who_are_you"
    WHAT_DO_YOU_WANT = "what_do_you_want"
    WHAT_IS_MY_NAME = "what_is_my_name"
    WHERE_ARE_WE = "where_are_we"
    WHO_IS_HERE = "who_is_here"
    """Asked who is there: {present}, "Bob, you and I"."""
    WHAT_IS_HERE = "what_is_here"
    """Asked what lies about: {things}, "the pond and the bench"."""
    LIKES = "likes"
    """Asked whether it likes something that it does like: {topic}."""
    DISLIKES = "dislikes"
    """Asked whether it likes something that it does not: {topic}."""
    LIKES_YOU = "likes_you"
    """Asked whether it likes the one who asks."""
    DOING = "doing"
    """Asked what it is doing or thinking of."""
    YES_OR_NO = "yes_or_no"
    """Asked about itself, yes or no."""
    PERSONAL = "personal"
    """Another question about itself to which its recipe has no answer."""
    QUESTION = "question"
    """A question it cannot know the answer to."""
    ADVICE = "advice"
    """Asked what somebody should do."""
    REQUEST = "request"
    """Asked to do something."""
    AVAILABILITY = "availability"
    """Asked for, or whether there is, some of what a house or a shop may have."""
    PERMISSION = "permission"
    """Asked whether somebody may sit down, come in or say something."""
    OFFER = "offer"
    """Offered something, or invited."""
    WARNING = "warning"
    """Warned of something."""
    TEASING = "teasing"
    """Teased, or told a joke."""
    GRUMBLE = "grumble"
    """Somebody complains about a trifle, or is tired or sore."""
    REMARK = "remark"
    """A word about the weather, the room, nothing much."""
    AMUSING = "amusing"
    """A comic story, a boast, banter."""
    PLEASURE = "pleasure"
    """A small thing that somebody enjoys."""
    SURPRISE = "surprise"
    """Something strange or startling."""
    PLAN = "plan"
    """Somebody is about to do something: a journey, a test, a beginning."""
    WORRIED = "worried"
    """Somebody doubts, is nervous or ashamed."""
    WRONGED = "wronged"
    """Somebody was wronged."""
    UNWELL = "unwell"
    """Somebody seems unwell, and does not say so."""
    EMERGENCY = "emergency"
    """Somebody is in danger now."""
    ORDER = "order"
    """Asked for something that is simply done or served: "two soups"."""
    AWAY = "away"
    """Somebody goes away for a moment: "brb"."""
    MESSAGE = "message"
    """Something to be passed on to somebody else."""

    REMEMBER = "remember"
    """Asked about something it remembers: {memory}."""
    UNSURE = "unsure"
    """Asked about something that what it remembers may not answer: {memory}."""
    REMINDED = "reminded"
    """Reminded of something by what was said: {memory}."""
    LEARNED = "learned"
    """Asked about something that it read or knows: {memory}."""
    FORGOTTEN = "forgotten"
    """Asked about something it does not remember; with {topic} where that is known."""
    NOTHING_MORE = "nothing_more"
    """Asked about something of which it has just told what it remembers."""
    KEEP = "keep"
    """Asked to remember something."""

    GRIEF = "grief"
    DESPAIR = "despair"
    """Somebody does not want to live any more."""
    SAD = "sad"
    AFRAID = "afraid"
    ANGRY = "angry"
    GLAD = "glad"
    TIRED = "tired"
    BORED = "bored"
    COMFORT = "comfort"
    """What it adds to something heavy."""

    STATEMENT = "statement"
    """Told something ordinary; with {topic} (what it was about), {echo} (a few words of it) or neither."""
    LONG = "long"
    """A speech too long to be answered point by point."""

    EMOTE = "emote"
    EMOTE_WARM = "emote_warm"
    EMOTE_SAD = "emote_sad"
    EMOTE_HARSH = "emote_harsh"
    EMOTE_GIFT = "emote_gift"
    ARRIVE = "arrive"
    LEAVE = "leave"
    EVENT = "event"
    SILENCE = "silence"
    """Nothing was said that could be answered."""
    SECRET = "secret"  # noqa: S105 -- not a password
    """Asked to tell nobody, and what it adds to an answer when somebody whispers."""

    SIGNS = "signs"
    """Only emoji or punctuation."""
    NUMBERS = "numbers"
    FOREIGN = "foreign"
    """A language it does not know."""

    MOOD_JOY = "mood_joy"
    """What a strong mood adds to small talk; so the next five."""
    MOOD_SORROW = "mood_sorrow"
    MOOD_FEAR = "mood_fear"
    MOOD_ANGER = "mood_anger"
    MOOD_BOREDOM = "mood_boredom"


COMMON_SLOTS = frozenset({"name", "address", "me", "species", "percent"})
"""Slots every line may use: who is spoken to, what it calls them, its own name and species, a number."""

SLOTS: dict[DialogueAct, frozenset[str]] = {
    DialogueAct.REUNION: frozenset({"memory"}),
    DialogueAct.DUE: frozenset({"memory"}),
    DialogueAct.REMEMBER: frozenset({"memory"}),
    DialogueAct.UNSURE: frozenset({"memory"}),
    DialogueAct.LEARNED: frozenset({"memory"}),
    DialogueAct.REMINDED: frozenset({"memory"}),
    DialogueAct.FORGOTTEN: frozenset({"topic"}),
    DialogueAct.LIKES: frozenset({"topic"}),
    DialogueAct.DISLIKES: frozenset({"topic"}),
    DialogueAct.STATEMENT: frozenset({"topic", "echo"}),
    DialogueAct.WHO_ARE_YOU: frozenset({"self"}),
    DialogueAct.WHERE_ARE_WE: frozenset({"place"}),
    DialogueAct.WHO_IS_HERE: frozenset({"present"}),
    DialogueAct.WHAT_IS_HERE: frozenset({"things"}),
    DialogueAct.WHAT_DO_YOU_WANT: frozenset({"want"}),
}
"""Additional slots for the lines of an act."""

SIGNS = tuple(feeling.value for feeling in SpokenFeeling if feeling is not SpokenFeeling.CALM)
"""Feelings that show in the body: their colours are gestures, the others are whole sentences."""

GENTLY = {name: f"gently_{name}" for name in ("curiosity", "status", "mastery", "novelty", "autonomy")}
"""Appetites with another colour for grave moments, and that colour."""

COLOURS: dict[str, frozenset[str]] = {
    **dict.fromkeys((*SIGNS, *APPETITES, *GENTLY.values(), "self"), frozenset()),
    "alike": frozenset({"memory"}),
    "image": frozenset({"image"}),
}
"""What may colour a reply, with additional slots: a feeling, an appetite, a moment that felt alike
({memory}, a clause), an image from the subconscious ({image}: "a cold tide"), and who the character is."""


_TELLING = 6
"""Characters of a fixed piece that rarely stands in other lines."""
_TOKENS = re.compile(r"[(|)]|\{[A-Za-z_]+\}|[^(|){}]+|.")
_SPACES = re.compile(r"\s+")
_GAP_BEFORE_MARK = re.compile(r" (?=[,.;:!?])")


@dataclass(frozen=True, slots=True)
class _Slot:
    name: str


@dataclass(frozen=True, slots=True)
class _Choice:
    alternatives: tuple[_Sequence, ...]


_Sequence = tuple["str | _Slot | _Choice", ...]


@dataclass(frozen=True)
class Phrase:
    """A parsed phrase. Made by `parse`; `expand` is deterministic given the random generator."""

    source: str
    parts: _Sequence

    @cached_property
    def slots(self) -> frozenset[str]:
        """Names of the slots anywhere in it, in lower case."""
        return frozenset(part.name.lower() for part in _walk(self.parts) if isinstance(part, _Slot))

    @cached_property
    def marks(self) -> tuple[str, ...]:
        """Case-folded pieces, of which every line that was made of it holds one, a full stop for each
        exclamation mark: a mood may have changed one into the other.

        This is its longest fixed piece if that is long enough, else the pieces of all alternatives.
        """
        fixed = [calm(part.strip()) for part in self.parts if isinstance(part, str)]
        longest = max(fixed, key=len, default="")
        if len(longest) >= _TELLING:
            return (longest,)
        pieces = (calm(part.strip()) for part in _walk(self.parts) if isinstance(part, str))
        return tuple(piece for piece in pieces if len(piece) > _TELLING // 2)

    def is_in(self, line: str) -> bool:
        """Whether a line, made `calm`, was probably made of this phrase."""
        return any(mark in line for mark in self.marks)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches every line that was made of it, ignoring case."""
        return re.compile(rf"{_pattern(self.parts).strip()}(?=\s|$)", re.IGNORECASE)

    def expand(self, random: random.Random, slots: Mapping[str, str]) -> str:
        """One variant with the slots filled. Raises `KeyError` for a slot that has no value."""
        text = _SPACES.sub(" ", _expand(self.parts, random, slots)).strip()
        return _GAP_BEFORE_MARK.sub("", text)


@lru_cache(maxsize=4096)
def calm(text: str) -> str:
    """In lower case and with full stops for exclamation marks, as phrases are looked for in earlier lines."""
    return text.casefold().replace("!", ".")


@lru_cache(maxsize=8192)
def parse(source: str) -> Phrase:
    """Read a phrase. Raises `UserError` for a bracket that is not closed or a slot that is not a name."""
    tokens = _TOKENS.findall(source)
    parts, rest = _read(tokens, 0, source)
    if rest != len(tokens):
        raise UserError(f"there is a | or ) without an opening ( in {source!r}")
    return Phrase(source, parts)


def _read(tokens: list[str], at: int, source: str) -> tuple[_Sequence, int]:
    """The sequence from token `at` up to a bar or a closing bracket that belongs to an outer choice."""
    parts: list[str | _Slot | _Choice] = []
    while at < len(tokens) and tokens[at] not in ("|", ")"):
        piece = tokens[at]
        if piece == "(":
            choice, at = _read_choice(tokens, at + 1, source)
            parts += choice
        elif piece in ("{", "}"):
            raise UserError(f"a slot must be a name in curly brackets, such as {{name}}; check {source!r}")
        else:
            parts.append(_Slot(piece[1:-1]) if piece.startswith("{") else piece)
            at += 1
    return tuple(parts), at


def _read_choice(tokens: list[str], at: int, source: str) -> tuple[list[str | _Slot | _Choice], int]:
    alternatives = []
    while True:
        alternative, at = _read(tokens, at, source)
        alternatives.append(alternative)
        if at >= len(tokens):
            raise UserError(f"a ( is never closed in {source!r}")
        at += 1
        if tokens[at - 1] == ")":
            break
    if len(alternatives) == 1:
        return ["(", *alternatives[0], ")"], at
    return [_Choice(tuple(alternatives))], at


def _walk(parts: _Sequence) -> Iterator[str | _Slot]:
    for part in parts:
        if isinstance(part, _Choice):
            for alternative in part.alternatives:
                yield from _walk(alternative)
        else:
            yield part


def _pattern(parts: _Sequence) -> str:
    made = []
    for part in parts:
        if isinstance(part, _Choice):
            longest_first = sorted(map(_pattern, part.alternatives), key=len, reverse=True)
            made.append(f"(?:{'|'.join(longest_first)})")
        else:
            made.append(r"\s*".join(map(re.escape, part.split(" "))) if isinstance(part, str) else ".{1,60}?")
    return "".join(made)


def _expand(parts: _Sequence, random: random.Random, slots: Mapping[str, str]) -> str:
    made = []
    for part in parts:
        if isinstance(part, _Choice):
            made.append(_expand(random.choice(part.alternatives), random, slots))
        elif isinstance(part, _Slot):
            value = slots[part.name.lower()]
            made.append(value[:1].upper() + value[1:] if part.name[0].isupper() else value)
        else:
            made.append(part)
    return "".join(made)
