"""Forms of verbs."""

import pytest

from noodlings.voice.words import is_past, past_of, third_of


@pytest.mark.parametrize(
    ("third", "base", "past"),
    [
        ("goes", "go", "went"),
        ("cries", "cry", "cried"),
        ("lives", "live", "lived"),
        ("hugs", "hug", "hugged"),
    ],
)
def test_the_forms_of_a_verb(third: str, base: str, past: str) -> None:
    assert third_of(third) == base
    assert past_of(base) == past
    assert is_past(past)


@pytest.mark.parametrize("word", ["bed", "shed", "hundred", "need", "dog"])
def test_not_all_that_ends_so_is_a_verb(word: str) -> None:
    assert not is_past(word)
    assert third_of(word + "s") in ("", word)
