"""Likeness of feeling: bounded, symmetric, defined for neutral and missing, the same for one and many."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from noodlings.memory.likeness import METRICS, MISSING, NEUTRAL_INTENSITY, likeness
from noodlings.values.affect import NEUTRAL, Affect
from tests.memory.entries import ANXIOUS, BORED, JOYFUL, SORROWFUL, WORRIED

unit = st.floats(0, 1)
affects = st.builds(Affect, st.floats(-1, 1), unit, unit, unit, unit)
metrics = st.sampled_from(sorted(METRICS))
CORNERS = [(Affect(v, a), Affect(-v, 1.0 - a)) for v, a in product((-1.0, 1.0), (0.0, 1.0))]


@given(affects, affects, metrics)
def test_likeness_is_symmetric_and_lies_between_0_and_1(one: Affect, other: Affect, metric: str) -> None:
    alike = likeness(one, other, metric)
    assert 0.0 <= alike <= 1.0
    assert alike == pytest.approx(likeness(other, one, metric), abs=1e-12)


@given(affects, metrics)
def test_every_feeling_is_like_itself(affect: Affect, metric: str) -> None:
    assume(affect.intensity >= 2 * NEUTRAL_INTENSITY)
    assert likeness(affect, affect, metric) == pytest.approx(1.0)


@given(st.lists(st.none() | affects, min_size=1, max_size=30), affects, metrics)
def test_one_and_many_agree(column: list[Affect | None], affect: Affect, metric: str) -> None:
    chosen = METRICS[metric]
    features = np.array([chosen.row(one) for one in column])
    assert features.shape == (len(column), chosen.width)
    missing = [row for row, one in enumerate(column) if one is None]
    together = chosen.alike(features, affect, missing).tolist()
    assert together == pytest.approx([likeness(one, affect, metric) for one in column], abs=1e-12)


@given(affects, metrics)
def test_a_missing_feeling_is_as_alike_as_not(affect: Affect, metric: str) -> None:
    assert likeness(None, affect, metric) == likeness(affect, None, metric) == MISSING == 0.5
    assert likeness(None, None, metric) == MISSING


@pytest.mark.parametrize(("corner", "opposite"), CORNERS)
def test_opposite_corners_are_nothing_alike(corner: Affect, opposite: Affect) -> None:
    assert likeness(corner, opposite, "euclidean") == 0.0


def test_euclidean_is_the_distance_in_the_plane_of_valence_and_arousal() -> None:
    assert likeness(Affect(-1, 0), Affect(1, 0), "euclidean") == pytest.approx(1 - 2 / math.sqrt(8))
    assert likeness(Affect(0, 0.5), Affect(0.3, 0.7), "euclidean") == pytest.approx(1 - 0.5 / math.sqrt(8))
    assert likeness(Affect(0, 0.5), Affect(0, 0.5, fear=1.0), "euclidean") == 1.0


@given(affects, affects)
def test_cosine_is_that_of_the_raw_numbers(one: Affect, other: Affect) -> None:
    a, b = one.array(), other.array()
    lengths = np.linalg.norm(a) * np.linalg.norm(b)
    assume(lengths > 1e-6)
    assert likeness(one, other, "cosine") == pytest.approx(max(a @ b / lengths, 0.0), abs=1e-9)


def test_cosine_with_nothing_at_all_is_0() -> None:
    assert likeness(Affect(0.0, 0.0), ANXIOUS, "cosine") == 0.0


@given(affects, affects)
def test_centred_is_the_angle_from_rest_scaled_by_the_weaker_feeling(one: Affect, other: Affect) -> None:
    felt = sorted([one.intensity, other.intensity])
    assume(felt[0] >= NEUTRAL_INTENSITY)
    scale = np.array([1.0, 1.0, 1.2, 1.2, 0.8])
    a, b = ((affect.array() - [0, 0.5, 0, 0, 0]) * scale for affect in (one, other))
    cosine = a @ b / (np.linalg.norm(a) * np.linalg.norm(b))
    expected = max(cosine, 0.0) * math.sqrt(felt[0] / felt[1])
    assert likeness(one, other) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@given(affects)
def test_neutral_is_like_nothing(affect: Affect) -> None:
    assert likeness(NEUTRAL, affect) == 0.0
    assert likeness(Affect(0.0, 0.1), affect) == 0.0  # sleepy is not a feeling either


def test_what_is_hardly_felt_is_neutral_and_a_little_more_is_not() -> None:
    edge = 0.05 / 0.9  # valence weighs 0.9
    assert likeness(Affect(edge * 0.999), Affect(edge * 0.999)) == 0.0
    assert likeness(Affect(edge * 1.001), Affect(edge * 1.001)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("one", "other", "is_alike"),
    [
        (ANXIOUS, WORRIED, True),
        (ANXIOUS, JOYFUL, False),
        (ANXIOUS, SORROWFUL, False),
        (ANXIOUS, BORED, False),
        (JOYFUL, SORROWFUL, False),
        (JOYFUL, BORED, False),
        (SORROWFUL, BORED, False),
        (Affect(0.6, 0.6), JOYFUL, True),
        (Affect(-0.5, 0.45, 0.0, 0.6), SORROWFUL, True),
    ],
)
def test_people_would_agree(one: Affect, other: Affect, is_alike: bool) -> None:
    assert (likeness(one, other) >= 0.7) is is_alike


def test_the_raw_cosine_confuses_what_the_default_tells_apart() -> None:
    calm, alert = Affect(0.1, 0.6), Affect(-0.1, 0.9, 0.3)
    assert likeness(calm, alert, "cosine") > 0.7 > likeness(calm, alert)


def test_a_shiver_is_not_a_panic() -> None:
    shiver, panic = Affect(-0.05, 0.55, 0.1), Affect(-0.5, 1.0, 1.0)
    assert likeness(shiver, panic) < 0.7 < likeness(panic, panic)
