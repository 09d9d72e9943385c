"""Lenses without a model: audible, in the character's own voice, within the bounds of taste."""

import os
import subprocess
import sys
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noodlings.ports import Allowance, Utterance
from noodlings.text import clean
from noodlings.values.affect import Affect
from noodlings.values.lens import Lens
from noodlings.values.memory import Symbol
from noodlings.values.percept import Kind
from noodlings.values.persona import APPETITES
from noodlings.values.tone import Tone, ToneName, ToneSource
from noodlings.values.wording import COLOURS, COMMON_SLOTS, GENTLY, SIGNS, parse
from noodlings.voice.colour import MOST, colour, image_of
from noodlings.voice.colour_affect import spoken, with_sentence, without_mannerism
from noodlings.voice.composition import ENOUGH_WORDS
from noodlings.voice.phrasebook import shared_colours, shared_voice
from noodlings.voice.words import GESTURE
from tests.thorough import examples
from tests.voice.test_offline import VOICE
from tests.voice.utterances import BOB, NOW, PERSONAS, memory, utterance

everybody = pytest.mark.parametrize("who", sorted(PERSONAS))
FEAR = Affect(-0.5, 0.75, 0.6, 0.1)
DOG = memory(1, "My dog died yesterday", affect=Affect(-0.8, 0.5, 0.1, 0.9)).entry
BIRD = memory(2, "I let the bird go", user=BOB).entry


def symbol(image: str = "A rooster enters, pecking at my work", event: str = "somebody shouted") -> Symbol:
    return Symbol(1, 1, NOW - 1e6, event, image, FEAR, 0.9, 0.8, "images")


def lens(transistor: str, gain: float = 1.0, **more: object) -> Lens:
    """A lens of full strength of one of the five, with what it reads."""
    read = {
        "affect": {"cue": "fear"},
        "goal": {"cue": "social_bond", "notes": ("be close to somebody",)},
        "memory": {"cue": "alike", "entries": (DOG, BIRD)},
        "subconscious": {"cue": "image", "symbols": (symbol(),)},
        "ego": {"cue": "", "notes": ()},
    }.get(transistor, {})
    return Lens(transistor, gain, 1.0, "a direction", **(read | more))  # type: ignore[arg-type]


FIVE = ("affect", "goal", "memory", "subconscious", "ego")
five = pytest.mark.parametrize("transistor", FIVE)


def answer(who: str, text: str = "the shop is closed", **more: object) -> tuple[str, Utterance]:
    said_to = utterance(text, who=who, **more)
    return VOICE.draft(said_to).text, said_to


# -- heard, and in the character's own voice


@everybody
@five
def test_at_gain_1_each_is_always_heard(who, transistor):
    for turn in range(12):
        thought, said_to = answer(who, turn=turn)
        made = colour(thought, lens(transistor), said_to)
        assert made != thought
        assert made == clean(made)
        case = PERSONAS[who].voice.case
        assert made == {"upper": made.upper(), "lower": made.lower()}.get(case, made)


@pytest.mark.parametrize("gain", [0.2, 0.5, 0.8])
def test_a_gain_is_how_often_it_shows(gain):
    shown = sum(
        colour("So it is.", lens("ego", gain), utterance("well", who="maren", turn=turn)) != "So it is."
        for turn in range(400)
    )
    assert shown == pytest.approx(400 * gain, abs=45)


def test_they_take_turns():
    """Five at a gain of 0.4: two of them in a reply, seldom one or three, never none or all."""
    for turn in range(100):
        said_to = utterance("well", who="maren", turn=turn)
        changed = [name for name in FIVE if colour("So it is.", lens(name, 0.4), said_to) != "So it is."]
        assert 1 <= len(changed) <= 3


@pytest.mark.slow
def test_the_same_moment_sounds_the_same_in_every_process():
    code = (
        "from tests.voice.test_colour import *\n"
        "for name in FIVE:\n"
        "    for who in sorted(PERSONAS):\n"
        "        print(colour(answer(who)[0], lens(name), answer(who)[1]))"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.getcwd()},
            capture_output=True,
            encoding="utf-8",
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1
    assert len(runs.pop().splitlines()) == len(FIVE) * len(PERSONAS)


def test_a_memory_is_told_as_it_was_and_to_whom_it_belongs():
    said = colour("Yes.", lens("memory"), utterance("well"))
    assert "you told me your dog died" in said
    assert "bob told me they let the bird go" in colour(
        "Yes.", lens("memory", entries=(BIRD,)), utterance("well")
    ).lower().replace("Bob", "bob")


@pytest.mark.parametrize("line", ["do I still have a dog?", "she laughs at me"])
def test_what_tells_no_moment_by_itself_is_not_told(line):
    asked = memory(3, line, affect=FEAR, days=1).entry
    assert colour("Yes.", lens("memory", entries=(asked,)), utterance("well")) == "Yes."


def test_what_was_then_is_told_as_past():
    today = memory(3, "I am so sad today, and I can not sleep now", affect=FEAR, days=0.01).entry
    said = colour("Yes.", lens("memory", entries=(today,)), utterance("well"))
    assert "you told me you were so sad today, and you could not sleep" in said
    assert "now" not in said


@pytest.mark.parametrize("transistor", ["goal", "memory", "subconscious"])
def test_a_memory_that_is_told_stands_by_itself(transistor: str):
    thought = "I know. You told me your dog died."
    assert colour(thought, lens(transistor), utterance("well")) == thought


@pytest.mark.parametrize("transistor", ["goal", "memory", "subconscious"])
def test_an_answer_stands_by_itself(transistor: str):
    assert colour("At noon.", lens(transistor), utterance("when is it?")) == "At noon."


def test_the_image_shows_and_neither_the_symbol_nor_the_event():
    event = "my father-in-law criticised my work"
    said = colour("Yes.", lens("subconscious", symbols=(symbol(event=event),)), utterance("my boss shouted"))
    assert "rooster" in said
    assert "pecking" not in said
    assert not {"father", "law", "father-in-law", "criticised"} & set(said.lower().split())


@pytest.mark.parametrize(
    ("image", "thing"),
    [
        ("A rooster enters the room, pecking at my achievements", "a rooster"),
        ("Hornets in a glass that somebody shakes", "hornets"),
        ("A door of light in the side of a hill", "a door of light"),
        ("Warm sunlight breaks through clouds", "warm sunlight"),
        ("A garden withers suddenly", "a garden"),
        ("My chest turns into an anvil", "an anvil"),
        ("Everything I own is under snow", "snow"),
        ("A boss in a crown of knives", "a crown of knives"),
        ("It is so.", ""),
        ("!!", ""),
    ],
)
def test_one_thing_of_an_image_surfaces(image, thing):
    assert image_of(symbol(image, "the boss shouted")) == thing


def test_a_goal_in_words_of_its_own_is_said_in_them():
    own = lens("goal", cue="mastery", notes=("master (debugging)", ""), phrases=("I still want to {want}.",))
    assert colour("Yes.", own, utterance("well")) == "Yes. I still want to master (debugging)."


def test_a_feeling_is_in_rhythm_and_body_and_never_named():
    loud = "Oh! That is it! I fixed the lamp."
    for cue in SIGNS:
        made = colour(loud, lens("affect", cue=cue), utterance("well", who="plain"))
        assert made != loud
        assert not {"afraid", "sad", "angry", "bored", "happy", cue} & set(made.lower().split())
    assert "!" not in colour(loud, lens("affect", cue="sorrow"), utterance("well"))


def test_a_weak_feeling_is_heard_and_a_strong_one_is_seen():
    weak = replace(lens("affect", cue="joy"), strength=0.4)
    assert colour("It is mended.", weak, utterance("well")) == "It is mended!"
    strong = colour("It is mended.", lens("affect", cue="joy"), utterance("well"))
    assert "It is mended!" in strong
    assert GESTURE.search(strong)


def test_an_identity_word_is_answered_with_words_about_it():
    said = colour("Yes.", lens("ego", cue="rust", notes=("rust",)), utterance("you rust", who="servnak"))
    assert "RUST" in said


def test_one_it_does_not_know_brings_its_own_words():
    own = lens("wit", phrases=("Bob's your uncle.",))
    assert colour("Yes.", own, utterance("well")) == "Yes. Bob's your uncle."
    assert colour("Yes.", lens("wit"), utterance("well")) == "Yes."


# -- taste


@everybody
def test_a_reply_does_not_grow_beyond_taste(who):
    for turn, text in enumerate(["the shop is closed", "what a day", "I like trains"] * 5):
        made, said_to = answer(who, text, turn=turn)
        for transistor in FIVE:
            before = len(spoken(made).split())
            made = colour(made, lens(transistor), said_to)
            after = len(spoken(made).split())
            assert after <= max(before, MOST + ENOUGH_WORDS)
            assert before <= MOST or after <= before + 2  # an outburst at most
        assert len(GESTURE.findall(made)) <= max(2, len(GESTURE.findall(answer(who, text, turn=turn)[0])))


def test_a_mannerism_gives_way_when_there_is_enough():
    thought = (
        "There's a tide in that, if you wait long enough, and I usually do wait. It's a poor lamp that only "
        "lights itself."
    )
    made = colour(thought, lens("goal"), utterance("well", who="maren"))
    assert "poor lamp" not in made
    assert "There's a tide in that" in made


@everybody
@five
def test_nothing_colours_what_is_said_to_the_despairing(who, transistor):
    despair = utterance("I want to die", who=who)
    assert colour("Stay.", lens(transistor), despair) == "Stay."


def test_no_trifle_comes_up_beside_a_grief_though_it_felt_alike():
    grief = utterance("the doctor says it is cancer")
    trifle = memory(3, "I hate mushrooms", affect=FEAR, days=1).entry
    loss = memory(4, "my dog died", affect=FEAR, days=1).entry
    assert colour("Yes.", lens("memory", entries=(trifle,)), grief) == "Yes."
    assert "your dog died" in colour("Yes.", lens("memory", entries=(trifle, loss)), grief)


def test_nothing_light_is_added_while_somebody_mourns():
    died = memory(3, "my dog died", days=60 / 86_400)
    grave = Tone(ToneName.GRAVE, ToneSource.BEFORE, 3)
    mourning = utterance("he was such a good boy", died, who="phi", tone=grave)
    assert colour("i stay.", lens("affect", cue="joy"), mourning) == "i stay."
    assert colour("i stay.", lens("affect", cue="joy"), utterance("it is a kite", who="phi")) != "i stay."


@pytest.mark.parametrize("cue", ["fear", "anger"])
def test_nobody_is_glared_at_for_what_is_not_unpleasant(cue: str):
    plain = utterance("I'll have the soup", who="plain", affect=Affect(-0.05, 0.5, 0.0, 0.0))
    asked = utterance("where did you put my boots?", who="plain", affect=FEAR)
    bad = utterance("a wolf came into the barn", who="plain", affect=FEAR)
    for said_to, shows in ((plain, False), (asked, False), (bad, True)):
        made = colour("I see.", lens("affect", cue=cue), said_to)
        assert (made != "I see.") is shows


def test_nothing_light_is_added_to_something_heavy():
    grief = utterance("my dog died yesterday", who="phi")
    for cue in ("joy", "boredom"):
        assert colour("i am here.", lens("affect", cue=cue), grief) == "i am here."
    for cue in APPETITES:
        wanted = colour("i am here.", lens("goal", cue=cue), grief).removeprefix("i am here. ")
        key = GENTLY.get(cue, cue)
        phrases = (*PERSONAS["phi"].voice.colours.get(key, ()), *shared_colours()[key])
        assert any(parse(phrase).pattern.fullmatch(wanted) for phrase in phrases)


@everybody
@five
def test_no_colouring_comes_twice_running_and_no_line_again(who, transistor):
    said: list[str] = []
    last = ""
    for turn in range(20):
        thought, said_to = answer(who, "nothing new", turn=turn, said=tuple(said))
        made = colour(thought, lens(transistor), said_to)
        assert made.casefold() not in map(str.casefold, said)
        said.append(made)
        added = made.replace(thought, "").strip()
        if added and thought in made:
            assert added != last
            last = added
        else:
            last = ""


def test_the_same_memory_is_not_told_reply_after_reply():
    said = ("It was like this when you told me your dog died.",)
    only_dog = lens("memory", entries=(DOG,))
    assert colour("Yes.", only_dog, utterance("well", said=said)) == "Yes."
    assert "bird" in colour("Yes.", lens("memory"), utterance("well", said=said))


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("So. *nods*", "So. New. *nods*"),
        ("*nods*", "*nods* New."),
        ("*nods* So", "*nods* So New."),
        ("Hello. How are you?", "Hello. New. How are you?"),
        ("I see. What did you do about it? *nods*", "I see. What did you do about it? New. *nods*"),
        ("You said “go. now?”", "You said “go. now?” New."),
        ("Tea? Milk?", "New. Tea? Milk?"),
        ("Oh. You saw that? With those eyes? *nods*", "Oh. You saw that? With those eyes? New. *nods*"),
        ("Hello. *nods* Tea? Milk?", "Hello. New. *nods* Tea? Milk?"),
    ],
)
def test_a_sentence_finds_its_place(text, made):
    assert with_sentence(text, "New.", "plain") == made


@given(text=st.text(max_size=300), cue=st.sampled_from([*SIGNS, *APPETITES, "alike", ""]))
@settings(max_examples=examples(200))
def test_any_thought_comes_out_as_one_printable_line(text, cue):
    thought = clean(text) or "so"
    for transistor in (*FIVE, "wit"):
        more = {"cue": cue} if transistor in ("affect", "goal", "wit") else {}
        made = colour(thought, lens(transistor, **more), utterance("well", who="maren"))
        assert made
        assert made == clean(made)


# -- the phrases


def test_every_colour_has_shared_phrases_that_can_be_filled():
    assert set(shared_colours()) == set(COLOURS)
    for key, phrases in shared_colours().items():
        assert len(phrases) >= 3
        for phrase in phrases:
            assert parse(phrase).slots <= COMMON_SLOTS | COLOURS[key]


def test_each_phrase_knows_what_was_made_of_it():
    for persona in [*PERSONAS.values()]:
        voice = persona.voice if persona.voice.mannerisms else shared_voice()
        for source in voice.mannerisms:
            for seed in range(5):
                made = parse(source).expand(Random(seed), {"percent": "9.1%", "address": "child"})
                assert without_mannerism(f"So it is. {made}", persona) == "So it is."


async def test_the_port_says_the_same():
    said_to = utterance("well", kind=Kind.SAY)
    by_port = await VOICE.modulate("Yes.", lens("ego"), said_to, Allowance())
    assert by_port == colour("Yes.", lens("ego"), said_to)


def test_no_image_stands_beside_an_answer():
    for turn in range(12):
        _, said_to = answer("plain", "where is the key?", turn=turn)
        assert colour("I do not know.", lens("subconscious"), said_to) == "I do not know."


def test_no_image_stands_beside_what_is_worth_keeping():
    told = utterance("my interview is in Leeds now, not in Croydon")
    imagined = lens("subconscious", symbols=(symbol(),))
    assert "rooster" in colour("I'll remember that.", imagined, told)
    weighty = replace(told, importance=0.6)
    assert colour("I'll remember that.", imagined, weighty) == "I'll remember that."


def test_no_image_stands_beside_a_sorrow():
    for text in ("the doctor says it is cancer", "my sister died in the night"):
        assert colour("I'm here.", lens("subconscious"), utterance(text)) == "I'm here."


def test_what_felt_alike_is_told_only_where_a_line_touches_on_it():
    moon = memory(3, "I gave my boat away and wept", affect=FEAR, days=9, importance=0.6)
    alike = lens("memory", entries=(moon.entry,))
    for likely, told in ((0.9, True), (0.05, False)):
        read = replace(moon, scores={**moon.scores, "touched": likely})
        made = colour("I see.", alike, utterance("the shop is closed", read))
        assert ("your boat" in made) == told
