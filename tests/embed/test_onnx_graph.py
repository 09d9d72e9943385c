"""A model that is cut in two computes what the whole one does."""

from __future__ import annotations

from importlib import resources

import numpy as np
import pytest

from noodlings.embed.lines import MODEL
from noodlings.embed.onnx_graph import _fields, _names, cut
from noodlings.embed.session import load_session


@pytest.fixture(scope="module")
def model() -> bytes:
    return cut((resources.files("noodlings.embed") / MODEL).read_bytes(), outputs=["read"])


def between(model: bytes) -> str:
    """The float tensor that the second layer ends with."""
    (graph,) = (field.value for field in _fields(model) if field.number == 7)
    nodes = [field.value for field in _fields(graph) if field.number == 1]
    ends = [node for node in nodes if "LayerNormalization" in _names(node, 4)]
    return next(_names(ends[3], 2))


@pytest.mark.slow
def test_both_parts_one_after_the_other_make_what_the_whole_makes(model: bytes) -> None:
    states = np.random.default_rng(0).normal(size=(1, 9, 384)).astype(np.float32)
    middle = between(model)
    lower, upper = cut(model, outputs=[middle]), cut(model, inputs=[middle], outputs=["read"])
    assert len(lower) + len(upper) == pytest.approx(len(model), rel=0.01)
    (whole,) = load_session(model, "the whole").run(["read"], {"states": states})
    (half,) = load_session(lower, "the lower part").run([middle], {"states": states})
    session = load_session(upper, "the upper part")
    assert [given.name for given in session.get_inputs()] == [middle]
    (rest,) = session.run(["read"], {middle: half})
    np.testing.assert_allclose(rest, whole, atol=0.05)  # what is quantised rounds otherwise


@pytest.mark.slow
def test_a_model_that_is_not_cut_anywhere_stays_as_it_is(model: bytes) -> None:
    states = np.ones((1, 3, 384), dtype=np.float32)
    same = load_session(cut(model, outputs=["read"]), "the same").run(None, {"states": states})
    np.testing.assert_array_equal(same, load_session(model, "the whole").run(None, {"states": states}))
