"""The curve from ratings to affect, and the weights that are shipped."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from noodlings.affect.appraisal import FARTHEST, HALF, Network, felt, rated, shipped
from noodlings.affect.network import LAYERS_SIZE
from noodlings.affect.words import FEATURES
from noodlings.embed.minilm import DIMENSIONS, MiniLM
from noodlings.values.affect import REST, Affect

distances = arrays(np.float64, 5, elements=st.floats(-FARTHEST, FARTHEST))


@given(distances)
def test_what_is_felt_lies_within_the_range_of_affect(distance: np.ndarray) -> None:
    affect = felt(distance)
    np.testing.assert_array_equal(Affect(*affect.tolist()).array(), affect)


@given(distances)
def test_the_way_back_is_exact_from_any_rating(distance: np.ndarray) -> None:
    distance[2:] = np.abs(distance[2:])
    np.testing.assert_allclose(rated(felt(distance)), distance, rtol=1e-6, atol=1e-7)


@given(st.floats(-3, 3), st.floats(-3, 3))
def test_a_worse_rating_never_feels_better(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert (felt(np.full(5, low)) <= felt(np.full(5, high))).all()


def test_the_curve_rests_at_rest_and_is_half_at_half() -> None:
    np.testing.assert_array_equal(felt(np.zeros(5)), REST)
    np.testing.assert_allclose(felt(np.full(5, HALF)), [0.5, 0.75, 0.5, 0.5, 0.5])


def test_a_full_feeling_is_traced_to_the_end_of_the_scale() -> None:
    np.testing.assert_allclose(rated(np.ones(5)), np.full(5, FARTHEST))


def test_a_network_is_what_it_says() -> None:
    one = np.ones(1, dtype=np.float32)
    hidden = np.array([[1.0, -1.0]], dtype=np.float32)
    output = np.array([[1, 0, 0, 0, 0], [0, 1, 0, 0, 0]], dtype=np.float32)
    skip = np.array([[0, 0, 10, 0, 0]], dtype=np.float32)
    bias = np.array([0, 0, 0, 0, 7], dtype=np.float32)
    network = Network(one, 2 * one, hidden, np.zeros(2, dtype=np.float32), output, skip, bias, one[0])
    inputs = network.inputs(np.array([[5.0], [-3.0]], dtype=np.float32), None)
    np.testing.assert_array_equal(inputs, [[2], [-2]])
    np.testing.assert_array_equal(network(inputs), [[2, 0, 20, 0, 7], [0, 2, -20, 0, 7]])


def test_the_shipped_weights_fit_what_they_are_given_and_say_where_they_are_from() -> None:
    regression = shipped()
    assert regression.by_words.hidden.shape[0] == len(FEATURES)
    assert regression.by_meaning.hidden.shape[0] == len(FEATURES) + DIMENSIONS
    assert regression.by_layers.hidden.shape[0] == len(FEATURES) + LAYERS_SIZE
    assert regression.provenance["vectors of"] == MiniLM.name
    licences = {source["licence"] for source in regression.provenance["data"]}
    assert licences == {"CC BY-SA 4.0", "MIT"}
    reached = regression.provenance["figures"]["meaning"]
    for figures in (reached["cross-validated r"], reached["held-out r"]):
        assert figures["valence"] >= 0.68
        assert figures["arousal"] >= 0.47
    better = regression.provenance["figures"]["layers"]
    for which in ("cross-validated r", "held-out r"):
        assert better[which]["valence"] > reached[which]["valence"] + 0.01
        assert better[which]["arousal"] > reached[which]["arousal"]
