"""Documents and vectors in fewer bytes.

The rule it keeps: data come back as they were, to the last bit; a vector does where its numbers fit into
sixteen bits, and `EntryVector` sees to that. What was packed once can be read for ever: the dictionary never
changes.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from math import inf, isfinite, nan
from typing import Any

import numpy as np

from noodlings.errors import StoreError
from noodlings.store.documents import FORMAT, from_json
from noodlings.values.memory import Vector

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_SINGLE, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")
_TAKEN_OUT = {"Infinity": _SINGLE, "NaN": _DOUBLE}
"""What stands where a number was taken out, and how it is kept. Otherwise no document holds these."""
_LEVEL = 6
"""Of nine. Level 9 takes a fourth more time and leaves a hundredth less."""
_LONGEST = 1 << 24
"""Bytes of the longest document that is read; ours have some thousands."""
_HALVES = b"\x02"
"""Begins a vector in sixteen bits. One in thirty-two has no such byte, and so an even length."""


def packed(data: Any, what: str) -> bytes:
    """A versioned document as compressed JSON, and behind it its long numbers, in four or eight bytes.

    Raises:
        StoreError: it cannot be kept exactly; `what` names it.
    """
    numbers = bytearray()
    try:
        text = _ENCODER.encode({"v": FORMAT, "data": _taken_out(data, numbers)}).encode()
        if len(text) > _LONGEST:
            raise ValueError(f"it has {len(text):,} bytes, more than the limit of {_LONGEST:,}")
        deflate = zlib.compressobj(_LEVEL, zdict=_dictionary())
        return deflate.compress(text) + deflate.flush() + numbers
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"{what} cannot be kept as JSON: {error}") from error


def unpacked(blob: bytes, what: str) -> Any:
    """The data that were packed. Raises `StoreError` when they are damaged or of another version."""
    at = 0

    def number(mark: str) -> float:
        nonlocal at
        form = _TAKEN_OUT[mark]
        (value,) = form.unpack_from(inflate.unused_data, at)
        at += form.size
        return float(value)

    try:
        inflate = zlib.decompressobj(zdict=_dictionary())
        text = inflate.decompress(blob, _LONGEST).decode()
        data = from_json(text, what, number)
    except (TypeError, UnicodeDecodeError, struct.error, zlib.error) as error:
        raise StoreError(f"{what} is damaged: {type(error).__name__}") from None
    if not inflate.eof or at != len(inflate.unused_data):
        raise StoreError(f"{what} is damaged: something is missing or left over")
    return data


def _taken_out(value: Any, numbers: bytearray) -> Any:
    """The value with marks for its long numbers, which are added to `numbers`."""
    if isinstance(value, float):
        if (value * 1000.0).is_integer():  # few digits, which are shorter as such
            return value
        if abs(value) < 1e38 and _SINGLE.unpack(single := _SINGLE.pack(value))[0] == value:
            numbers += single
            return inf
        if not isfinite(value):
            raise ValueError(f"it contains the number {value}")
        numbers += _DOUBLE.pack(value)
        return nan
    if isinstance(value, dict):
        return {key: one if isinstance(one, str) else _taken_out(one, numbers) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [one if isinstance(one, str) else _taken_out(one, numbers) for one in value]
    return value


@cache
def _dictionary() -> bytes:
    """What most traces have in common, and nothing that anybody ever said."""
    return resources.files("noodlings.store").joinpath("traces.dictionary").read_bytes()


def packed_vector(vector: Vector) -> bytes:
    """A vector with sixteen bits a number."""
    return _HALVES + vector.astype("<f2").tobytes()


def unpacked_vectors(blobs: Sequence[bytes]) -> Vector:
    """Vectors of one length, of either form, as float32 of shape (n, dimensions), rounded to sixteen bits.

    Raises:
        TypeError, ValueError: some are none, or of another length.
    """
    if len({*map(len, blobs)}) > 1:
        return np.array([unpacked_vectors([blob])[0] for blob in blobs])
    rows = np.frombuffer(b"".join(blobs), np.uint8).reshape(len(blobs), -1)
    if rows.shape[1] % 2 == 0:
        with np.errstate(over="ignore", invalid="ignore"):  # what is damaged is no unit vector
            return rows.view("<f4").astype("<f2").astype(np.float32)
    if not (rows[:, 0] == _HALVES[0]).all():
        raise ValueError("a vector of an unknown form")
    return np.ascontiguousarray(rows[:, 1:]).view("<f2").astype(np.float32)
