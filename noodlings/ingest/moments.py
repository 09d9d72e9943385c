"""Times as they are written in files: seconds, milliseconds, ISO 8601, or a given format."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from noodlings.clock import LATEST

_MILLISECONDS = 100_000_000_000
"""A number from here on is milliseconds; as seconds it would be the year 5138."""


def seconds(value: Any, form: str | None = None) -> float | None:
    """Seconds since 1970-01-01 UTC, or None if it is not a time. Without a time zone it is UTC.

    Args:
        value: a number, or text.
        form: the format of the text for `datetime.strptime`; None for ISO 8601 or digits.
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
    if not 0.0 <= value <= LATEST * 1_000.0:  # a whole number may be too large to be divided
        return None
    return value / 1_000.0 if value >= _MILLISECONDS else float(value)


def usable_form(form: str) -> str:
    """The same format, tried once. Raises `ValueError` for one that `datetime.strptime` cannot read with."""
    noon = datetime(2003, 5, 1, 12, tzinfo=UTC)
    try:
        datetime.strptime(noon.strftime(form), form)
    except (ValueError, re.error) as error:  # it makes a pattern of the format, in which a part may be twice
        raise ValueError(f"{form!r:.60} is no format for times, such as '%d.%m.%Y %H:%M': {error}") from None
    return form
