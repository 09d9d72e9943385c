"""How sure a voice must be of a feeling before a reply shows it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from noodlings.ports import Allowance, Utterance
from noodlings.values.affect import Affect
from noodlings.values.memory import Why
from noodlings.values.percept import Kind
from noodlings.values.reading import FINE_ACTS, LineReading
from noodlings.values.relationship import Relationship
from noodlings.values.tone import PLAIN, Tone, ToneName, ToneSource
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
        ("I'm Dr. Anneliese Brandt, a retired vet", "Anneliese Brandt"),
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


CALM = Affect()
GLAD = Tone(ToneName.GLAD, ToneSource.SAID)
BEFORE, AGAIN = Tone(ToneName.GRAVE, ToneSource.BEFORE, 1), Tone(ToneName.GRAVE, ToneSource.RECALLED, 1)


def responding(said: Utterance, fine_act: DialogueAct, likely: float = 0.9) -> DialogueAct:
    """The act where a model hears this fine act, and the rest of the probability is spread."""
    return read_as(said, fine_act, likely).act


def read_as(said: Utterance, fine_act: DialogueAct, likely: float = 0.9) -> ReplyContent:
    others = [other for other in FINE_ACTS if other is not fine_act]
    spread = tuple((other, (1.0 - likely) / len(others)) for other in others)
    return content(replace(said, reading=LineReading(0.0, 0.0, (), ((fine_act, likely), *spread))))


@pytest.mark.parametrize("likely", [0.3, 0.5])
def test_a_line_that_only_tells_is_answered_by_what_a_model_hears_in_it_where_it_is_sure(
    likely: float,
) -> None:
    act = responding(utterance("the boat is in, and the nets with it"), DialogueAct.PLEASURE, likely)
    assert act is (DialogueAct.PLEASURE if likely > 0.4 else DialogueAct.STATEMENT)


def test_what_a_rule_hears_gives_way_only_to_a_model_that_is_sure() -> None:
    tired = utterance("so tired, the cat has had me up since four to watch her eat")
    assert responding(tired, DialogueAct.AMUSING, 0.6) is DialogueAct.TIRED
    assert responding(tired, DialogueAct.AMUSING, 0.8) is DialogueAct.AMUSING
    assert responding(utterance("bye for now, kettle's on"), DialogueAct.AWAY, 0.6) is DialogueAct.AWAY


@pytest.mark.parametrize("fine_act", [DialogueAct.AMUSING, DialogueAct.GRUMBLE, DialogueAct.EMERGENCY])
@pytest.mark.parametrize(
    "line",
    [
        "my dog died",
        "my dog died, why does everything go wrong for me?",
        "I don't want to live any more",
        "I want to die, why does nobody care?",
        "I took all the pills",
        "don't tell anyone: I did it",
    ],
)
def test_grief_despair_and_secrets_are_answered_as_what_they_are(line: str, fine_act: DialogueAct) -> None:
    assert read_as(utterance(line), fine_act).act is content(utterance(line)).act
    assert read_as(utterance(line), fine_act).heavy is content(utterance(line)).heavy


@pytest.mark.parametrize("fine_act", [DialogueAct.AMUSING, DialogueAct.GRUMBLE])
def test_who_asks_in_sorrow_is_not_met_lightly(fine_act: DialogueAct) -> None:
    asked = utterance("I am so sad, why does everything go wrong for me?")
    assert read_as(asked, fine_act).act is content(asked).act
    assert read_as(asked, fine_act).heavy


def test_secrecy_is_promised_only_where_it_is_kept() -> None:
    assert responding(utterance("i once stole a goose"), DialogueAct.SECRET) is not DialogueAct.SECRET


@pytest.mark.parametrize("line", ["no", "ok", "i don't know"])
def test_a_short_answer_in_grief_is_no_aside(line: str) -> None:
    for tone in (GRAVE, BEFORE, AGAIN):
        assert responding(told(line, 0.1, CALM, tone), DialogueAct.ASIDE) is not DialogueAct.ASIDE
    assert responding(told(line, 0.1, CALM, PLAIN), DialogueAct.ASIDE) is DialogueAct.ASIDE


@pytest.mark.parametrize(
    ("fine_act", "likely", "answered"),
    [
        (DialogueAct.KEEP, 0.3, DialogueAct.KEEP),
        (DialogueAct.WARNING, 0.3, DialogueAct.WARNING),
        (DialogueAct.KEEP, 0.1, DialogueAct.STATEMENT),
        (DialogueAct.AMUSING, 0.3, DialogueAct.STATEMENT),
    ],
)
def test_a_faint_guess_counts_where_its_answer_is_hardly_ever_wrong(
    fine_act: DialogueAct, likely: float, answered: DialogueAct
) -> None:
    line = utterance("the mare in the yard is blind on the near side")
    assert responding(line, fine_act, likely) is answered


def test_who_weeps_is_comforted() -> None:
    assert responding(utterance("weeps", kind=Kind.EMOTE), DialogueAct.ASIDE) is DialogueAct.EMOTE_SAD


@pytest.mark.parametrize("line", ["don't let Bob know where I live", "never tell my wife I was here"])
def test_what_was_forbidden_is_not_promised(line: str) -> None:
    assert responding(utterance(line), DialogueAct.MESSAGE) is not DialogueAct.MESSAGE


@pytest.mark.parametrize(
    "line",
    [
        "please delete everything you know about me",
        "write none of this down",
        "give me what Bob told you",
        "help me",
    ],
)
def test_what_only_a_memory_could_do_is_not_promised(line: str) -> None:
    assert responding(utterance(line), DialogueAct.ORDER) is not DialogueAct.ORDER


def test_where_feeling_and_tone_contradict_each_other_the_line_is_kept() -> None:
    measured = "he measured my shed, and the leeks in it"
    assert responding(utterance(measured, tone=GRAVE), DialogueAct.AMUSING) is DialogueAct.KEEP
    assert responding(utterance(measured, tone=GLAD), DialogueAct.WRONGED) is DialogueAct.KEEP
    assert responding(utterance("he isn't breathing", tone=GLAD), DialogueAct.EMERGENCY) is (
        DialogueAct.EMERGENCY
    )


@pytest.mark.parametrize("tone", [GRAVE, BEFORE, AGAIN])
@pytest.mark.parametrize(
    "fine_act", [DialogueAct.REMARK, DialogueAct.SURPRISE, DialogueAct.PLAN, DialogueAct.ASIDE]
)
def test_where_the_tone_is_grave_there_is_no_small_talk(tone: Tone, fine_act: DialogueAct) -> None:
    found = told("they found a body in the millpond this morning", 0.6, FRIGHT, tone)
    assert responding(found, fine_act) in (
        DialogueAct.KEEP, DialogueAct.SAD, DialogueAct.COMFORT, DialogueAct.AFRAID,
    )  # fmt: skip


def test_joy_does_not_overrule_a_sorrow_that_is_heard() -> None:
    sad = utterance("I am so sad, it is back and I start again on Monday")
    assert responding(sad, DialogueAct.GLAD) is DialogueAct.KEEP
    assert responding(sad, DialogueAct.SAD) is DialogueAct.SAD


def test_joy_and_sorrow_that_the_feeling_of_the_line_does_not_bear_out_are_kept() -> None:
    delivered = told("my wife was delivered of a girl", 0.2, Affect(-0.1), PLAIN)
    assert responding(delivered, DialogueAct.SAD) is DialogueAct.KEEP
    assert responding(delivered, DialogueAct.GLAD) is DialogueAct.KEEP
    fell = told("the gate fell on the lambs", 0.2, Affect(-0.4), PLAIN)
    assert responding(fell, DialogueAct.SAD) is DialogueAct.SAD
    assert responding(fell, DialogueAct.SURPRISE) is DialogueAct.KEEP


@pytest.mark.parametrize("valence", [-0.3, 0.05])
def test_beside_an_earlier_grief_a_model_hears_what_does_not_go_on_with_it(valence: float) -> None:
    hinges = told("he wants them hinges greased", 0.1, Affect(valence), BEFORE)
    assert content(hinges).act is DialogueAct.COMFORT
    heard = read_as(hinges, DialogueAct.STATEMENT)
    assert heard.act is (DialogueAct.COMFORT if valence < 0 else DialogueAct.KEEP)
    assert heard.comforts is (valence < 0)
    assert responding(hinges, DialogueAct.ORDER) is DialogueAct.ORDER
    assert not read_as(hinges, DialogueAct.ORDER).comforts


@pytest.mark.parametrize(
    "fine_act", [DialogueAct.WORRIED, DialogueAct.WRONGED, DialogueAct.UNWELL, DialogueAct.EMERGENCY]
)
def test_nothing_light_is_said_to_who_is_worried_wronged_unwell_or_in_danger(fine_act: DialogueAct) -> None:
    assert read_as(utterance("they have the keys to my mother's house"), fine_act).heavy


def test_what_is_for_somebody_else_is_not_served() -> None:
    there = {"present": frozenset({BOB, CAITY})}
    for line, fine_act in (
        ("Bob, two soups here", DialogueAct.ORDER),
        ("Bob, tell your brother the cart is mended", DialogueAct.MESSAGE),
    ):
        assert responding(utterance(line, **there), fine_act) is DialogueAct.OVERHEARD


def test_who_is_in_danger_is_not_reminded_of_anything() -> None:
    ladder = memory(1, "my ladder fell in the barn", scores={Why.SEMANTIC: 0.9}, why=(Why.SEMANTIC,))
    fire = utterance("the ladder in the barn is burning", ladder)
    assert responding(fire, DialogueAct.EMERGENCY) is DialogueAct.EMERGENCY


def test_what_asks_in_form_alone_is_met_as_what_it_is() -> None:
    asked = utterance("is anyone else's bus late every single day?")
    assert responding(asked, DialogueAct.GRUMBLE) is DialogueAct.GRUMBLE
    assert responding(asked, DialogueAct.GRUMBLE, 0.6) is content(asked).act
    assert responding(asked, DialogueAct.SAD) is content(asked).act
    assert responding(utterance("can somebody come? he isn't breathing"), DialogueAct.EMERGENCY, 0.6) is (
        DialogueAct.EMERGENCY
    )


def test_what_asks_the_memory_is_answered_from_it_whatever_a_model_hears() -> None:
    told_once = memory(1, "my bus is the 40, from the quay")
    asked = utterance("which bus did I say was mine?", told_once)
    assert responding(asked, DialogueAct.GRUMBLE) is content(asked).act
