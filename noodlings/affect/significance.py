"""Significance: how far a line is worth keeping, by its words and what they mean, whatever is felt.

"We are expecting a baby" and "the spare key is under the pot" name no feeling, and are kept; strong words
about a queue are not. `tools/affect/fit_significance.py` makes the weights from our own rated lines.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

import numpy as np

from noodlings.affect.network import Array, Network, network_of
from noodlings.affect.words import Reading

WEIGHTS = "significance.npz"
NO_MATTER, UTMOST = 0.13, 0.7
"""What a network gives for lines that nobody would keep, and for those that everybody would: a regression
draws everything toward the middle."""


def significance(reading: Reading, vector: Array | None) -> float:
    """How far a fair archivist of the speaker would keep a line, 0…1, by its words and, if given, its vector
    of shape (384,)."""
    network = _shipped()[vector is not None]
    inputs = network.inputs(reading.features()[None], None if vector is None else vector[None])
    rated = float(network(inputs)[0, 0])
    return min(max((rated - NO_MATTER) / (UTMOST - NO_MATTER), 0.0), 1.0)


@cache
def _shipped() -> tuple[Network, Network]:
    """The weights that come with noodlings, read once: by words alone, and by words and meaning."""
    with (resources.files("noodlings.affect") / WEIGHTS).open("rb") as file, np.load(file) as arrays:
        return network_of(arrays, "words"), network_of(arrays, "meaning")
