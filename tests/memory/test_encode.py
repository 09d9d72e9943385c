"""Encoding: whatever form numbers come in, and a word for those that are none."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from noodlings.errors import UserError
from noodlings.memory.encode import encode, read_affect, read_state
from noodlings.memory.importance import INITIAL_STABILITY, importance
from noodlings.values.affect import Affect
from noodlings.values.audience import Audience
from noodlings.values.memory import ImportanceParts, ImportanceWeights, MemoryEntry
from noodlings.values.percept import Kind, Percept

NUMBERS = [-0.5, 0.75, 0.5, 0.25, 0.0]
FELT = Affect(*NUMBERS)
PERCEPT = {field.name for field in fields(Percept)} - {"affect", "surprise", "identity_salience"}


def encoded(**changes: Any) -> MemoryEntry:
    whole = {name: changes.pop(name) for name in PERCEPT & changes.keys()}
    percept = Percept(**{"user_id": "user_caity", "text": "hello", "timestamp": 10, "audience": ()} | whole)
    beside: dict[str, Any] = {
        "step": 3,
        "affect": NUMBERS,
        "phenomenal_state": None,
        "surprise": 0.5,
        "identity_salience": 0.25,
        "extra": {},
    }
    return encode(7, ImportanceWeights(), percept, **beside | changes)


def test_everything_that_makes_an_importance_is_kept_beside_it() -> None:
    entry = encoded(addressed=True, remember=True)
    assert entry.parts == ImportanceParts(0.5, FELT.intensity, 0.25, 1.0, 0.0, 1.0)
    assert entry.encoded_importance == entry.importance == importance(entry.parts)
    plain = encoded()
    assert plain.parts == ImportanceParts(0.5, FELT.intensity, 0.25, 0.0, 0.0, 0.0)
    assert (plain.id, plain.timestamp, plain.step, plain.stability) == (7, 10.0, 3, INITIAL_STABILITY)
    assert (plain.surprise, plain.identity_salience, plain.affect) == (0.5, 0.25, FELT)


def test_without_a_feeling_there_is_no_intensity() -> None:
    entry = encoded(affect=[])
    assert entry.affect is None
    assert entry.parts.intensity == 0.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_affect_comes_as_list_or_array(dtype: type) -> None:
    array = np.array(NUMBERS, dtype)
    for form in (NUMBERS, tuple(NUMBERS), array, array.reshape(1, 5), [NUMBERS], FELT):
        assert read_affect(form) == FELT


def test_affect_and_state_come_as_mlx_arrays() -> None:
    mx = pytest.importorskip("mlx.core", reason="mlx has no build for this machine")
    assert read_affect(mx.array(NUMBERS)) == FELT
    assert read_affect(mx.array([NUMBERS])) == FELT
    assert read_affect(mx.array([])) is None
    assert read_state(mx.array([0.5] * 40)).tolist() == [0.5] * 40


@pytest.mark.parametrize("nothing", [None, [], (), np.array([]), np.zeros((0, 5))])
def test_nothing_known_is_not_neutral(nothing: Any) -> None:
    assert read_affect(nothing) is None


@pytest.mark.parametrize(
    "affect",
    [
        [0.1, 0.2, 0.3, 0.4],
        [0.0] * 6,
        np.zeros((2, 5)),
        np.zeros((5, 1)),
        np.array(0.5),
        0.5,
        "anxious",
        {"valence": 0.1},
        [0.0, 0.0, math.nan, 0.0, 0.0],
        [0.0, 0.0, math.inf, 0.0, 0.0],
        [0.0, 0.0, None, 0.0, 0.0],
        object(),
    ],
)
def test_affect_that_is_none_is_refused(affect: Any) -> None:
    with pytest.raises(UserError, match="affect"):
        encoded(affect=affect)


def test_affect_beyond_the_range_is_clamped_as_older_bridges_overshoot() -> None:
    assert read_affect([-1.2, 1.1, -0.4, 2.0, 0.0]) == Affect(-1.0, 1.0, 0.0, 1.0, 0.0)


def test_a_state_is_forty_numbers_in_any_form() -> None:
    numbers = np.arange(40) / 8.0
    parts = {"fast": numbers[:16], "medium": numbers[16:32].tolist(), "slow": numbers[32:].reshape(1, 8)}
    for form in (numbers, numbers.tolist(), numbers.reshape(1, 40), parts):
        state = read_state(form)
        assert (state.dtype, state.shape) == (np.float32, (40,))
        assert state.tolist() == numbers.tolist()
    for nothing in (None, [], {}, np.array([]), {"fast": []}):
        assert read_state(nothing) is None


def test_a_state_is_the_entrys_own() -> None:
    handed = np.zeros(40, np.float32)
    state = encoded(phenomenal_state=handed).phenomenal_state
    handed[:] = 1.0
    assert state.tolist() == [0.0] * 40


@pytest.mark.parametrize(
    "state",
    [
        [0.0] * 39,
        np.zeros((2, 40)),
        [math.nan] * 40,
        [1e300] * 40,
        [10**400] * 40,
        "calm",
        {"fast": [0.0] * 16},
        [[1], [2, 3]],
    ],
)
def test_a_state_that_is_none_is_refused(state: Any) -> None:
    with pytest.raises(UserError, match="phenomenal state"):
        encoded(phenomenal_state=state)


@pytest.mark.parametrize("name", ["surprise", "identity_salience"])
@pytest.mark.parametrize("value", [-0.01, 1.01, math.nan, math.inf, "much", None])
def test_what_should_lie_between_0_and_1_is_named_when_it_does_not(name: str, value: Any) -> None:
    with pytest.raises(UserError, match=name):
        encoded(**{name: value})


def test_the_ends_of_the_range_are_in_it() -> None:
    assert encoded(surprise=0, identity_salience=1).parts.salience == 1.0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("timestamp", value) for value in (math.nan, math.inf, -math.inf, "today", None, 10**400)),
        *(("step", value) for value in (1.5, "2", None, 2**63)),
        *(("user_id", value) for value in (None, 7)),
        *(("text", value) for value in (None, 7, b"hello")),
    ],
)
def test_other_nonsense_is_named_too(name: str, value: Any) -> None:
    with pytest.raises(UserError, match=name):
        encoded(**{name: value})


def test_text_is_one_printable_line() -> None:
    assert encoded(text="\x1b[31mred\x07\n  and\tblue \ud800").user_text == "red and blue ?"


def test_who_heard_it_and_where_and_what_else() -> None:
    entry = encoded(kind=Kind.WHISPER, audience=["b", "b"], place="den", extra={"stage_cue": "sighs"})
    assert (entry.kind, entry.audience, entry.place) == (
        Kind.WHISPER,
        Audience(frozenset({"b", entry.user_id}), confined=True),
        "den",
    )
    assert entry.extra == {"stage_cue": "sighs"}
