"""What is read off the surface of a text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.affect.words import FEATURES, MAX_CHARACTERS, read


def test_polarity_has_the_sign_of_the_words() -> None:
    assert read("What a wonderful, lovely day").compound > 0.5
    assert read("What a horrible, ugly mess").compound < -0.5


@pytest.mark.parametrize("answer", ["no", "Yes.", "ok", "sure"])
def test_an_answer_is_no_feeling(answer: str) -> None:
    assert read(answer).compound == 0
    assert read(answer).loaded == 0


def test_shouting_takes_more_than_one_short_word() -> None:
    assert read("COME HERE NOW").capitals == 1
    assert read("STOP that").capitals == 0.5
    assert read("I am OK").capitals == 0
    assert read("NPC").capitals == 0


def test_marks_are_counted_up_to_three() -> None:
    reading = read("What?! Now!!!!! Wait...")
    assert (reading.exclamations, reading.questions, reading.trailing) == (3, 1, 1)


@pytest.mark.parametrize(
    ("text", "feeling"), [("😢", "sorrow"), ("😱", "fear"), ("🥱", "boredom"), ("hm :(", "sorrow")]
)
def test_faces_speak(text: str, feeling: str) -> None:
    assert getattr(read(text), feeling) > 0.4


def test_a_curly_apostrophe_denies_as_well() -> None:
    assert read("I don’t feel sad").sorrow == 0


def test_only_the_beginning_is_read() -> None:
    assert read("x" * MAX_CHARACTERS + " I am terrified").fear == 0


@given(st.text(max_size=200))
def test_any_text_gives_finite_features(text: str) -> None:
    features = read(text).features()
    assert features.shape == (len(FEATURES),)
    assert np.isfinite(features).all()
