"""What comes due, and when."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.reflection.plans import ASKED_FOR, DAY, due_at, open_plans
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import Kind
from tests.memory.entries import an_entry

TOLD = datetime(2026, 11, 23, 15, 0, tzinfo=UTC).timestamp()
"""A Monday afternoon."""


def day_of(text: str, told: float = TOLD) -> str | None:
    due = due_at(text, told)
    return None if due is None else datetime.fromtimestamp(due, UTC).strftime("%Y-%m-%d")


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I have my driving test tomorrow", "2026-11-24"),
        ("got my driving test tmrw", "2026-11-24"),
        ("we leave the day after tomorrow", "2026-11-25"),
        ("I cook for Ruth tonight", "2026-11-23"),
        ("my exam is on Friday", "2026-11-27"),
        ("we meet again next Monday", "2026-11-30"),
        ("I'll be back in two days", "2026-11-25"),
        ("we move in a couple of weeks", "2026-12-07"),
        ("we move in 3 weeks", "2026-12-14"),
        ("I'll paint the fence at the weekend", "2026-11-28"),
        ("we fly to Rome next week", "2026-11-30"),
        ("I see the doctor on the 30th", "2026-11-30"),
        ("I see the doctor on the 14th", "2026-12-14"),
        ("the hearing is on 2 March", "2027-03-02"),
        ("the hearing is on the 2nd of March", "2027-03-02"),
        ("the wedding is on 2028-05-06", "2028-05-06"),
        ("on Friday or on Wednesday, we'll see", "2026-11-25"),
        ("last Friday was lovely", None),
        ("I was there on 2 March 2020", None),
        ("I like the weekend", None),
        ("see you on the 45th", None),
        ("some day", None),
        ("", None),
    ],
)
def test_the_day_on_which_something_is_due(text: str, day: str | None) -> None:
    assert day_of(text) == day


def test_what_may_be_over_is_due_only_where_it_is_planned() -> None:
    assert due_at("on Friday my dog died", TOLD, planned=False) is None
    assert due_at("Dad comes out of hospital tomorrow", TOLD, planned=False) is not None


@given(st.text(max_size=200), st.floats(-1e11, 1e11))
def test_whatever_is_said_whenever_is_due_later_or_never(text: str, told: float) -> None:
    due = due_at(f"{text} on the 31st, next week", told)
    assert due is None or due > told


def said(number: int, text: str, at: float = 0.0, **changes: object) -> MemoryEntry:
    given = {"user_id": "user_ann", "encoded_importance": 0.5}
    return an_entry(number, user_text=text, timestamp=TOLD + at, **(given | changes))


TEST = "I have my driving test tomorrow"


def due(*told: MemoryEntry, after: float = 2 * DAY, corrections: dict[int, int] | None = None) -> list[int]:
    now = TOLD + after
    return [entry.id for entry, due in open_plans(told, now, corrections or {}) if due <= now]


def test_a_plan_is_open_from_its_day_until_two_weeks_later() -> None:
    plan = said(1, TEST)
    assert due(plan, after=3_600.0) == []
    assert due(plan) == [1]
    assert due(plan, after=ASKED_FOR) == [1]
    assert due(plan, after=ASKED_FOR + DAY) == []


def test_what_was_spoken_of_since_is_not_open() -> None:
    assert due(said(1, TEST, last_recalled=TOLD + 2 * DAY)) == []
    assert due(said(1, TEST, last_recalled=TOLD + 60.0)) == [1]
    after = said(2, "my driving test went badly", at=1.5 * DAY)
    assert due(said(1, TEST), after) == []
    assert due(said(1, TEST), said(2, "another driving test of mine", at=60.0)) == [1]


def test_of_what_was_put_off_the_new_day_counts() -> None:
    moved = said(2, "it was moved to Friday", at=3_600.0)
    assert due(said(1, TEST), moved, corrections={1: 2}) == []
    assert due(said(1, TEST), moved, after=5 * DAY, corrections={1: 2}) == [2]


def test_what_hardly_matters_is_no_plan() -> None:
    assert due(said(1, "see you tomorrow", encoded_importance=0.1)) == []
    assert due(said(1, "do you come tomorrow?")) == []
    assert due(said(1, "goes to bed until tomorrow", kind=Kind.EMOTE)) == []
    assert due(said(1, TEST, encoded_importance=0.2)) == [1]
    assert due(said(1, "the bins are out tomorrow", encoded_importance=0.2)) == []
    assert due(said(1, "Dad is let out of hospital tomorrow")) == [1]


def test_what_is_due_first_comes_first_and_what_is_ahead_is_open_too() -> None:
    told = said(1, "we marry in two days"), said(2, TEST)
    assert due(*told, after=4 * DAY) == [2, 1]
    assert [entry.id for entry, _ in open_plans(told, TOLD, {})] == [2, 1]
