"""Times as they are written in files: seconds, milliseconds, ISO 8601 or a given format, and before lines."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from noodlings.clock import LATEST

_MILLISECONDS = 100_000_000_000
"""A number from here on is milliseconds; as seconds it would be the year 5138."""

STAMP = re.compile(
    r"^(?P<bracket>[\[(<]?)(?:(?P<date>\d{4}[-/.]\d{1,2}[-/.]\d{1,2})[ T@,]*)?"
    r"(?P<time>\d{1,2}:\d{2}(?::\d{2})?)(?:\.\d+)?Z?"
    r"[\])>]?(?:\s+|$)(?:[-|]\s)?"
)
TIME = r"(?:\d+(?:(?:[hT]|(?![A-Za-z\d\[\](){}<>])\S)\d+)+|(?<![#\d])\d{6,})"
"""A time or date in any form: numbers with one sign between each two, or a long number."""
LETTERS = r"[^\W\d_]{1,12}"
ZONE = (
    r"(?:[AaPp]\.?[Mm]|UTC|GMT|[ACEMPHJK]ST|[ACEMP]DT|[CEW]ES?T|MES?Z|AK[SD]T|(?:AC|AE|AW|NZ)[SD]T|BST|IST|MSK"
    r"|HKT|SAST|SGT)\b"
)
"""Half of the day or time zone; a list, as KIT and MATT are names."""
_BESIDE = rf"(?:(?<![^\W\d_]){LETTERS}(?![^\W\d_])|\d|[^\w\s\[\](){{}}<>])"
BEGINNING = re.compile(
    rf"""(?:[\[({{<] (?=[^\])}}>]{{0,40}}?{TIME}) (?:{_BESIDE}|\s){{3,40}} [\])}}>]\s?){{1,2}}
        (?:[:,>|-]+(?!\S))?
    |   (?:{_BESIDE}+\s){{0,5}} {_BESIDE}*? {TIME} (?:[^\W\d_]{{1,2}}(?![^\W\d_]))? [^\w\s\[({{<]{{0,2}}
        (?:\s(?:{ZONE}[.:]*|[+-]?\d[\d:.,/-]*|[-|–—]))* (?!\S)""",
    re.VERBOSE,
)
"""What may be a time, in brackets or without, with all that belongs to it, where a line begins."""
LONGEST_TIME = 80
"""Characters; what belongs to a time is looked for no farther."""


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
