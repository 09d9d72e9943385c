"""The phenomenal state: 40 numbers that carry what was felt, at three speeds.

Three recurrent layers are stacked: a fast one (16 units) receives the affect, a medium one (16) receives the
fast one, and a slow one (8) receives the medium one. Each is a layer of leaky integrators (Jaeger et al.
2007; several paces, stacked: Yamashita and Tani 2008):

    h ← h + leak · (tanh(x·W + h·U) − h)

The weights are the same for every agent. They come with the package in `parameters.npz`, a small file made by
`tools/fit_predictor.py` that also records what it was made from.

`step` is pure and written over `xp`, so that numpy and mlx run the same lines, for one agent or for many.
There is no bias and resting affect is the origin, so zeros are a fixed point. The slow layer moves less than
the fast one on every stream; the tests prove it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from noodlings.errors import StoreError, UserError

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


FAST, MEDIUM, SLOW = slice(0, 16), slice(16, 32), slice(32, 40)
STATE_SIZE = 40
AFFECT_SIZE = 5


def step(xp: Any, parameters: Parameters, state: Any, affect: Any) -> Any:
    """The state after an affect.

    Args:
        xp: `numpy` or `mlx.core`; the arrays and the parameters must be its own (`Parameters.on`).
        parameters: the weights; the same for every agent.
        state: shape (40,), or (n, 40) for n agents at once; each number in −1…1.
        affect: shape (5,), or (n, 5), in the order and range of `noodlings.values.affect`.

    Returns:
        The next state, of the shape of `state`, each number in −1…1.

    Raises:
        UserError: a shape does not fit. Values are not checked.
    """
    _check(state, STATE_SIZE, "a phenomenal state")
    _check(affect, AFFECT_SIZE, "an affect")
    fast, medium, slow = state[..., FAST], state[..., MEDIUM], state[..., SLOW]
    heard = felt(parameters, affect)
    fast = fast + parameters.leak_fast * (
        xp.tanh(heard @ parameters.into_fast + fast @ parameters.within_fast) - fast
    )
    medium = medium + parameters.leak_medium * (
        xp.tanh(fast @ parameters.into_medium + medium @ parameters.within_medium) - medium
    )
    slow = slow + parameters.leak_slow * (xp.tanh(medium @ parameters.into_slow) - slow)
    return xp.concatenate([fast, medium, slow], axis=-1)


def felt(parameters: Parameters, affect: Any) -> Any:
    """Affect seen from rest: valence and arousal −1…1, the others 0…1, resting affect all zeros."""
    return (affect - parameters.rest) * parameters.scale


def _check(array: Any, size: int, what: str) -> None:
    if len(array.shape) not in (1, 2) or array.shape[-1] != size:
        raise UserError(f"{what} has shape ({size},), or (agents, {size}), not {tuple(array.shape)}")
