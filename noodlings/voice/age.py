"""How long ago: seconds as people say them."""

from __future__ import annotations

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0

_NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip


def ago(seconds: float) -> str:
    """ "three days ago"; "" for what was only just now, or lies in the future."""
    if seconds < 2 * MINUTE:
        return ""
    if seconds < HOUR:
        return "a little while ago"
    if seconds < 20 * HOUR:
        hours = round(seconds / HOUR)
        return "an hour ago" if hours == 1 else "a few hours ago" if hours < 6 else "some hours ago"
    days = round(seconds / DAY)
    for length, unit in ((365, "year"), (30, "month"), (7, "week"), (1, "day")):
        if days >= length:
            count = days // length
            return f"a {unit} ago" if count == 1 else f"{in_words(count)} {unit}s ago"
    return "a day ago"


def in_words(number: int) -> str:
    """A count as a word up to twenty, as digits beyond."""
    return _NUMBERS[number] if 0 < number < len(_NUMBERS) else f"{number:,}"
