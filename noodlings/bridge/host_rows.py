"""Rows: the dicts in which old bridges keep what was said, and what they mean here.

Like a list, this takes any dict, whatever it lacks or holds. What cannot be read counts as not given.
"""

from __future__ import annotations

import inspect
import logging
import math
from collections.abc import Callable, Mapping
from typing import Any

from noodlings.clock import moment
from noodlings.errors import UserError
from noodlings.memory.encode import read_affect, read_state, whole
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.saved import MARK_KEY
from noodlings.text import clean
from noodlings.values.affect import Affect

try:
    from noodlings.affect.appraisal import Appraiser
except ImportError:  # not in a copy by `noodlings.bridge.vendor`, which needs numpy alone
    Appraiser = None  # type: ignore[assignment, misc]

log = logging.getLogger(__name__)

Row = dict[str, Any]

UNKNOWN_USER = "unknown"

_READ = frozenset(
    {
        *("user", "text", "affect", "surprise", "timestamp", "identity_salience"),
        *("step", "phenomenal_state", "response", MARK_KEY),
    }
)
# A host may mean something else by these names than `add` does.
_TAKEN = frozenset(inspect.signature(HierarchicalMemory.add).parameters)


def read_row(row: Mapping[str, Any], now: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """A row as arguments of `HierarchicalMemory.add`, and everything else in it, which is kept as it is.

    Defaults: `user` ("unknown"), `text` (""), `timestamp` (`now`), `affect` (appraised, see `_felt`),
    `surprise` and `identity_salience` (0; clamped to 0…1). A thought is a row like any other, because bridges
    do not say who knows of what.
    """
    response = row.get("response")
    affect, significance = _felt(row)
    percept = {
        "timestamp": _moment(row.get("timestamp"), now),
        "step": _readable(lambda step: whole(step, "step"), row.get("step")) or 0,
        "user_id": str(row.get("user") or UNKNOWN_USER),
        "user_text": str(row.get("text") or ""),
        "affect": affect,
        "significance": significance,
        "phenomenal_state": _readable(read_state, row.get("phenomenal_state")),
        "surprise": _unit(row.get("surprise")),
        "response": str(response) if response else None,
        "identity_salience": _unit(row.get("identity_salience")),
    }
    free = {key: value for key, value in row.items() if key not in _READ}
    return percept, {f"host_{key}" if key in _TAKEN else str(key): value for key, value in free.items()}


def words_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Who said what, in the form of an entry."""
    return clean(str(row.get("user") or UNKNOWN_USER)), clean(str(row.get("text") or ""))


def mark_of(row: Mapping[str, Any]) -> int:
    """A hash of who said what and when, whatever types a host uses for these."""
    return hash(repr((row.get("timestamp"), row.get("user"), row.get("text"))))


def _felt(row: Mapping[str, Any]) -> tuple[Affect | None, float | None]:
    """What was felt, and how far the words are worth keeping, 0…1 (None where they were not appraised).

    Where a host does not say what was felt, the words alone must tell. An empty affect says that nothing was:
    so bridges write down what their own character says and thinks.
    """
    known = _readable(lambda affect: (read_affect(affect), None), row.get("affect"))
    if known is not None or Appraiser is None:
        return known or (None, None)
    appraisal = Appraiser().appraise(str(row.get("text") or ""))  # a new one, so that no cache keeps the text
    return appraisal.affect, appraisal.significance


def _number(value: Any, default: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return default
    return number if math.isfinite(number) else default


def _moment(value: Any, now: float) -> float:
    try:
        return moment(_number(value, math.nan))
    except UserError:
        return now


def _unit(value: Any) -> float:
    return min(max(_number(value, 0.0), 0.0), 1.0)


def _readable(read: Callable[[Any], Any], value: Any) -> Any:
    if value is None:
        return None
    try:
        return read(value)
    except UserError as error:
        log.warning("a row of a host is kept without a part of it: %s", error)
        return None
