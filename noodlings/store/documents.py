"""Single values that can be kept exactly, and JSON documents that say in which version they are written.

Numbers are finite, integers are counts or ids, text is Unicode that encodes, and whatever has an inner shape
is `{"v": 1, "data": …}`. What cannot be kept exactly is refused here, before it reaches a database.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any, SupportsFloat

from noodlings.errors import StoreError

FORMAT = 1
"""Version of the JSON documents."""

LARGEST = 2**63 - 2
"""The largest integer that is kept: one less than a column could hold, so that there is a bound above all."""

_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def to_json(data: Any, what: str) -> str:
    """A versioned document. `what` names it in the refusal of anything that JSON cannot keep exactly."""
    try:
        return text(_JSON.encode({"v": FORMAT, "data": data}), what)
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"{what} cannot be kept as JSON: {error}") from error


def from_json(document: str, what: str, constant: Callable[[str], float] | None = None) -> Any:
    """The data of a document. Raises `StoreError` when it is damaged or of another version.

    Args:
        constant: the number that NaN, Infinity or -Infinity stands for; none of our documents holds one.
    """
    try:
        content = json.loads(document, parse_constant=constant)
        version, data = content["v"], content["data"]
    except (TypeError, ValueError, KeyError, RecursionError) as error:
        raise StoreError(f"{what} is damaged: {type(error).__name__}") from None
    if version != FORMAT:
        found = version if isinstance(version, int) else "unknown"
        raise StoreError(f"{what} has format {found}; this noodlings reads {FORMAT}. Update noodlings")
    return data


def text(value: str, what: str) -> str:
    """`value`, if it encodes as UTF-8 and has no NUL in it, which PostgreSQL cannot keep in a text."""
    if "\0" in value:
        raise StoreError(f"{what} has a NUL character in it")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise StoreError(f"{what} is not valid Unicode: {error}") from error
    return value


def number(value: SupportsFloat, what: str) -> float:
    """`value` as a float, if it is finite: SQLite would turn NaN into NULL without a word."""
    result = float(value)
    if not isfinite(result):
        raise StoreError(f"{what} is {result}: only finite numbers can be stored")
    return result


def whole(value: int, what: str) -> int:
    """`value` as an int, if it is a count or an id: not negative, and no more than 63 bits."""
    result = int(value)
    if not 0 <= result <= LARGEST:
        raise StoreError(f"{what} is {result}: it must lie between 0 and {LARGEST}")
    return result


def id_list(ids: Iterable[int]) -> str:
    """The ids that could exist as one JSON list, so that a statement is the same for any number of them."""
    return json.dumps([entry_id for entry_id in map(int, ids) if 0 <= entry_id <= LARGEST])
