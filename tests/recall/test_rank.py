import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from noodlings.recall.rank import DEFAULT_WEIGHTS, best_rows, combine

UNIT = st.floats(0.0, 1.0, width=32)


@pytest.mark.slow
@given(
    arrays(np.float32, st.integers(0, 300), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])),
    st.integers(1, 40),
)
def test_the_best_rows_are_those_of_a_stable_sort(scores, limit):
    assert best_rows(scores, limit).tolist() == np.argsort(-scores, kind="stable")[:limit].tolist()


@pytest.mark.slow
@given(st.lists(st.tuples(UNIT, UNIT, UNIT, UNIT, UNIT, UNIT), min_size=1, max_size=20))
def test_scores_lie_between_nothing_and_one(rows):
    names = ("meaning", "words", "speaker", "date", "time", "length")
    parts = {name: np.array([row[at] for row in rows], np.float32) for at, name in enumerate(names)}
    for known in (names, names[1:]):
        scores = combine({name: parts[name] for name in known})
        assert ((scores == -1.0) | ((scores >= 0.0) & (scores <= 1.0 + 1e-6))).all()


def test_everything_at_its_best_is_one():
    names = ("meaning", "words", "speaker", "date", "time", "length")
    assert combine({name: np.ones(1, np.float32) for name in names}) == pytest.approx([1.0])


def test_without_vectors_the_words_speak_for_both():
    words = np.array([0.5], np.float32)
    both = combine({"meaning": words, "words": words})
    assert combine({"words": words}) == pytest.approx(both)


def test_a_speaker_alone_is_no_match():
    nothing, something = np.zeros(1, np.float32), np.ones(1, np.float32)
    assert combine({"words": nothing, "speaker": something, "length": something}) == [-1.0]
    assert combine({"words": nothing, "date": something})[0] > 0.0


def test_words_and_meaning_together_outweigh_all_cues():
    weights = DEFAULT_WEIGHTS
    assert weights.meaning + weights.words >= weights.total / 2
