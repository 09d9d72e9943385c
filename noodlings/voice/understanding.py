"""What kind of line it is (a greeting, a question, grief), by which the offline voice answers.

It applies small grammars over word lists, in order of importance: somebody who says hello and that their dog
died is answered about the dog.

What somebody says of their own feeling is read from the words of the line, or from what was felt on hearing
it. Nothing that is denied, laughed off or said of a thing calls for comfort, and a feeling that only the
hearer had counts only where the words are plain.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from noodlings.values.affect import Affect
from noodlings.values.percept import Kind, Percept
from noodlings.values.persona import Persona
from noodlings.values.wording import DialogueAct, SpokenFeeling
from noodlings.voice.phrasebook import feeling
from noodlings.voice.question import QuestionKind, last_sentence, read_question
from noodlings.voice.reported_speech import statement
from noodlings.voice.statement import begins_with_name, find_topic
from noodlings.voice.words import (
    phrases_for,
    spaced,
    spoken_words,
    tokens,
    topic_stems,
    without_names,
    words_for,
)

STRONG = 0.6
"""Intensity (0…1) from which what was felt on hearing a line says what it is."""
HARD = -0.5
"""Valence below which a line tells of something sad, whatever else is felt about it."""

_FELT = (  # the order is the one in which they are answered
    ("despair", DialogueAct.DESPAIR),
    ("grief", DialogueAct.GRIEF),
    ("afraid", DialogueAct.AFRAID),
    ("sad", DialogueAct.SAD),
    ("angry", DialogueAct.ANGRY),
    ("glad", DialogueAct.GLAD),
    ("tired", DialogueAct.TIRED),
    ("bored", DialogueAct.BORED),
)
_BY_AFFECT = {
    SpokenFeeling.SORROW: DialogueAct.SAD,
    SpokenFeeling.FEAR: DialogueAct.AFRAID,
    SpokenFeeling.JOY: DialogueAct.GLAD,
    SpokenFeeling.ANGER: DialogueAct.ANGRY,
    SpokenFeeling.BOREDOM: DialogueAct.BORED,
}
_DARK = frozenset({DialogueAct.GRIEF, DialogueAct.SAD, DialogueAct.AFRAID, DialogueAct.ANGRY})
_OWN = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|i'm|i've|i'd|i'll|we're|we've)\b")
# Who can still say it did not die of it: so people talk in games.
_DIED_IN_PLAY = re.compile(
    r"\b(?:i|we) (?:just |almost |nearly )?(?:died|got killed|was killed)\b|\bkilled (?:me|us)\b"
)
_LIKING = re.compile(
    r"^i (?:really |just |also |still )*(?:hate|love|like|adore|enjoy|loathe|prefer|can't stand) "
    r"(?!you\b|me\b|my\b|myself\b)"
)
_HAPPY_TEARS = re.compile(
    r"\bcr(?:y|ied|ying) (?:with|of|from|for) (?:joy|laughter|happiness|laughing)\b"
    r"|\btears of joy\b|\bhappy tears\b"
)
_WAS = re.compile(r"\b(?:was|were|used to|had)\b")


def stated_feeling(words: list[str], line: str, percept: Percept | None = None) -> DialogueAct | None:
    """The feeling a line tells of, where it is not denied and not about a thing that cannot die.

    Args:
        line: the words with single spaces.
        percept: to take what was felt about it where the words do not tell; None to take the words alone.
    """
    if _HAPPY_TEARS.search(line):
        return DialogueAct.GLAD
    unlike = (
        {DialogueAct.GRIEF}
        if words_for("lifeless").intersection(words) or _DIED_IN_PLAY.search(line)
        else set()
    )
    if words_for("laughing").intersection(words):
        unlike |= _DARK
    for name, act in _FELT:
        if act not in unlike and _names(words, line, name):
            return act
    return by_affect(percept, line) if percept else None


def by_affect(percept: Percept, line: str) -> DialogueAct | None:
    """What the feeling that came with a percept makes of its line; None where it is no strong one.

    Somebody's gladness is taken for theirs alone when they speak of themselves, and of now.
    """
    affect = percept.affect
    if affect is None or affect.intensity < STRONG or _LIKING.match(line):
        return None
    found = _BY_AFFECT.get(feeling(affect)) or (DialogueAct.SAD if affect.valence < HARD else None)
    if found in _DARK and words_for("laughing").intersection(line.split()):
        return None
    if found is DialogueAct.GLAD and (not _OWN.search(line) or _WAS.search(line)):
        return None
    return found


def of_oneself(line: str) -> bool:
    """Whether whoever says it speaks of themselves."""
    return _OWN.search(line) is not None


def _names(words: list[str], line: str, name: str) -> bool:
    if any(phrase in f" {line} " for phrase in phrases_for(f"{name}_phrases")):
        return True
    denied = words_for("negations")
    return any(
        word in words_for(name) and not denied.intersection(words[max(at - 3, 0) : at])
        for at, word in enumerate(words)
    )


ATTENTION = 800
"""Characters of a line that are listened to word for word."""
LONG = 400
"""Characters from which on a plain statement is a speech."""
ECHO = 9
"""Words of a statement short enough to be said back."""

_MARKUP = re.compile(r"\[/?[a-z][a-z0-9 _#=.,-]*\]|</?[a-z][^<>]{0,80}>|[*_`~^]{1,3}", re.I)
_QUOTED = re.compile(r'["“]([^"”]+)["”]')
_KEEP = re.compile(
    r"^(please )?((always )?remember (that|this|my|i|the)|don't forget|never forget|keep in mind)\b"
)
_WISHES = re.compile(
    r"\b(good (morning|afternoon|evening|day)|nice to meet you|pleased to meet you|how do you do)\b"
)
_PARTINGS = re.compile(
    r"\b(good ?night|see you|see ya|take care|have to go|got to go|gotta go|i must go|i should go|"
    r"i'm leaving now|i'm off(?= (?:to|now|then|home)\b|$)|until (next time|tomorrow|later)"
    r"|so long|sleep well|i'll be back)\b"
)

_FEELS = {
    DialogueAct.GRIEF: SpokenFeeling.SORROW,
    DialogueAct.DESPAIR: SpokenFeeling.SORROW,
    DialogueAct.SAD: SpokenFeeling.SORROW,
    DialogueAct.EMOTE_SAD: SpokenFeeling.SORROW,
    DialogueAct.AFRAID: SpokenFeeling.FEAR,
    DialogueAct.GLAD: SpokenFeeling.JOY,
    DialogueAct.PRAISE: SpokenFeeling.JOY,
    DialogueAct.THANKS: SpokenFeeling.JOY,
    DialogueAct.EMOTE_WARM: SpokenFeeling.JOY,
    DialogueAct.EMOTE_GIFT: SpokenFeeling.JOY,
    DialogueAct.INSULT: SpokenFeeling.ANGER,
    DialogueAct.EMOTE_HARSH: SpokenFeeling.ANGER,
}
HEAVY = frozenset(
    {
        DialogueAct.GRIEF,
        DialogueAct.DESPAIR,
        DialogueAct.SAD,
        DialogueAct.AFRAID,
        DialogueAct.EMOTE_SAD,
        DialogueAct.COMFORT,
    }
)
"""Acts that call for comfort, not for small talk."""
_UNPLEASANT = -0.3
"""Valence below which a statement is not said back with a wink."""
_KIDDING = re.compile(r"\b(?:just kidding|only (?:joking|kidding|teasing)|was (?:joking|kidding)|jk)\b")
_SECRET = re.compile(
    r"^(?:please )?(?:don't|do not|never) tell (?!me\b)\w+"
    r"|\b(?:keep (?:it|this|that) (?:a )?(?:secret|to yourself)|it's a secret"
    r"|between (?:us|you and me|the two of us))\b"
)
_PUZZLED = re.compile(
    r"^(?:sorry )?(?:i don't (?:understand|get it|follow)"
    r"|(?:that|it|this) (?:makes no|doesn't make any) sense"
    r"|what did you (?:just )?say|(?:please )?(?:say (?:that|it) again|repeat that)|what do you mean"
    r"|what (?:does|did) that mean|what are you (?:talking about|on about|saying)"
    r"|you (?:already|just) (?:said|told me) (?:that|this|so)|(?:please )?stop saying (?:that|this)"
    r"|you (?:keep|are) (?:saying|repeating) .*|you're (?:repeating|not making) .*"
    r"|(?:huh|pardon|come again|what))$"
)
_MISSED = re.compile(r"^(?:i|i'll|i've) (?:really |so |will |did )*miss(?:ed)? you(?: so much| too| a lot)?$")
_BETTER = re.compile(
    r"^(?:but )?(?:i'm|i am|i feel) (?:ok|okay|fine|alright|all right|better|good|over it)(?: now| again)?$"
)
_PLAINLY = (
    (_BETTER, DialogueAct.SHORT),
    (_MISSED, DialogueAct.PRAISE),
    (_KIDDING, DialogueAct.APOLOGY),
    (_SECRET, DialogueAct.SECRET),
    (_PUZZLED, DialogueAct.PUZZLED),
)
_SETS_IN = frozenset({"is", "starts", "begins", "keeps", "bursts", "to", "into"})
_PROPOSES = frozenset({"let's", "lets", "wanna"})
_EMOTES = (
    ("emote_gift", DialogueAct.EMOTE_GIFT),
    ("emote_harsh", DialogueAct.EMOTE_HARSH),
    ("emote_sad", DialogueAct.EMOTE_SAD),
    ("emote_warm", DialogueAct.EMOTE_WARM),
)
_EVENTS = {Kind.ARRIVE: DialogueAct.ARRIVE, Kind.LEAVE: DialogueAct.LEAVE, Kind.THOUGHT: DialogueAct.SILENCE}


@dataclass(frozen=True, slots=True)
class UnderstoodLine:
    """A line as it was understood.

    Attributes:
        act: what is to be answered.
        question: what was asked, where something was.
        stems: of the words that carry a topic.
        topic: a noun phrase turned to the speaker ("your dog"), or "".
        echo: the whole statement turned to the speaker ("you lost your key"), or "".
    """

    act: DialogueAct
    question: QuestionKind = QuestionKind.NONE
    stems: frozenset[str] = frozenset()
    topic: str = ""
    echo: str = ""

    @property
    def feeling(self) -> SpokenFeeling | None:
        """What it makes one feel, where the act alone decides."""
        return _FEELS.get(self.act)

    @property
    def heavy(self) -> bool:
        """Whether it asks for comfort."""
        return self.act in HEAVY


def understand(percept: Percept, persona: Persona) -> UnderstoodLine:
    """Understand a percept as well as it can be."""
    said = percept.text[:ATTENTION]
    spoken = spoken_words(said) if percept.kind in (Kind.SAY, Kind.WHISPER) else said
    text = without_names(" ".join(_MARKUP.sub(" ", spoken).split()), persona)
    done = spoken.startswith("*") and spoken.endswith("*") and spoken.count("*") == 2
    return _understood(text, percept.kind, percept.affect, done, len(percept.text) > LONG)


@lru_cache(maxsize=64)
def _understood(text: str, kind: Kind, affect: Affect | None, done: bool, long: bool) -> UnderstoodLine:
    """The same, of all it depends on: a line is heard again for every lens that colours its answer."""
    if kind in _EVENTS:
        return UnderstoodLine(_EVENTS[kind], stems=topic_stems(tokens(text)))
    if kind is Kind.EVENT:
        return UnderstoodLine(DialogueAct.EVENT, stems=topic_stems(tokens(text)), topic=find_topic(text))
    percept = Percept("somebody", text, 0.0, kind, affect=affect)
    if kind is Kind.EMOTE or done:
        return _hear_emote(text, percept, long)
    return _hear_words(text, percept, long)


def _hear_emote(text: str, percept: Percept, long: bool) -> UnderstoodLine:
    words = tokens(text)
    for name, act in _EMOTES:
        if words and not words_for(name).isdisjoint(_doing(words)):
            return UnderstoodLine(act, stems=topic_stems(words))
    if words[:2] == ["holds", "out"]:
        return UnderstoodLine(DialogueAct.EMOTE_GIFT, stems=topic_stems(words))
    spoken = _QUOTED.search(text)
    if spoken:
        return _hear_words(spoken.group(1), percept, long)
    shown = {DialogueAct.SAD: DialogueAct.EMOTE_SAD, DialogueAct.AFRAID: DialogueAct.AFRAID}
    felt = shown.get(by_affect(percept, "") or DialogueAct.EMOTE, DialogueAct.EMOTE)
    return UnderstoodLine(felt, stems=topic_stems(words))


def _doing(words: list[str]) -> set[str]:
    """The first word of what is done; of "is crying" and "starts to cry" what that comes to."""
    at = 0
    while at < min(len(words) - 1, 2) and words[at] in _SETS_IN:
        at += 1
    base = words[at].removesuffix("ing")
    return {words[at], base, f"{base}e", base[:-1]} if at else {words[at]}


def _hear_words(text: str, percept: Percept, long: bool) -> UnderstoodLine:
    words = tokens(text)
    if not words or _is_foreign(text, words):
        return UnderstoodLine(_wordless(text, bool(words)))
    stems = topic_stems(words)
    line = spaced(words).strip()
    question = read_question(text, words)
    topic = find_topic(text)
    if question is not QuestionKind.NONE:
        if _PUZZLED.search(line):
            return UnderstoodLine(DialogueAct.PUZZLED, stems=stems)
        may_tell = question in (QuestionKind.UNKNOWN, QuestionKind.ADVICE) and of_oneself(line)
        felt = stated_feeling(words, line, percept) if may_tell else None
        if felt is DialogueAct.GLAD:
            felt = None
        asked = topic_stems(tokens(last_sentence(text)))
        return UnderstoodLine(felt or question.act, question, asked or stems, question.topic(text, topic))
    act = DialogueAct.GREETING if _introduces(text, words) else _said(words, line, percept)
    if act is DialogueAct.STATEMENT and long:
        act = DialogueAct.LONG
    light = percept.affect is None or percept.affect.valence > _UNPLEASANT
    echo = statement(text) if light and act is DialogueAct.STATEMENT and 3 <= len(words) <= ECHO else ""
    return UnderstoodLine(act, stems=stems, topic=topic, echo=echo)


def _introduces(text: str, words: list[str]) -> bool:
    """ "My name is Bob", "I'm Bob"."""
    if re.match(r"(?:my name is|call me|you can call me|they call me) \w+(?: \w+)?$", " ".join(words)):
        return True
    return len(words) == 2 and words[0] == "i'm" and begins_with_name(text.strip().partition(" ")[2])


def _said(words: list[str], line: str, percept: Percept) -> DialogueAct:
    """What a line that asks nothing is."""
    if _KEEP.match(line):
        return DialogueAct.KEEP
    if len(words) <= 5 and _WISHES.search(line):
        return DialogueAct.GREETING
    parts = words_for("farewell").intersection(words[:1] if len(words) > 3 else words)
    if len(words) <= 12 and (parts or _PARTINGS.search(line)):
        return DialogueAct.FAREWELL
    for pattern, act in _PLAINLY:
        if pattern.search(line):
            return act
    if _at_you(words, line, "insult"):
        return DialogueAct.INSULT
    felt = stated_feeling(words, line)
    if felt is not None and felt is not DialogueAct.GLAD:
        return felt
    for name, act in (("thanks", DialogueAct.THANKS), ("apology", DialogueAct.APOLOGY)):
        if words_for(name).intersection(words[:6]) and words[0] != "you":
            return act
    if _at_you(words, line, "praise"):
        return DialogueAct.PRAISE
    if len(words) <= 5 and words[0] in words_for("greeting"):
        return DialogueAct.GREETING
    if len(words) <= 4 and words_for("short").issuperset(set(words) - words_for("padding")):
        return DialogueAct.SHORT
    if felt is not None:
        return felt
    if words[0] in words_for("imperative") | _PROPOSES or (words[0] == "please" and len(words) > 1):
        return DialogueAct.REQUEST
    return by_affect(percept, line) or DialogueAct.STATEMENT


def _at_you(words: list[str], line: str, name: str) -> bool:
    """Whether a word of the list is aimed at the one who hears it."""
    if name == "insult" and any(phrase in f" {line} " for phrase in phrases_for("insult_phrases")):
        return True
    hits = [at for at, word in enumerate(words) if word in words_for(name)]
    hits = [at for at in hits if not words_for("negations").intersection(words[max(at - 3, 0) : at])]
    if not hits:
        return False
    near = {"you", "you're", "your"}
    if any(near.intersection(words[max(at - 4, 0) : at + 3]) for at in hits):
        return True
    # "idiot!", "good robot": nobody else can be meant. A lone "good" or "like" is a word, not a praise.
    alone = len(words) <= 3 and words[0] not in words_for("not_you")
    return alone and (name == "insult" or (len(words) == 2 and words[0] in words_for("praising")))


def _is_foreign(text: str, words: list[str]) -> bool:
    letters = [c for c in text if c.isalpha()]
    if sum("LATIN" not in unicodedata.name(c, "") for c in letters[:200]) > 0.3 * len(letters[:200]):
        return True
    strange = sum(word in words_for("foreign") for word in words)
    lists = ("function", "common", "verbs", "grief")
    known = sum(any(word in words_for(name) for name in lists) for word in words)
    return strange > known


def _wordless(text: str, letters: bool) -> DialogueAct:
    if letters:
        return DialogueAct.FOREIGN
    if any(c.isdigit() for c in text):
        return DialogueAct.NUMBERS
    pictures = any(unicodedata.category(c) in ("So", "Sm") for c in text)
    return DialogueAct.SIGNS if pictures else DialogueAct.SILENCE
