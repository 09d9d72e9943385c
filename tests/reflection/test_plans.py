"""What comes due, and when."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.reflection import plans
from noodlings.reflection.facts import Fact, facts
from noodlings.reflection.plans import ASKED_FOR, DAY, due_at, open_plans
from noodlings.values.affect import Affect
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import Kind
from tests.memory.entries import an_entry

TOLD = datetime(2026, 11, 23, 15, 0, tzinfo=UTC).timestamp()
"""A Monday afternoon."""


def day_of(text: str, told: float = TOLD) -> str | None:
    due = due_at(text, told)
    return None if due is None else datetime.fromtimestamp(due.day, UTC).strftime("%Y-%m-%d")


def over_at(text: str, told: float = TOLD) -> str:
    due = due_at(text, told)
    return "" if due is None else datetime.fromtimestamp(due.over, UTC).strftime("%d %H")


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I have my driving test tomorrow", "2026-11-24"),
        ("got my driving test tmrw", "2026-11-24"),
        ("we leave the day after tomorrow", "2026-11-25"),
        ("I cook for Ruth tonight", "2026-11-23"),
        ("my exam is on Friday", "2026-11-27"),
        ("we meet again next Monday", "2026-11-30"),
        ("next Friday I have my exam", "2026-12-04"),
        ("next week on Tuesday I fly to Oslo", "2026-12-01"),
        ("I fly to Oslo on Tuesday next week", "2026-12-01"),
        ("I fly to Oslo Tuesday of next week", "2026-12-01"),
        ("a week on Tuesday we fly", None),
        ("Tuesday week we fly", None),
        ("I'll be back in two days", "2026-11-25"),
        ("we move in a couple of weeks", "2026-12-07"),
        ("we move in a fortnight", "2026-12-07"),
        ("we move in ten days", "2026-12-03"),
        ("we move in 3 weeks", "2026-12-14"),
        ("I'll paint the fence at the weekend", "2026-11-28"),
        ("I'll paint the fence next weekend", "2026-12-05"),
        ("we fly to Rome next week", "2026-11-30"),
        ("I see the doctor on the 30th", "2026-11-30"),
        ("I see the doctor on the 14th", "2026-12-14"),
        ("the hearing is on 2 March", "2027-03-02"),
        ("the hearing is on the 2nd of March", "2027-03-02"),
        ("the wedding is on 2028-05-06", "2028-05-06"),
        ("on Friday or on Wednesday, we'll see", "2026-11-25"),
        ("last Friday was lovely", None),
        ("last week on Friday I fell", None),
        ("this past Friday", None),
        ("I swim every Monday", None),
        ("a week tomorrow", None),
        ("I was there on 2 March 2020", None),
        ("we live on the 3rd floor", None),
        ("I like the weekend", None),
        ("see you on the 45th", None),
        ("some day", None),
        ("", None),
    ],
)
def test_the_day_on_which_something_is_due(text: str, day: str | None) -> None:
    assert day_of(text) == day


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("my test is tomorrow", "24 20"),
        ("my test is tomorrow morning", "24 13"),
        ("the concert is tomorrow evening", "25 06"),
        ("I cook for Ruth tonight", "24 06"),
        ("I'll paint the fence at the weekend", "29 20"),
        ("we fly to Rome next week", "06 20"),
    ],
)
def test_it_is_over_when_the_time_that_was_named_is(text: str, over: str) -> None:
    assert over_at(text) == over


def test_on_a_sunday_this_weekend_is_this_one() -> None:
    assert day_of("I'll paint the fence this weekend", TOLD - DAY) == "2026-11-22"
    assert over_at("I'll paint the fence this weekend", TOLD - DAY) == "22 20"


@pytest.mark.parametrize(
    ("days_later", "day"),
    [(3, "2026-12-04"), (4, "2026-12-04"), (5, "2026-12-04"), (6, "2026-12-04"), (7, "2026-12-11")],
)
def test_next_friday_is_that_of_the_week_after_this_one(days_later: int, day: str) -> None:
    assert day_of("next Friday I have my exam", TOLD + days_later * DAY) == day


def test_next_monday_is_never_tomorrow() -> None:
    assert day_of("we meet next Monday", TOLD - DAY) == "2026-11-30"
    assert day_of("we meet on Monday", TOLD - DAY) == "2026-11-23"


@given(st.text(max_size=200), st.floats(-1e11, 1e11))
def test_whatever_is_said_whenever_is_over_later_or_never_due(text: str, told: float) -> None:
    due = due_at(f"{text} on the 31st, next week", told)
    assert due is None or due.over > told


def said(number: int, text: str, at: float = 0.0, **changes: object) -> MemoryEntry:
    given = {"user_id": "user_ann", "encoded_importance": 0.5}
    return an_entry(number, user_text=text, timestamp=TOLD + at, **(given | changes))


TEST = "I have my driving test tomorrow"


def due(*told: MemoryEntry, after: float = 2 * DAY) -> list[int]:
    now = TOLD + after
    return [entry.id for entry, due in open_plans(told, now) if due.over <= now]


def test_a_plan_is_asked_about_from_when_it_is_over_until_two_weeks_later() -> None:
    plan = said(1, TEST)
    assert due(plan, after=DAY) == []
    assert due(plan) == [1]
    assert due(plan, after=ASKED_FOR + DAY) == [1]
    assert due(plan, after=ASKED_FOR + 2 * DAY) == []


def test_what_was_spoken_of_since_is_not_open() -> None:
    assert due(said(1, TEST, last_recalled=TOLD + 2 * DAY)) == []
    assert due(said(1, TEST, last_recalled=TOLD + 60.0)) == [1]
    assert due(said(1, TEST), said(2, "my driving test went badly", at=1.5 * DAY)) == []
    news = said(2, "I passed! I am so happy", at=1.5 * DAY, affect=Affect(0.8, 0.8, 0.0, 0.0, 0.0))
    assert due(said(1, TEST), news) == []
    assert due(said(1, TEST), said(2, "nice weather", at=1.5 * DAY)) == [1]


def test_what_was_told_twice_is_asked_about_once() -> None:
    twice = said(1, TEST), said(2, TEST, at=60.0)
    assert due(*twice) == [2]
    assert due(twice[0], said(2, TEST, at=60.0, last_recalled=TOLD + 2 * DAY)) == []
    assert due(said(1, TEST, last_recalled=TOLD + 2 * DAY), twice[1]) == []


def test_of_what_was_put_off_the_new_day_counts() -> None:
    moved = said(2, "it was moved to Friday", at=3_600.0)
    assert due(said(1, TEST), moved) == []
    assert due(said(1, TEST), moved, after=5 * DAY) == [2]
    later = said(2, "my driving test is in two weeks now", at=3_600.0)
    assert due(said(1, TEST), later) == []
    assert due(said(1, TEST), later, after=15 * DAY) == [2]


@pytest.mark.parametrize(
    "text",
    ["I withdrew from my driving test", "the driving test is called off", "sorry, no driving test after all"],
)
def test_what_was_called_off_is_closed(text: str) -> None:
    assert due(said(1, TEST), said(2, text, at=60.0)) == []


@pytest.mark.parametrize(
    "text",
    [
        "see you tomorrow! I love you",
        "do you come tomorrow?",
        "I'm not going to the funeral tomorrow",
        "If I had money I would fly to Rome tomorrow",
        "I dreamt that I die in a crash tomorrow",
        'Ruth said "see you tomorrow" and I am going to marry her soon',
        "I have been ill since Monday and I'm going to stay in bed",
        "We are going to have a party, we married on 14 May",
        "I read your book in two days and I'm going to read it again",
        "I'm going to swim every Monday",
        "on Friday my dog died",
        "my favourite song is Tomorrow",
        "the chickens are loud today",
        "I got a promotion today!",
    ],
)
def test_what_is_no_plan_never_comes_due(text: str) -> None:
    assert open_plans([said(1, text, encoded_importance=0.9)], TOLD + 60.0) == []


def test_what_hardly_matters_is_no_plan() -> None:
    assert due(said(1, TEST, encoded_importance=0.1)) == []
    assert due(said(1, TEST, encoded_importance=0.2)) == [1]
    assert due(said(1, "the bins are out tomorrow", encoded_importance=0.2)) == []
    assert due(said(1, "Dad is let out of hospital tomorrow")) == [1]
    assert due(said(1, "goes to bed until tomorrow", kind=Kind.EMOTE)) == []


def test_plans_that_share_no_more_than_their_day_are_two() -> None:
    told = (said(1, "next week on Tuesday I fly to Oslo"), said(2, "Tuesday next week I have my interview"))
    assert due(*told, after=10 * DAY) == [1, 2]


@pytest.mark.parametrize("text", ["he found a new job today!", "she's left him today", "we flew home today"])
def test_what_has_happened_today_is_not_ahead(text: str) -> None:
    assert open_plans([said(1, text)], TOLD + 1.0) == []
    assert open_plans([said(1, "I have my interview today")], TOLD + 1.0)


def test_what_is_over_first_comes_first_and_what_is_ahead_is_open_too() -> None:
    told = said(1, "we marry in two days"), said(2, TEST)
    assert due(*told, after=4 * DAY) == [2, 1]
    assert [entry.id for entry, _ in open_plans(told, TOLD)] == [2, 1]


def test_of_a_sentence_with_many_clauses_the_whole_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[str]()

    def noted(entry: MemoryEntry, names: Mapping[str, str]) -> list[Fact]:
        read.append(entry.user_text)
        return facts(entry, names)

    monkeypatch.setattr(plans, "facts", noted)
    text = "my sister was tomorrow, " * 17
    assert open_plans([said(1, text, encoded_importance=0.3)], TOLD) == []
    assert sum(len(one) > len(text) / 2 for one in read) == 1


def test_a_later_clause_tells_a_plan_though_the_sentence_before_told_none() -> None:
    assert due(said(1, "my aunt was at home today, and the fair is tomorrow")) == [1]


def test_many_long_lines_take_no_time() -> None:
    lines = [said(n, "actually, I will go to the fair tomorrow, " * 50, at=float(n)) for n in range(100)]
    began = time.process_time()
    open_plans(lines, TOLD + DAY)
    assert time.process_time() - began < 1.0
