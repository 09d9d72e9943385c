"""Encoding makes a memory entry with its importance out of a percept, and refuses bad numbers."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from noodlings.clock import moment
from noodlings.errors import UserError
from noodlings.memory.importance import INITIAL_STABILITY, REPEATED, about_something, importance
from noodlings.memory.stream import STATE_SIZE
from noodlings.text import CleanText
from noodlings.values.affect import Affect
from noodlings.values.fact import Tells
from noodlings.values.memory import ImportanceParts, ImportanceWeights, MemoryEntry
from noodlings.values.percept import Percept


def encode(
    entry_id: int,
    weights: ImportanceWeights,
    percept: Percept,
    *,
    step: int,
    affect: Any,
    phenomenal_state: Any,
    surprise: float,
    identity_salience: float,
    remember: float = 0.0,
    significance: float | None = None,
    repeats: int = 0,
    extra: dict[str, Any],
    source: str = "",
    tells: Tells | None = None,
) -> MemoryEntry:
    """The entry that a percept becomes; arguments as in `HierarchicalMemory.remember`.

    Raises:
        UserError: a number is NaN, infinite, out of range or of the wrong shape.
    """
    felt = read_affect(affect)
    intensity = 0.0 if felt is None else felt.intensity
    if significance is not None:
        significance = unit(significance, "significance") * REPEATED**repeats
        intensity = about_something(intensity, significance)
    parts = ImportanceParts(
        surprise=unit(surprise, "surprise"),
        intensity=intensity,
        salience=unit(identity_salience, "identity_salience"),
        addressed=1.0 if percept.addressed else 0.0,
        remember=unit(remember, "remember"),
        significance=significance or 0.0,
    )
    return MemoryEntry(
        id=entry_id,
        timestamp=moment(percept.timestamp, "timestamp"),
        step=whole(step, "step"),
        user_id=_words(percept.user_id, "user_id"),
        user_text=CleanText(percept.text),
        affect=felt,
        surprise=parts.surprise,
        encoded_importance=importance(parts, weights),
        parts=parts,
        identity_salience=parts.salience,
        phenomenal_state=read_state(phenomenal_state),
        kind=percept.kind,
        audience=percept.heard_by,
        place=percept.place,
        stability=INITIAL_STABILITY,
        extra=extra,
        source=source,
        tells=tells,
    )


def read_affect(numbers: Any) -> Affect | None:
    """An affect from outside; None and an empty list or array mean that nothing is known."""
    # An array without dimensions has a `__len__` that raises.
    has_length = hasattr(numbers, "__len__") and getattr(numbers, "ndim", 1) > 0
    if numbers is None or (has_length and len(numbers) == 0):
        return None
    return Affect.of(numbers)


def read_state(numbers: Any) -> Any:
    """40 numbers as float32, from an array or a dict of arrays that are 40 together; None for nothing."""
    try:
        if isinstance(numbers, dict):
            numbers = np.concatenate([np.ravel(np.asarray(part)) for part in (*numbers.values(), [])])
        if numbers is None or np.size(numbers) == 0:
            return None
        with np.errstate(over="ignore"):  # what overflows is infinite, and refused below
            state = np.array(numbers, np.float32).ravel()  # a copy: the caller's may change
    except (TypeError, ValueError, OverflowError):
        raise UserError(f"a phenomenal state must be {STATE_SIZE} numbers, not {numbers!r:.60}") from None
    if state.size != STATE_SIZE or not np.isfinite(state).all():
        raise UserError(f"a phenomenal state must be {STATE_SIZE} finite numbers, not {numbers!r:.60}")
    return state


def unit(value: Any, name: str) -> float:
    """A number in 0…1, or a `UserError` that names it."""
    number = _number(value, name)
    if not 0.0 <= number <= 1.0:  # NaN fails this too
        raise UserError(f"{name} is {value!r}: it must lie between 0 and 1")
    return number


def whole(value: Any, name: str) -> int:
    """An integer of 64 bits, or a `UserError` that names it."""
    try:
        number = operator.index(value)
    except TypeError:
        raise UserError(f"{name} must be a whole number, not {value!r:.60}") from None
    if not -(2**63) <= number < 2**63:
        raise UserError(f"{name} is {value!r:.60}: it must fit into 64 bits")
    return number


def finite(value: Any, name: str) -> float:
    """A finite number of seconds, or a `UserError` that names it."""
    number = _number(value, name)
    if not math.isfinite(number):
        raise UserError(f"{name} is {value!r}: it must be finite seconds")
    return number


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise UserError(f"{name} must be a number, not {value!r:.60}") from None


def _words(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise UserError(f"{name} must be text, not {value!r:.60}")
    return value
