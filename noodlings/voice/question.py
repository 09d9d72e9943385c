"""What a question asks for: a memory, something about the character, or what nobody here can know.

It also tells what kind of answer a question expects (a name, a place, a time) and whether a line holds one:
"What is my dog called?" is answered by the line that names the dog rather than by another line about it. This
only chooses between memories that fit anyway, and invents none.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

from noodlings.values.wording import DialogueAct
from noodlings.voice.pronouns import turn
from noodlings.voice.words import tokens, words_for

_FEELINGS = r"(?:alive|dead|ok|okay|well|all right|alright|better|sad|happy|angry|afraid|upset|ill|sick)"


class AnswerType(Enum):
    """A sort of answer: how the question sounds, and how the line that tells it."""

    NAME = (r"\bname\b|\bcalled\b|^who(?:'s| is| are| was)\b", r"\b(?:called|named|names?|name's)\b")
    PLACE = (
        r"\bwhere\b",
        r"\b(?:in|at|near|under|behind|on|to|from|inside|outside|beside|between|next|across|by|here)\b",
    )
    AGE = (
        r"\bhow old\b",
        r"\b(?:years?|months?|weeks?|days?) old\b|\baged?\b|\bborn\b|\bbirthday\b|\bturned\b",
    )
    COLOUR = (
        r"\bwhat colou?r\b",
        r"\bcolou?rs?\b|\b(?:red|blue|green|yellow|black|white|brown|gr[ae]y|orange|purple|pink|golden|ginger)\b",
    )
    NUMBER = (
        r"\bhow (?:many|much)\b|\b(?:what|which|a) number\b",
        r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty"
        r"|hundred|thousand|half|dozen|couple|few|several|both|none)\b",
    )
    TIME = (
        r"\b(?:when|what time|(?:what|which) (?:day|date|month|year|morning|evening))\b",
        r"\d|\b(?:o'clock|noon|midnight|(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|yesterday"
        r"|today|next|last|january|february|march|april|may|june|july|august|september|october|november"
        r"|december|spring|summer|autumn|winter|christmas|easter|morning|afternoon|evening|night|days?|weeks?"
        r"|months?|years?|hours?|minutes?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
        r"|dawn|dusk|tide|moon|when|before|after|until|till|every)\b",
    )
    STATE = (
        rf"^(?:and |so )?how(?:'s| is| are| was| were) (?!you\b|it going\b)|^(?:is|are|was) .*\b{_FEELINGS}$"
        r"|^(?:do|does|did) .* still\b|^why is\b|^what(?:'s| has)? happened\b|^(?:how )?did .* die$",
        r"",
    )
    LATEST = (r"\b(?:i|we|he|she|they|\w+) just (?:say|said|tell|told|ask)\b|\blast thing\b", r"")

    def __init__(self, asked: str, told: str) -> None:
        self._asked = re.compile(asked)
        self._told = re.compile(told)

    def told_by(self, text: str) -> bool:
        """Whether a line can be the answer."""
        named = self is AnswerType.NAME and _A_NAME.search(text) is not None
        return named or self._told.search(" ".join(tokens(text))) is not None


def answer_type(question: str) -> AnswerType | None:
    """What a question asks for, where that is one of these."""
    line = " ".join(tokens(question))
    return next((kind for kind in AnswerType if kind._asked.search(line)), None)


def asked_for(question: str) -> str:
    """The thing that is asked for by name, "hospital" in "which hospital was it?"; "" where it is open."""
    found = _WHICH.search(" ".join(tokens(question)))
    return found.group(1) if found and found.group(1) not in _OPEN else ""


def asks_when(question: str) -> bool:
    """Whether it asks for the time of something."""
    return re.search(r"\bwhen\b|\bhow long ago\b|\bwhat day\b", question, re.I) is not None


def days_meant(question: str) -> int | None:
    """How many days back a question looks ("what did I tell you yesterday?"), or None where it says none."""
    found = re.search(r"\b(yesterday|today|this (?:morning|afternoon|evening))\W*$", question, re.I)
    return None if found is None else int(found.group(1).lower() == "yesterday")


def goes_on(text: str) -> bool:
    """Whether a line is about what the line before it was about: "his name is Rex"."""
    return (tokens(text) or [""])[0] in _LEANING


_WHICH = re.compile(
    r"\b(?:what|which) (?:kind of |sort of |type of )?(?:was |is )?"
    r"(?:the |my |our |his |her |their )?([a-z]{3,})\b"
)
_OPEN = frozenset(
    {
        "about", "again", "age", "are", "became", "can", "color", "colour", "could", "date", "day",
        "did", "does", "else", "for", "got", "had", "happened", "happens", "has", "have", "kind",
        "lady", "made", "makes", "matter", "month", "must", "name", "news", "number", "one", "ones",
        "part", "reason", "said", "shall", "she", "should", "sort", "story", "that", "the", "these",
        "they", "thing", "things", "this", "those", "time", "trouble", "type", "was", "way", "week",
        "went", "were", "will", "with", "word", "would", "year", "you",
    }
)  # fmt: skip
# A capital inside of a sentence: "my brother Marco".
_A_NAME = re.compile(r"(?<![.!?…]) (?!I\b)[A-Z]\w+")
_LEANING = frozenset(
    {"he", "she", "it", "they", "his", "her", "its", "their", "he's", "she's", "it's", "they're"}
)


def _any(*patterns: str) -> re.Pattern[str]:
    """A line (in lower case, words with single spaces) that fits one of these."""
    return re.compile("|".join(patterns))


_ASKS_MEMORY = _any(
    r"\b(?:do|don't|can|can't|could|did|didn't|will|would) you (?:still |even |really |ever |happen to )*"
    r"(?:remember|recall|forget)\b",
    r"^(?:and |so |but )?(?:you )?remember (?:me|my|when|what|how|who|where|the|that|our|us|i)\b",
    r"(?<!what )\bhave you forgotten\b",
    r"\bdo you (?:still |even )?know (?:who |what |where |when |how |why |which )?(?:i|my|our|we)\b",
    r"\b(?:what|who|where|when|how|which)\b.* (?:do|can|did) you (?:still )?"
    r"(?:remember|recall|know about|know of)\b",
    r"\bwhat (?:did|have|has|had|do|does) (?!you\b)(?:\w+ ){1,3}?(?:just |ever )?"
    r"(?:say|said|tell|told|mention|mentioned|talk|talked|ask|asked)\b",
    r"\b(?:have|had|did|haven't|didn't) i (?:ever |already |not )?"
    r"(?:told|tell|mentioned|mention|said|say)\b",
    r"\bwhat was i (?:saying|talking)\b",
    r"\btell me (?:what|all|everything|anything|something) (?:that )?you (?:still )?"
    r"(?:remember|know about (?!you))",
    r"^(?:please |can you |could you )?tell me (?:something |more |again |all |everything )*"
    r"about (?!you\b|your\b|yourself\b)\w+",
)
_HOW_ARE_YOU = _any(
    r"\bhow (?:are|'re) (?:you|ya|u)(?: doing| feeling| today| now| these days)*$",
    r"^how(?:'s it going| is it going| do you feel| have you been)",
    r"^(?:are you|you) (?:ok|okay|all right|alright|well|sad|happy|afraid|scared|angry|bored|tired|lonely"
    r"|upset|fine)\b",
    r"^what'?s? (?:is )?(?:up|wrong|the matter)(?: with you)?$",
    r"^what do you feel|^how was your (?:day|night)",
)
_WHO_ARE_YOU = _any(
    r"^(?:and )?(?:who|what) (?:exactly )?are you\b(?! (?:\w+ing)\b)",
    r"^what(?:'s| is) your name",
    r"^(?:are you|you're) (?:an? )?(?:\w+ )?(?:robot|machine|ai|bot|human|person|real|alive|cat|kitten|animal"
    r"|computer|program|character)\b",
    r"^(?:please )?tell me (?:something |more )?about (?:you|yourself|your (?:life|story|past))\b",
    r"^what kind of \w+ are you|^introduce yourself|^do i know you",
)
_WANTS = _any(
    r"^what (?:do|would) you (?:really |most )?(?:want|wish|need|dream|like to do|like doing|like most"
    r"|like best|love)\b",
    r"^what(?:'s| is) your (?:dream|goal|wish|favou?rite)",
    r"^what are you (?:looking|longing|hoping) for|^what makes you happy",
)
_DOING = _any(
    r"^what(?: are|'re)? you (?:doing|up to|thinking|reading|making|looking at|working on|watching)\b",
    r"^what(?:'s| is) on your mind|^are you busy",
)
_MY_NAME = _any(r"^(?:what(?:'s| is) my name|who am i|do you know (?:who i am|my name|me))$")
_WHERE = _any(
    r"^where (?:are we|am i|are you|is this)(?: (?:right )?now| exactly)?$", r"^what(?:'s| is) this place"
)
_LIKES = _any(
    r"^(?:so |and )?(?:do|don't|did|will) you (?:really |also |even )?"
    r"(?:like|love|enjoy|fancy|miss(?= me\b)) (?P<what>.+)$"
)
_ADVICE = _any(
    r"\b(?:what|how|where|who|which|when) (?:\w+ )?(?:should|shall|can|could|must) (?:i|we)\b",
    r"^how do (?:i|we)\b|\bwhat do (?:i|we) (?:do|say|tell)\b",
    r"^(?:should|shall|must|may|can|could) (?:i|we)\b",
    r"\bany advice\b|\bwhat would you do\b|\bwhat do you think i should\b",
)
_REQUEST = _any(r"^(?:can|could|will|would|won't) you (?:please )?(?!ever\b|be\b|have\b|like\b|say\b)\w+")
# Asked what it knows or thinks, nobody is asked about itself.
_KNOW = r"(?! (?:know|think|believe|suppose|reckon|heard? (?:of|about))\b)"
_YES_OR_NO = _any(
    r"^(?:and |so |but )?(?:are|do|did|have|were|would|can|could|will|don't|aren't|haven't) you\b"
    rf"{_KNOW}"
)
_PERSONAL = _any(
    r"\b(?:are|do|did|have|were|would|can|could|will|don't) you\b" + _KNOW,
    r"\byour\b",
)
# "nice day, isn't it?" asks nothing.
_TAG = re.compile(
    r",?\s+(?:is|are|was|were|do|does|did|wo)n['’]?t (?:it|he|she|they|there|you|we)\s*\?$"
    r"|,\s*(?:(?:is|are|was|were|do|does|did) (?:it|he|she|they|there|you|we)|eh|huh|no|right|ok)\s*\?$",
    re.I,
)
# About the one who asks, and not for advice: only what was told before can answer it.
_ABOUT_ONESELF = _any(
    r"^(?!\w+ \w+ you\b)(?:what|who|where|when|which|how (?:old|many|much|long))"
    r"(?:'s|'re| is| are| was| were| did| do| does| colou?r)?\b(?=.* (?:my|our|i)\b)(?!.*\bam i\b)"
)
# A question typed without its mark.
_BEGINS = _any(
    r"^(?:(?:and|so|but|well|then|hey|tell me) )?"
    r"(?:(?:what|who|where|when|why|how|which)(?:'s)? (?:is|are|was|were|do|does|did|have|has|can|could|will"
    r"|would|should|am|'s|the|kind|sort|time|day|many|much|old|long|far|about|your|my|makes?|happened"
    r"|happens)\b"
    r"|how \w+ (?:is|are|was|were|do|does|did|have|has|can|could|will|would|should|ought|am) "
    r"|(?:is|are|do|does|did|have|has|can|could|will|would|should) (?:you|there|i|we|they|it|he|she|your|my"
    r"|the|this|that|anyone|anybody)\b"
    r"|(?:who|who's|who'd|which|whose|where's|why|what) "
    r"(?!i\b|we\b|you\b|he\b|she\b|it\b|they\b|a\b|an\b|if\b)"
    r"(?:\w+'?\w* ){2,}|when's )"
)
# A clause that asks, inside of a line without a mark: the verb stands before its subject.
_ASKS_WITHIN = _any(
    r"^(?:(?:and|so|but|or|well|then) )?"
    r"(?:(?:what|where|when|why|how(?: (?:many|much|long|old|far))?|(?:what|which|whose) \w+) )?"
    r"(?:is|are|am|was|were|do|does|did|has|have|can|could|will|would|should|shall)(?:n't)? "
    r"(?:i|you|he|she|it|we|they|there|my|your|his|her|our|their)\b(?: \S+){1,}"
)
_CLAUSE_BREAK = re.compile(r"[,.;:!…–—]+\s+")
_SENTENCE_BREAK = re.compile(r"(?<=[.!?…])\s+")


class QuestionKind(Enum):
    """What is asked for."""

    NONE = None
    MEMORY = DialogueAct.FORGOTTEN
    """Something said before; the act is the one for when nothing is found."""
    HOW_ARE_YOU = DialogueAct.HOW_ARE_YOU
    WHO_ARE_YOU = DialogueAct.WHO_ARE_YOU
    WANT = DialogueAct.WHAT_DO_YOU_WANT
    MY_NAME = DialogueAct.WHAT_IS_MY_NAME
    WHERE = DialogueAct.WHERE_ARE_WE
    LIKING = DialogueAct.LIKES
    ADVICE = DialogueAct.ADVICE
    REQUEST = DialogueAct.REQUEST
    DOING = DialogueAct.DOING
    YES_OR_NO = DialogueAct.YES_OR_NO
    PERSONAL = DialogueAct.PERSONAL
    UNKNOWN = DialogueAct.QUESTION

    @property
    def act(self) -> DialogueAct:
        """How it is answered where no memory helps."""
        return self.value or DialogueAct.STATEMENT

    @property
    def may_be_known(self) -> bool:
        """Whether a memory may answer it."""
        return self in (QuestionKind.MEMORY, QuestionKind.UNKNOWN)

    def topic(self, text: str, found: str) -> str:
        """What it is about: of "do you like my hat?" "your hat", else the noun phrase that was found."""
        if self is not QuestionKind.LIKING:
            return found
        what = _LIKES.match(" ".join(tokens(text)))
        phrase = turn(what.group("what"), to_speaker=True) if what else ""
        return phrase if 0 < len(phrase.split()) <= 5 and len(phrase) <= 40 else ""


@lru_cache(maxsize=1024)
def only_asks(text: str) -> bool:
    """Whether a line asks, with a mark or without, and tells nothing beside that."""
    sentences = (part for part in _SENTENCE_BREAK.split(text.strip()) if part)
    return all(
        part.endswith("?") or read_question(part, tokens(part)) is not QuestionKind.NONE for part in sentences
    )


def asks_memory(text: str) -> bool:
    """Whether a line asks what is remembered."""
    return _remembering(text, " ".join(tokens(text)))


def read_question(text: str, words: list[str]) -> QuestionKind:
    """What the line asks for; `QuestionKind.NONE` when it asks nothing."""
    line = " ".join(words)
    if _remembering(text, line):
        return QuestionKind.MEMORY
    if _TAG.search(text):
        return QuestionKind.NONE
    last = _asking(text, words)
    for pattern, question in _KINDS:
        if pattern.search(last or line):
            return question
    if not last:
        return QuestionKind.NONE
    if _ADVICE.search(line):
        return QuestionKind.ADVICE
    if _LIKES.match(last):
        return QuestionKind.LIKING
    if _ABOUT_ONESELF.match(last):
        return QuestionKind.MEMORY
    if _REQUEST.match(last):
        return QuestionKind.REQUEST
    if _YES_OR_NO.match(last):
        return QuestionKind.YES_OR_NO
    return QuestionKind.PERSONAL if _PERSONAL.search(last) else QuestionKind.UNKNOWN


def last_sentence(text: str) -> str:
    """Where a question stands, in a line of several sentences."""
    return _SENTENCE_BREAK.split(text.strip())[-1]


def _asking(text: str, words: list[str]) -> str:
    """The part of a line that asks, as words with single spaces; "" where none does.

    The sentence with the mark, when less is told after it; without a mark the whole line, or its last clause
    that can be nothing but a question.
    """
    parts: list[str] = _SENTENCE_BREAK.split(text.strip())
    sentences = [" ".join(tokens(part)) for part in parts]
    marks = [_has_mark(part) for part in parts]
    for at in (at for at, marked in reversed([*enumerate(marks)]) if marked):
        told_after = sum(len(part.split()) for part in sentences[at + 1 :])
        if _has_mark(text) or told_after < len(sentences[at].split()):
            return sentences[at]
    if _begins_question(" ".join(words), words):
        return " ".join(words)
    clauses: list[str] = [" ".join(tokens(part)) for part in reversed(_CLAUSE_BREAK.split(text))]
    return next((clause for clause in clauses if _ASKS_WITHIN.match(clause)), "")


def _remembering(text: str, line: str) -> bool:
    if _MY_NAME.match(line) or not _ASKS_MEMORY.search(line):
        return False
    return _has_mark(text) or not line.startswith("remember") or line.startswith("remember when")


def _has_mark(text: str) -> bool:
    return text.rstrip(" !.\"'").endswith("?")


def _begins_question(line: str, words: list[str]) -> bool:
    """A question typed without its mark; "what a day" and "how nice" are none."""
    if len(words) < 3 or (words[0] in ("what", "how") and words[1] in {"a", "an"} | words_for("praise")):
        return False
    return bool(_BEGINS.match(line))


_KINDS = (
    (_MY_NAME, QuestionKind.MY_NAME),
    (_HOW_ARE_YOU, QuestionKind.HOW_ARE_YOU),
    (_WHO_ARE_YOU, QuestionKind.WHO_ARE_YOU),
    (_WANTS, QuestionKind.WANT),
    (_DOING, QuestionKind.DOING),
    (_WHERE, QuestionKind.WHERE),
)
