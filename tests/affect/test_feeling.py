import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.affect.feeling import FAMILIES, FELT, family, family_of, feeling, feelings
from noodlings.values.affect import NEUTRAL, Affect

unit = st.floats(0, 1)
affects = st.builds(Affect, st.floats(-1, 1), unit, unit, unit, unit)


@pytest.mark.parametrize(
    ("affect", "word", "sort"),
    [
        (Affect(0.9, 0.65), "joyful", "joy"),
        (Affect(0.5, 0.5), "content", "joy"),
        (Affect(0.7, 0.95), "excited", "joy"),
        (Affect(0.3, 0.2), "calm", "calm"),
        (Affect(0.2, 0.7, 0.5, 0.1), "anxious", "fear"),
        (Affect(-0.6, 0.85, 0.9, 0.2), "afraid", "fear"),
        (Affect(-0.7, 0.85, 0.1, 0.1), "angry", "anger"),
        (Affect(-0.3, 0.65), "annoyed", "anger"),
        (Affect(-0.7, 0.4, 0.1, 0.8), "sorrowful", "sorrow"),
        (Affect(-0.2, 0.5, 0.0, 0.25), "sad", "sorrow"),
        (Affect(-0.95, 0.5), "miserable", "sorrow"),
        (Affect(0.4, 0.4, 0.0, 0.5), "wistful", "sorrow"),
        (Affect(-0.1, 0.2, 0.0, 0.0, 0.8), "bored", "boredom"),
        (NEUTRAL, "neutral", "neutral"),
        (Affect(0.05, 0.55, 0.02), "neutral", "neutral"),
        (Affect(0.0, 0.1), "calm", "calm"),
        (None, "unknown", "unknown"),
    ],
)
def test_a_feeling_has_the_word_a_person_would_use(affect: Affect | None, word: str, sort: str) -> None:
    assert feeling(affect) == word
    assert family(affect) == sort


@given(affects)
def test_every_affect_has_a_word_of_a_listed_sort(affect: Affect) -> None:
    assert family(affect) in FAMILIES
    assert family_of(feeling(affect)) == family(affect)


@given(affects)
def test_only_what_is_hardly_felt_is_neutral(affect: Affect) -> None:
    assert (feeling(affect) == "neutral") <= (affect.intensity < FELT)


@given(st.sampled_from(["fear", "sorrow"]), st.floats(0.35, 1), st.floats(0.35, 1))
def test_more_of_one_feeling_stays_the_same_sort(axis: str, little: float, much: float) -> None:
    assert family(Affect(**{axis: little})) == family(Affect(**{axis: much})) == axis


def test_a_word_that_is_no_feeling_is_unknown() -> None:
    assert family_of("purple") == "unknown"


@given(st.lists(affects, max_size=9))
def test_the_words_for_many_are_those_for_each(felt):
    rows = np.array([[np.nan] * 5 if affect is None else affect.as_list() for affect in felt]).reshape(-1, 5)
    assert feelings(rows) == [feeling(affect) for affect in felt]
