"""A game's mood colours the offline voice a little: short, loud or dry."""

from dataclasses import replace

import pytest

from noodlings.ports import Allowance
from noodlings.values.percept import Percept
from noodlings.values.persona import Persona
from noodlings.values.wording import DialogueAct
from noodlings.voice.composition import Draft
from noodlings.voice.offline import OfflineVoice, in_manner
from noodlings.voice.understanding import UnderstoodLine, understand
from tests.voice.utterances import PERSONAS, memory, utterance

SMALL_TALK = (
    "hello there",
    "I went to the market today",
    "what do you think about the sea?",
    "the weather is fine",
    "what is your name?",
    "I like your hat",
    "it rained all day",
    "look at that cloud",
)
PLAIN = UnderstoodLine(DialogueAct.STATEMENT)


def said(named_mood):
    """What everybody answers to small talk in a mood."""
    drafts = []
    for who in PERSONAS:
        for turn, text in enumerate(SMALL_TALK):
            asked = replace(utterance(text, who=who, turn=turn), named_mood=named_mood)
            drafts.append(OfflineVoice().draft(asked).text)
    return drafts


def words(lines):
    return sum(len(line.split()) for line in lines) / len(lines)


def loud(lines):
    return sum(line.count("!") for line in lines)


def test_nervous_is_short_hyped_is_loud_frustrated_is_dry():
    chill, nervous, hyped, frustrated = map(said, ("chill", "nervous", "hyped", "frustrated"))
    assert words(nervous) < 0.75 * words(chill)
    assert loud(hyped) > loud(chill) + len(hyped) / 3
    assert loud(frustrated) == 0
    assert words(frustrated) < words(chill)


def test_chill_and_no_game_are_the_character_as_it_is():
    assert said("chill") == said("")


@pytest.mark.parametrize(
    ("mood", "draft", "text"),
    [
        ("nervous", Draft("One. Two three four five six seven eight nine."), "One."),
        ("nervous", Draft("One two. Three four five. Six seven eight nine."), "One two. Three four five."),
        ("nervous", Draft("*waits. looks.* Well. I am here and I shall stay here."), "*waits. looks.* Well."),
        ("nervous", Draft("*Stops. a b c d e f g h.* Go."), "*Stops. a b c d e f g h.*"),
        ("nervous", Draft("No end at all"), "No end at all"),
        ("nervous", Draft("Yes.", opening="Oh!", closing="I like tea.", gesture="nods"), "Oh! Yes. *nods*"),
        ("hyped", Draft("Fine. Come in.", closing="I like tea."), "Fine. Come in! I like tea!"),
        ("hyped", Draft("Who knows?"), "Who knows?"),
        ("hyped", Draft("Well..."), "Well..."),
        ("frustrated", Draft("Halt! What?! No!!", opening="Ha!", gesture="nods"), "Halt. What? No."),
        ("frustrated", Draft("Fine.", closing="I like tea."), "Fine."),
    ],
)  # fmt: skip
def test_what_becomes_of_a_reply(mood, draft, text):
    assert in_manner(draft, mood, PLAIN).text == text


@pytest.mark.parametrize("mood", ["nervous", "hyped", "frustrated"])
def test_comfort_and_memories_keep_their_words(mood):
    grief = utterance("My dog died yesterday", who="maren")
    asked = utterance("do you remember my dog?", memory(1, "My dog died yesterday"), who="maren")
    for plain in (grief, asked):
        assert OfflineVoice().draft(replace(plain, named_mood=mood)) == OfflineVoice().draft(plain)


def test_a_mood_changes_words_and_never_what_was_understood():
    persona: Persona = PERSONAS["plain"]
    heard = understand(Percept("user_caity", "My dog died", 0.0), persona)
    draft = Draft("I am so sorry. Sit with me for a while, as long as you like.")
    assert in_manner(draft, "nervous", heard) is draft


async def test_nothing_is_said_twice_in_any_mood():
    for mood in ("nervous", "hyped", "frustrated"):
        lines: list[str] = []
        for turn in range(30):
            asked = utterance("hello there", who="servnak", turn=turn, said=tuple(lines))
            lines.append((await OfflineVoice().speak(replace(asked, named_mood=mood), Allowance())).text)
        assert len({line.casefold() for line in lines}) == len(lines)
