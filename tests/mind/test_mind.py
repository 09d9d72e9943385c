import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noodlings.errors import UserError
from noodlings.mind.meaning import CAPACITY, word_vector
from noodlings.mind.mind import Mind
from noodlings.mind.packing import unpack
from noodlings.mind.predictor import HISTORY, learner
from noodlings.values.affect import NEUTRAL, Affect
from tests.mind.streams import (
    CALM,
    GREETINGS,
    SAME_IN_OTHER_WORDS,
    affects,
    calm_affects,
    meaning,
    rank_of,
    surprises,
)
from tests.thorough import examples

GRIEF = Affect(-0.7, 0.55, 0.15, 0.7, 0.0)
INSULT = Affect(-0.6, 0.7, 0.1, 0.1, 0.0)
WARM = Affect(0.3, 0.55, 0.0, 0.0, 0.0)

vectors = st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3).map(np.array)
percepts = st.lists(st.tuples(affects, st.none() | vectors, st.floats(0, 1e9)), min_size=1, max_size=40)


@pytest.fixture
def talk():
    """Forty calm lines, their feelings, and a mind that heard them."""
    feelings, mind = calm_affects(len(CALM)), Mind()
    surprises(CALM, feelings, mind)
    return mind


@pytest.mark.parametrize(
    "news",
    [
        "My little brother died this morning.",
        "They pulled him out of the lake, it was too late.",
        "I am sorry, your mother has passed away.",
    ],
)
@pytest.mark.parametrize("place", [12, 25, 39])
def test_a_death_in_calm_talk_is_among_the_most_surprising(news, place):
    texts, feelings = list(CALM), calm_affects(len(CALM))
    texts.insert(place, news)
    feelings.insert(place, GRIEF)
    stream = surprises(texts, feelings)
    assert rank_of(stream, place) <= 0.05
    assert stream[place] > 0.5


@pytest.mark.parametrize(
    "insult", ["You worthless heap of scrap.", "I despise you, go away.", "You are a fraud."]
)
def test_an_insult_after_a_hundred_greetings_is_the_most_surprising(insult):
    texts = [GREETINGS[turn * 5 % len(GREETINGS)] for turn in range(100)]
    stream = surprises([*texts, insult], [WARM] * 100 + [INSULT])
    assert max(stream) == stream[-1] > 0.8


@pytest.mark.parametrize(
    ("first", "second"),
    [("tick", "tock"), ("Ask me.", "I answer."), ("The sun is up.", "The moon is out.")],
)
def test_a_known_line_in_the_wrong_place_breaks_a_pattern(first, second):
    texts = [first, second] * 25 + [second] + [first, second] * 5
    stream = surprises(texts, [NEUTRAL] * len(texts))
    assert rank_of(stream, 50) <= 0.05
    assert stream[50] > 10 * max(stream[40:50])


def test_a_pattern_of_feelings_alone_can_be_broken():
    mind, turns = Mind(), [WARM, INSULT] * 40 + [INSULT]
    stream = [mind.perceive(affect, None, 20.0 * turn).surprise for turn, affect in enumerate(turns)]
    assert rank_of(stream, 80) <= 0.05
    assert stream[80] > 10 * max(stream[70:80])


@pytest.mark.parametrize("after_talk", [False, True])
@pytest.mark.parametrize("stimulus", ["The bell is ringing.", "You worthless heap of scrap.", "ha"])
def test_the_same_words_stop_surprising_within_ten(talk, stimulus, after_talk):
    affect = INSULT if "worthless" in stimulus else NEUTRAL
    stream = surprises([stimulus] * 40, [affect] * 40, talk if after_talk else None, start=1_000.0)
    assert max(stream[9:]) < 0.2
    assert stream[0] > stream[9]


@pytest.mark.parametrize("after_talk", [False, True])
@pytest.mark.parametrize("theme", SAME_IN_OTHER_WORDS)
def test_the_same_in_other_words_stops_surprising_within_twelve(talk, theme, after_talk):
    texts = SAME_IN_OTHER_WORDS[theme]
    stream = surprises(texts, calm_affects(len(texts), 1), talk if after_talk else None, start=1_000.0)
    assert stream[11] < 0.25
    assert np.median(stream[6:]) < 0.15


def test_an_old_habit_surprises_again_after_a_long_silence():
    mind = Mind()
    surprises(["hello"] * 20, [NEUTRAL] * 20, mind)
    again = Mind()
    again.load_state(mind.state_dict())
    soon = mind.perceive(NEUTRAL, meaning("hello"), 600.0)
    late = again.perceive(NEUTRAL, meaning("hello"), 600.0 + 60 * 86_400.0)
    assert late.error > soon.error + 1.0


def test_the_first_lines_of_a_life_surprise_a_little(talk):
    stream = surprises(CALM[:5], calm_affects(5))
    assert all(0.02 < surprise < 0.5 for surprise in stream)


def test_words_alone_serve_where_there_is_no_embedder():
    mind = Mind()
    stream = [mind.perceive(NEUTRAL, word_vector(text), 20.0 * turn) for turn, text in enumerate(CALM)]
    insult = mind.perceive(INSULT, word_vector("You worthless heap of scrap."), 900.0)
    assert insult.surprise > max(percept.surprise for percept in stream)


@settings(max_examples=examples(60))
@given(percepts)
def test_whatever_comes_everything_stays_in_range(stream):
    mind = Mind()
    for affect, vector, now in stream:
        expectation = mind.perceive(affect, vector, now)
        assert 0.0 <= expectation.surprise <= 1.0
        assert 0.0 <= expectation.error < math.inf
        assert expectation.state.shape == (40,)
        assert np.abs(expectation.state).max() <= 1.0
        assert isinstance(mind.expects(), Affect)


@settings(max_examples=examples(30))
@given(percepts, percepts)
def test_a_restart_changes_nothing(before, after):
    lived, restarted = Mind(), Mind()
    for affect, vector, now in before:
        lived.perceive(affect, vector, now)
    restarted.load_state(json.loads(json.dumps(lived.state_dict())))
    for affect, vector, now in after:
        assert lived.expects() == restarted.expects()
        ours, theirs = lived.perceive(affect, vector, now), restarted.perceive(affect, vector, now)
        assert (ours.surprise, ours.error) == (theirs.surprise, theirs.error)
        assert ours.state.tobytes() == theirs.state.tobytes()
    assert lived.state_dict() == restarted.state_dict()


def test_a_stored_mind_stays_small_however_long_it_lives():
    mind = Mind()
    for turn in range(3 * HISTORY):
        mind.perceive(NEUTRAL, np.eye(384)[turn], float(turn))
    data = mind.state_dict()
    assert len(unpack(data, "errors", (-1,))) == HISTORY
    assert len(data["familiar"]["times"]) == CAPACITY
    assert len(json.dumps(data)) < 20_000


def test_mlx_learns_the_same():
    mlx = pytest.importorskip("mlx.core", reason="mlx cannot be imported here")
    by_numpy, by_mlx = Mind(), Mind(learn=learner(mlx))
    for turn, affect in enumerate(calm_affects(60)):
        ours, theirs = by_numpy.perceive(affect, None, turn), by_mlx.perceive(affect, None, turn)
        assert ours.surprise == pytest.approx(theirs.surprise, abs=1e-5)
        assert by_numpy.expects().as_list() == pytest.approx(by_mlx.expects().as_list(), abs=1e-5)


@pytest.mark.parametrize(
    ("affect", "vector", "now"),
    [
        ([0.0, math.nan, 0.0, 0.0, 0.0], None, 0.0),
        ([0.0, 0.5, 0.0], None, 0.0),
        ("sad", None, 0.0),
        (NEUTRAL, [math.nan, 1.0], 0.0),
        (NEUTRAL, [[1.0, 2.0]], 0.0),
        (NEUTRAL, [], 0.0),
        (NEUTRAL, b"hello", 0.0),
        (NEUTRAL, None, math.inf),
        (NEUTRAL, [1.0], math.nan),
    ],
)
def test_nonsense_is_refused_and_leaves_the_mind_as_it_was(affect, vector, now):
    mind = Mind()
    mind.perceive(WARM, [1.0, 2.0], 0.0)
    before = mind.state_dict()
    with pytest.raises(UserError):
        mind.perceive(affect, vector, now)
    assert mind.state_dict() == before


def _damaged(**changes):
    return Mind().state_dict() | changes


@pytest.mark.parametrize(
    "data",
    [
        {},
        _damaged(version=99),
        _damaged(state=[0.0] * 39),
        _damaged(state=[math.nan] * 40),
        _damaged(affect=[7.0] * 5),
        _damaged(readout="not base64!"),
        _damaged(readout="AAAA"),
        _damaged(errors=[-1.0]),
        _damaged(errors="x"),
        _damaged(familiar=None),
        _damaged(familiar={"times": [0.0], "vectors": "", "exactness": 0.0}),
        _damaged(familiar={"times": [], "vectors": "", "exactness": 2.0}),
    ],
)
def test_a_damaged_state_is_refused_and_leaves_the_mind_as_it_was(data):
    mind = Mind()
    before = mind.state_dict()
    with pytest.raises(UserError):
        mind.load_state(data)
    assert mind.state_dict() == before


def test_an_empty_meaning_is_like_none():
    ours, theirs = Mind(), Mind()
    assert ours.perceive(WARM, np.zeros(384), 0.0).error == theirs.perceive(WARM, None, 0.0).error
