"""Streams of talk for the tests of the mind, written for them; none of it was tuned on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from noodlings.embed.minilm import MiniLM
from noodlings.mind.mind import Mind
from noodlings.values.affect import Affect

CALM = """
The gate creaks a little when it rains.
I left two cups on the shelf for you.
Somebody should oil the wheel of that cart.
The geese came back to the meadow.
My uncle collects buttons, of all things.
We can take the low road, it is shorter.
There is a fresh towel on the rack.
The smith has put up a green sign.
I learned a new knot from a sailor.
The stew needs ten more minutes.
You can see the lighthouse from up here.
They are mowing the lawn behind the chapel.
I wonder how old this oak is.
The miller pays in flour.
Your scarf is on the bench.
Breakfast is at eight, as always.
The stable boy is called Tom.
It was foggy until about noon.
I keep a list of all the birds I see.
The second drawer is for string and nails.
She teaches the children to count.
There are plums in the basket.
The ferry runs every half hour.
I have mended the handle of the bucket.
He walks his dog along the canal.
The inn has a room facing the yard.
Do you take milk in your coffee?
The new stamps have a lion on them.
We could repaint the shutters in spring.
I slept well, the bed is good.
The choir meets on Thursdays.
That shop sells paper and ink.
The river is low this month.
I think the answer is on page forty.
The carpenter measured the door twice.
There is a draught under the window.
My cousin grows pumpkins.
The lamp needs a new wick.
You will find the well behind the barn.
It takes three stamps to send a parcel.
""".strip().splitlines()

GREETINGS = (
    "hello",
    "hi there",
    "good morning",
    "hey",
    "hello again",
    "greetings",
    "good day",
    "hi, how are you?",
)

SAME_IN_OTHER_WORDS = {
    "lost": (
        "I don't know where I am.",
        "I am lost.",
        "I have lost my way.",
        "I can't find the way back.",
        "I must have taken a wrong turn, I'm lost.",
        "Where am I? I've lost my way.",
        "I have no idea where this is, I'm lost.",
        "I got lost on the way.",
        "I seem to be lost.",
        "I'm lost and can't find the road.",
        "Which way is it? I am lost.",
        "I don't know the way, I'm quite lost.",
    ),
    "cold": (
        "It is cold in here.",
        "I'm freezing in this room.",
        "This room is so cold.",
        "Brr, how cold it is in here.",
        "It's chilly in here.",
        "The room is freezing cold.",
        "I am cold, it is icy in here.",
        "There's no warmth in this room, it's cold.",
        "It's really cold inside.",
        "I feel cold in this room.",
        "It is awfully cold here.",
        "It's freezing in here.",
    ),
    "thanks": (
        "Thank you for your help.",
        "Thanks a lot for helping me.",
        "I'm grateful for your help.",
        "You helped me so much, thank you.",
        "Many thanks for the help.",
        "I really appreciate your help.",
        "Thank you, you were a great help.",
        "Thanks for lending a hand.",
        "That was kind of you to help, thanks.",
        "I can't thank you enough for helping.",
        "Thank you so much for your help.",
        "I appreciate that you helped me.",
    ),
    "wolf": (
        "There is a wolf in the woods.",
        "I saw a wolf among the trees.",
        "A wolf roams the forest.",
        "A wolf has been seen in the forest.",
        "The woods have a wolf in them.",
        "There's a wolf about in the woods.",
        "Somewhere in the forest is a wolf.",
        "A wolf lives in those woods.",
        "Beware, a wolf is in the forest.",
        "A wolf was prowling in the woods.",
        "They say a wolf hides in the forest.",
        "I spotted a wolf in the woods.",
    ),
}

affects = st.builds(
    Affect,
    valence=st.floats(-1, 1),
    arousal=st.floats(0, 1),
    fear=st.floats(0, 1),
    sorrow=st.floats(0, 1),
    boredom=st.floats(0, 1),
)
"""Any affect, for hypothesis."""


@cache
def meaning(text: str) -> npt.NDArray[np.float32]:
    """The sentence vector of a text."""
    return _minilm().embed([text])[0]


@cache
def _minilm() -> MiniLM:
    return MiniLM()


def calm_affects(count: int, seed: int = 0) -> list[Affect]:
    """Affects of ordinary talk: near rest, with a little of everything."""
    noise = np.random.default_rng(seed).normal(0.0, [0.12, 0.05, 0.03, 0.03, 0.05], size=(count, 5))
    return [Affect.of([v, 0.5 + a, abs(f), abs(s), abs(b)]) for v, a, f, s, b in noise]


def surprises(
    texts: Sequence[str], feelings: Sequence[Affect], mind: Mind | None = None, start: float = 0.0
) -> list[float]:
    """The surprise at each line of a stream, one line every twenty seconds."""
    mind = mind or Mind()
    return [
        mind.perceive(affect, meaning(text), start + 20.0 * turn).surprise
        for turn, (text, affect) in enumerate(zip(texts, feelings, strict=True))
    ]


def rank_of(values: Sequence[float], position: int) -> float:
    """The share of a stream that is at least as high as one of its values, that one included; 0…1."""
    return sum(value >= values[position] for value in values) / len(values)
