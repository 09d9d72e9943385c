"""Plans and promises that come due: what somebody said would happen, and should be over by now.

The day is read from words such as "tomorrow", "on Friday", "in two weeks", "on the 14th", in days of world
time (UTC), and only from the clause that tells the plan. A plan without a time never comes due.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from noodlings.recall.cues import CLAUSES, NUMBERS, WEEKDAYS, is_past, named_dates, spans, until_weekday
from noodlings.recall.lexical import stems
from noodlings.reflection.facts import facts, folded, is_imagined, sentences
from noodlings.reflection.superseding import corrects
from noodlings.text import clean
from noodlings.values.fact import FACT_KIND, FactKind
from noodlings.values.memory import MemoryEntry, given
from noodlings.values.percept import SPOKEN

DAY = 86_400.0
MORNING, OVER_AT_NOON, OVER_BY_EVENING = 6.0 / 24.0 * DAY, 13.0 / 24.0 * DAY, 20.0 / 24.0 * DAY
"""When something is over: in the evening, by the next morning; in the morning, by one; on a day, by eight."""
ASKED_FOR = 14 * DAY
"""How long after it was over something is still asked about."""
WORTH, WORTH_ANYHOW = 0.15, 0.3
"""Least importance of a recognised plan or promise to be asked about, and of a line that only names a day."""
SAME_MATTER = 2
"""Words that two lines about the same matter share, one of which does not say when."""
MOVED = 0.15
"""Importance times valence of news after which somebody need not be asked."""
LONGEST = 400
"""Characters of a line that are read."""

_PLANS = frozenset({FactKind.PLAN, FactKind.PROMISE})
_SATURDAY, _SUNDAY = 5, 6
_WHEN = frozenset(stems(f"{' '.join(WEEKDAYS)} next week weekend month year today tonight tomorrow morning"))
_UNITS = {"day": 1, "week": 7, "fortnight": 14, "month": 30}
_UNREADABLE = re.compile(
    r"(?:tomorrow|day) week\b|\b(?<!next )week (?:from )?(?:tomorrow|today|on)\b"
    r"|\b(?:since|every|each|past)\b"
    r"|\blast (?:week|month|year|night|\w+day)\b"
)
"""Words that mean another day than they seem to say."""
_MAY_NAME_A_TIME = re.compile(r"\d|mor|tmr|tonight|this|\bin\b|day|week", re.I)
"""Quick test: whatever the patterns below find has one of these, and most lines have none."""
_AFTER_TOMORROW = re.compile(r"\bthe day after tomorrow\b")
_TOMORROW = re.compile(r"\btomorrow\b")
_TODAY = re.compile(r"\b(?:tonight|today|this (?:morning|afternoon|evening))\b")
_IS_NOW = re.compile(
    r"(?:(?:\b(?:is|are|am)|'(?:s|m|re)) (?:(?:so|very|really|quite|all|too) )?"
    r"(?!(?:my|your|his|her|our|their|the|an?)\b)\w+|(?<!'ve )(?<!have )\bgot (?!to\b)(?:\w+ ){1,5}\w+) "
    r"(?:today|this (?:morning|afternoon))\b"
)
"""How things are today: "the hens are loud today", "I got a promotion today"."""
_IN = re.compile(
    rf"\bin (?:a )?(?P<count>{'|'.join(NUMBERS)}|\d{{1,2}})(?: of)? (?P<unit>{'|'.join(_UNITS)})s?\b"
)
_WEEKDAY = re.compile(rf"\b(?P<next>next )?(?P<day>{'|'.join(WEEKDAYS)})\b")
_WEEKEND = re.compile(r"\b(?:at|on|this|over) (?:the )?weekend\b")
_NEXT_WEEK = re.compile(r"\bnext week(?P<end>end)?\b")
_OF_MONTH = re.compile(
    r"\b(?:on|by) the (?P<day>\d{1,2})(?:st|nd|rd|th)\b(?=\W*$|,| (?:at|and|in the|with)\b)"
)
_EVENING = re.compile(r"\b(?:evening|night|tonight|late)\b")
_EARLY = re.compile(r"\b(?:morning|breakfast|early)\b")
_CALLED_OFF = re.compile(
    r"\b(?:called off|cancell?ed|withdrew|withdrawn|dropped out|backed out|fell through"
    r"|(?:not|isn't|aren't|won't be) (?:going|happening|coming))\b"
)
_NO_PLAN = re.compile(
    r"\b(?:dream\w*|nightmare|song|(?:see|catch|talk to|speak to) (?:you|ya)|good ?night|good ?bye|bye"
    r"|\w+n't|not|never|no longer|since)\b"
)
"""What is not a plan, whatever day it names: dreams, farewells, what will not happen, what began before."""


@dataclass(frozen=True, slots=True)
class Due:
    """When something is to happen, in world time: the beginning of its first `day`, and when it is `over`."""

    day: float
    over: float


def due_at(text: str, told: float) -> Due | None:
    """When the plan in a clause, `told` at a world time, is to happen; None without a future time."""
    text = text[:LONGEST]
    said = folded(text)
    if _UNREADABLE.search(said):
        return None
    found = (due for due in _named(said, text, told) if due.over > told)
    return min(found, key=lambda due: due.day, default=None)


def _named(said: str, text: str, told: float) -> Iterator[Due]:
    today = math.floor(told / DAY) * DAY
    weekday = int(today // DAY + 3) % 7  # 1970 began on a Thursday

    def on(days: float) -> Due:
        day = today + days * DAY
        late = day + DAY + MORNING if _EVENING.search(said) else day + OVER_BY_EVENING
        return Due(day, day + OVER_AT_NOON if _EARLY.search(said) else late)

    if _AFTER_TOMORROW.search(said):
        yield on(2)
    elif _TOMORROW.search(said):
        yield on(1)
    if _TODAY.search(said):
        yield on(0)
    for found in _IN.finditer(said):
        yield on((NUMBERS.get(found["count"]) or int(found["count"])) * _UNITS[found["unit"]])
    week_of = [found["end"] for found in _NEXT_WEEK.finditer(said)]
    for found in _WEEKDAY.finditer(said):
        day, is_next = WEEKDAYS.index(found["day"]), found["next"] or None in week_of
        yield on(_in_next_week(day, weekday) if is_next else until_weekday(day, weekday))
    if _WEEKEND.search(said):
        days = 0 if weekday >= _SATURDAY else _SATURDAY - weekday
        yield Due(today + days * DAY, on(_SUNDAY - weekday).over)
    for end in week_of:
        if not end and _WEEKDAY.search(said):
            continue
        monday = until_weekday(0, weekday)
        first = monday + _SATURDAY if end else monday
        yield Due(today + first * DAY, on(monday + _SUNDAY).over)
    for found in _OF_MONTH.finditer(said):
        yield from (on((day - today) / DAY) for day in _on_the(int(found["day"]), today))
    for date in named_dates(text):
        if date.day is not None:
            days_of = spans(date, told, told + 366 * DAY)
            yield from (on((span.start - today) / DAY) for span in days_of if span.weight == 1.0)


def _in_next_week(weekday: int, today: int) -> int:
    """Days until "next Friday": that of the week from next Monday on, as this week's is just "on Friday"."""
    days = until_weekday(0, today) + weekday
    return days if days > 1 else days + 7  # on a Sunday "next Monday" is not tomorrow


def _on_the(day: int, today: float) -> Iterator[float]:
    """The next such days of a month."""
    try:
        month = datetime.fromtimestamp(today, UTC).replace(day=1)
        for _ in range(3):
            date = month + timedelta(days=day - 1)
            if day > 0 and date.month == month.month:
                yield date.timestamp()
            month = (month + timedelta(days=32)).replace(day=1)
    except (OverflowError, ValueError, OSError):
        return


@dataclass(slots=True)
class _Plan:
    """A plan, its stems, and whether it was spoken of since it was over."""

    entry: MemoryEntry
    due: Due
    stems: frozenset[str]
    spoken_of: bool


def due_by_facts(facts: Iterable[MemoryEntry], lines: Mapping[int, int]) -> dict[int, Due]:
    """When the plans are due that a model understood: the id of the line that tells each → its time.

    Args:
        facts: entries of kind `FACT`.
        lines: id of a fact → id of its line.
    """
    plans = [fact for fact in facts if given(fact, FACT_KIND) in _PLANS and fact.id in lines]
    due = ((fact.id, due_at(fact.user_text, fact.timestamp)) for fact in plans)
    return {lines[number]: when for number, when in due if when is not None}


def open_plans(
    told: Sequence[MemoryEntry],
    now: float,
    understood: Mapping[int, Due] = MappingProxyType({}),
) -> list[tuple[MemoryEntry, Due]]:
    """The open plans of one person, the earliest first: still to come, or over and not spoken of since.

    Of several lines about the same matter the last that names a day counts. A line that calls it off closes
    it, and so does a line about it, or any moving news, after it was over.

    Args:
        told: by one person, oldest first.
        now: world time.
        understood: what a model knows of when the plans of lines are due, see `due_by_facts`.
    """
    plans: list[_Plan] = []
    for entry in told:
        if entry.kind not in SPOKEN:
            continue
        text, due = entry.user_text[:LONGEST], understood.get(entry.id) or due_of(entry)
        if not plans and due is None:
            continue
        words = frozenset(stems(text))
        matter = words - _WHEN
        same = [plan for plan in plans if len(plan.stems & words) >= SAME_MATTER and plan.stems & matter]
        moves = corrects(text)
        if moves and not same:
            same = plans[-1:] if (due := due or due_at(text, entry.timestamp)) else []
        gone = moves or _CALLED_OFF.search(folded(text)) is not None
        recalled, spoken_of = entry.last_recalled, False
        for plan in list(plans):
            since = entry.timestamp >= plan.due.over
            asked = recalled is not None and recalled >= plan.due.over
            if plan in same and due is not None:
                words |= plan.stems
                spoken_of |= plan.spoken_of and plan.due == due
            if (since and _moves(entry)) or (plan in same and (due is not None or gone or since or asked)):
                plans.remove(plan)
        if due is not None:
            spoken_of |= recalled is not None and recalled >= due.over
            plans.append(_Plan(entry, due, words, spoken_of))
    found = [
        (plan.entry, plan.due) for plan in plans if now < plan.due.over + ASKED_FOR and not plan.spoken_of
    ]
    return sorted(found, key=lambda pair: (pair[1].over, pair[0].id))


def due_of(entry: MemoryEntry) -> Due | None:
    """When the plan or promise in a line is due; None if there is none."""
    text = entry.user_text[:LONGEST]
    matters = entry.importance >= WORTH or entry.pinned
    if not matters or text.endswith("?") or not _MAY_NAME_A_TIME.search(text):
        return None
    for _, _, sentence in sentences(text):
        if sentence.endswith("?") or _NO_PLAN.search(folded(sentence)):
            continue
        tells_plan: bool | None = None
        for clause in CLAUSES.split(sentence):
            due = due_at(clause, entry.timestamp)
            if due is None or is_imagined(sentence, clause):
                continue
            happened = is_past(folded(clause)) or _IS_NOW.search(folded(clause)) is not None
            if entry.importance >= WORTH_ANYHOW and not happened:
                return due
            if tells_plan is None:  # once, as a sentence may have very many clauses
                tells_plan = _tells_plan(entry, sentence)
            if tells_plan and _tells_plan(entry, clause):
                return due
    return None


def may_be_open(entry: MemoryEntry, now: float, understood: Mapping[int, Due] = MappingProxyType({})) -> bool:
    """Whether a line, taken alone, tells or moves a plan that is over and may still be asked about."""
    due = understood.get(entry.id) or due_of(entry)
    if due is None and corrects(entry.user_text):
        due = due_at(entry.user_text, entry.timestamp)
    if due is None or not due.over <= now < due.over + ASKED_FOR:
        return False
    return entry.last_recalled is None or entry.last_recalled < due.over


def _tells_plan(entry: MemoryEntry, text: str) -> bool:
    kinds = {fact.kind for fact in facts(replace(entry, user_text=clean(text)), {})}
    return not kinds.isdisjoint(_PLANS)


def _moves(entry: MemoryEntry) -> bool:
    return entry.affect is not None and entry.importance * abs(entry.affect.valence) >= MOVED
