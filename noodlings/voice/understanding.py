"""What kind of line it is (a greeting, a question, grief), by which the offline voice answers.

The rules are in `hearing.yaml`, in order of priority: to a greeting with the news of a death the answer is
about the death. This module decides which of its tables a line goes to.

A feeling of the speaker is taken from the words, or from what was felt on hearing them. What is denied,
laughed off or said of a thing calls for no comfort, and the hearer's feeling counts only where the words are
plain.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass, replace

from noodlings.text import cached_by_text
from noodlings.values.affect import Affect
from noodlings.values.percept import SPOKEN, Kind, Percept, in_confidence, told_name
from noodlings.values.persona import Persona
from noodlings.values.reading import ACTS, FINE_ACTS, LineReading, likeliest
from noodlings.values.wording import DialogueAct, SpokenFeeling
from noodlings.voice.hearing import first_match
from noodlings.voice.phrasebook import feeling
from noodlings.voice.pronouns import turn
from noodlings.voice.question import QuestionKind, last_sentence, read_question
from noodlings.voice.statement import find_topic
from noodlings.voice.words import listed, spoken_words, stem, stems_for, tokens, topic_stems, without_names

STRONG = 0.6
"""Intensity (0…1) from which the hearer's feeling decides the act."""
HARD = -0.5
"""Valence below which a line is sad, whatever else is felt."""
ATTENTION = 800
"""Characters of a line that are read."""
LONG = 400
"""Characters of a long speech."""
ECHOED = 0.6
"""The share of a line's words that is said back at most."""
TELLING_WORDS = 40
"""Words of a line that tells more than it asks."""
HEAVY = frozenset({
    DialogueAct.GRIEF, DialogueAct.DESPAIR, DialogueAct.SAD, DialogueAct.AFRAID, DialogueAct.EMOTE_SAD,
    DialogueAct.COMFORT, DialogueAct.WORRIED, DialogueAct.WRONGED, DialogueAct.UNWELL, DialogueAct.EMERGENCY,
})  # fmt: skip
"""Acts that call for comfort, or at least for nothing light."""
_AsRead = tuple[DialogueAct, float]
"""What a model most likely takes a line for, and the probability of that."""
_UNREAD: _AsRead = (DialogueAct.STATEMENT, 0.0)
LIKELY, SURE, CERTAIN = 0.5, 0.7, 0.9
"""Probability from which a model says what a line is that no rule knows, from which it overrules one, and
from which what reads like a question needs no answer."""
_READ = frozenset(ACTS) - {DialogueAct.STATEMENT}
"""Acts that a model tells better than the rules."""
_OVERSTATED = frozenset({
    DialogueAct.SAD, DialogueAct.AFRAID, DialogueAct.ANGRY, DialogueAct.TIRED, DialogueAct.BORED,
})  # fmt: skip
"""Feelings that a line may name without being about them."""
_ADDRESSES = frozenset({DialogueAct.GREETING, DialogueAct.FAREWELL, DialogueAct.THANKS})
"""Acts of few words and a name: a line in which the character is named looks like one of these to a model."""
_NAME_FEELINGS = frozenset({
    DialogueAct.TEASING, DialogueAct.GRUMBLE, DialogueAct.PRAISE, DialogueAct.APOLOGY, DialogueAct.OFFER,
    DialogueAct.WARNING,
})  # fmt: skip
"""Acts that do: a jest, a grumble, praise of a hand with frightened horses."""
_MAY_BE_ELSE = frozenset({
    QuestionKind.UNKNOWN, QuestionKind.ADVICE, QuestionKind.YES_OR_NO, QuestionKind.PERSONAL,
    QuestionKind.REQUEST, QuestionKind.AVAILABILITY, QuestionKind.PERMISSION,
})  # fmt: skip
"""Questions whose form others have, too."""
_INSTEAD = frozenset({
    DialogueAct.REQUEST, DialogueAct.AVAILABILITY, DialogueAct.PERMISSION, DialogueAct.OFFER,
})  # fmt: skip
_RHETORICAL = frozenset({
    DialogueAct.GREETING, DialogueAct.FAREWELL, DialogueAct.THANKS, DialogueAct.APOLOGY, DialogueAct.PRAISE,
    DialogueAct.INSULT, DialogueAct.TEASING, DialogueAct.GRUMBLE, DialogueAct.WARNING,
})  # fmt: skip
"""Acts in which something may be asked that nobody need answer: "why must they always move the sugar?"."""
_COURTEOUS = _ADDRESSES | {DialogueAct.APOLOGY}
"""Acts with which a line may begin that asks something in earnest."""
_ASKED_IN_EARNEST = frozenset({QuestionKind.UNKNOWN, QuestionKind.ADVICE})
_ANYBODY = re.compile(r"\bany(?:body|one)\b", re.I)
"""Whoever calls "anybody in?" greets."""
FINELY, FAINTLY = 0.4, 0.2
"""Probability from which a line that only tells something is answered by its fine act, and by one that fits
almost anything; what a rule or a strong feeling takes for more, from `SURE`."""
_FITS_ANYTHING = frozenset({DialogueAct.KEEP, DialogueAct.WARNING})
"""Fine acts with an answer, that it is remembered or heeded, that does little harm where it is wrong."""
_TELLS_MORE = frozenset({
    DialogueAct.GREETING, DialogueAct.FAREWELL, DialogueAct.SAD, DialogueAct.AFRAID, DialogueAct.ANGRY,
    DialogueAct.GLAD, DialogueAct.TIRED, DialogueAct.BORED, DialogueAct.OFFER, DialogueAct.WARNING,
    DialogueAct.AVAILABILITY, DialogueAct.PERMISSION, DialogueAct.KEEP, DialogueAct.REQUEST,
})  # fmt: skip
"""Acts of which a model must be sure that they are something else."""
_ONLY_TELLS = frozenset({
    DialogueAct.STATEMENT, DialogueAct.LONG, DialogueAct.REMARK, DialogueAct.GRUMBLE, DialogueAct.TEASING,
    DialogueAct.EMOTE,
})  # fmt: skip
"""Acts with little of their own to answer."""
_TOLD_BETTER = frozenset(FINE_ACTS) - frozenset(ACTS) - {DialogueAct.SECRET} | {
    DialogueAct.GRUMBLE, DialogueAct.REMARK, DialogueAct.OFFER, DialogueAct.WARNING,
}  # fmt: skip
"""Fine acts that the acts do not tell as well. Secrecy is promised only where it is kept."""
_ASKED_RHETORICALLY = frozenset({
    DialogueAct.AMUSING, DialogueAct.GRUMBLE, DialogueAct.REMARK, DialogueAct.WRONGED, DialogueAct.ORDER,
})  # fmt: skip
"""What asks in form alone may be: "is anyone else's bus late every day?", "could I get an ale?"."""
_DONE_FOR_THEM = frozenset({DialogueAct.ORDER, DialogueAct.MESSAGE})
"""Fine acts in answer to which something is promised."""
_NOT_TO_DO = re.compile(
    r"\b(?:not|never|nobody|don['’]?t|do not)\b|\b(?:help|forget|delete|erase|remember|remind)\b"
    r"|\bwr(?:ite|ote)\b.*\bdown\b|\btold\b",
    re.I,
)
"""What makes such a promise wrong: what was forbidden is not promised, nor what only memory could keep."""
_FEELS = {
    DialogueAct.GRIEF: SpokenFeeling.SORROW, DialogueAct.DESPAIR: SpokenFeeling.SORROW,
    DialogueAct.SAD: SpokenFeeling.SORROW, DialogueAct.EMOTE_SAD: SpokenFeeling.SORROW,
    DialogueAct.AFRAID: SpokenFeeling.FEAR, DialogueAct.EMERGENCY: SpokenFeeling.FEAR,
    DialogueAct.GLAD: SpokenFeeling.JOY,
    DialogueAct.PRAISE: SpokenFeeling.JOY, DialogueAct.THANKS: SpokenFeeling.JOY,
    DialogueAct.EMOTE_WARM: SpokenFeeling.JOY, DialogueAct.EMOTE_GIFT: SpokenFeeling.JOY,
    DialogueAct.INSULT: SpokenFeeling.ANGER, DialogueAct.EMOTE_HARSH: SpokenFeeling.ANGER,
}  # fmt: skip
_BY_AFFECT = {
    SpokenFeeling.SORROW: DialogueAct.SAD,
    SpokenFeeling.FEAR: DialogueAct.AFRAID,
    SpokenFeeling.JOY: DialogueAct.GLAD,
    SpokenFeeling.ANGER: DialogueAct.ANGRY,
    SpokenFeeling.BOREDOM: DialogueAct.BORED,
}
_EVENTS = {Kind.ARRIVE: DialogueAct.ARRIVE, Kind.LEAVE: DialogueAct.LEAVE, Kind.THOUGHT: DialogueAct.SILENCE}
_EMOTES = (
    DialogueAct.EMOTE_GIFT,
    DialogueAct.EMOTE_HARSH,
    DialogueAct.EMOTE_SAD,
    DialogueAct.EMOTE_WARM,
)
_SETS_IN = frozenset({"is", "starts", "begins", "keeps", "bursts", "to", "into"})
_MAY_TELL = frozenset({
    QuestionKind.UNKNOWN, QuestionKind.ADVICE, QuestionKind.AVAILABILITY, QuestionKind.PERMISSION,
})  # fmt: skip
"""Questions beside which somebody may say how they feel; that they despair they may say beside any."""
_OWN = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|i'm|i've|i'd|i'll|we're|we've)\b")
_WAS = re.compile(r"\b(?:was|were|used to|had)\b")
_MARKUP = re.compile(r"\[/?[a-z][a-z0-9 _#=.,-]*\]|</?[a-z][^<>]{0,80}>|[*_`~^]{1,3}", re.I)
_QUOTED = re.compile(r'["“]([^"“”]+)["”]')
GREETING_WORDS = 10
"""Words of a line that is only a greeting: "Hello all! What a crowd."."""
_GREETS = re.compile(
    r"(?:hi|hello|hey|hiya|howdy)"
    r"(?: (?:all|every\w+|there|again|both|folks|friends|loves|my \w+|dears?))*\s*[!.]",
    re.I,
)
_CLAUSES = re.compile(r"[.!?;]\s|\b(?:i|i['’]?(?:m|ve|d|ll)|we)\b", re.I)
"""Words that are no phrase: the end of a sentence in them, or who speaks."""
_SMILEY = re.compile(r"[:;=][-']?[()DPp]|<3")


@dataclass(frozen=True, slots=True)
class UnderstoodLine:
    """A line as it was understood.

    Attributes:
        act: what is to be answered.
        question: what was asked, if anything.
        stems: of the words that carry a topic.
        topic: a noun phrase turned to the speaker ("your dog"), or "".
        echo: a few of its words, turned to the speaker ("your lost key"), or "".
        fine_act: what a kind listener hears in it, where a model is sure enough for that act.
    """

    act: DialogueAct
    question: QuestionKind = QuestionKind.NONE
    stems: frozenset[str] = frozenset()
    topic: str = ""
    echo: str = ""
    fine_act: DialogueAct | None = None

    @property
    def answered(self) -> DialogueAct:
        """What is answered where nothing is remembered."""
        return self.fine_act or self.act

    @property
    def feeling(self) -> SpokenFeeling | None:
        """The feeling that the act alone gives."""
        return _FEELS.get(self.answered)

    @property
    def heavy(self) -> bool:
        return self.answered in HEAVY


def understand(
    percept: Percept, persona: Persona, felt: bool = True, reading: LineReading | None = None
) -> UnderstoodLine:
    """Understand a percept by its words, by what a model reads in it and, if `felt`, by the affect that came
    with it."""
    said = percept.text[:ATTENTION]
    spoken = spoken_words(said) if percept.kind in SPOKEN else said
    plain = " ".join(_MARKUP.sub(" ", spoken).split())
    text = without_names(plain, persona)
    done = spoken.startswith("*") and spoken.endswith("*") and spoken.count("*") == 2
    affect = percept.affect if felt else None
    secret = in_confidence(percept.kind, percept.text)  # as it is kept: a promise must hold
    as_read = _UNREAD if reading is None else likeliest(reading.acts)
    if text != plain and as_read[0] in _ADDRESSES:
        as_read = _UNREAD
    found = _understood(text, percept.kind, affect, done, len(percept.text) > LONG, secret, as_read)
    if reading is None:
        return found
    return replace(found, echo=_echo(reading.echo, text), fine_act=_fine_act(found, reading, text))


def _echo(words: str, text: str) -> str:
    """Words of a line turned to the speaker; "" where they are no phrase, or nearly all of it."""
    if words not in text or _CLAUSES.search(words):  # what is not in it any more was the character's name
        return ""
    return turn(words, to_speaker=True) if len(tokens(words)) <= ECHOED * len(tokens(text)) else ""


def _fine_act(understood: UnderstoodLine, reading: LineReading, text: str) -> DialogueAct | None:
    likely, sure = likeliest(reading.fine_acts)
    forbidden = likely in _DONE_FOR_THEM and _NOT_TO_DO.search(text) is not None
    if likely not in _TOLD_BETTER or forbidden or sure < _least_sure(understood, likely):
        return None
    return likely


def _least_sure(understood: UnderstoodLine, likely: DialogueAct) -> float:
    """The probability from which a fine act goes before the act."""
    act, question = understood.act, understood.question
    if act in (DialogueAct.GRIEF, DialogueAct.DESPAIR, DialogueAct.SECRET):
        return math.inf
    if likely is DialogueAct.EMERGENCY:
        return LIKELY
    if question is not QuestionKind.NONE:
        in_form_alone = question in _MAY_BE_ELSE and act not in HEAVY and likely in _ASKED_RHETORICALLY
        return SURE if in_form_alone else math.inf
    if act is DialogueAct.SHORT:
        return LIKELY if likely is DialogueAct.ASIDE else math.inf
    if act is DialogueAct.STATEMENT and likely in _FITS_ANYTHING:
        return FAINTLY
    # Who goes and who goes for a moment may both be told "see you in a bit".
    if act in _ONLY_TELLS or (act is DialogueAct.FAREWELL and likely is DialogueAct.AWAY):
        return FINELY
    return SURE if act in _TELLS_MORE else math.inf


@cached_by_text(maxsize=64)
def _understood(
    text: str,
    kind: Kind,
    affect: Affect | None,
    done: bool,
    long: bool,
    secret: bool,
    as_read: _AsRead,
) -> UnderstoodLine:
    """Cached, as a line is understood again for every lens."""
    if kind in _EVENTS:
        return UnderstoodLine(_EVENTS[kind], stems=topic_stems(tokens(text)))
    if kind is Kind.EVENT:
        return UnderstoodLine(DialogueAct.EVENT, stems=topic_stems(tokens(text)), topic=find_topic(text))
    if kind is Kind.EMOTE or done:
        return _hear_emote(text, affect, long, secret)
    return _hear_words(text, affect, long, secret, as_read)


def _hear_emote(text: str, affect: Affect | None, long: bool, secret: bool) -> UnderstoodLine:
    words = tokens(text)
    doing = _doing(words)
    for act in _EMOTES:
        if not doing.isdisjoint(stems_for(act.value)):
            return UnderstoodLine(act, stems=topic_stems(words))
    spoken = _QUOTED.search(text)
    if spoken:
        return _hear_words(spoken.group(1), affect, long, secret, _UNREAD)
    shown = {DialogueAct.SAD: DialogueAct.EMOTE_SAD, DialogueAct.AFRAID: DialogueAct.AFRAID}
    felt = _by_affect(affect, "") or DialogueAct.EMOTE
    return UnderstoodLine(shown.get(felt, DialogueAct.EMOTE), stems=topic_stems(words))


def _doing(words: list[str]) -> set[str]:
    """The stem of what is done, alone and with the next word, without "starts to" and the like."""
    while len(words) > 1 and words[0] in _SETS_IN:
        words = words[1:]
    first = stem(words[0]) if words else ""
    return {first, " ".join([first, *words[1:2]])}


def _hear_words(
    text: str, affect: Affect | None, long: bool, secret: bool, as_read: _AsRead
) -> UnderstoodLine:
    words = tokens(text)
    if not words or _is_foreign(text, words):
        return UnderstoodLine(_act_without_words(text, bool(words)))
    line, stems, topic = " ".join(words), topic_stems(words), find_topic(text)
    if first_match("puzzled", line):
        return UnderstoodLine(DialogueAct.PUZZLED, stems=stems)
    question = read_question(text, words)
    if question in _MAY_BE_ELSE and "?" not in text and _only_tells(as_read):
        question = QuestionKind.NONE
    if question is QuestionKind.MEMORY or (question is not QuestionKind.NONE and len(words) < TELLING_WORDS):
        asks = as_read[0] is DialogueAct.QUESTION and as_read[1] >= SURE
        felt = _act("feelings", line) or (None if asks else _by_affect(affect, line))
        felt = felt if _OWN.search(line) else None
        if felt is DialogueAct.GLAD or (question not in _MAY_TELL and felt is not DialogueAct.DESPAIR):
            felt = None
        asked = topic_stems(tokens(last_sentence(text))) or stems
        act = felt or _asks_as_read(question, as_read, text)
        return UnderstoodLine(act, question, asked, question.topic(text, topic))
    act = _statement_act(text, line, affect, secret, as_read)
    if act is DialogueAct.QUESTION:
        return UnderstoodLine(act, QuestionKind.UNKNOWN, stems, topic)
    if act is DialogueAct.STATEMENT and long:
        act = DialogueAct.LONG
    return UnderstoodLine(act, stems=stems, topic=topic)


def _only_tells(as_read: _AsRead) -> bool:
    return as_read[0] is DialogueAct.STATEMENT and as_read[1] >= CERTAIN


def _asks_as_read(question: QuestionKind, as_read: _AsRead, text: str) -> DialogueAct:
    """How a question is answered that no memory answers; its form may be that of something else, of which a
    model is sure ("want half of my sandwich?")."""
    likely, sure = as_read
    if likely in _COURTEOUS and question in _ASKED_IN_EARNEST and _asks_besides(text):
        return question.act
    least = SURE if likely in _INSTEAD else CERTAIN if likely in _RHETORICAL else math.inf
    return likely if question in _MAY_BE_ELSE and sure >= least else question.act


def _asks_besides(text: str) -> bool:
    """Whether the last of several sentences asks about something: "Good evening. Is the east road open?"."""
    last = last_sentence(text)
    asks = last != text.strip() and "?" in last and not _ANYBODY.search(last)
    return asks and bool(topic_stems(tokens(last)))


def _statement_act(
    text: str, line: str, affect: Affect | None, secret: bool, as_read: _AsRead
) -> DialogueAct:
    """The act of a line that asks nothing by its words; a model may hear it ask all the same."""
    likely, sure = as_read
    found = _act("told_first", line)
    if found is None and secret:
        return DialogueAct.SECRET
    found = found or _act("told_second", line) or _act("feelings", line)
    if found in _OVERSTATED and likely in _NAME_FEELINGS and sure >= SURE:
        return likely
    if found in (None, DialogueAct.GREETING) and told_name(text):
        return DialogueAct.TOLD_NAME
    if found is None and _GREETS.match(text) and line.count(" ") < GREETING_WORDS:
        return DialogueAct.GREETING
    found = found or _act("told", line)
    if found in _READ and sure >= SURE:
        found = None
    # "I'll do what I can" has the words of a question, and "I don't know that" is a worse answer than a nod.
    least = SURE if likely is DialogueAct.QUESTION and "?" not in text else LIKELY
    if found is None and likely is not DialogueAct.STATEMENT and sure >= least:
        return likely
    return found or _by_affect(affect, line) or DialogueAct.STATEMENT


def _act(table: str, line: str) -> DialogueAct | None:
    found = first_match(table, line)
    return DialogueAct(found) if found else None


def _by_affect(affect: Affect | None, line: str) -> DialogueAct | None:
    """The act for a strong feeling that came with a line, else None.

    Gladness counts as the speaker's only when they speak of themselves and of now.
    """
    if affect is None or affect.intensity < STRONG:
        return None
    found = _BY_AFFECT.get(feeling(affect)) or (DialogueAct.SAD if affect.valence < HARD else None)
    if found is DialogueAct.GLAD and (not _OWN.search(line) or _WAS.search(line)):
        return None
    return found


def _is_foreign(text: str, words: list[str]) -> bool:
    letters = [c for c in text if c.isalpha()][:200]
    if sum("LATIN" not in unicodedata.name(c, "") for c in letters) > 0.3 * len(letters):
        return True
    strange = sum(listed(word, "foreign") for word in words)
    return strange > sum(listed(word, "common", "verbs", "grief") for word in words)


def _act_without_words(text: str, letters: bool) -> DialogueAct:
    if letters:
        return DialogueAct.FOREIGN
    if _SMILEY.search(text):
        return DialogueAct.SIGNS
    if any(c.isdigit() for c in text):
        return DialogueAct.NUMBERS
    pictures = any(unicodedata.category(c) in ("So", "Sm") for c in text)
    return DialogueAct.SIGNS if pictures else DialogueAct.SILENCE
