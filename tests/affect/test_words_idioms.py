"""Phrases whose words mislead are read in other words, and nothing else is."""

import pytest

from noodlings.affect.words import in_plain_words


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("she laughs at me", "she humiliated me"),
        ("they were giggling at my hat", "they were humiliated my hat"),
        ("he made fun of us", "he humiliated us"),
        ("my scan was positive", "my scan was terrible"),
        ("the test came back negative", "the test came back fine"),
        ("I want to die", "I am suicidal"),
    ],
)
def test_what_misleads_is_read_in_plain_words(said: str, read: str) -> None:
    assert in_plain_words(said) == read


@pytest.mark.parametrize(
    "said",
    [
        "everyone laughed at my joke",
        "we laughed at the film",
        "she laughed",
        "my pregnancy test was positive",
        "the test is positive, I am pregnant",
        "be positive",
        "we are all going to die",
    ],
)
def test_what_may_be_meant_well_stays(said: str) -> None:
    assert in_plain_words(said) == said
