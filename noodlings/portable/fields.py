"""What the fields of a line may hold: types and ranges as pydantic reads them, and the checks behind them."""

from __future__ import annotations

from math import isfinite
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from noodlings.agent.state import check_state
from noodlings.clock import moment
from noodlings.errors import UserError
from noodlings.text import clean
from noodlings.values.affect import FloatArray

DEEPEST = 50
"""Levels of whatever has no fixed shape (a state, what a world added to a percept)."""

STATE_SIZE = 40
_LARGEST = 2**63 - 2


def _plain(value: Any, depth: int = 0) -> Any:
    """Raise ValueError for what a file of JSON could hold and a store could not keep."""
    if depth > DEEPEST:
        raise ValueError(f"it is nested more than {DEEPEST} levels deep")
    if isinstance(value, float) and not isfinite(value):
        raise ValueError("it holds a number that is not finite")
    if isinstance(value, str) and not value.isascii() and value != value.encode("utf-8", "replace").decode():
        raise ValueError("it holds text that is not Unicode")
    if isinstance(value, dict):
        for name, inner in value.items():
            _plain(name)
            _plain(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _plain(inner, depth + 1)
    return value


def restorable(state: dict[str, Any]) -> dict[str, Any]:
    """Raise ValueError unless an agent can be restored from it; from an empty one, as if newly born."""
    try:
        if state:
            check_state(state)
    except UserError as error:
        raise ValueError(str(error)) from None
    return state


def _moment(seconds: float) -> float:
    """Raise ValueError for what is no world time."""
    try:
        return moment(seconds)
    except UserError as error:
        raise ValueError(str(error)) from None


Text = Annotated[str, AfterValidator(clean)]
Plain = Annotated[dict[str, Any], AfterValidator(_plain)]
Moment = Annotated[float, AfterValidator(_moment)]
Unit = Annotated[float, Field(ge=0, le=1)]
Whole = Annotated[int, Field(ge=0, le=_LARGEST)]
AgentId = Annotated[str, Field(pattern=r"^\w{1,60}$")]
Scores = dict[Text, float]


class Strict(BaseModel):
    """An object with these keys, all of them and no others, whose values are of the right type already."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def state_array(numbers: list[float] | None) -> FloatArray | None:
    """A phenomenal state, shape (40,): in single precision where that keeps every number."""
    if numbers is None:
        return None
    exact = np.array(numbers, dtype=np.float64)
    with np.errstate(over="ignore"):
        short = exact.astype(np.float32)
    return short if (short == exact).all() else exact
