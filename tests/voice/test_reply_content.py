"""How sure a voice must be of a feeling before a reply shows it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from noodlings.ports import Allowance, Utterance
from noodlings.values.affect import Affect
from noodlings.values.percept import Kind
from noodlings.values.relationship import Relationship
from noodlings.values.tone import Tone, ToneName, ToneSource
from noodlings.values.wording import DialogueAct, SpokenFeeling
from noodlings.voice.offline import OfflineVoice
from noodlings.voice.phrasebook import Phrasebook
from noodlings.voice.reply_content import ReplyContent, decide, understood_line
from tests.fakes import make_persona
from tests.voice.utterances import BOB, CAITY, PERSONAS, memory, utterance

GRAVE = Tone(ToneName.GRAVE, ToneSource.SAID)
FRIGHT = Affect(-0.6, 0.8, 0.7, 0.0, 0.0)
NO_FEELING_NAMED = "they are taking the lump out on the 14th, first on the list"


def content(said: Utterance) -> ReplyContent:
    return decide(understood_line(said), said, Phrasebook(said.persona, (), 1))


def told(text: str, importance: float, affect: Affect = FRIGHT, tone: Tone = GRAVE) -> Utterance:
    return replace(utterance(text, tone=tone, affect=affect), importance=importance)


@pytest.mark.parametrize(
    ("importance", "act", "felt"),
    [(0.9, DialogueAct.AFRAID, SpokenFeeling.FEAR), (0.5, DialogueAct.KEEP, SpokenFeeling.CALM)],
)
def test_comfort_answers_only_a_feeling_that_is_clear(
    importance: float, act: DialogueAct, felt: SpokenFeeling
) -> None:
    found = content(told(NO_FEELING_NAMED, importance))
    assert (found.act, found.felt) == (act, felt)


def test_what_is_named_needs_no_other_evidence() -> None:
    assert content(told("I am so afraid of the lump", 0.1)).act is DialogueAct.AFRAID


def test_a_grief_of_before_is_met_with_comfort() -> None:
    before = Tone(ToneName.GRAVE, ToneSource.BEFORE, 1)
    assert content(told("the bus was late", 0.1, tone=before)).act is DialogueAct.COMFORT


@pytest.mark.parametrize(("valence", "act"), [(-0.3, DialogueAct.COMFORT), (0.2, DialogueAct.KEEP)])
def test_a_grief_that_is_only_touched_on_calls_for_comfort_where_the_line_is_sad(
    valence: float, act: DialogueAct
) -> None:
    again = Tone(ToneName.GRAVE, ToneSource.RECALLED, 1)
    neighbour = told("a neighbour brings me a new queen for the hive", 0.3, Affect(valence), again)
    assert content(neighbour).act is act


def test_good_news_is_answered_gladly_after_bad_ones() -> None:
    low = Affect(-0.5, 0.5, 0.0, 0.6, 0.0)
    glad = replace(
        told("it was a tissue with ducks", 0.5, low, Tone(ToneName.GLAD, ToneSource.RECALLED, 1)), mood=low
    )
    assert (content(glad).act, content(glad).felt) == (DialogueAct.GLAD, SpokenFeeling.JOY)


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("my name is dave", "Dave"),
        ("I am called Dave", "Dave"),
        ("Servnak, call me Ishmael, please", "Ishmael"),
        ("my name's not Bob but Ada Lovelace and I count", "Ada Lovelace"),
        ("call me when you are back", "Caity"),
        ("I am called to the bar on Friday", "Caity"),
    ],
)
def test_asked_for_their_name_people_hear_the_one_they_told(told: str, name: str) -> None:
    asked = utterance(
        "what is my name?", memory(1, told), memory(2, "my name is Otto", user=BOB), who="servnak"
    )
    said = OfflineVoice().draft(asked).text.casefold()
    assert name.casefold() in said
    assert "otto" not in said


def test_the_name_that_was_told_last_counts() -> None:
    told = memory(1, "my name is Dave"), memory(2, "no, call me David")
    assert "DAVID" in OfflineVoice().draft(utterance("what is my name?", *told, who="servnak")).text


@pytest.mark.parametrize(
    ("story", "said"),
    [
        (
            "You are Gus. You have kept the lighthouse for years. You nod.",
            "I have kept the lighthouse for years.",
        ),
        ("You are Gus, innkeeper of the Anchor. You gossip.", "Innkeeper of the Anchor."),
        ("You are somebody else, a king.", ""),
        ("A broad old man.", ""),
    ],
)
def test_asked_who_it_is_it_tells_how_its_story_begins(story: str, said: str) -> None:
    gus = make_persona("Gus", story=story)
    for line in ("who are you?", "what do you do here?", "what's your job?"):
        answer = OfflineVoice().draft(replace(utterance(line), persona=gus)).body
        assert said in answer
        assert "Gus" in answer
        assert "king" not in answer


def test_a_species_has_its_article() -> None:
    keeper = make_persona("Gus", species="innkeeper", identity="")
    answers = [
        OfflineVoice().draft(replace(utterance("who are you?", turn=n), persona=keeper)).body
        for n in range(40)
    ]
    told = [answer for answer in answers if "nnkeeper" in answer]
    assert told
    assert all("n innkeeper" in answer for answer in told)


@pytest.mark.parametrize(
    ("text", "kind", "warmth", "act"),
    [
        ("hello", Kind.SAY, -0.7, DialogueAct.GREETING_RESERVED),
        ("hello", Kind.SAY, 0.7, DialogueAct.GREETING_WARM),
        ("hello", Kind.SAY, 0.1, DialogueAct.GREETING),
        ("arrives from the garden", Kind.ARRIVE, -0.7, DialogueAct.GREETING_RESERVED),
        ("goodbye", Kind.SAY, -0.7, DialogueAct.FAREWELL_RESERVED),
        ("goodbye", Kind.SAY, 0.7, DialogueAct.FAREWELL_WARM),
        ("leaves to the garden", Kind.LEAVE, 0.7, DialogueAct.FAREWELL_WARM),
        ("my dog died yesterday", Kind.SAY, -0.7, DialogueAct.GRIEF),
        ("what do you want?", Kind.SAY, -0.7, DialogueAct.WHAT_DO_YOU_WANT),
    ],
)
def test_a_relationship_chooses_how_somebody_is_greeted_and_nothing_else(
    text: str, kind: Kind, warmth: float, act: DialogueAct
) -> None:
    made = Relationship(CAITY, 40, 0.8, warmth)
    said = replace(utterance(text, kind=kind), relationships=(made,))
    assert content(said).act is act
    other = replace(said, relationships=(replace(made, of="user_bob"),))
    assert content(other).act is content(replace(said, relationships=())).act


def test_who_was_unkind_is_not_asked_about_what_they_told() -> None:
    kept = memory(3, "my dog died and I cried all night", importance=0.9)
    said = replace(utterance("hello", kept), relationships=(Relationship(CAITY, 9, 0.5, -0.6),))
    assert content(said).told == ()


@pytest.mark.parametrize("who", PERSONAS)
async def test_every_character_has_words_for_a_friend_and_for_one_who_was_unkind(who: str) -> None:
    for warmth in (0.7, -0.7):
        said = set()
        for turn in range(12):
            heard_now = utterance("hello", who=who, turn=turn)
            made = (Relationship(CAITY, 40, 0.8, warmth),)
            spoken = await OfflineVoice().speak(replace(heard_now, relationships=made), Allowance())
            assert spoken.in_manner
            said.add(spoken.text)
            plain = await OfflineVoice().speak(heard_now, Allowance())
            assert not plain.in_manner
        assert len(said) > 2


@pytest.mark.parametrize(
    "line",
    ["hey Bob", "Thank you, Bob!", "You daft old fool, Bob.", "hi bob, good to see you", "sorry, Bob"],
)
def test_what_is_said_to_somebody_else_is_none_of_its_business(line: str) -> None:
    assert content(utterance(line)).act is DialogueAct.OVERHEARD


def test_a_name_inside_its_own_is_another() -> None:
    greeted = utterance("hey Red")
    greeted = replace(greeted, names={**greeted.names, "@red": "Red"})
    assert content(greeted).act is DialogueAct.OVERHEARD


@pytest.mark.parametrize(
    "line",
    [
        "hello Fred",
        "thanks, Fred Rogers",
        "thank you for the lamp",
        "hello, what a crowd",
        "thanks for helping Bob with the boat",
        "Caity here, hello",
    ],
)
def test_what_is_said_to_it_is(line: str) -> None:
    assert content(utterance(line)).act is not DialogueAct.OVERHEARD


def test_what_somebody_tells_another_is_listened_to() -> None:
    news = told("Bob, they are taking the lump out on the 14th", 0.9)
    assert content(news).act is DialogueAct.AFRAID
    asked = utterance("Bob, where did you leave the rope?", memory(1, "the rope is in the shed", BOB))
    assert content(asked).act is not DialogueAct.OVERHEARD
