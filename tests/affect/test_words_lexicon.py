"""Feeling words: found, weighed, denied."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.affect.words import FEELINGS, feelings_in


def _felt(text: str, feeling: str) -> float:
    return feelings_in(text.split())[0][feeling]


def _denied(text: str, feeling: str) -> float:
    return feelings_in(text.split())[1][feeling]


@pytest.mark.parametrize(
    ("text", "feeling"),
    [("she was terrified", "fear"), ("how lonely it is", "sorrow"), ("a tedious afternoon", "boredom")],
)
def test_a_named_feeling_is_felt(text: str, feeling: str) -> None:
    assert _felt(text, feeling) > 0.5
    assert all(_felt(text, other) == 0 for other in ("fear", "sorrow", "boredom") if other != feeling)


@pytest.mark.parametrize(
    "text",
    ["not sad at all", "i am never sad", "she isn't sad", "no tears", "hardly sad", "i wasnt really sad"],
)
def test_a_denied_feeling_is_denied_and_not_felt(text: str) -> None:
    assert _felt(text, "sorrow") == 0
    assert _denied(text, "sorrow") > 0.5


@pytest.mark.parametrize(
    "text",
    ["not only sad", "can't stop crying", "no , i am sad", "not today but sad", "never mind that i am sad"],
)
def test_a_negation_that_is_about_something_else_denies_nothing(text: str) -> None:
    assert _felt(text, "sorrow") > 0.5
    assert _denied(text, "sorrow") == 0


def test_the_longest_entry_wins() -> None:
    assert _felt("tears of joy", "sorrow") == 0
    assert _felt("in tears", "sorrow") > 0.5
    assert _felt("bored to death", "sorrow") == 0
    assert _felt("bored to death", "boredom") == 1


def test_an_ending_is_covered_by_a_star() -> None:
    assert _felt("we shuddered", "fear") == _felt("we shudder", "fear") > 0


def test_emphasis_goes_both_ways() -> None:
    assert _felt("a bit sad", "sorrow") < _felt("sad", "sorrow") < 1 == _felt("very sad", "sorrow")


def test_two_words_are_more_than_one_and_never_more_than_all() -> None:
    assert _felt("gloomy", "sorrow") < _felt("gloomy and lonely", "sorrow") <= 1


WORDS = (
    "not",
    "sad",
    "afraid",
    "bored",
    "very",
    "a",
    "bit",
    "tears",
    "of",
    "joy",
    "don't",
    "!",
    "but",
    "calm",
)


@given(st.lists(st.sampled_from(WORDS)))
def test_sums_stay_within_range_whatever_the_order(tokens: list[str]) -> None:
    for sums in feelings_in(tokens):
        assert set(sums) == set(FEELINGS)
        assert all(0 <= value <= 1 for value in sums.values())
