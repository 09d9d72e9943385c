import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import array_shapes, arrays

from noodlings.errors import UserError
from noodlings.mind.packing import pack, unpack


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@given(shape=array_shapes(max_dims=2, max_side=6))
def test_packing_keeps_every_bit(dtype, shape):
    array = np.random.default_rng(0).normal(size=shape).astype(dtype)
    again = unpack(json.loads(json.dumps({"x": pack(array)})), "x", shape, dtype)
    assert again.dtype == dtype
    assert again.tobytes() == array.tobytes()
    assert not again.flags.writeable


@given(arrays(np.float64, 7, elements={"allow_nan": False, "allow_infinity": False}))
def test_a_plain_list_keeps_every_bit(array):
    assert unpack(json.loads(json.dumps({"x": array.tolist()})), "x", (7,)).tobytes() == array.tobytes()


@pytest.mark.parametrize(
    "raw",
    [
        None,
        "####",
        "AAA=",
        [1.0],
        [[1.0], [2.0, 3.0]],
        [1.0, math.nan],
        [1.0, "x"],
        {"a": 1},
        [1.0, 9.0],
        True,
    ],
)
def test_what_does_not_fit_is_refused(raw):
    with pytest.raises(UserError, match="damaged"):
        unpack({"x": raw}, "x", (2,), high=5.0)


def test_a_missing_key_is_refused():
    with pytest.raises(UserError, match="damaged: y"):
        unpack({}, "y", (1,))
