import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.recall.mood_congruence import REACH, combined_score, congruence, emotional_similarity, lift
from noodlings.values.affect import NEUTRAL, Affect

UNIT = st.floats(0.0, 1.0)
AFFECTS = st.builds(Affect, st.floats(-1.0, 1.0), UNIT, UNIT, UNIT, UNIT)
GLAD, SAD = Affect(0.8, 0.7), Affect(-0.8, 0.4, sorrow=0.8)


def test_the_older_rule_holds_what_it_promised():
    assert emotional_similarity(GLAD, GLAD) == 1.0
    assert emotional_similarity(Affect(1.0, 1.0), Affect(-1.0, 0.0)) == 0.0
    assert emotional_similarity(None, GLAD) == emotional_similarity(GLAD, None) == 0.5
    assert combined_score(0.5, 0.9, semantic_weight=1.0, emotion_weight=0.0) == pytest.approx(0.75)
    assert combined_score(0.5, 0.9, semantic_weight=0.0, emotion_weight=1.0) == pytest.approx(0.9)
    assert combined_score(5.0, 0.0) == 0.0


@given(AFFECTS, AFFECTS, st.floats(0.0, 2.0))
def test_the_older_rule_is_bounded(one, other, distance):
    similarity = emotional_similarity(one, other)
    assert 0.0 <= similarity <= 1.0
    assert similarity == emotional_similarity(other, one)
    assert 0.0 <= combined_score(distance, similarity) <= 1.0


def alike(mood, *affects):
    rows = [[np.nan] * 5 if affect is None else affect.as_list() for affect in affects]
    return congruence(mood, np.array(rows)).tolist()


def test_like_feels_like():
    glad, sad, neutral, unknown = alike(GLAD, GLAD, SAD, NEUTRAL, None)
    assert glad > 0.5
    assert sad == neutral == unknown == 0.0


def test_a_neutral_mood_is_like_nothing():
    assert alike(NEUTRAL, GLAD, SAD) == [0.0, 0.0]


def test_less_feeling_counts_less():
    assert alike(GLAD, Affect(0.3, 0.6))[0] < alike(GLAD, Affect(0.6, 0.7))[0]
    assert alike(Affect(0.2, 0.5), GLAD)[0] < alike(GLAD, GLAD)[0]


def test_sleepiness_is_no_feeling():
    assert alike(GLAD, Affect(0.0, 0.1)) == [0.0]


@given(AFFECTS, AFFECTS)
def test_congruence_is_bounded(mood, affect):
    assert 0.0 <= alike(mood, affect)[0] <= 1.0


SCORES = st.lists(st.tuples(UNIT, UNIT), min_size=1, max_size=20)


@given(SCORES, UNIT)
def test_mood_lifts_within_its_reach_and_never_pushes_down(pairs, weight):
    scores, congruent = np.array(pairs).T
    lifts = lift(scores, congruent, weight)
    assert (lifts >= 0.0).all()
    assert (lifts <= weight * REACH + 1e-12).all()
    assert (lifts[scores < scores.max() - weight * REACH] == 0.0).all()


@given(SCORES)
def test_without_weight_it_lifts_nothing(pairs):
    scores, congruent = np.array(pairs).T
    assert not lift(scores, congruent, 0.0).any()


def test_what_all_of_them_feel_is_no_cue():
    assert not lift(np.array([0.5, 0.5, 0.5]), np.array([0.9, 0.9, 0.9]), 1.0).any()
    assert lift(np.array([0.5, 0.5, 0.5]), np.array([0.9, 0.1, 0.1]), 1.0).tolist()[1:] == [0.0, 0.0]


def test_nothing_found_is_nothing_lifted():
    assert lift(np.zeros(0), np.zeros(0), 1.0).size == 0
