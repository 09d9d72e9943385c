"""How a reply is put together: an outburst, a body, an addition, a gesture.

The parts depend on the dialogue act, the mood and the character: outgoing characters say more, the others
show more. Nothing light is added to something heavy, and nothing to a question, because it waits for its
answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from noodlings.ports import Utterance
from noodlings.text import clean
from noodlings.values.acting import cased
from noodlings.values.percept import SPOKEN, Kind
from noodlings.values.tone import ToneName, ToneSource
from noodlings.values.topic import SelfTopic, ToldTopic
from noodlings.values.wording import DialogueAct, SpokenFeeling
from noodlings.voice.phrasebook import MOOD_LINES, Phrasebook, feeling, strengths
from noodlings.voice.reply_content import (
    DONE_AT_ONCE,
    FEW_WORDS,
    IN_MANNER,
    OF_THE_WORLD,
    ReplyContent,
    asks_about_itself,
    decide,
    slots,
)
from noodlings.voice.reported_speech import ReportedSpeech
from noodlings.voice.response_selection import ASKED, ITSELF, TOPIC, is_learnt
from noodlings.voice.understanding import UnderstoodLine
from noodlings.voice.words import name_of, tokens

ENOUGH_WORDS = 18
"""Words of a body to which nothing is added."""

_ABOUT_ITSELF = frozenset({
    DialogueAct.GREETING, DialogueAct.GREETING_WARM, DialogueAct.ARRIVE, DialogueAct.SILENCE,
    DialogueAct.EMOTE_WARM,
    DialogueAct.PRAISE, DialogueAct.THANKS, DialogueAct.BORED, DialogueAct.LIKES, DialogueAct.DISLIKES,
})  # fmt: skip
"""Acts after which a character may speak of itself."""
_SMALL_TALK = _ABOUT_ITSELF | {
    DialogueAct.STATEMENT, DialogueAct.SHORT, DialogueAct.REMARK, DialogueAct.TEASING, DialogueAct.GRUMBLE,
    DialogueAct.EVENT, DialogueAct.EMOTE, DialogueAct.SIGNS, DialogueAct.NUMBERS, DialogueAct.LONG,
}  # fmt: skip
"""Acts that deserve more than a few words; outside `_ABOUT_ITSELF` only own mannerisms are added."""
_TOLD = frozenset({DialogueAct.STATEMENT, DialogueAct.EVENT, DialogueAct.EMOTE})
"""Acts of telling, after which a mannerism is out of place."""
_RESERVED = frozenset({DialogueAct.GREETING_RESERVED, DialogueAct.FAREWELL_RESERVED})
_SERIOUS = frozenset({
    DialogueAct.INSULT, DialogueAct.EMOTE_HARSH, DialogueAct.REMEMBER, DialogueAct.UNSURE,
    DialogueAct.LEARNED,
    DialogueAct.REMINDED, DialogueAct.REUNION, DialogueAct.DUE, DialogueAct.ANGRY, DialogueAct.WARNING,
    DialogueAct.ORDER, DialogueAct.MESSAGE, DialogueAct.EMERGENCY,
}) | _RESERVED  # fmt: skip
"""Acts, besides the heavy ones, after which a playful gesture is out of place."""
_PLAINLY = _RESERVED | DONE_AT_ONCE | {
    DialogueAct.ASIDE, DialogueAct.WORRIED, DialogueAct.WRONGED, DialogueAct.UNWELL,
}  # fmt: skip
"""Acts before whose answer no outburst fits."""
_COMPLETE = frozenset({
    DialogueAct.SECRET, DialogueAct.COMFORT, DialogueAct.KEEP, DialogueAct.EMERGENCY, DialogueAct.MESSAGE,
    DialogueAct.ORDER,
})  # fmt: skip
"""Acts to whose answer nothing is added."""
_SAID_BACK = {
    DialogueAct.STATEMENT: ".?", DialogueAct.LONG: ".", DialogueAct.KEEP: ".", DialogueAct.PLAN: ".?",
    DialogueAct.WORRIED: ".", DialogueAct.WRONGED: "?", DialogueAct.GRUMBLE: ".?", DialogueAct.AMUSING: "?!",
    DialogueAct.PLEASURE: "!.", DialogueAct.GLAD: "!", DialogueAct.SURPRISE: "?", DialogueAct.WARNING: ".",
    DialogueAct.MESSAGE: ".",
}  # fmt: skip
"""Acts after which a few words of the line are said back, and how they may end."""
_ANSWERED_BY_THEIR_OWN = frozenset({DialogueAct.GRIEF, DialogueAct.TOLD_NAME}) | DONE_AT_ONCE
"""Acts that only their own phrases answer."""
_NEVER_INSTEAD = frozenset({
    DialogueAct.TOLD_NAME, DialogueAct.OFFER, DialogueAct.APOLOGY, DialogueAct.THANKS, DialogueAct.INSULT,
    DialogueAct.MESSAGE,
})  # fmt: skip
"""Acts whose phrases answer nothing else, or a gift would be accepted that nobody gave."""
_ONLY_TO_GRIEF = frozenset({DialogueAct.GRIEF, DialogueAct.COMFORT})
"""Acts whose phrases answer nothing that is not grave."""
_TO_THE_GRAVE = frozenset({
    DialogueAct.GRIEF, DialogueAct.SAD, DialogueAct.AFRAID, DialogueAct.ANGRY, DialogueAct.WORRIED,
    DialogueAct.WRONGED, DialogueAct.UNWELL, DialogueAct.COMFORT, DialogueAct.KEEP, DialogueAct.WARNING,
    *(f"{TOPIC}{topic}" for topic in (
        ToldTopic.SECRET, ToldTopic.FAILURE, ToldTopic.WORK_TROUBLE, ToldTopic.NERVOUS, ToldTopic.QUARREL,
        ToldTopic.DOCTOR, ToldTopic.LONELY, ToldTopic.ACHE,
    )),
})  # fmt: skip
"""Kinds of phrases that may answer what is grave."""
_NOT_GRAVE = frozenset({*DialogueAct, *(f"{TOPIC}{topic}" for topic in ToldTopic)}) - _TO_THE_GRAVE
_ASKS_ANYTHING = frozenset({DialogueAct.QUESTION, DialogueAct.PERSONAL})
"""Acts of questions that phrases of other kinds answer as well, and not only those for the act."""
_ABOUT_ITSELF_ALONE = frozenset(f"{ITSELF}{topic}" for topic in SelfTopic if topic not in OF_THE_WORLD)
"""Kinds of phrases that answer only what is asked about the character itself."""
_NOT_AFTER_GRIEF = frozenset({
    DialogueAct.AMUSING, DialogueAct.TEASING, DialogueAct.BORED, DialogueAct.GLAD, DialogueAct.PLEASURE,
    DialogueAct.GRIEF, *(f"{TOPIC}{topic}" for topic in (ToldTopic.BOAST, ToldTopic.CELEBRATION)),
})  # fmt: skip
"""Kinds of phrases out of place for what is told soon after something grave."""
SAYS_BACK = 0.8
"""How often."""
_OUTBURST_ENOUGH = frozenset({"oh", "ah", "well", "hm", "hmm", "no", "yes", "aye"})


@dataclass(frozen=True, slots=True)
class Draft:
    """A reply in its parts, each "" where there is none.

    Attributes:
        body: what is said; always there.
        opening: an outburst of feeling.
        closing: what is added.
        gesture: what is done, without asterisks.
        gesture_first: whether it comes before the words.
        told: the memories in the body.
        in_manner: whether a relationship chose the words.
        case: letter case of the character, as in its recipe.
    """

    body: str
    opening: str = ""
    closing: str = ""
    gesture: str = ""
    gesture_first: bool = False
    told: tuple[ReportedSpeech, ...] = ()
    in_manner: bool = False
    case: str = "plain"

    @property
    def text(self) -> str:
        """The whole reply, one printable line."""
        gesture = f"*{self.gesture}*" if self.gesture else ""
        words = [self.opening, self.body, self.closing]
        line = " ".join(filter(None, [gesture, *words] if self.gesture_first else [*words, gesture]))
        return cased(clean(line.replace("?”.", "?”").replace("!”.", "!”").replace("…”.", "…”")), self.case)

    @property
    def bare(self) -> bool:
        return not (self.opening or self.closing or self.gesture)


def reply(understood: UnderstoodLine, utterance: Utterance, seed: int) -> Draft:
    """A draft of the reply; another seed gives other words for the same content."""
    book = Phrasebook(utterance.persona, utterance.said, seed)
    content = decide(understood, utterance, book)
    book.fill(slots(understood, content, utterance, book))
    content, body = _best_response(understood, content, utterance, book)
    if not body and content.about_itself is not None:
        body = book.about_itself(content.about_itself)
    body = body or book.line(_asked_how_it_is(content, utterance)) or book.line(DialogueAct.STATEMENT)
    in_manner, case = content.act in IN_MANNER, utterance.persona.voice.case
    draft = Draft(body, told=content.told, in_manner=in_manner, case=case)
    opening = _said_back(draft, understood, content, book) or _opening(draft, content, utterance, book)
    draft = replace(draft, opening=opening)
    on_topic = "" if content.on_topic is None else book.on_topic(content.on_topic)
    closing = (not body.endswith("?") and on_topic) or _closing(draft, content, utterance, book)
    if closing.rstrip(".!?").casefold() not in body.casefold() and not _twice(closing, draft, utterance):
        draft = replace(draft, closing=closing)
    draft = replace(draft, gesture=_gesture(draft, content, utterance, book), gesture_first=book.chance(0.4))
    # The same few words to the same small talk would soon be heard again.
    idle = draft.bare and content.light and content.act in _SMALL_TALK
    return _with_something(draft, book) if idle else draft


def _best_response(
    understood: UnderstoodLine, content: ReplyContent, utterance: Utterance, book: Phrasebook
) -> tuple[ReplyContent, str]:
    """What the character says to what it is told or asked, and the content with the act for which it says
    that.

    "" where a memory is told, where something is asked in a grave moment, or that only the phrases for its
    act answer, and where no answers to such lines were learnt.
    """
    reading, tone, act = utterance.reading, utterance.tone, content.act
    by_itself = understood.heavy or tone.why is ToneSource.SAID
    if act is DialogueAct.LONG or (act is DialogueAct.COMFORT and not by_itself):
        act = DialogueAct.STATEMENT
    asked, topic = act in ASKED, content.about_itself
    if content.told or utterance.percept.kind not in SPOKEN or (not asked and content.answers):
        return content, ""
    if (
        reading is None
        or not reading.response_embedding
        or act in _ANSWERED_BY_THEIR_OWN
        or (asked and (content.heavy or not (topic or act in _ASKS_ANYTHING)))
        or not is_learnt(act)
    ):
        return content, ""
    but = _ONLY_TO_GRIEF if not content.heavy else _NOT_GRAVE if by_itself else _NOT_AFTER_GRIEF
    felt = tone.name if by_itself else ToneName.PLAIN
    if asked and not asks_about_itself(understood, utterance):
        but |= _ABOUT_ITSELF_ALONE
    found = book.best_response(reading.response_embedding, act, felt, _NEVER_INSTEAD | but, topic)
    if found is None:
        return content, ""
    kind, body = found
    if kind.startswith(ITSELF):
        topic = SelfTopic(kind.removeprefix(ITSELF))
        return replace(content, act=DialogueAct.PERSONAL, about_itself=topic), body
    return (content if kind.startswith(TOPIC) else replace(content, act=DialogueAct(kind))), body


def longer(draft: Draft, utterance: Utterance, seed: int) -> Draft:
    """The draft with one more sentence, for when everything was said before."""
    book = Phrasebook(utterance.persona, utterance.said, seed)
    return replace(draft, closing=f"{draft.closing} {book.one_of(book.mannerisms, rest=0)}".strip())


def _with_something(draft: Draft, book: Phrasebook) -> Draft:
    if "*" not in draft.body:
        return replace(draft, gesture=book.one_of(book.gestures))
    if draft.body.endswith("?") or not book.own_mannerisms:
        return replace(draft, opening=book.one_of(book.interjections(SpokenFeeling.CALM), rest=3))
    return replace(draft, closing=book.one_of(book.mannerisms))


def _asked_how_it_is(content: ReplyContent, utterance: Utterance) -> DialogueAct:
    """The act of the reply; "how are you?" is answered by the mood."""
    if content.act is DialogueAct.HOW_ARE_YOU:
        return MOOD_LINES.get(feeling(utterance.mood), content.act)
    return content.act


def _said_back(draft: Draft, understood: UnderstoodLine, content: ReplyContent, book: Phrasebook) -> str:
    """A few words of the line with their end, which show what was heard; "" where they are out of place."""
    said, ends = understood.echo, _SAID_BACK.get(content.act, "")
    if not said or content.told or not ends or not book.chance(SAYS_BACK):
        return ""
    if _long_words(said) & _long_words(draft.body):
        return ""
    end = ends[-1] if len(ends) > 1 and book.chance(0.5) else ends[0]
    return f"{said[:1].upper()}{said[1:]}{end}"


def _opening(draft: Draft, content: ReplyContent, utterance: Utterance, book: Phrasebook) -> str:
    if content.heavy and content.act is DialogueAct.REMINDED:
        return book.one_of(book.interjections(SpokenFeeling.SORROW), rest=3)
    first = draft.body.split(maxsplit=1)[0].strip(",.!?…*").lower()
    often = 0.3 if content.felt is SpokenFeeling.CALM else 0.5
    if content.told or content.act in _PLAINLY or first in _OUTBURST_ENOUGH or not book.chance(often):
        return ""
    opening = book.one_of(book.interjections(content.felt), rest=3)
    # "Sister! Sister, …" is one too many.
    if _long_words(opening) & _long_words(draft.body) or _twice(opening, draft, utterance):
        return ""
    return opening


def _twice(part: str, draft: Draft, utterance: Utterance) -> bool:
    """Whether the speaker would be called by name once more."""
    name = re.compile(rf"\b{re.escape(name_of(utterance))}\b", re.I)
    return bool(name.search(part)) and bool(name.search(f"{draft.opening} {draft.body}"))


def _long_words(text: str) -> set[str]:
    return {word for word in tokens(text) if len(word) > 3}


def _closing(draft: Draft, content: ReplyContent, utterance: Utterance, book: Phrasebook) -> str:
    if draft.body.endswith("?") or len(draft.body.split()) > ENOUGH_WORDS:
        return ""
    often = 0.25 + 0.45 * _outgoing(utterance)
    if content.act in _COMPLETE:
        return ""
    if utterance.percept.kind is Kind.WHISPER and not content.answers and book.chance(0.5):
        return book.line(DialogueAct.SECRET)
    if content.heavy:
        comforts = content.comforts and not content.answers and book.chance(often)
        return book.line(DialogueAct.COMFORT) if comforts else ""
    if content.act not in _SMALL_TALK or not book.chance(often):
        return ""
    mood, of_itself = feeling(utterance.mood), content.act in _ABOUT_ITSELF
    if of_itself and mood in MOOD_LINES and book.chance(0.6 * strengths(utterance.mood)[mood]):
        return book.line(MOOD_LINES[mood])
    told = content.act in _TOLD and len(utterance.percept.text.split()) > FEW_WORDS
    fits = of_itself or (book.own_mannerisms and not told)
    return book.one_of(book.mannerisms) if content.light and fits else ""


def _gesture(draft: Draft, content: ReplyContent, utterance: Utterance, book: Phrasebook) -> str:
    if "*" in draft.body or content.act in _SERIOUS or not content.light:
        return ""
    often = 0.8 * (1.0 - _outgoing(utterance))
    if draft.opening and draft.closing:
        often /= 2
    return book.one_of(book.gestures) if book.chance(often) else ""


def _outgoing(utterance: Utterance) -> float:
    return utterance.persona.personality.get("extraversion", 0.5)
