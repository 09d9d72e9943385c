"""What a question asks for, and which lines tell it."""

import pytest

from noodlings.voice.question import (
    AnswerType,
    answer_type,
    asks_when,
    days_meant,
    may_answer,
    only_asks,
)


@pytest.mark.parametrize(
    ("question", "kind", "tells", "not_that"),
    [
        ("what is my dog called?", AnswerType.NAME, "I have a dog called Biscuit", "my dog died"),
        ("who is Biscuit?", AnswerType.NAME, "his name is Biscuit", "my dog died"),
        (
            "what's my brother's name?",
            AnswerType.NAME,
            "my brother Marco is a fireman",
            "My brother and I fell",
        ),
        ("where did I bury him?", AnswerType.PLACE, "I buried him under the apple tree", "my dog died"),
        ("how old is my dog?", AnswerType.AGE, "he is nine years old", "my dog is brown"),
        ("what did the foal weigh?", AnswerType.NUMBER, "forty kilos on the mill scales", "the foal is here"),
        ("what colour is my cat?", AnswerType.COLOUR, "Pepper is black with white paws", "I got a cat"),
    ],
)
def test_a_line_tells_what_is_asked_for_or_does_not(
    question: str, kind: AnswerType, tells: str, not_that: str
) -> None:
    assert answer_type(question) is kind
    assert kind.told_by(tells)
    assert not kind.told_by(not_that)


@pytest.mark.parametrize(
    ("question", "tells", "not_that"),
    [
        ("what did she pay for the kiln?", "forty crowns, and it leaks", "Ilka has a new kiln"),
        ("so how long does it fire?", "it fires for two days", "the kiln is hot"),
        ("and who mends it?", "Dorrit does that", "it is mended every spring"),
        ("who do I see about it?", "my uncle knows kilns", "it wants a new door"),
        ("whose is the red cart?", "that cart is Dorrit's", "the red cart has no brake"),
        ("what do they call the miller?", "the miller is named Ox", "the miller is deaf"),
        ("who takes me to the zoo?", "dad's taking us on Saturday", "we go to the zoo on Saturday"),
        ("to which town did he move?", "he lives in Harrow now", "he moved out in May"),
        ("which bishop was it?", "an old bishop with a limp", "he was blessed in the street"),
        ("did they say which old bridge fell?", "the north bridge is gone", "they came the long way round"),
        ("I forget, is it tea or coffee?", "coffee for me, black", "I drink it without sugar"),
        ("what does the anvil weigh?", "it weighs about two hundred", "I got it for two hundred crowns"),
    ],
)
def test_what_has_not_what_is_asked_for_is_no_answer(question: str, tells: str, not_that: str) -> None:
    assert may_answer(tells, question)
    assert not may_answer(not_that, question)


@pytest.mark.parametrize(
    "question",
    [
        "who is Ilka?",
        "who told you about the kiln?",
        "what kind of a day was it?",
        "what is wrong with the kiln?",
        "what way do I go?",
        "how long ago was that?",
        "shall I go or not?",
        "is anything the matter?",
        "she paid for the kiln. what a price!",
    ],
)
def test_a_question_that_asks_for_nothing_so_plain_may_be_answered_by_anything(question: str) -> None:
    assert may_answer("the goat ate it", question)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("how is my dog?", AnswerType.STATE),
        ("is my dog alive?", AnswerType.STATE),
        ("what happened to my dog?", AnswerType.STATE),
        ("do I still have a dog?", AnswerType.STATE),
        ("what did I just say?", AnswerType.LATEST),
        ("what was the last thing I told you?", AnswerType.LATEST),
        ("how are you?", None),
        ("what did I say about my dog?", None),
    ],
)
def test_some_ask_how_it_is_now_and_some_what_was_last(question: str, kind: AnswerType | None) -> None:
    assert answer_type(question) is kind


def test_times_are_asked_for_in_several_ways() -> None:
    assert asks_when("how long ago did my dog die?")
    assert not asks_when("did my dog die?")
    assert days_meant("what did I tell you yesterday?") == 1
    assert days_meant("what did I tell you today?") == 0
    assert days_meant("what did I tell you?") is None


@pytest.mark.parametrize(
    ("line", "asks"),
    [
        ("where is the ladder?", True),
        ("Right. Who took it?", True),
        ("landed!! where did I leave the car", True),
        ("I parked in row five. where is that?", False),
        ("landed!!", False),
    ],
)
def test_a_word_or_two_beside_a_question_tell_nothing(line: str, asks: bool) -> None:
    assert only_asks(line) is asks
