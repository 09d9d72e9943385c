"""Images: one for every moment, in keeping with it, never one of the latest, everywhere the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import LLMError
from noodlings.memory.subconscious import AVOIDED, SubconsciousMemory
from noodlings.ports import Allowance
from noodlings.text import clean
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.memory import Symbol
from noodlings.values.wording import SpokenFeeling
from noodlings.voice.colour import image_of
from noodlings.voice.images import CLEAR, TableOfImages, table, themes_of
from noodlings.voice.phrasebook import feeling
from noodlings.voice.words import tokens, topic_stems

ROOT = Path(__file__).parents[2]
AFRAID = Affect(-0.6, 0.8, 0.8, 0.1, 0.0)
GRIEVING = Affect(-0.7, 0.4, 0.1, 0.9, 0.0)
ANGRY = Affect(-0.8, 0.9, 0.1, 0.0, 0.0)
GLAD = Affect(0.9, 0.7, 0.0, 0.0, 0.0)
IMAGES = tuple(table())
affects = st.builds(Affect, st.floats(-1, 1), *[st.floats(0, 1)] * 4)


async def imagined(event: str, affect: Affect = AFRAID, avoid: tuple[str, ...] = ()) -> str:
    return await TableOfImages().imagine(event, affect, avoid, Allowance())


def of_theme(name: str, felt: SpokenFeeling) -> tuple[str, ...]:
    return next(theme for theme in table().themes if theme.name == name).images[felt]


# -- the table


def test_every_image_is_there_once_and_is_one_short_clean_line():
    assert len(set(IMAGES)) == len(IMAGES)
    for image in IMAGES:
        assert image == clean(image)
        assert len(image) <= 60
        assert re.match(r"an? [a-z]", image), image


def test_each_feeling_has_more_images_than_are_avoided():
    assert set(table().feelings) == set(SpokenFeeling)
    assert all(len(images) > AVOIDED for images in table().feelings.values())
    assert len(table().themes) >= 12
    for theme in table().themes:
        assert len(theme.images) >= 2
        assert all(len(images) >= 3 for images in theme.images.values())


def test_one_thing_of_every_image_can_surface_in_a_reply():
    for image in IMAGES:
        thing = image_of(Symbol(1, 1, 0.0, "", image, AFRAID, 0.5, 0.5, "images"))
        assert thing, image
        assert image.startswith(thing)


@pytest.mark.parametrize("word", ["rooster", "peck", "sunlight", "cloud", "garden", "wither"])
def test_nothing_is_taken_from_examples_that_everybody_was_shown(word: str):
    assert not [image for image in IMAGES if word in image]


# -- what comes for a moment


@pytest.mark.parametrize(
    ("event", "affect", "theme", "felt"),
    [
        ("My father-in-law says my report is worthless", AFRAID, "criticism", SpokenFeeling.FEAR),
        (
            "the boss tells me in front of all that my work is useless",
            ANGRY,
            "criticism",
            SpokenFeeling.ANGER,
        ),
        ("My cat died yesterday", GRIEVING, "loss", SpokenFeeling.SORROW),
        ("You won the first prize!", GLAD, "praise", SpokenFeeling.JOY),
        ("You lied to me, you stole it", ANGRY, "betrayal", SpokenFeeling.ANGER),
        ("A wolf attacks!", AFRAID, "danger", SpokenFeeling.FEAR),
        ("Everyone laughed at me, I was so ashamed", GRIEVING, "mockery", SpokenFeeling.SORROW),
        ("They married, and kissed", GLAD, "love", SpokenFeeling.JOY),
        ("I'm getting divorced", GRIEVING, "leaving", SpokenFeeling.SORROW),
        ("I failed the exam", GRIEVING, "failure", SpokenFeeling.SORROW),
        ("look at all the stars, a comet!", GLAD, "wonder", SpokenFeeling.JOY),
        ("mum is in the kitchen", GLAD, "home", SpokenFeeling.JOY),
        ("they yelled and insulted each other", ANGRY, "quarrel", SpokenFeeling.ANGER),
    ],
)
async def test_an_image_is_in_keeping_with_what_happened_and_what_was_felt(
    event: str, affect: Affect, theme: str, felt: SpokenFeeling
):
    assert themes_of(event)[0].name == theme
    assert await imagined(event, affect) in of_theme(theme, felt)


async def test_what_no_theme_tells_is_of_the_feeling_alone():
    assert await imagined("hm", AFRAID) in table().feelings[SpokenFeeling.FEAR]
    assert await imagined("🌧", Affect(-0.1, 0.1, 0.0, 0.0, 1.0)) in table().feelings[SpokenFeeling.BOREDOM]
    assert await imagined("", Affect(0.0, 1.0, 0.0, 0.0, 0.0)) in table().feelings[SpokenFeeling.CALM]
    assert feeling(NEUTRAL, CLEAR) is SpokenFeeling.CALM


async def test_an_image_has_no_word_of_the_moment_itself():
    words = set()
    for image in IMAGES:
        words |= set(tokens(image))
    for word in sorted(words):
        event = f"the {word} again"
        assert not topic_stems(tokens(await imagined(event))) & topic_stems(tokens(event))


@given(st.text(max_size=60), affects, st.sets(st.sampled_from(IMAGES), max_size=AVOIDED))
async def test_there_is_always_an_image_and_never_one_to_be_avoided(
    event: str, affect: Affect, avoid: set[str]
):
    image = await imagined(event, affect, tuple(sorted(avoid)))
    assert image in set(IMAGES) - avoid
    assert image == await imagined(event, affect, tuple(sorted(avoid)))


async def test_who_may_have_none_of_them_is_told_so():
    with pytest.raises(LLMError, match="lately"):
        await imagined("boo", avoid=tuple(image.upper() for image in IMAGES))


async def test_it_costs_nothing():
    allowance = Allowance()
    await TableOfImages().imagine("boo", AFRAID, (), allowance)
    assert (allowance.calls, allowance.tokens) == (0, 0)


async def test_of_a_hundred_moments_none_repeats_a_late_image():
    memory = SubconsciousMemory()
    for number in range(100):
        event = f"The boss says that my work is useless, time {number}"
        symbol = await memory.encode_event(
            event, AFRAID, 0.5, TableOfImages(), entry_id=number, timestamp=float(number)
        )
        assert symbol is not None
        assert symbol.made_by == "images"
    images = [symbol.symbolic_encoding for symbol in memory.symbols]
    for start in range(len(images) - AVOIDED):
        assert len(set(images[start : start + AVOIDED + 1])) == AVOIDED + 1


@pytest.mark.slow
def test_another_process_makes_the_same_image():
    program = (
        "import asyncio\nfrom tests.voice.test_images import imagined\n"
        "print(asyncio.run(imagined('My father-in-law says my report is worthless')))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
    assert said.pop().strip() in of_theme("criticism", SpokenFeeling.FEAR)
