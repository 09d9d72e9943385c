"""Arrays as JSON and back, bit for bit: short ones as readable lists, long ones as base64."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from noodlings.errors import UserError


def pack(array: npt.NDArray[np.floating[Any]]) -> str:
    """The little-endian bytes of an array, in C order, as base64."""
    return base64.b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode("ascii")


def unpack(
    data: Mapping[str, Any],
    key: str,
    shape: tuple[int, ...],
    dtype: type[np.floating[Any]] = np.float64,
    low: float = -math.inf,
    high: float = math.inf,
) -> npt.NDArray[Any]:
    """The array under `key`, read-only, packed or a plain list. A −1 in `shape` stands for any length.

    Raises:
        UserError: it is missing, damaged, of another shape, not finite, or not within `low` and `high`.
    """
    raw = data.get(key)
    little = np.dtype(dtype).newbyteorder("<")
    try:
        if isinstance(raw, str):
            array = np.frombuffer(base64.b64decode(raw, validate=True), dtype=little).astype(dtype)
        else:
            with np.errstate(over="ignore"):  # to infinity, which is refused below
                array = np.array(raw, dtype=dtype)
        array = array.reshape(shape)
    except (TypeError, ValueError, OverflowError, binascii.Error) as error:
        raise UserError(f"a stored mind is damaged: {key} should be numbers of shape {shape}") from error
    if not (np.isfinite(array) & (low <= array) & (array <= high)).all():
        raise UserError(f"a stored mind is damaged: {key} holds a number that is out of range")
    array.flags.writeable = False
    return array
