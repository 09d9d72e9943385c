import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.mind.meaning import CAPACITY, NEW_LIKELIHOOD, RECOVERY_SECONDS, SIZE, Familiar, short_vector


def meant(number):
    return short_vector(np.random.default_rng(number).normal(size=50))


def hear(stream, familiar=None, spacing=1.0):
    """Likelihoods of a stream of numbers, each standing for a meaning; and what is familiar after it."""
    familiar, likelihoods = familiar or Familiar(), []
    for turn, number in enumerate(stream):
        likelihood, familiar = familiar.hear(meant(number), spacing * turn)
        likelihoods.append(likelihood)
    return likelihoods, familiar


@given(st.lists(st.integers(0, 6), max_size=60))
def test_a_likelihood_is_above_0_and_at_most_1(stream):
    likelihoods, familiar = hear(stream)
    assert all(0.0 < likelihood <= 1.0 for likelihood in likelihoods)
    assert len(familiar.times) == len(familiar.vectors) == min(len(stream), CAPACITY)
    assert 0.0 <= familiar.exactness <= 1.0


def test_to_who_heard_nothing_anything_is_as_new():
    assert hear([1])[0] == hear([2])[0] == [NEW_LIKELIHOOD]


def test_what_repeats_becomes_likely():
    likelihoods, _ = hear([1] * 20)
    assert likelihoods == sorted(likelihoods)
    assert likelihoods[-1] > 0.9


def test_what_follows_what_is_known():
    _, familiar = hear([1, 2, 3] * 8)
    in_turn, out_of_turn = (familiar.hear(meant(number), 30.0)[0] for number in (1, 3))
    assert in_turn > 0.8
    assert out_of_turn < 0.2


def test_who_hears_the_same_to_the_letter_comes_to_expect_it_to_the_letter():
    _, exact = hear([1] * 20)
    assert exact.exactness > 0.8
    _, varied = hear(range(20))
    assert varied.exactness < 0.2


def test_habit_fades_by_half_lives():
    _, familiar = hear([1] * 10)
    likely = [familiar.hear(meant(1), 10.0 + days * RECOVERY_SECONDS)[0] for days in (0, 1, 5, 30)]
    assert likely == sorted(likely, reverse=True)
    assert likely[-1] == pytest.approx(NEW_LIKELIHOOD, rel=0.01)


def test_a_clock_that_goes_back_does_no_harm():
    _, familiar = hear([1] * 10, spacing=100.0)
    assert familiar.hear(meant(1), -1e9)[0] >= familiar.hear(meant(1), 900.0)[0]


@given(st.lists(st.integers(0, 6), max_size=40))
def test_storing_is_exact(stream):
    _, familiar = hear(stream)
    again = Familiar.from_dict(json.loads(json.dumps(familiar.as_dict())))
    assert again.vectors.tobytes() == familiar.vectors.tobytes()
    assert again.vectors.shape == (len(familiar.times), SIZE)
    assert again.hear(meant(1), 99.0)[0] == familiar.hear(meant(1), 99.0)[0]


@given(st.lists(st.integers(0, 6), max_size=40), st.sets(st.integers(0, 40)))
def test_what_is_forgotten_is_as_unfamiliar_as_if_it_had_never_been_heard(stream, forgotten):
    _, familiar = hear(stream)
    left = familiar.without({float(moment) for moment in forgotten})
    kept = [row for row, moment in enumerate(familiar.times) if moment not in forgotten]
    assert np.array_equal(left.times, familiar.times[kept])
    assert np.array_equal(left.vectors, familiar.vectors[kept])
    assert left.exactness == familiar.exactness
    assert Familiar.from_dict(left.as_dict()).as_dict() == left.as_dict()
    assert Familiar.from_dict(left.as_dict(np.ndarray.tolist)).as_dict() == left.as_dict()
