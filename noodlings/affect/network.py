"""A network with one hidden layer and skip connections, run in numpy: from a text to ratings of it.

Its inputs are the features of `noodlings.affect.words`, alone or with what an embedding model gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]

VECTOR_SIZE = 384
LAYERS_SIZE = 7 * VECTOR_SIZE
VECTOR_SCALE = np.float32(np.sqrt(VECTOR_SIZE))
"""Brings the numbers of a unit vector to the size of the standardised features."""
FEATURE_LIMIT = 5.0
"""Standard deviations at which a feature is clipped: a page of exclamation marks is not a new feeling."""


@dataclass(frozen=True, slots=True)
class Network:
    """The weights of one network, float32, which predicts what raters would say.

    Attributes:
        centre, scale: mean and standard deviation of each feature, shape (features,).
        hidden, hidden_bias: shapes (inputs, units) and (units,), inputs = features (+ 384 with a vector).
        output, skip, bias: shapes (units, outputs), (inputs, outputs) and (outputs,).
        error: root mean square error of its first output.
    """

    centre: Array
    scale: Array
    hidden: Array
    hidden_bias: Array
    output: Array
    skip: Array
    bias: Array
    error: Array

    def inputs(self, features: Array, vectors: Array | None) -> Array:
        """Features (n, features), with unit vectors (n, 384) or without → what goes in, (n, inputs)."""
        standard = np.clip((features - self.centre) / self.scale, -FEATURE_LIMIT, FEATURE_LIMIT)
        return standard if vectors is None else np.concatenate([standard, vectors * VECTOR_SCALE], axis=1)

    def __call__(self, inputs: Array) -> Array:
        """What people would rate, (n, inputs) → (n, outputs)."""
        hidden = np.maximum(inputs @ self.hidden + self.hidden_bias, 0.0)
        return np.asarray(hidden @ self.output + inputs @ self.skip + self.bias)


def network_of(arrays: Mapping[str, npt.NDArray[Any]], name: str) -> Network:
    return Network(*(arrays[f"{name}/{field.name}"].astype(np.float32) for field in fields(Network)))
