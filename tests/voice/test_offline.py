"""The offline voice: it says what it remembers, never the same twice, and sounds like who it is."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noodlings.ports import Allowance, Speech, Utterance
from noodlings.text import MAX_LINE, clean
from noodlings.values.affect import Affect
from noodlings.values.lens import Lens
from noodlings.values.memory import Recalled, Why
from noodlings.values.percept import Kind
from noodlings.values.reading import LineReading, LineTopics
from noodlings.values.tone import Tone, ToneName, ToneSource
from noodlings.values.topic import SelfTopic, ToldTopic
from noodlings.values.wording import COMMON_SLOTS, SLOTS, DialogueAct, calm, parse
from noodlings.voice.offline import OfflineVoice
from noodlings.voice.phrasebook import shared_voice
from noodlings.voice.response_selection import TOPIC, response_model
from tests.thorough import examples
from tests.voice.utterances import BOB, CAITY, PERSONAS, memory, utterance

VOICE = OfflineVoice()
DOG = memory(1, "My dog died yesterday", affect=Affect(-0.8, 0.5, 0.1, 0.9))
CAT = memory(2, "I have a cat called Mog", importance=0.5)
BRIDGE = memory(3, "the bridge over the river is broken", user=BOB, days=1, importance=0.3)
KEY = memory(4, "remember that the key is under the blue stone", days=0.1, importance=0.9)
ASKED = memory(5, "do you remember my dog?", days=0.01)
CHAT = [
    "nice weather", "ok", "I had soup", "hello", "hm", "it is raining", "what a day", "I like trains", "yes",
    "did you hear that?", "lol", "the shop is closed", "I walked here", "nothing new", "good morning",
    "I am hungry", "look at that", "my shoe is wet", "bye",
]  # fmt: skip
GESTURE = re.compile(r"\*.*?\*")
everybody = pytest.mark.parametrize("who", sorted(PERSONAS))


def say(asked: Utterance) -> Speech:
    return asyncio.run(VOICE.speak(asked, Allowance()))


def talk(who: str, lines: list[str], window: int | None = None) -> list[str]:
    """What the character says to one line after another; it is shown its last `window` lines, or all."""
    said: list[str] = []
    for turn, line in enumerate(lines):
        shown = said if window is None else said[-window:]
        said.append(say(utterance(line, DOG, who=who, said=tuple(shown), turn=turn)).text)
    return said


def made_of(phrases: Sequence[str], text: str) -> bool:
    """Whether a line was made of one of these phrases."""
    return any(parse(phrase).is_in(calm(text)) for phrase in phrases)


# -- remembering


@everybody
@pytest.mark.parametrize(
    "line", ["my dog would have liked this", "do you remember my dog?", "what did I say about my dog?"]
)
def test_what_was_told_comes_back_in_words(who: str, line: str) -> None:
    speech = say(utterance(line, BRIDGE, DOG, CAT, who=who))
    assert "you told me your dog died" in speech.text.lower()
    assert speech.used == (1,)


@pytest.mark.parametrize(
    ("line", "words", "used"),
    [
        ("what is my cat called?", "you told me you have a cat called mog", (2,)),
        ("where is the key?", "you told me the key is under the blue stone", (4,)),
        ("what did Bob say about the bridge?", "bob told me the bridge over the river is broken", (3,)),
        ("who is Bob?", "bob told me the bridge over the river is broken", (3,)),
        ("when did my dog die?", "three days ago you told me your dog died the day before", (1,)),
        (
            "what do you remember about me?",
            "you told me the key is under the blue stone, and that your dog died",
            (4, 1),
        ),
    ],
)
def test_a_question_is_answered_with_the_memory_that_fits(
    line: str, words: str, used: tuple[int, ...]
) -> None:
    speech = say(utterance(line, DOG, CAT, BRIDGE, KEY, ASKED))
    assert words in speech.text.lower()
    assert speech.used == used


NAMED = memory(11, "I have a dog called Biscuit", days=6, importance=0.3)
DEAD = memory(12, "my dog died", days=3, importance=0.8)
BURIED = memory(13, "I buried my dog under the apple tree", days=2, importance=0.7)
LEEDS = memory(14, "my sister Anna lives in Leeds", days=5, importance=0.3)
YORK = memory(15, "my sister moved to York", days=1, importance=0.2)
GOT = memory(16, "I got a rat", days=1, importance=0.2)
REX = memory(17, "his name is Rex", days=1 - 30 / 86_400, importance=0.2)
HATES = memory(18, "I hate mushrooms", days=1, importance=0.2)
BOBS = memory(19, "my dog is called Max", user=BOB, days=1, importance=0.2)
FROM = memory(21, "I come from Trieste", days=1, importance=0.2)
FELL = memory(20, "I fell today", days=1, importance=0.2)


@pytest.mark.parametrize(
    ("line", "words", "used"),
    [
        ("what is my dog called?", "you told me you have a dog called biscuit", (11,)),
        ("how is my dog?", "you told me you buried your dog under the apple tree", (13,)),
        ("where did I bury my dog?", "you buried your dog under the apple tree", (13,)),
        ("where does my sister live?", "your sister moved to york, and earlier that your sister", (15, 14)),
        ("where does Anna live?", "your sister anna lives in leeds", (14,)),
        ("what is my rat called?", "you got a rat, and that his name is rex", (16, 17)),
        ("where do I come from?", "you come from trieste", (21,)),
        ("what do I hate?", "you told me you hate mushrooms", (18,)),
        ("what is Bob's dog called?", "bob told me their dog is called max", (19,)),
        ("what did I tell you yesterday?", "you told me", None),
        ("how long ago did my dog die?", "three days ago you told me your dog died", (12,)),
        ("tell me about my sister", "your sister", (15, 14)),
        ("what was the last thing I told you?", "you told me his name is rex", (17,)),
    ],
)  # fmt: skip
def test_of_what_fits_that_is_told_which_was_asked_for(
    line: str, words: str, used: tuple[int, ...] | None
) -> None:
    everything = (NAMED, DEAD, BURIED, LEEDS, YORK, GOT, REX, HATES, BOBS, FELL, FROM)
    speech = say(utterance(line, *everything))
    assert words in speech.text.lower()
    if used is None:
        assert set(speech.used) <= {15, 16, 17, 18, 20, 21}
    else:
        assert speech.used == used


@pytest.mark.parametrize(
    "line",
    [
        "what was my dog's name?",
        "where did I find my dog?",
        "where is my boat?",
        "what do I love?",
        "do you know where Bob is?",
    ],
)
def test_what_fits_only_a_little_is_no_answer(line: str) -> None:
    assert say(utterance(line, DEAD, HATES, BOBS)).used == ()


@everybody
@pytest.mark.parametrize(
    "line", ["do you remember my brother?", "what did I say about my boat?", "what's my favourite colour?"]
)
def test_what_was_never_told_is_not_remembered(who: str, line: str) -> None:
    speech = say(utterance(line, DOG, CAT, BRIDGE, who=who))
    assert speech.used == ()
    assert "told me your" not in speech.text.lower()


def test_what_somebody_else_told_is_not_taken_for_ones_own() -> None:
    speech = say(utterance("do you remember my dog?", DOG, user=BOB))
    assert speech.used == ()


def test_questions_and_own_lines_are_no_memories() -> None:
    own = memory(6, "I saw a dog once", user="agent_phi")
    assert say(utterance("do you remember my dog?", ASKED, own, who="phi")).used == ()


def test_small_things_do_not_come_back_by_themselves() -> None:
    trifle = memory(7, "the weather is nice", importance=0.1)
    assert say(utterance("the weather is bad", trifle)).used == ()


def test_a_memory_answers_without_a_word_in_common() -> None:
    close = memory(8, "my puppy is gone", why=(Why.SEMANTIC,), scores={"semantic": 0.8})
    far = memory(9, "I baked bread", why=(Why.SEMANTIC,), scores={"semantic": 0.1})
    assert say(utterance("do you remember my dog?", close, far)).used == (8,)


def test_what_holds_no_time_is_no_answer_to_when() -> None:
    meant = {"why": (Why.SEMANTIC,), "scores": {"semantic": 0.4}}
    cold = memory(8, "the kitchen is freezing", importance=0.3, **meant)
    late = memory(9, "the coach comes in on Friday evening", importance=0.3, **meant)
    assert say(utterance("and when will she arrive?", cold)).used == ()
    assert say(utterance("and when will she arrive?", cold, late)).used == (9,)


def test_who_comes_back_is_asked_about_what_mattered() -> None:
    greeted = [say(utterance("hello", DOG, turn=turn)) for turn in range(12)]
    assert any(speech.used == (1,) and "your dog died" in speech.text for speech in greeted)
    assert not say(utterance("hello", memory(1, "My dog died yesterday", days=0.01))).used


def test_what_leans_on_another_line_is_not_what_one_is_greeted_with() -> None:
    leaning = memory(9, "she laughs at me", importance=0.9)
    assert all(say(utterance("hello", leaning, turn=turn)).used == () for turn in range(12))
    assert say(utterance("do you remember me?", leaning, DOG)).used == (1, 9)


def test_a_mention_does_not_bring_the_same_memory_again() -> None:
    said = talk("plain", ["my dog would have liked this", "I walked my dog here"])
    assert "your dog died" in said[0]
    assert "your dog died" not in said[1]


# -- with tact

MOURNING = Tone(ToneName.GRAVE, ToneSource.BEFORE, 1)


@everybody
@pytest.mark.parametrize("line", ["he was such a good boy", "ok", "he slept on my bed"])
def test_a_sorrow_lies_on_what_is_said_after_it(who: str, line: str) -> None:
    speech = say(utterance(line, memory(1, "My dog died", days=60 / 86_400), who=who, tone=MOURNING))
    assert made_of(
        (*PERSONAS[who].voice.lines.get("comfort", ()), *shared_voice().lines["comfort"]), speech.text
    )
    assert not made_of(shared_voice().lines["comfort"], say(utterance(line, DOG)).text)


@everybody
@pytest.mark.parametrize("line", ["ooh is that carrot cake", "we are having sausages bye"])
def test_what_has_nothing_to_do_with_a_sorrow_before_it_gets_neither_comfort_nor_jokes(
    who: str, line: str
) -> None:
    kept = (*PERSONAS[who].voice.lines.get("keep", ()), *shared_voice().lines["keep"])
    for turn in range(8):
        died = memory(1, "My dog died", days=60 / 86_400)
        speech = say(utterance(line, died, who=who, turn=turn, tone=MOURNING))
        assert made_of(kept, speech.text)
        assert not speech.used


def test_nobody_bursts_out_with_joy_at_the_memory_of_the_dead() -> None:
    died, joy = memory(1, "My dog died", days=60 / 86_400), Affect(valence=0.8, arousal=0.7)
    for who in PERSONAS:
        outbursts = PERSONAS[who].voice.interjections or shared_voice().interjections
        for turn in range(8):
            mentioned = utterance("he was a good boy", died, who=who, turn=turn, tone=MOURNING, affect=joy)
            opening = OfflineVoice().draft(mentioned).opening
            assert not any(parse(outburst).pattern.fullmatch(opening) for outburst in outbursts["joy"])


@pytest.mark.parametrize(("present", "said"), [({BOB, CAITY}, "Bob, you and I"), ({CAITY}, "you and I")])
def test_asked_who_is_there_it_tells_who_is(present: set[str], said: str) -> None:
    asked = utterance("who is here?", present=frozenset(present))
    assert said.casefold() in say(asked).text.casefold()


@everybody
def test_asked_what_lies_about_it_names_that_and_nothing_else(who: str) -> None:
    asked = ("what is in this room?", "What can you see?", "whats lying about here", "what's around here")
    for turn, line in enumerate(asked):
        seen = say(utterance(line, DOG, who=who, turn=turn, things=("pond", "pear tree")))
        assert "the pond and the pear tree" in seen.text.casefold()
        unseen = say(utterance(line, DOG, who=who, turn=turn)).text.casefold()
        assert "pond" not in unseen
        assert "dog" not in unseen
    many = tuple(f"thing {number} {'x' * 50}" for number in range(50))
    assert len(say(utterance(asked[0], who=who, things=many)).text) < 1_000
    articles = say(utterance(asked[0], who=who, things=("a bench", "The pond", "Maren's lamp", "tea")))
    assert "a bench, the pond, maren's lamp and the tea" in articles.text.casefold()
    assert "the old mill" in say(utterance("where are we?", who=who, place="old_mill")).text.casefold()


@everybody
def test_good_news_bring_back_no_old_sorrow(who: str) -> None:
    failed = memory(1, "I failed my exam", affect=Affect(-0.7, 0.5, 0.1, 0.5))
    assert say(utterance("I passed my exam!", failed, who=who)).used == ()
    assert say(utterance("I dream of my exam", failed, who=who)).used == (1,)
    near = replace(failed, why=(Why.SEMANTIC,), scores={"semantic": 0.6, "touched": 0.9})
    assert say(utterance("hooray, we won the race after all!", near, who=who)).used == ()
    assert say(utterance("we went to the race on the other bank", near, who=who)).used == (1,)


@everybody
def test_what_hurts_brings_back_no_trifle(who: str) -> None:
    soup = memory(1, "my mum made soup", affect=Affect(-0.2, 0.5, 0.0, 0.4))
    assert say(utterance("my mum made fun of me", soup, who=who)).used == ()


@everybody
def test_news_of_a_death_are_met_with_sympathy_alone(who: str) -> None:
    ill = memory(1, "my grandmother is in hospital", affect=Affect(-0.7, 0.5, 0.1, 0.5))
    assert say(utterance("my grandmother died", ill, who=who)).used == ()


# -- never the same


@everybody
@pytest.mark.parametrize(
    "line", ["nice weather", "hello", "do you remember my dog?", "you are stupid", "why?", "", "😀", "42"]
)
def test_ten_turns_of_the_same_line_get_ten_answers(who: str, line: str) -> None:
    said = talk(who, [line] * 10)
    assert len({text.casefold() for text in said}) == 10


@pytest.mark.slow
@everybody
def test_two_hundred_turns_of_trivial_talk_do_not_repeat(who: str) -> None:
    said = talk(who, [CHAT[turn % len(CHAT)] for turn in range(200)])
    assert len({text.casefold() for text in said}) == 200


@pytest.mark.slow
@everybody
def test_with_a_short_memory_of_its_own_lines_it_hardly_repeats(who: str) -> None:
    said = talk(who, [CHAT[turn % len(CHAT)] for turn in range(200)], window=50)
    # A nod may come again: it is images and mannerisms that must not.
    assert len({text.casefold() for text in said}) >= (165 if who == "plain" else 180)


@everybody
def test_no_gesture_and_no_mannerism_is_put_in_twice_within_fifty_lines(who: str) -> None:
    said: list[str] = []
    put_in: list[set[str]] = []
    for turn in range(120):
        draft = OfflineVoice().draft(
            utterance(CHAT[turn % len(CHAT)], who=who, turn=turn, said=tuple(said[-50:]))
        )
        said.append(draft.text)
        put_in.append({draft.gesture, draft.closing} - {""})
        assert not any(put_in[-1] & before for before in put_in[-51:-1])
    assert sum(map(bool, put_in)) > 20


@pytest.mark.slow
def test_what_is_added_does_not_say_the_same_again() -> None:
    answers = [say(utterance("my mother is very ill", turn=turn)).text for turn in range(600)]
    listened = [text.casefold().count("i hear you") for text in answers]
    assert sum(listened) > 20
    assert max(listened) == 1


@pytest.mark.slow
def test_a_line_is_new_even_when_all_drafts_were_said() -> None:
    said: list[str] = []
    for _ in range(400):
        text = say(utterance("do you like me?", said=tuple(said))).text
        assert text.casefold() not in {line.casefold() for line in said}
        said.append(text)


# -- who it is


@pytest.mark.slow
def test_each_character_is_known_by_its_voice() -> None:
    said = {who: talk(who, CHAT * 2) for who in PERSONAS}
    assert all(text == text.upper() for text in said["servnak"])
    assert sum("%" in text for text in said["servnak"]) > 5
    assert sum("SISTER" in text for text in said["servnak"]) > 3
    assert all(text == text.lower() for text in said["phi"])
    words = {who: sum(len(GESTURE.sub("", text).split()) for text in lines) for who, lines in said.items()}
    assert words["phi"] < 0.7 * min(words["maren"], words["servnak"])
    gestures = {who: sum("*" in text for text in lines) for who, lines in said.items()}
    assert gestures["phi"] > 1.3 * max(gestures["servnak"], gestures["maren"])
    shared = [set(said[a]) & set(said[b]) for a in said for b in said if a < b]
    assert not any(shared)


def test_an_opinion_is_kept() -> None:
    answers = [say(utterance("do you like storms?", who="maren", turn=turn)).text for turn in range(6)]
    kinds = PERSONAS["maren"].voice.lines
    told = {name for text in answers for name in ("likes", "dislikes") if made_of(kinds[name], text)}
    assert len(told) == 1


def test_a_mood_shows_when_somebody_asks() -> None:
    sad = say(utterance("how are you?", mood=Affect(-0.6, 0.3, 0.0, 0.9))).text
    assert made_of(shared_voice().lines["mood_sorrow"], sad)


def test_nothing_playful_is_added_to_grief() -> None:
    for who in PERSONAS:
        voice = PERSONAS[who].voice
        marks = [mark for line in (*voice.mannerisms, *voice.gestures) for mark in parse(line).marks]
        playful = [mark for mark in marks if len(mark) > 12]
        for turn in range(15):
            text = say(utterance("my mother died", who=who, turn=turn)).text.casefold()
            assert not any(mark in text for mark in playful), text


def test_a_gesture_to_somebody_else_is_not_taken_for_ones_own() -> None:
    watched = say(utterance("hugs Phi", who="plain", kind=Kind.EMOTE)).text
    assert made_of(shared_voice().lines["emote"], watched)


# -- what it can take


@pytest.mark.slow
def test_the_same_turn_sounds_the_same_in_every_process() -> None:
    code = (
        "import asyncio; from tests.voice.utterances import *; "
        "from noodlings.voice.offline import OfflineVoice; "
        "from noodlings.ports import Allowance; "
        "lines = lambda t, w: utterance(t, memory(1, 'My dog died'), who=w); "
        "print([asyncio.run(OfflineVoice().speak(lines(t, w), Allowance())).text"
        " for w in sorted(PERSONAS) for t in ('hi', 'my dog!', 'why?')])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8", "PYTHONPATH": "."},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


ODD = [
    "",
    " ",
    "…",
    "a" * MAX_LINE,
    "word " * 800,
    "😀" * 500,
    "[bold]x[/bold]",
    "<b>",
    "{name} {0} %s",
    "(a|b)",
    "1e309",
]


@everybody
@pytest.mark.parametrize("line", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("kind", list(Kind))
def test_odd_lines_get_one_clean_line(who: str, line: str, kind: Kind) -> None:
    text = say(utterance(line, DOG, who=who, kind=kind)).text
    assert text
    assert text == clean(text)
    assert len(text) < 600
    assert "{" not in text.replace(line.strip(), "")


@settings(max_examples=examples(150))
@given(
    line=st.text(max_size=200),
    remembered=st.lists(st.text(max_size=80), max_size=4),
    who=st.sampled_from(sorted(PERSONAS)),
    mood=st.builds(Affect, st.floats(-1, 1), *[st.floats(0, 1)] * 4),
    kind=st.sampled_from(list(Kind)),
    user=st.sampled_from([CAITY, BOB, "agent_x", "?"]),
)
def test_it_always_answers_in_one_printable_line_with_known_memories(
    line, remembered, who, mood, kind, user
) -> None:
    known = [memory(number, text) for number, text in enumerate(remembered)]
    speech = say(utterance(line, *known, who=who, mood=mood, kind=kind, user=user))
    assert speech.text == clean(speech.text) != ""
    assert set(speech.used) <= set(range(len(known)))


def test_every_occasion_has_shared_words_with_slots_that_are_filled() -> None:
    lines = shared_voice().lines
    assert set(lines) == {act.value for act in DialogueAct}
    for name, phrases in lines.items():
        known = COMMON_SLOTS | SLOTS.get(DialogueAct(name), frozenset())
        assert any(
            parse(phrase).slots <= known - {"topic", "echo", "place"} for phrase in phrases
        ) or name in (
            "likes",
            "dislikes",
        )
        for phrase in phrases:
            assert parse(phrase).slots <= known, (name, phrase)


# -- fine acts


def read_as(line: str, fine_act: DialogueAct, **more: Any) -> Utterance:
    """The line as said to somebody for whom a model hears this fine act in it."""
    reading = LineReading(0.0, 0.0, (), ((fine_act, 0.9), (DialogueAct.STATEMENT, 0.1)))
    return replace(utterance(line, **more), reading=reading)


@everybody
@pytest.mark.parametrize("fine_act", ["aside", "order", "message", "away", "wronged", "unwell", "emergency"])
def test_no_outburst_goes_before_what_is_answered_plainly(who: str, fine_act: str) -> None:
    for turn in range(12):
        heard = read_as("hm, the gate is off again", DialogueAct(fine_act), who=who, turn=turn)
        assert OfflineVoice().draft(heard).opening == ""


@everybody
@pytest.mark.parametrize("fine_act", ["order", "message", "emergency"])
@pytest.mark.parametrize("kind", [Kind.SAY, Kind.WHISPER])
def test_nothing_is_added_to_what_is_done_at_once(who: str, fine_act: str, kind: Kind) -> None:
    for turn in range(12):
        heard = read_as("the gate is off again", DialogueAct(fine_act), who=who, turn=turn, kind=kind)
        assert OfflineVoice().draft(heard).closing == ""


def test_nobody_is_called_by_name_twice_in_one_reply() -> None:
    lost = Affect(-0.8, 0.5, 0.0, 0.9, 0.0)
    for turn in range(60):
        heard = read_as("they sold the farm", DialogueAct.SAD, turn=turn, affect=lost)
        assert OfflineVoice().draft(heard).text.count("Caity") <= 1


@pytest.mark.parametrize("fine_act", ["away", "aside", "order", "message", "emergency"])
def test_no_wish_of_its_own_is_added_to_what_needs_few_words(fine_act: str) -> None:
    wish = Lens("goal", 1.0, 1.0, "", "comfort")
    assert say(replace(utterance("the gate is off"), lenses=(wish,))) != say(utterance("the gate is off"))
    for turn in range(12):
        heard = replace(read_as("the gate is off", DialogueAct(fine_act), turn=turn), lenses=(wish,))
        assert say(heard).text == say(replace(heard, lenses=())).text


# -- words said back


def with_echo(line: str, echo: str, **more: Any) -> Utterance:
    return replace(utterance(line, **more), reading=LineReading(0.0, 0.0, echo=echo))


@everybody
def test_a_few_words_of_what_is_told_are_mostly_said_back(who: str) -> None:
    heard = [
        with_echo("we are six at home and my seven goats make thirteen", "my seven goats", who=who, turn=turn)
        for turn in range(20)
    ]
    said = [OfflineVoice().draft(one).opening.casefold().rstrip(".?") for one in heard]
    assert 10 <= said.count("your seven goats") < 20


@pytest.mark.parametrize(
    ("line", "echo"),
    [
        ("my brother died in the mill last night", "in the mill"),
        ("what colour are my seven goats?", "my seven goats"),
        ("hello again, you old goat", "old goat"),
        ("thank you for the green gate", "the green gate"),
    ],
)
def test_nothing_is_said_back_in_grief_to_a_question_or_to_what_is_not_told(line: str, echo: str) -> None:
    for turn in range(12):
        assert echo not in OfflineVoice().draft(with_echo(line, echo, who="maren", turn=turn)).opening.lower()


# -- asked about itself


def asking(line: str, topic: SelfTopic | None, *recalled: Recalled, **more: Any) -> Utterance:
    """The line as said to somebody for whom a model hears it ask this about them."""
    reading = LineReading(0.0, 0.0, topics=LineTopics(topic))
    return replace(utterance(line, *recalled, **more), reading=reading)


GRIEVED = Tone(ToneName.GRAVE, ToneSource.SAID)


def says_of_itself(said: str, who: str, topic: SelfTopic) -> bool:
    voice = PERSONAS[who].voice if who != "plain" else shared_voice()
    return any(parse(phrase).is_in(calm(said)) for phrase in voice.about_itself[topic])


@pytest.mark.parametrize("who", ["maren", "phi", "servnak"])
@pytest.mark.parametrize(
    ("line", "topic"),
    [
        ("have you any family?", SelfTopic.FAMILY),
        ("tell me, what do you eat", SelfTopic.FOOD),
        ("would you come to my wedding?", SelfTopic.COME_ALONG),
        ("bet you never sleep", SelfTopic.SLEEP),
        ("do you like music?", SelfTopic.MUSIC),
    ],
)
def test_asked_about_itself_it_says_what_its_recipe_tells(who: str, line: str, topic: SelfTopic) -> None:
    mine = memory(1, "I like family and music, and sleep and eat too much", why=(Why.SEMANTIC,))
    for turn in range(8):
        draft = OfflineVoice().draft(asking(line, topic, mine, who=who, turn=turn))
        assert says_of_itself(draft.text, who, topic), draft.text
        assert not draft.told


@everybody
@pytest.mark.parametrize(
    "line",
    [
        "what did I tell you about my family?",
        "does Bob have any family?",
        "do you know what my brother does?",
        "I miss the family",
        "it's a fine thing, a family, don't you find?",
        "what am I to do about family?",
        "do you recollect my family's name?",
        "do you recall why I left the family?",
        "what would you do about the family if you were me?",
        "Bob, have you any family?",
    ],
)
def test_asked_about_somebody_else_it_says_nothing_of_itself(who: str, line: str) -> None:
    for turn in range(8):
        said = say(asking(line, SelfTopic.FAMILY, who=who, turn=turn)).text
        assert who == "plain" or not says_of_itself(said, who, SelfTopic.FAMILY), said


@pytest.mark.parametrize("who", ["maren", "phi", "servnak"])
def test_told_of_a_grief_it_says_nothing_of_itself(who: str) -> None:
    told = asking("my daughter died, have you any family?", SelfTopic.FAMILY, who=who, tone=GRIEVED)
    assert not says_of_itself(say(told).text, who, SelfTopic.FAMILY)


def test_asked_again_it_says_something_else_of_itself_while_it_can() -> None:
    said: list[str] = []
    for turn in range(3):
        asked = asking("how old are you?", SelfTopic.AGE, who="maren", turn=turn, said=tuple(said))
        said.append(say(asked).text)
    ways = [parse(phrase) for phrase in PERSONAS["maren"].voice.about_itself[SelfTopic.AGE]]
    assert {at for line in said for at, way in enumerate(ways) if way.is_in(calm(line))} == {0, 1, 2}


def test_without_answers_of_its_own_it_says_what_holds_for_all_characters() -> None:
    asked = asking("will you be here tomorrow?", SelfTopic.TOMORROW)
    assert says_of_itself(say(asked).text, "plain", SelfTopic.TOMORROW)


def test_what_only_the_recipe_could_tell_is_not_made_up() -> None:
    asked = asking("how old are you?", SelfTopic.AGE)
    assert say(asked) == say(replace(asked, reading=LineReading(0.0, 0.0)))


def test_who_does_not_speak_says_nothing_of_itself() -> None:
    goose = replace(PERSONAS["maren"], verbal=False)
    said = say(replace(asking("how old are you?", SelfTopic.AGE, who="maren"), persona=goose)).text
    assert said.startswith("*")
    assert said.endswith("*")


# -- told of something


def telling(line: str, topic: ToldTopic | None, *recalled: Recalled, **more: Any) -> Utterance:
    """The line as said to somebody for whom a model hears it tell of this, and knows what answers it."""
    model, embedding = response_model(), ()
    if topic is not None:
        embedding = tuple((3 * model.kind_means[model.kind_index[f"{TOPIC}{topic}"]][:-1]).tolist())
    reading = LineReading(0.0, 0.0, topics=LineTopics(told=topic), response_embedding=embedding)
    return replace(utterance(line, *recalled, **more), reading=reading)


def is_on(said: str, topic: ToldTopic) -> bool:
    return any(parse(phrase).is_in(calm(said)) for phrase in shared_voice().on_topics[topic])


def test_there_is_something_to_say_on_every_topic() -> None:
    assert set(shared_voice().on_topics) == {*ToldTopic}
    assert min(map(len, shared_voice().on_topics.values())) >= 4


@everybody
def test_told_of_something_ordinary_it_says_something_on_that(who: str) -> None:
    told = "the heron stood on the jetty again"
    for turn in range(8):
        assert is_on(say(telling(told, ToldTopic.ANIMALS, who=who, turn=turn)).text, ToldTopic.ANIMALS)
        assert not is_on(say(telling(told, None, who=who, turn=turn)).text, ToldTopic.ANIMALS)


@everybody
@pytest.mark.parametrize(
    ("line", "more"),
    [
        ("did the heron stand on the jetty?", {}),
        ("my heron died yesterday", {"tone": GRIEVED}),
        ("*watches the heron on the jetty*", {"kind": Kind.EMOTE}),
    ],
    ids=["a question", "a grief", "a gesture"],
)
def test_what_calls_for_something_else_gets_no_remark_on_its_topic(
    who: str, line: str, more: dict[str, Any]
) -> None:
    for turn in range(8):
        said = say(telling(line, ToldTopic.ANIMALS, who=who, turn=turn, **more)).text
        assert not is_on(said, ToldTopic.ANIMALS), said


def test_whoever_gives_a_name_and_tells_more_hears_both() -> None:
    said = say(telling("my name is Caity, I keep herons", ToldTopic.WORK)).text
    assert "Caity" in said
    assert is_on(said, ToldTopic.WORK)


def test_its_own_words_on_a_topic_go_first_and_nothing_is_said_twice_on_it() -> None:
    own = replace(
        PERSONAS["plain"], voice=replace(PERSONAS["plain"].voice, on_topics={"pet": ("Ah, paws.",)})
    )
    said: list[str] = []
    for turn in range(20):
        asked = telling("the cat is on the roof", ToldTopic.PET, turn=turn, said=tuple(said))
        said.append(say(replace(asked, persona=own)).text)
    assert "Ah, paws." in said[0]
    assert sum("Ah, paws." in line for line in said) == 1
    assert any(is_on(line, ToldTopic.PET) for line in said[1:])
    ways = [parse(phrase) for phrase in shared_voice().on_topics["pet"]]
    assert max(sum(way.is_in(calm(line)) for line in said) for way in ways) == 1


def test_after_a_greeting_that_asks_nothing_more_is_said() -> None:
    for turn in range(40):
        said = say(telling("hello, I've a new cat", ToldTopic.PET, turn=turn)).text
        assert said.count("?") <= 1, said
