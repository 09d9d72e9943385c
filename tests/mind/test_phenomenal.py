import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from noodlings.errors import UserError
from noodlings.mind.phenomenal import FAST, MEDIUM, SLOW, STATE_SIZE, Parameters, shipped, step
from noodlings.values.affect import NEUTRAL, Affect
from tests.mind.streams import affects
from tests.outside import DATA, needs
from tests.thorough import examples


def lived(stream):
    """The states, (len(stream) + 1, 40), of a life from rest."""
    states = [np.zeros(STATE_SIZE)]
    for affect in stream:
        states.append(step(np, shipped(), states[-1], affect.array()))
    return np.array(states)


def travelled(states, layer):
    """How far a layer went, root mean square a unit, summed over the steps."""
    return float(np.sqrt((np.diff(states[:, layer], axis=0) ** 2).mean(axis=1)).sum())


def travel_bound(parameters):
    """The most that the slow layer can move for each step of the fast one, unit for unit; below 1.

    From the update, ‖Δh‖ ≤ (1 − leak·(1 − ‖U‖))·‖Δh before‖ + leak·‖W‖·‖Δx‖, for tanh never stretches. Summed
    over a stream that starts at rest this gives Σ‖Δh‖ ≤ ‖W‖/(1 − ‖U‖) · Σ‖Δx‖, whatever the leak.
    """
    medium = np.linalg.norm(parameters.into_medium, 2) / (1.0 - np.linalg.norm(parameters.within_medium, 2))
    slow = np.linalg.norm(parameters.into_slow, 2)
    units = (FAST.stop - FAST.start) / (SLOW.stop - SLOW.start)
    return float(medium * slow * np.sqrt(units))


def test_what_is_at_rest_stays_at_rest():
    assert not lived([NEUTRAL] * 50).any()


def test_each_layer_is_slower_than_the_one_below():
    states = lived([NEUTRAL, Affect(-0.8, 0.8, 0.5, 0.7, 0.0), *[NEUTRAL] * 80])
    peaks = [int(np.linalg.norm(states[:, layer], axis=1).argmax()) for layer in (FAST, MEDIUM, SLOW)]
    assert peaks == sorted(peaks)
    assert len(set(peaks)) == 3
    left = [np.linalg.norm(states[-1, layer]) / np.linalg.norm(states[:, layer], axis=1).max()
            for layer in (FAST, MEDIUM, SLOW)]  # fmt: skip
    assert left == sorted(left)


def test_the_shipped_weights_prove_that_the_slow_layer_moves_less():
    assert travel_bound(shipped()) < 1.0


@settings(max_examples=examples(100))
@given(st.lists(affects, min_size=1, max_size=60))
def test_the_slow_layer_moves_less_than_the_fast_one(stream):
    states = lived(stream)
    assert travelled(states, SLOW) <= travelled(states, FAST)
    assert np.abs(states).max() <= 1.0


@pytest.mark.slow
@needs("noodlemush/chat.jsonl")
def test_the_slow_layer_moves_less_on_real_talk():
    sentiment = SentimentIntensityAnalyzer()
    lines = (DATA / "noodlemush" / "chat.jsonl").read_text("utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    scores = [sentiment.polarity_scores(text) for text in texts]
    stream = [Affect.of([s["compound"], 0.5 + s["pos"] / 2, 0, s["neg"], s["neu"] / 4]) for s in scores]
    states = lived(stream)
    assert travelled(states, SLOW) < 0.5 * travelled(states, MEDIUM) < 0.5 * travelled(states, FAST)


def test_many_agents_step_as_one_batch():
    random = np.random.default_rng(0)
    states = random.uniform(-1, 1, size=(7, STATE_SIZE))
    felt = random.uniform(0, 1, size=(7, 5))
    batch = step(np, shipped(), states, felt)
    alone = [step(np, shipped(), state, affect) for state, affect in zip(states, felt, strict=True)]
    np.testing.assert_allclose(batch, alone, atol=1e-15)


@pytest.mark.parametrize("agents", [None, 1, 64])
def test_mlx_gives_the_same_numbers(agents):
    mlx = pytest.importorskip("mlx.core", reason="mlx cannot be imported here")
    random = np.random.default_rng(1)
    shape = () if agents is None else (agents,)
    ours = np.zeros((*shape, STATE_SIZE))
    theirs, parameters = mlx.array(ours.astype(np.float32)), shipped().on(mlx)
    for _ in range(40):
        felt = random.uniform([-1, 0, 0, 0, 0], 1, size=(*shape, 5))
        ours = step(np, shipped(), ours, felt)
        theirs = step(mlx, parameters, theirs, mlx.array(felt.astype(np.float32)))
    np.testing.assert_allclose(np.array(theirs), ours, atol=1e-6)


@pytest.mark.parametrize(
    ("state", "affect"),
    [((39,), (5,)), ((40,), (4,)), ((2, 3, 40), (5,)), ((), (5,)), ((40,), (1, 1, 5))],
)
def test_a_wrong_shape_is_refused(state, affect):
    with pytest.raises(UserError, match="shape"):
        step(np, shipped(), np.zeros(state), np.zeros(affect))


def test_parameters_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        shipped().readout[0, 0] = 1.0
    assert isinstance(shipped(), Parameters)
