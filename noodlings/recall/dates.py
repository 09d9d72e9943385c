"""Dates that a question names, and the spans of world time they stand for (UTC)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

DAY, WEEK_AFTER, MONTH, YEAR = 1.0, 0.5, 1.0, 0.3
"""How much a memory counts that is of the named day, of the seven days after it (when it is told), of the
named month, of the named year: the wider, the less it says."""

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_NAMES = "|".join(_MONTHS)
_WRITTEN = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?)?(?P<month>{_NAMES})\b"
    r"(?:\s+(?P<after>\d{1,2})(?:st|nd|rd|th)?\b(?!\d))?(?:,?\s*(?:of\s+)?(?P<year>\d{4})\b)?",
    re.I,
)
_ISO = re.compile(r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b")
_YEAR = re.compile(r"\b(?:19|20|21)\d\d\b")
_MOST_YEARS = 50
_CALENDAR_BEGINS = datetime(1, 1, 1, tzinfo=UTC)
_CALENDAR_ENDS = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A date as far as it was named: the day, the month (1–12) and the year may each be missing."""

    day: int | None
    month: int | None
    year: int | None


@dataclass(frozen=True, slots=True)
class Span:
    """World time from `start` up to `end` (seconds, `end` excluded), and how much being in it counts, 0…1."""

    start: float
    end: float
    weight: float


def named_dates(text: str) -> list[NamedDate]:
    """The dates a text names: "4 February, 2023", "in May", "2023-05-08", "since 2021".

    A bare "may" is a verb, unless it is written with a capital past the beginning.
    """
    found = [NamedDate(int(m["day"]), int(m["month"]), int(m["year"])) for m in _ISO.finditer(text)]
    for m in _WRITTEN.finditer(text):
        day = m["day"] or m["after"]
        month = m["month"]
        if month.casefold() == "may" and not (day or m["year"] or (month == "May" and m.start() > 0)):
            continue
        found.append(
            NamedDate(
                int(day) if day else None,
                _MONTHS.index(month.casefold()) + 1,
                int(m["year"]) if m["year"] else None,
            )
        )
    return found or [NamedDate(None, None, int(m.group())) for m in _YEAR.finditer(text)]


def spans(date: NamedDate, first: float, last: float) -> Iterator[Span]:
    """What a date stands for, among memories from `first` to `last`; without a year, each year of them."""
    if date.year is not None:
        years = [date.year]
    else:
        years = list(range(_moment(first).year, _moment(last).year + 1))[-_MOST_YEARS:]
    for year in years:
        if year >= _CALENDAR_ENDS.year:
            continue
        try:
            start = datetime(year, date.month or 1, date.day or 1, tzinfo=UTC)
        except ValueError:
            continue  # no such day in this year
        if date.month is None:
            yield Span(start.timestamp(), start.replace(year=year + 1).timestamp(), YEAR)
        elif date.day is None:
            end = (start + timedelta(days=31)).replace(day=1)
            yield Span(start.timestamp(), end.timestamp(), MONTH)
        else:
            next_day = (start + timedelta(days=1)).timestamp()
            yield Span(start.timestamp(), next_day, DAY)
            yield Span(next_day, (start + timedelta(days=8)).timestamp(), WEEK_AFTER)


def _moment(timestamp: float) -> datetime:
    """A world time as a date; beyond the calendar, its first or last."""
    within = min(max(timestamp, _CALENDAR_BEGINS.timestamp()), _CALENDAR_ENDS.timestamp())
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=within)
