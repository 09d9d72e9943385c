"""Plans and promises that come due: of what somebody said was to come, what has come by now.

When something is due is read from words such as "tomorrow", "on Friday", "in two weeks", "on the 14th", in
days of world time (UTC). What names no time never comes due.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from noodlings.recall.cues import named_dates, spans
from noodlings.recall.lexical import stems
from noodlings.reflection.facts import TOLD, FactKind, facts, folded
from noodlings.values.memory import MemoryEntry

DAY = 86_400.0
DAWN, EVENING = 0.25 * DAY, 0.75 * DAY
"""When in a day something is due: by day from six, in the evening from eighteen o'clock."""
ASKED_FOR = 14 * DAY
"""So long after it was due something is still asked about."""
WORTH, WORTH_ANYHOW = 0.15, 0.3
"""Importance from which a plan or promise is asked about, and from which anything is that names its time."""
SAME_MATTER = 2
"""Words that a later line on the same matter shares."""

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {
    word: number
    for number, words in enumerate(("a an one", "two couple", "three few", "four", "five", "six", "seven"), 1)
    for word in words.split()
}
_AFTER_TOMORROW = re.compile(r"\bthe day after tomorrow\b")
_TOMORROW = re.compile(r"\btomorrow\b")
_TONIGHT = re.compile(r"\b(?:tonight|this (?:afternoon|evening)|later today)\b")
_IN = re.compile(rf"\bin (?:a )?(?P<count>{'|'.join(_NUMBERS)}|\d{{1,2}})(?: of)? (?P<unit>day|week)s?\b")
_WEEKDAY = re.compile(rf"(?<!last )\b(?P<day>{'|'.join(_WEEKDAYS)})\b")
_WEEKEND = re.compile(r"\b(?:at|on|this|next|over) (?:the )?weekend\b")
_NEXT_WEEK = re.compile(r"\bnext week\b")
_OF_MONTH = re.compile(r"\b(?:on|by|till|until) the (?P<day>\d{1,2})(?:st|nd|rd|th)\b(?! of)")


def due_at(text: str, told: float, planned: bool = True) -> float | None:
    """When what a line tells of is to happen, world time; None where it names no time to come.

    Args:
        text: what was said.
        told: when, world time.
        planned: it is known to be about what is to come. Else "on Friday" may be the last one, and only what
            cannot be over counts.
    """
    said, today = folded(text), math.floor(told / DAY) * DAY
    moments = list(_to_come(said, told, today))
    if planned:
        moments += _dates(said, text, told, today)
    return min((moment for moment in moments if moment > told), default=None)


def _to_come(said: str, told: float, today: float) -> Iterator[float]:
    if _AFTER_TOMORROW.search(said):
        yield today + 2 * DAY + DAWN
    elif _TOMORROW.search(said):
        yield today + DAY + DAWN
    if _TONIGHT.search(said):
        yield max(today + EVENING, told + DAWN / 2)
    for found in _IN.finditer(said):
        count = _NUMBERS.get(found["count"]) or int(found["count"])
        yield today + count * (7 if found["unit"] == "week" else 1) * DAY + DAWN
    if _NEXT_WEEK.search(said):
        yield today + _until(0, today) * DAY + DAWN


def _dates(said: str, text: str, told: float, today: float) -> Iterator[float]:
    for found in _WEEKDAY.finditer(said):
        yield today + _until(_WEEKDAYS.index(found["day"]), today) * DAY + DAWN
    if _WEEKEND.search(said):
        yield today + _until(_WEEKDAYS.index("saturday"), today) * DAY + DAWN
    for found in _OF_MONTH.finditer(said):
        yield from _on_the(int(found["day"]), today)
    for date in named_dates(text):
        if date.day is not None:
            yield from (
                span.start + DAWN for span in spans(date, told, told + 366 * DAY) if span.weight == 1.0
            )


def _until(weekday: int, today: float) -> int:
    """Days until the next such weekday, 1…7."""
    return (weekday - int(today // DAY + 3) - 1) % 7 + 1  # 1970 began on a Thursday


def _on_the(day: int, today: float) -> Iterator[float]:
    """The next such day of a month."""
    try:
        month = datetime.fromtimestamp(today, UTC).replace(day=1)
        for _ in range(3):
            date = month + timedelta(days=day - 1)
            if day > 0 and date.month == month.month:
                yield date.timestamp() + DAWN
            month = (month + timedelta(days=32)).replace(day=1)
    except (OverflowError, ValueError, OSError):
        return


def open_plans(
    told: Sequence[MemoryEntry], now: float, corrections: Mapping[int, int]
) -> list[tuple[MemoryEntry, float]]:
    """What is open of what somebody told: still to come, or come by now and not spoken of since.

    Args:
        told: by one person, oldest first.
        now: world time.
        corrections: id → of what corrects it; of two such lines the later one holds.

    Returns:
        Each with the moment at which it is due, the earliest first.
    """
    plans, found = set[int](), list[tuple[MemoryEntry, float]]()
    corrected = {new: old for old, new in corrections.items()}
    for at, entry in enumerate(told):
        if entry.kind not in TOLD or entry.user_text.endswith("?"):
            continue
        planned = corrected.get(entry.id) in plans or _is_plan(entry)
        due = due_at(entry.user_text, entry.timestamp, planned)
        if due is None or not (planned or entry.pinned or entry.importance >= WORTH_ANYHOW):
            continue
        plans.add(entry.id)
        spoken_of = entry.last_recalled is not None and entry.last_recalled >= due
        if now < due + ASKED_FOR and entry.id not in corrections and not spoken_of:
            since = (later for later in told[at + 1 :] if later.timestamp >= due)
            words = set(stems(entry.user_text))
            if not any(len(words.intersection(stems(later.user_text))) >= SAME_MATTER for later in since):
                found.append((entry, due))
    return sorted(found, key=lambda pair: (pair[1], pair[0].id))


def _is_plan(entry: MemoryEntry) -> bool:
    kinds = {fact.kind for fact in facts(entry, {})} if entry.importance >= WORTH else set()
    return not kinds.isdisjoint((FactKind.PLAN, FactKind.PROMISE))
