"""What a line is when somebody says it: how it feels, how far it is worth keeping, what to answer, what a
kind listener hears in it, what it tells of people, which of its words a listener might say back, and what it
asks or tells of.

A vector tells what a line is about, and not how good or bad that is: half of what people tell, they tell
without a word of feeling. So the upper four layers of MiniLM were trained on lines as people say them
(`tools/lines`). They read the states of the second layer; one more layer above them chooses the words. What a
line is about is read from what MiniLM's own layers hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from noodlings.embed.session import shipped_session
from noodlings.values.fact import Tells
from noodlings.values.reading import ACTS, FACT_KINDS, FINE_ACTS, LineReading, LineTopics
from noodlings.values.topic import SelfTopic, ToldTopic

T = TypeVar("T")

MODEL = "lines.onnx"
TOPICS = "topics.npz"
RESPONSE_ENCODER = "response_encoder.npz"
UTMOST = 0.85
"""What the model gives for lines that everybody would keep: a regression draws toward the middle."""
LONGEST_ECHO = 48
"""Characters of what is said back."""
FITTING = 0.18
"""The probability from which words are said back; it is low, as often several would do."""


OF_TOPICS = (None, *SelfTopic), (None, *ToldTopic)
"""What a line may ask the listener about themselves, and what it may tell of; None stands for neither."""
ASKED, TOLD = 0.45, 0.4
"""The least probability at which a line asks the listener about themselves, and at which it tells of a
topic."""


def read_line(
    states: npt.NDArray[np.float32],
    text: str,
    offsets: Sequence[tuple[int, int]],
    layers: npt.NDArray[np.float32],
) -> LineReading:
    """What a line is.

    Args:
        states: of its tokens in MiniLM's second layer, (tokens, 384).
        text: what was said, as it was tokenized.
        offsets: where each token begins and ends in the text; it begins where it ends if it is no part of it.
        layers: what the layers hold of the line, (7 · 384,); see `MiniLM.read`.

    Raises:
        NoodlingsError: the model cannot be run.
    """
    run = shipped_session(MODEL, "reading lines").run
    [read], [ends] = run(["read", "echo"], {"states": states[None]})
    valence, significance = (float(number) for number in read[:2])
    acts, fine_acts, facts = np.split(read[2:], np.cumsum([len(ACTS), len(FINE_ACTS)]))
    worth = max(0.0, min(significance / UTMOST, 1.0))
    return LineReading(
        max(-1.0, min(valence, 1.0)),
        worth,
        _probabilities(ACTS, acts),
        _probabilities(FINE_ACTS, fine_acts),
        Tells(_any_of(facts[: len(FACT_KINDS)]), _any_of(facts[len(FACT_KINDS) :])),
        said_back(ends, text, np.array(offsets[: len(ends)])),
        read_topics(layers),
        response_embedding(np.concatenate([layers, read])),
    )


def read_topics(layers: npt.NDArray[np.float32]) -> LineTopics:
    """What a line asks or tells of, from what the layers hold of it, (7 · 384,)."""
    weights, bias = _topics()
    itself, told = OF_TOPICS
    logits = layers @ weights + bias
    return LineTopics(
        _surely(itself, logits[: len(itself)], ASKED), _surely(told, logits[len(itself) :], TOLD)
    )


@cache
def _topics() -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Two logistic regressions side by side, for the topics of `OF_TOPICS`: weights (7 · 384, topics), bias
    (topics,)."""
    with (resources.files("noodlings.embed") / TOPICS).open("rb") as file, np.load(file) as arrays:
        return arrays["weights"].astype(np.float32), arrays["bias"]


def response_embedding(read: npt.NDArray[np.float32]) -> tuple[float, ...]:
    """What a good answer is like, from what the layers hold of a line and what it was read as."""
    encoder = _response_encoder()
    hidden = np.maximum(read @ encoder["hidden"] + encoder["hidden_bias"], 0.0)
    return tuple((hidden @ encoder["out"] + encoder["out_bias"]).tolist())


@cache
def _response_encoder() -> dict[str, npt.NDArray[np.float32]]:
    """A net of one hidden layer: its weights and biases."""
    with (resources.files("noodlings.embed") / RESPONSE_ENCODER).open("rb") as file, np.load(file) as arrays:
        return {name: array.astype(np.float32) for name, array in arrays.items()}


def said_back(ends: npt.NDArray[np.float32], text: str, offsets: npt.NDArray[np.int64]) -> str:
    """The whole words that most likely begin and end what is said back; "" where there is nothing.

    Args:
        ends: logits of each token for being the first and the last of it, (tokens, 2). Where nothing is said
            back, that is the one before the text.
    """
    raised = np.exp(ends - ends.max(axis=0))
    first, last = (raised / raised.sum(axis=0)).T
    begins, stops = offsets.T
    own = begins < stops
    whole = np.array([not text[max(at - 1, 0) : at].isalnum() for at in begins]) & own
    ended = np.array([not text[at : at + 1].isalnum() for at in stops]) & own
    lengths = stops[None] - begins[:, None]
    fits = whole[:, None] & ended[None] & (lengths > 0) & (lengths <= LONGEST_ECHO)
    likely = np.where(fits, first[:, None] * last[None], 0.0)
    at, until = np.unravel_index(int(likely.argmax()), likely.shape)
    if likely[at, until] < max(FITTING, first[0] * last[0]):
        return ""
    return text[begins[at] : stops[until]]


def _any_of(facts: npt.NDArray[np.float32]) -> float:
    """How likely any of the facts is told, as if they were independent, 0…1."""
    return round(1.0 - float(np.prod(1.0 / (1.0 + np.exp(facts)))), 3)


def _surely(topics: tuple[T | None, ...], logits: npt.NDArray[np.float32], least: float) -> T | None:
    """The likeliest of these topics, where it is that likely."""
    topic, likely = max(_probabilities(topics, logits), key=lambda one: one[1])
    return topic if likely >= least else None


def _probabilities(of: tuple[T, ...], logits: npt.NDArray[np.float32]) -> tuple[tuple[T, float], ...]:
    raised = np.exp(logits - logits.max())
    return tuple(zip(of, (raised / raised.sum()).tolist(), strict=True))
