"""How a reply is put together: an outburst, what is said, something added, a gesture.

Which of the four there are depends on the occasion, the mood and the character: who is outgoing says more,
who is not does more. Nothing light is added to something heavy.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace

from noodlings.llm.feelings import MOOD_LINES, feeling, strengths
from noodlings.llm.hear import Heard, hear
from noodlings.llm.names import proper
from noodlings.llm.phrasebook import Phrasebook
from noodlings.llm.questions import Question
from noodlings.llm.remind import answers, greeting_memory, reminders
from noodlings.llm.reported import Told
from noodlings.ports import Utterance
from noodlings.text import clean, shorten
from noodlings.values.occasions import Feeling, Occasion
from noodlings.values.percept import Kind, Percept

LONGEST_NAME = 40
"""Characters of a name, topic or statement that are said back."""
ENOUGH = 16
"""Words of what is said from which on nothing is added."""

_SMALL_TALK = frozenset(
    {
        Occasion.STATEMENT, Occasion.SHORT, Occasion.GREETING, Occasion.ARRIVE, Occasion.EVENT,
        Occasion.SILENCE, Occasion.EMOTE, Occasion.EMOTE_WARM, Occasion.SIGNS, Occasion.NUMBERS,
        Occasion.PRAISE, Occasion.THANKS, Occasion.LONG, Occasion.BORED, Occasion.LIKES, Occasion.DISLIKES,
    }
)  # fmt: skip
_MAY_REMIND = frozenset(
    {
        Occasion.STATEMENT, Occasion.LONG, Occasion.GRIEF, Occasion.SAD, Occasion.AFRAID, Occasion.ANGRY,
        Occasion.GLAD, Occasion.TIRED, Occasion.BORED, Occasion.EVENT, Occasion.EMOTE, Occasion.EMOTE_SAD,
    }
)  # fmt: skip
_OUTBURST_ENOUGH = frozenset({"oh", "ah", "well", "hm", "hmm", "no", "yes", "aye"})
_WANTS = {
    "curiosity": "to find out how things work",
    "status": "to be thought well of",
    "mastery": "to do one thing really well",
    "novelty": "to see something I have never seen",
    "safety": "to know that everybody got home",
    "social_bond": "good company",
    "comfort": "a warm corner and no hurry",
    "autonomy": "to go my own way",
}


@dataclass(frozen=True, slots=True)
class Draft:
    """A reply in its parts, each "" where there is none.

    Attributes:
        opening: an outburst of feeling.
        body: what is said; the only part that is always there.
        closing: what is added.
        gesture: what is done, without its asterisks.
        gesture_first: whether that comes before the words.
        told: the memories that are in the body.
        case: letter case of the character, as in its recipe.
    """

    body: str
    opening: str = ""
    closing: str = ""
    gesture: str = ""
    gesture_first: bool = False
    told: tuple[Told, ...] = ()
    case: str = "plain"

    @property
    def text(self) -> str:
        """The whole reply, one printable line."""
        gesture = f"*{self.gesture}*" if self.gesture else ""
        words = [self.opening, self.body, self.closing]
        line = " ".join(filter(None, [gesture, *words] if self.gesture_first else [*words, gesture]))
        line = clean(line.replace("?”.", "?”").replace("!”.", "!”").replace("…”.", "…”"))
        return {"upper": line.upper(), "lower": line.lower()}.get(self.case, line)


def reply(heard: Heard, utterance: Utterance, seed: int) -> Draft:
    """A draft of the reply; another seed gives other words for the same content."""
    bare = Phrasebook(utterance.persona, utterance.said, {}, seed)
    occasion, told = _occasion(heard, utterance, bare)
    book = bare.with_slots(_slots(heard, utterance, told, bare))
    body = book.line(_worded(occasion, utterance)) or book.line(Occasion.STATEMENT)
    felt = _feeling(heard, utterance, told)
    draft = Draft(body, told=told, case=utterance.persona.voice.case)
    draft = replace(draft, opening=_opening(body, felt, book))
    if closing := _closing(occasion, heard, felt, body, utterance, book):
        draft = replace(draft, closing=closing)
    return _with_gesture(draft, occasion, felt, utterance, book)


def longer(draft: Draft, utterance: Utterance, seed: int) -> Draft:
    """The draft with one more thing said, for when it was all said before."""
    book = Phrasebook(
        utterance.persona, utterance.said, _slots(Heard(Occasion.SHORT), utterance, (), None), seed
    )
    more = book.one_of(book.mannerisms, rest=0)
    return replace(draft, closing=f"{draft.closing} {more}".strip())


def _occasion(heard: Heard, utterance: Utterance, book: Phrasebook) -> tuple[Occasion, tuple[Told, ...]]:
    """What the reply is, and the memories it tells."""
    if heard.question.may_be_known and (known := answers(heard, utterance)):
        return Occasion.REMEMBER, tuple(known)
    if heard.question is Question.LIKING:
        return _opinion(heard, utterance), ()
    if heard.occasion in _MAY_REMIND and (reminded := reminders(heard, utterance)):
        return Occasion.REMINDED, tuple(reminded)
    returns = heard.occasion in (Occasion.GREETING, Occasion.ARRIVE)
    if returns and (missed := greeting_memory(utterance)) and book.chance(0.6):
        return Occasion.REUNION, tuple(missed)
    return heard.occasion, ()


def _opinion(heard: Heard, utterance: Utterance) -> Occasion:
    """Whether it likes something: always the same answer from the same character, whoever asks."""
    if not heard.topic:
        return Occasion.YES_OR_NO
    if heard.topic == "you":
        return Occasion.LIKES_YOU
    return (Occasion.LIKES, Occasion.DISLIKES)[stable(utterance.persona.id, heard.topic.casefold()) % 2]


def _worded(occasion: Occasion, utterance: Utterance) -> Occasion:
    """The lines to answer from; asked how it is, it answers from its mood."""
    if occasion is Occasion.HOW_ARE_YOU:
        return MOOD_LINES.get(feeling(utterance.mood), occasion)
    return occasion


def _slots(
    heard: Heard, utterance: Utterance, told: tuple[Told, ...], book: Phrasebook | None
) -> dict[str, str]:
    persona, percept = utterance.persona, utterance.percept
    name = shorten(clean(proper(utterance.speaker)), LONGEST_NAME) or "friend"
    strongest = max(persona.appetites, key=lambda a: persona.appetites[a], default="")
    slots = {
        "name": name,
        "me": persona.name,
        "species": persona.species,
        "topic": heard.topic if len(heard.topic) <= LONGEST_NAME else "",
        "echo": heard.echo if len(heard.echo) <= 2 * LONGEST_NAME else "",
        "place": f"the {percept.place.replace('_', ' ')}" if 0 < len(percept.place) <= LONGEST_NAME else "",
        "want": _WANTS.get(strongest, ""),
    }
    if told and book:
        slots["memory"] = _memory(told, utterance, book)
    return {slot: value for slot, value in slots.items() if value}


def _memory(told: tuple[Told, ...], utterance: Utterance, book: Phrasebook) -> str:
    """One or two memories as a clause without its full stop."""
    first = told[0]
    asked_when = "when" in utterance.percept.text.lower().split()
    text = first.dated if asked_when or book.chance(0.5) else first.clause
    for other in told[1:]:
        teller, verb, rest = other.clause.partition(" told me ")
        same = verb and first.clause.startswith(f"{teller} told me ")
        text += f", and that {rest}" if same else f", and {other.clause}"
    return text


def _feeling(heard: Heard, utterance: Utterance, told: tuple[Told, ...]) -> Feeling:
    """What colours the reply: the memory it tells, else what was heard, else the mood."""
    if told:
        entry = told[0].entry
        of_entry = feeling(entry.affect) if entry.affect else Feeling.CALM
        if of_entry is not Feeling.CALM:
            return of_entry
        said_then = Percept(entry.user_id, entry.user_text, entry.timestamp)
        return hear(said_then, utterance.persona).feeling or Feeling.CALM
    affect = utterance.percept.affect
    felt = feeling(affect) if affect else Feeling.CALM
    return heard.feeling or (felt if felt is not Feeling.CALM else feeling(utterance.mood))


def _opening(body: str, felt: Feeling, book: Phrasebook) -> str:
    first = body.split(maxsplit=1)[0].strip(",.!?…*").lower()
    if (
        body.startswith("*")
        or first in _OUTBURST_ENOUGH
        or not book.chance(0.2 if felt is Feeling.CALM else 0.5)
    ):
        return ""
    opening = book.one_of(book.interjections(felt), rest=3)
    return "" if opening.lower().startswith(first) else opening


def _closing(
    occasion: Occasion, heard: Heard, felt: Feeling, body: str, utterance: Utterance, book: Phrasebook
) -> str:
    """Something added to what was said; nothing after a question, for that waits for its answer."""
    if body.endswith("?") or len(body.split()) > ENOUGH:
        return ""
    talkative = utterance.persona.personality.get("extraversion", 0.5)
    if utterance.percept.kind is Kind.WHISPER and book.chance(0.5):
        return book.line(Occasion.SECRET)
    if heard.heavy or (occasion in (Occasion.REMINDED, Occasion.REUNION) and felt is Feeling.SORROW):
        return book.line(Occasion.COMFORT) if book.chance(0.25 + 0.5 * talkative) else ""
    if occasion not in _SMALL_TALK or not book.chance(0.15 + 0.5 * talkative):
        return ""
    mood = feeling(utterance.mood)
    if mood in MOOD_LINES and book.chance(0.6 * strengths(utterance.mood)[mood]):
        return book.line(MOOD_LINES[mood])
    return book.one_of(book.mannerisms)


def _with_gesture(
    draft: Draft, occasion: Occasion, felt: Feeling, utterance: Utterance, book: Phrasebook
) -> Draft:
    """Quiet characters show more than they say; gestures are light, so not at a heavy moment."""
    quiet = 1.0 - utterance.persona.personality.get("extraversion", 0.5)
    light = occasion in _SMALL_TALK and felt in (Feeling.CALM, Feeling.JOY, Feeling.BOREDOM)
    if "*" in draft.body or not light or not book.chance(0.05 + 0.8 * quiet):
        return draft
    return replace(draft, gesture=book.one_of(book.gestures), gesture_first=book.chance(0.4))


def stable(*parts: object) -> int:
    """A number that is the same in every process, unlike `hash`."""
    return zlib.crc32("\n".join(map(str, parts)).encode("utf-8", "replace"))
