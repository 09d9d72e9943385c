"""What a question asks for: a memory, something about the character, or what nobody here can know.

It also tells which type of answer a question expects (a name, a place, a time) and whether a line holds one:
"What is my dog called?" is answered by the line that names the dog. This only chooses between memories.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from enum import Enum, StrEnum

from noodlings.text import cached_by_text
from noodlings.values.wording import DialogueAct
from noodlings.voice.hearing import first_match
from noodlings.voice.pronouns import turn
from noodlings.voice.words import bare_words, stem, tokens, words_for

TELLING_WORDS = 3
"""Words of a sentence beside a question that tells something."""


class AnswerType(StrEnum):
    """A type of answer."""

    NAME = "name"
    PERSON = "person"
    PLACE = "place"
    AGE = "age"
    COLOUR = "colour"
    NUMBER = "number"
    PRICE = "price"
    WEIGHT = "weight"
    TIME = "time"
    STATE = "state"
    LATEST = "latest"

    def told_by(self, text: str) -> bool:
        """Whether a line can be the answer; any line can tell a state or the latest news."""
        if self in (AnswerType.STATE, AnswerType.LATEST):
            return True
        if self in (AnswerType.NAME, AnswerType.PERSON) and _A_NAME.search(text):
            return True
        # A line that begins with a capital may begin with a name: "Dorrit does that".
        first = (tokens(text) or [""])[0]
        if self is AnswerType.PERSON and text[:1].isupper() and first not in words_for("common"):
            return True
        by_words = self in (AnswerType.NAME, AnswerType.PERSON)
        said = " ".join(bare_words(text)) if by_words else text.replace("’", "'").lower()
        return first_match(f"told_{self}", said) != ""


def answer_type(question: str) -> AnswerType | None:
    found = first_match("answers", " ".join(tokens(question)))
    return AnswerType(found) if found else None


def may_answer(text: str, question: str, near: bool = False) -> bool:
    """Whether a line can hold what a question asks for, as far as that can be told from its words.

    "What did she pay?" takes a number, "who was it?" a name or kin, "which surgeon?" a line with that word,
    and "red or white?" one of the two. Any line may answer a question that asks for nothing so plain.

    Args:
        near: they are alike in meaning, so the noun may be another word: "which ship?", "a schooner".
    """
    wanted = _wanted(question)
    said = frozenset(map(stem, tokens(text))) if wanted.nouns or wanted.choice else frozenset()
    return (
        (wanted.type is None or wanted.type.told_by(text))
        and (near or said >= wanted.nouns)
        and (not wanted.choice or not said.isdisjoint(wanted.choice))
    )


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What any answer to a question has in it.

    Attributes:
        nouns: stems of which it has all.
        choice: stems of which it has one; empty if nothing was offered.
    """

    type: AnswerType | None
    nouns: frozenset[str]
    choice: frozenset[str]


@cached_by_text(maxsize=16)
def _wanted(question: str) -> _Wanted:
    asked = asked_part(question, tokens(question))
    found, vague = first_match("asks_for", asked), words_for("vague_nouns")
    nouns = [*_WHICH.findall(asked), *(found[1] or found[2] for found in _NAME_OF.finditer(asked))]
    offered = _CHOICE.search(asked)
    choice = frozenset(offered.groups() if offered else ())
    return _Wanted(
        AnswerType(found) if found else None,
        frozenset(stem(noun) for noun in nouns if noun not in vague),
        frozenset(map(stem, choice)) if choice.isdisjoint(vague) else frozenset(),
    )


def asks_when(question: str) -> bool:
    return re.search(r"\bwhen\b|\bhow long ago\b|\bwhat day\b", question, re.I) is not None


def days_meant(question: str) -> int | None:
    """How many days back a question looks ("what did I tell you yesterday?"), or None."""
    found = re.search(r"\b(yesterday|today|this (?:morning|afternoon|evening))\W*$", question, re.I)
    return None if found is None else int(found.group(1).lower() == "yesterday")


# A capital inside of a sentence: "my brother Marco".
_A_NAME = re.compile(
    r"(?<![.!?…]) (?!I\b|(?:Jan|Febr)uary|March|April|May\b|June|July|August|(?:Sept|Nov|Dec)ember|October"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)[A-Z]\w+"
)
_HELPERS = "do|does|did|is|are|was|were|has|have|had|will|would|can|could|should|must|shall"
# "What fruit did …" names what is asked for, "what broke?" and "what troubles me?" do not.
_WHICH = re.compile(
    rf"\b(?:which|whose|what(?= .{{0,100}}\w (?:{_HELPERS})\b))"
    r"(?: (?:old|young|new|other|sort of|kind of|type of))* (\w{3,})\b(?!')"
)
_WHOSE_NAME = r"(?:my|your|his|her|our|their|the|that|this)"
_NAME_OF = re.compile(rf"\bname of {_WHOSE_NAME} (\w{{3,}})\b|\b{_WHOSE_NAME} (\w{{3,}}?)'?s name\b")
_CHOICE = re.compile(r"\b(\w+) or (?:an? |the |his |her )?(\w+)$")
# "nice day, isn't it?" asks nothing, and neither does "so do I".
_TAG = re.compile(
    r",?\s+(?:is|are|was|were|do|does|did|wo)n['’]?t (?:it|he|she|they|there|you|we)\s*\?$"
    r"|,\s*(?:(?:is|are|was|were|do|does|did|will) (?:it|he|she|they|there|you|we)|eh|huh|no|right|ok)\s*\?$"
    r"|^(?:so|nor|neither) (?:am|are|is|was|were|do|does|did|have|has|had|can|could|will|would|should|must)"
    r" (?:i|we|he|she|they|my|your|his|her|our|their|the)\b[^?]*$"
    r"|\bwould you (?:believe|credit) (?:it|that)(?:\W*|\b[^?]*)$",
    re.I,
)
_SOURCE = re.compile(
    r"^(?:who (?:told|said)(?: (?:you|so|it|that|this)){1,2}|says who|how (?:do|did|would) you know(?: that)?"
    r"|where did you (?:hear|learn|get) (?:that|this|it)(?: from)?)$"
)
_WHO_TOLD = re.compile(
    r"\b(?:who (?:told|said)|says who|how (?:do|did|would) you know|where did you (?:hear|learn|get))\b", re.I
)
_PREFERS = re.compile(r"\byou (?:prefer|like (?=.+ better\b))", re.I)
_LIKED = re.compile(r"\b(?:prefer|like|love|enjoy|fancy|miss|feel about|think of|make of) (.+)$")
LEADING_WORDS = 4
"""Words of a clause that may announce a question."""
SENTENCE_BREAK = re.compile(r"(?<=[.!?…])\s+")
_CLAUSE_BREAK = re.compile(r"(?<![,.;:!?…–—])[,.;:!?…–—]++\s+")


class QuestionKind(Enum):
    NONE = None
    MEMORY = DialogueAct.FORGOTTEN
    """Something said before; the act is the one for when nothing is found."""
    HOW_ARE_YOU = DialogueAct.HOW_ARE_YOU
    WHO_ARE_YOU = DialogueAct.WHO_ARE_YOU
    WANT = DialogueAct.WHAT_DO_YOU_WANT
    MY_NAME = DialogueAct.WHAT_IS_MY_NAME
    WHERE = DialogueAct.WHERE_ARE_WE
    PRESENT = DialogueAct.WHO_IS_HERE
    THINGS = DialogueAct.WHAT_IS_HERE
    LIKING = DialogueAct.LIKES
    ADVICE = DialogueAct.ADVICE
    REQUEST = DialogueAct.REQUEST
    AVAILABILITY = DialogueAct.AVAILABILITY
    PERMISSION = DialogueAct.PERMISSION
    DOING = DialogueAct.DOING
    YES_OR_NO = DialogueAct.YES_OR_NO
    PERSONAL = DialogueAct.PERSONAL
    UNKNOWN = DialogueAct.QUESTION

    @property
    def act(self) -> DialogueAct:
        """The act of the reply where no memory helps."""
        return self.value or DialogueAct.STATEMENT

    @property
    def may_be_known(self) -> bool:
        """Whether a memory may answer it."""
        return self in (QuestionKind.MEMORY, QuestionKind.UNKNOWN, QuestionKind.AVAILABILITY)

    def topic(self, text: str, found: str) -> str:
        """The topic: of "do you like my hat?" "your hat", of "do you prefer tea or coffee?" one of the two,
        else the noun phrase that was found."""
        if self is not QuestionKind.LIKING:
            return found
        what = _LIKED.search(" ".join(tokens(text)))
        phrase = turn(what.group(1), to_speaker=True) if what else ""
        if prefers(text):
            phrase = max(phrase.split(" or "), key=lambda one: zlib.crc32(one.encode()))
        return phrase if 0 < len(phrase.split()) <= 5 and len(phrase) <= 40 else ""


def prefers(question: str) -> bool:
    """Whether a question asks what somebody likes better."""
    return _PREFERS.search(question) is not None


@cached_by_text(maxsize=1024)
def only_asks(text: str) -> bool:
    """Whether a line asks, with or without a mark, and tells nothing: "Right. Who took it?"."""
    sentences = [part for part in SENTENCE_BREAK.split(text.strip()) if part]
    asks = [
        part.endswith("?") or read_question(part, tokens(part)) is not QuestionKind.NONE for part in sentences
    ]
    return any(asks) and all(
        asking or len(tokens(part)) < TELLING_WORDS for part, asking in zip(sentences, asks, strict=True)
    )


def asks_memory(text: str) -> bool:
    """Whether a line asks what is remembered."""
    return _read(text, tokens(text)) == "memory"


def asks_source(text: str) -> bool:
    """Whether a line only asks how the thing just said is known."""
    return _SOURCE.match(_plain(tokens(text))) is not None


def asks_who_told(text: str) -> bool:
    """Whether a line asks how something is known."""
    return _WHO_TOLD.search(text) is not None


def read_question(text: str, words: list[str]) -> QuestionKind:
    """What the line asks for; `QuestionKind.NONE` when it asks nothing."""
    found = _read(text, words)
    return QuestionKind.MEMORY if found == "about_oneself" else QuestionKind[found.upper()]


def _read(text: str, words: list[str]) -> str:
    """The name of the rule for a question, "unknown" where there is no rule, and "none"."""
    line, asking = _plain(words), asked_part(text, words)
    found = first_match("remembering", line) or first_match("asked_anywhere", asking or line)
    if found or not asking or _TAG.search(text):
        return found or "none"
    return first_match("asked", asking) or "unknown"


def last_sentence(text: str) -> str:
    return SENTENCE_BREAK.split(text.strip())[-1]


def asked_part(text: str, words: list[str]) -> str:
    """The part of a line that asks, as words with single spaces; "" where none does.

    That is the sentence with the mark, unless more is told after it. Without a mark it is the whole line, or
    its last clause that can only be a question.
    """
    told_after = 0
    for sentence in reversed(SENTENCE_BREAK.split(text.strip())):
        here = tokens(sentence)
        if _has_mark(sentence) and (_has_mark(text) or told_after < len(here)):
            return _without_lead(sentence)
        told_after += len(here)
    if first_match("begins", _plain(words)):
        return _plain(words)
    clauses = [_plain(tokens(clause)) for clause in reversed(_CLAUSE_BREAK.split(text))]
    return next((clause for clause in clauses if first_match("begins_within", clause)), "")


def _without_lead(sentence: str) -> str:
    """The words of a question, without a few that only announce it: "right, test for you, who am I?"."""
    clauses = [_plain(tokens(clause)) for clause in _CLAUSE_BREAK.split(sentence)]
    for at, clause in enumerate(clauses):
        if first_match("begins", clause):
            return " ".join(clauses[at:])
        if clause.count(" ") >= LEADING_WORDS:
            break
    return _plain(tokens(sentence))


def _plain(words: list[str]) -> str:
    """Words with single spaces, without those that only lead on to a question."""
    first = next((at for at, word in enumerate(words) if word not in words_for("leads_on")), 0)
    return " ".join(words[first:])


def _has_mark(text: str) -> bool:
    return text.rstrip(" !.\"'").endswith("?")
