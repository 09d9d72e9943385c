import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import UserError
from noodlings.mind.meaning import SIZE, WORD_VECTOR_SIZE, short_vector, word_vector


def alike(one, other):
    return float(word_vector(one) @ word_vector(other))


def test_shared_words_make_texts_alike():
    assert alike("The dog sleeps.", "the DOGS are sleeping") > 0.5
    assert alike("The dog sleeps.", "Buy some ink") < 0.2


def test_words_are_as_short_as_their_vector():
    for _ in range(2):
        assert np.array_equal(short_vector("The dog sleeps."), short_vector(word_vector("The dog sleeps.")))
    assert short_vector("...") is None


@given(st.text(max_size=200))
def test_a_word_vector_is_a_unit_vector_or_nothing(text):
    vector = word_vector(text)
    assert vector.shape == (WORD_VECTOR_SIZE,)
    assert float(vector @ vector) == pytest.approx(1.0, abs=1e-5) or not vector.any()


@pytest.mark.slow
def test_the_same_vectors_in_every_process():
    code = (
        "from noodlings.mind.meaning import *; "
        "words = word_vector('a blue door'); "
        "print(words.tobytes().hex(), short_vector(words).tobytes().hex())"
    )
    one, other = (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, env={"PYTHONHASHSEED": seed}
        )
        for seed in "12"
    )
    assert one.stdout == other.stdout
    assert len(one.stdout) > 100


@pytest.mark.parametrize("size", [1, 3, 64, 384, 1536])
def test_short_vectors_keep_who_is_near(size):
    random = np.random.default_rng(size)
    one, noise = random.normal(size=(2, size))
    short = [short_vector(vector) for vector in (one, one + 0.2 * noise, -one)]
    assert all(
        vector.shape == (SIZE,) and np.linalg.norm(vector) == pytest.approx(1, abs=1e-3) for vector in short
    )
    assert short[0] @ short[1] > 0.8
    assert short[0] @ short[2] == pytest.approx(-1.0, abs=1e-3)


def test_vectors_of_two_sources_never_meet():
    cosines = [
        float(short_vector(one[:384]) @ short_vector(one))
        for one in np.random.default_rng(0).normal(size=(50, 512))
    ]
    assert np.abs(cosines).max() < 0.4


def test_scale_does_not_matter_and_a_huge_number_does_not_overflow():
    vector = np.array([1.0, -2.0, 0.5])
    np.testing.assert_array_equal(short_vector(vector), short_vector(vector * 1e300))
    assert short_vector(np.zeros(3)) is None


@pytest.mark.parametrize("bad", [[np.nan], [np.inf, 1.0], [[1.0]], [], b"text", [None, 1.0], {"a": 1}])
def test_what_is_no_vector_is_refused(bad):
    with pytest.raises(UserError):
        short_vector(bad)
