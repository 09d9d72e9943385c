"""Who does not speak only acts, and who must honk honks."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.values.acting import acts_of, sounding
from noodlings.worlds.beings import split_gestures


@pytest.mark.parametrize(
    ("reply", "acts"),
    [
        ("*tilts its head*", "*tilts its head*"),
        ("Hello! *nods.* How are you? *sits down*", "*nods, sits down*"),
        ('*says "hello there" and bows*', "*says and bows*"),
        ('*nods and says "good*', "*nods and says*"),
        ("**Hello**", ""),
        ("Hello", ""),
        ("", ""),
        ("*...*", ""),
        ("* * *nods*", "*nods*"),
        ("an *emphasised* word", "*emphasised*"),
    ],
)
def test_only_acts_are_left(reply: str, acts: str) -> None:
    assert acts_of(reply) == acts


@given(st.text(st.sampled_from('ab *"“”.!?,'), max_size=40))
def test_nothing_of_it_is_spoken_in_the_rooms(reply: str) -> None:
    made = acts_of(reply)
    words, _ = split_gestures(made, "Gus")
    assert words == ""
    assert acts_of(made) == made


def test_a_noise_is_added_where_there_is_none() -> None:
    chance = random.Random(1)
    assert sounding("I HONK.", ("honk",), chance) == "I HONK."
    assert sounding("Hello.", (), chance) == "Hello."
    for _ in range(20):
        words, manner = split_gestures(sounding("Hello.", ("honk",), chance), "Gus")
        assert words == "Hello."
        assert "honk" in manner
        acted = sounding("*nods*", ("honk",), chance, "upper")
        assert acts_of(acted) == acted
        assert "HONK" in acted
