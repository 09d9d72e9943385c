"""What is packed comes back as it was, for ever; what was damaged is refused in words."""

from __future__ import annotations

import hashlib
import zlib
from importlib import resources
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import StoreError
from noodlings.store.packing import packed, packed_vector, unpacked, unpacked_vectors
from noodlings.values.memory import EntryVector

leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.floats(width=32, allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.sampled_from(["NaN", "Infinity", "0.12345678901234567", "\x00\x01"])
)
documents = st.recursive(leaves, lambda one: st.lists(one) | st.dictionaries(st.text(max_size=3), one))

SEEN = {"score": 0.1 + 0.2, "scores": {"affect": 0.5123456716537476, "recent": 0.5}, "thought": "Grüße, NaN"}
WRITTEN = (
    "78bb0f935f0b43ef6112d795d08137860cf44c6b91eb47f7a2c37b0ecf4fd551009aa0545b0b00c8dd204a3433"
    "33333333d33f1629033f"
)
"""`SEEN` as the first noodlings packed it that did."""

DICTIONARY = "458f1011dc130bdde7d1bd1e5012e272ea402d4df6dabdbe806c28f6195a0c35"


@pytest.mark.slow
@given(documents)
def test_data_come_back_as_they_were(data: Any) -> None:
    try:
        kept = packed(data, "it")
    except StoreError:  # a key that does not encode
        return
    back = unpacked(kept, "it")
    assert back == data
    assert repr(back) == repr(data)  # -0.0 too, and 1.0 is no 1


def test_what_was_packed_once_can_be_read_for_ever() -> None:
    assert unpacked(bytes.fromhex(WRITTEN), "it") == SEEN
    words = resources.files("noodlings.store").joinpath("traces.dictionary").read_bytes()
    assert hashlib.sha256(words).hexdigest() == DICTIONARY


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf"), np.float64("nan")])
def test_a_number_that_is_not_finite_is_refused(number: float) -> None:
    with pytest.raises(StoreError, match=r"the trace cannot be kept .* the number"):
        packed({"score": [number]}, "the trace")


@pytest.mark.parametrize("data", ["\ud800", object(), {(): 1}])
def test_what_json_cannot_hold_is_refused(data: Any) -> None:
    with pytest.raises(StoreError, match="the trace cannot be kept as JSON"):
        packed(data, "the trace")


def test_what_would_be_too_long_to_be_read_is_not_kept() -> None:
    with pytest.raises(StoreError, match=r"the trace cannot be kept .* bytes"):
        packed({"thought": "a" * (1 << 24)}, "the trace")


def _raw(text: str) -> bytes:
    words = resources.files("noodlings.store").joinpath("traces.dictionary").read_bytes()
    deflate = zlib.compressobj(9, zdict=words)
    return deflate.compress(text.encode()) + deflate.flush()


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"nonsense",
        None,
        "a text",
        packed(SEEN, "it")[:-1],
        packed(SEEN, "it")[:20],
        packed(SEEN, "it") + b"\x00",
        zlib.compress(b'{"v":1,"data":{}}') + b"more",
        _raw('{"v":1,"data":-Infinity}'),
        _raw('{"v":1,"data":NaN}'),
        _raw('{"v":2,"data":{}}'),
        _raw("[" * 100_000),
        _raw('{"v":1,"data":"' + "a" * (1 << 25) + '"}'),
    ],
    ids=str,
)
def test_what_is_damaged_is_refused_in_words(damaged: Any) -> None:
    with pytest.raises(StoreError, match=r"the trace (is|has)"):
        unpacked(damaged, "the trace")


def test_vectors_come_back_as_they_are_searched() -> None:
    numbers = np.random.default_rng(1).normal(size=(5, 384))
    exact = (numbers / np.linalg.norm(numbers, axis=1, keepdims=True)).astype(np.float32)
    vectors = [EntryVector(1, "small", one).vector for one in exact]
    new = [packed_vector(one) for one in vectors if one is not None]
    before = [one.astype("<f4").tobytes() for one in exact]
    for kept in (new, before, [*new[:2], *before[2:]]):
        assert np.array_equal(unpacked_vectors(kept), vectors)
    assert np.abs(np.array(vectors) @ exact.T - exact @ exact.T).max() < 1e-4
    assert {*map(len, new)} == {769}


@pytest.mark.parametrize("blobs", [[b"\x03" + bytes(8)], [bytes(6)], ["text"], [bytes(8), bytes(12)], [None]])
def test_what_is_no_vector_is_refused(blobs: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        unpacked_vectors(blobs)
