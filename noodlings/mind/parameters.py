"""The weights of the mind: one small file, shipped, the same for every agent.

`tools/fit_predictor.py` makes `parameters.npz`; what it was made of stands in the file itself.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from noodlings.errors import StoreError

FEATURES = 46
"""What a forecast is read from: the state (40), what is felt (5), and a constant."""

_SHAPES: dict[str, tuple[int, ...]] = {
    "rest": (5,),
    "scale": (5,),
    "floor": (5,),
    "leak_fast": (),
    "leak_medium": (),
    "leak_slow": (),
    "into_fast": (5, 16),
    "within_fast": (16, 16),
    "into_medium": (16, 16),
    "within_medium": (16, 16),
    "into_slow": (16, 8),
    "readout": (FEATURES, 5),
}


@dataclass(frozen=True, slots=True, eq=False)
class Parameters:
    """Arrays of numpy (float64) or, after `on(mlx.core)`, of mlx (float32). Row vectors meet them: x @ W.

    Attributes:
        rest, scale, floor: (5,); what is felt is (affect − rest) · scale, from floor to 1.
        leak_fast, leak_medium, leak_slow: how much of a layer is renewed in a step, 0…1, falling.
        into_…: from the layer below (from the affect, for the fast one).
        within_…: from the layer itself; the slow layer has none.
        readout: (46, 5); the forecast an agent is born with, features → next felt.
    """

    rest: Any
    scale: Any
    floor: Any
    leak_fast: Any
    leak_medium: Any
    leak_slow: Any
    into_fast: Any
    within_fast: Any
    into_medium: Any
    within_medium: Any
    into_slow: Any
    readout: Any

    def on(self, xp: Any) -> Parameters:
        """The same parameters as arrays of `xp` (mlx takes them as float32)."""
        dtype = np.float64 if xp is np else np.float32
        return Parameters(
            **{f.name: xp.array(np.asarray(getattr(self, f.name), dtype=dtype)) for f in fields(self)}
        )


@cache
def shipped() -> Parameters:
    """The parameters that come with noodlings, as numpy arrays.

    Raises:
        StoreError: the file of the installation is damaged.
    """
    path = files("noodlings.mind") / "parameters.npz"
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        arrays = {
            name: np.asarray(archive[name], dtype=np.float64) for name in archive.files if name in _SHAPES
        }
    for name, shape in _SHAPES.items():
        if name not in arrays or arrays[name].shape != shape or not np.isfinite(arrays[name]).all():
            raise StoreError(f"parameters.npz is damaged: {name} should be finite numbers of shape {shape}")
        arrays[name].flags.writeable = False
    return Parameters(**arrays)
