import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noodlings.mind.phenomenal import FEATURES, STATE_SIZE, felt, shipped, step
from noodlings.mind.predictor import LEARNING_RATE, expect, features, gradient, learn, learner, loss
from noodlings.values.affect import REST, Affect
from tests.mind.streams import affects
from tests.thorough import examples


def errors_of(stream):
    """How far each affect, (5,), was from its forecast, in a life that learns."""
    parameters = shipped()
    readout, state, affect = parameters.readout, np.zeros(STATE_SIZE), np.array(REST)
    errors = []
    for came in stream:
        errors.append(float(np.linalg.norm(expect(np, parameters, readout, state, affect) - came)))
        readout = learn(np, parameters, readout, features(np, parameters, state, affect), came)
        state, affect = step(np, parameters, state, came), came
    return errors


def test_who_is_at_rest_expects_to_stay_about_there():
    expected = expect(np, shipped(), shipped().readout, np.zeros(STATE_SIZE), np.array(REST))
    np.testing.assert_allclose(expected, REST, atol=0.1)
    assert np.abs(step(np, shipped(), np.zeros(STATE_SIZE), expected)).max() < 0.2


@pytest.mark.parametrize("period", [1, 2, 3])
def test_what_comes_in_turn_is_learned(period):
    parts = np.random.default_rng(3).uniform(0.1, 0.9, size=(period, 5))
    errors = errors_of(np.tile(parts, (300 // period, 1)))
    assert np.mean(errors[-9:]) < 0.2 * np.mean(errors[:9])


@settings(max_examples=examples(40))
@given(st.lists(affects, min_size=1, max_size=60))
def test_a_forecast_is_an_affect_and_the_readout_stays_bounded(stream):
    parameters, readout, state = shipped(), shipped().readout, np.zeros(STATE_SIZE)
    for affect in stream:
        readout = learn(
            np, parameters, readout, features(np, parameters, state, np.array(REST)), affect.array()
        )
        state = step(np, parameters, state, affect.array())
        Affect(*expect(np, parameters, readout, state, affect.array()).tolist())
    assert np.abs(readout).max() < 10.0


def _lesson(agents=None, seed=0):
    random = np.random.default_rng(seed)
    shape = () if agents is None else (agents,)
    readout = shipped().readout + random.normal(0, 0.1, size=(*shape, FEATURES, 5))
    return readout, random.uniform(-1, 1, (*shape, FEATURES)), random.uniform(0, 1, (*shape, 5))


def test_the_gradient_is_that_of_the_loss():
    readout, seen, heard = _lesson()
    ours = gradient(np, shipped(), readout, seen, heard)
    for where in [(0, 0), (20, 3), (45, 4)]:
        nudge = np.zeros_like(readout)
        nudge[where] = 1e-6
        rise = loss(shipped(), readout + nudge, seen, heard) - loss(shipped(), readout - nudge, seen, heard)
        assert ours[where] == pytest.approx(rise / 2e-6, abs=1e-7)


@pytest.mark.parametrize("agents", [None, 5])
def test_mlx_derives_the_same_gradient_and_forecast(agents):
    mlx = pytest.importorskip("mlx.core", reason="mlx cannot be imported here")
    readout, seen, came = _lesson(agents)
    parameters = shipped().on(mlx)
    own = [mlx.array(array.astype(np.float32)) for array in (readout, seen, came)]
    theirs = np.array(gradient(mlx, parameters, own[0], own[1], felt(parameters, own[2])))
    np.testing.assert_allclose(
        theirs, gradient(np, shipped(), readout, seen, felt(shipped(), came)), atol=1e-6
    )
    state = seen[..., :STATE_SIZE]
    ours = expect(np, shipped(), readout, state, came)
    theirs = expect(mlx, parameters, own[0], own[1][..., :STATE_SIZE], own[2])
    np.testing.assert_allclose(np.array(theirs), ours, atol=1e-6)


def test_agents_learn_side_by_side_as_they_would_alone():
    readout, seen, came = _lesson(agents=4)
    together = learn(np, shipped(), readout, seen, came)
    for agent in range(4):
        alone = learn(np, shipped(), readout[agent], seen[agent], came[agent])
        np.testing.assert_allclose(together[agent], alone, atol=1e-15)


def test_one_lesson_takes_back_its_share_of_the_error():
    parameters, seen, came = shipped(), _lesson()[1], np.array([0.5, 0.5, 0.0, 0.5, 0.0])
    readout = learner(np)(parameters, parameters.readout, seen, came)
    wrong_before = seen @ parameters.readout - felt(parameters, came)
    wrong_after = seen @ readout - felt(parameters, came)
    np.testing.assert_allclose(wrong_after, (1 - LEARNING_RATE) * wrong_before, atol=1e-12)
