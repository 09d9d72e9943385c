"""Moments as files write them: seconds, milliseconds, ISO 8601, or a form that is given."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from noodlings.clock import LATEST

_MILLISECONDS = 100_000_000_000
"""From here on (the year 5138 in seconds, 1973 in milliseconds) a number is milliseconds."""


def seconds(value: Any, form: str | None = None) -> float | None:
    """Seconds since 1970-01-01 UTC; None for whatever is no such moment. Without a zone it is UTC.

    Args:
        value: a number, or text.
        form: of the text, as `datetime.strptime` reads it; None for ISO 8601, or a number in digits.
    """
    if isinstance(value, str):
        try:
            if form is None and value.strip().lstrip("+-").replace(".", "", 1).isdigit():
                return seconds(float(value))
            moment = datetime.fromisoformat(value.strip()) if form is None else datetime.strptime(value, form)
            value = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    number = value / 1_000.0 if value >= _MILLISECONDS else value
    return float(number) if 0.0 <= number <= LATEST else None
