"""What a question asks for, and which lines tell it."""

import pytest

from noodlings.voice.question import Sought, asks_when, days_meant, goes_on, sought


@pytest.mark.parametrize(
    ("question", "kind", "tells", "not_that"),
    [
        ("what is my dog called?", Sought.NAME, "I have a dog called Biscuit", "my dog died"),
        ("who is Biscuit?", Sought.NAME, "his name is Biscuit", "my dog died"),
        ("what's my brother's name?", Sought.NAME, "my brother Marco is a fireman", "My brother and I fell"),
        ("where did I bury him?", Sought.PLACE, "I buried him under the apple tree", "my dog died"),
        ("how old is my dog?", Sought.AGE, "he is nine years old", "my dog is brown"),
        ("what colour is my cat?", Sought.COLOUR, "Pepper is black with white paws", "I got a cat"),
    ],
)
def test_a_line_tells_what_is_asked_for_or_does_not(
    question: str, kind: Sought, tells: str, not_that: str
) -> None:
    assert sought(question) is kind
    assert kind.told_by(tells)
    assert not kind.told_by(not_that)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("how is my dog?", Sought.STATE),
        ("is my dog alive?", Sought.STATE),
        ("what happened to my dog?", Sought.STATE),
        ("do I still have a dog?", Sought.STATE),
        ("what did I just say?", Sought.LATEST),
        ("what was the last thing I told you?", Sought.LATEST),
        ("how are you?", None),
        ("what did I say about my dog?", None),
    ],
)
def test_some_ask_how_it_is_now_and_some_what_was_last(question: str, kind: Sought | None) -> None:
    assert sought(question) is kind


def test_times_are_asked_for_in_several_ways() -> None:
    assert asks_when("how long ago did my dog die?")
    assert not asks_when("did my dog die?")
    assert days_meant("what did I tell you yesterday?") == 1
    assert days_meant("what did I tell you today?") == 0
    assert days_meant("what did I tell you?") is None


def test_a_line_that_begins_with_a_pronoun_goes_on() -> None:
    assert goes_on("his name is Rex")
    assert not goes_on("my dog is called Rex")
