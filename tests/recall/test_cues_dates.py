from datetime import UTC, datetime

import pytest

from noodlings.recall.cues import (
    DAY,
    MONTH,
    WEEK_AFTER,
    YEAR,
    NamedDate,
    PeopleIndex,
    day_happened,
    named_dates,
    read,
    spans,
)


def moment(*parts):
    return datetime(*parts, tzinfo=UTC).timestamp()


FIRST, LAST = moment(2022, 3, 1), moment(2024, 2, 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 4 February, 2023", (4, 2, 2023)),
        ("on February 4, 2023", (4, 2, 2023)),
        ("on the 4th of february 2023", (4, 2, 2023)),
        ("on 2023-02-04", (4, 2, 2023)),
        ("in January 2023", (None, 1, 2023)),
        ("what happened in May?", (None, 5, None)),
        ("on May 9th", (9, 5, None)),
        ("since 2021", (None, None, 2021)),
    ],
)
def test_dates_in_many_ways(text, expected):
    assert named_dates(text) == [NamedDate(*expected)]


@pytest.mark.parametrize("text", ["May I ask?", "you may go", "he is 42", "room 3000", ""])
def test_what_is_no_date(text):
    assert named_dates(text) == []


def weight(date, at):
    return max((span.weight for span in spans(date, FIRST, LAST) if span.start <= at < span.end), default=0.0)


def test_a_day_and_the_week_in_which_it_is_told():
    date = NamedDate(4, 2, 2023)
    assert weight(date, moment(2023, 2, 4, 23)) == DAY
    assert weight(date, moment(2023, 2, 5)) == weight(date, moment(2023, 2, 11, 23)) == WEEK_AFTER
    assert weight(date, moment(2023, 2, 12)) == weight(date, moment(2023, 2, 3, 23)) == 0.0


def test_a_month_a_year_and_a_day_of_every_year():
    assert weight(NamedDate(None, 12, 2022), moment(2022, 12, 31, 23)) == MONTH
    assert weight(NamedDate(None, None, 2022), moment(2022, 6, 1)) == YEAR
    assert (
        weight(NamedDate(9, 5, None), moment(2022, 5, 9))
        == weight(NamedDate(9, 5, None), moment(2023, 5, 9))
        == DAY
    )


def test_a_day_that_does_not_exist_is_nothing():
    assert list(spans(NamedDate(30, 2, 2023), FIRST, LAST)) == []
    assert list(spans(NamedDate(1, 1, 0), FIRST, LAST)) == []


def test_a_world_clock_beyond_the_calendar_does_no_harm():
    assert all(span.start < span.end for span in spans(NamedDate(None, 5, None), -1e30, 1e30))
    assert list(spans(NamedDate(None, 12, 9999), 0.0, 1.0)) == list(
        spans(NamedDate(None, 12, 9999), 0.0, 2.0)
    )


SUNDAY = moment(2026, 3, 8, 10)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Yesterday I went sailing", (3, 7)),
        ("we baked the day before yesterday", (3, 6)),
        ("the mill burned last night", (3, 7)),
        ("I fell this morning", (3, 8)),
        ("last Friday the boat sank", (3, 6)),
        ("last Sunday we prayed", (3, 1)),
        ("on Friday I met Ada", (3, 6)),
        ("On Friday, my brother came home.", (3, 6)),
        ("We met Ada, on Friday.", (3, 6)),
        ("I fell two days ago", (3, 6)),
        ("a week ago the cow died", (3, 1)),
        ("10 days ago I lost my ring", (2, 26)),
        ("on 2 March we sold the boat", (3, 2)),
        ("we sold it on the 10th of December", (2025, 12, 10)),
        ("on 2 June 1998 we married", (1998, 6, 2)),
        ("I’ve told him yesterday. I will go on Friday.", (3, 7)),
        ("Yesterday, no, the day before yesterday, I fell", None),
        ("on Friday we sail", None),
        ("I am going to sail on Friday", None),
        ("I was ill, but on Friday I'll rest", None),
        ("on 2 April we leave", None),
        ("I have been ill since yesterday", None),
        ("worse than last night", None),
        ("I do it every Friday", None),
        ("last summer we sailed", None),
        ("in 1998 we married", None),
        ("a few words ago", None),
        ("Did you see her on Friday?", None),
        ("I was here", None),
        ("I have worked here since 2 March", None),
        ("before 2 March we had a boat", None),
        ("a year ago yesterday we met", None),
        ("twenty-two days ago I fell", None),
        ("two or three days ago I fell", None),
        ("a few days ago I fell", None),
        ("yesterday's bread is hard", None),
        ("I promised to come on Friday", None),
        ("the boat was due on Friday", None),
        ('he said "I fell yesterday"', None),
        ("", None),
    ],
)
def test_the_day_on_which_something_happened_by_its_words(text, day):
    expected = None if day is None else moment(*(day if len(day) == 3 else (2026, *day)))
    assert day_happened(text, SUNDAY) == expected


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("what happened on Saturday?", (3, 7)),
        ("what happened on Sunday?", (3, 1)),
        ("what did I do yesterday", (3, 7)),
        ("who came two days ago?", (3, 6)),
        ("what do we do on Saturday?", None),
        ("how are you this morning?", None),
        ("what happened?", None),
        ("Yesterday I fell. What is my dog called?", None),
        ("I was at the market yesterday, where does my sister live?", None),
        ("On Saturday, what happened?", (3, 7)),
    ],
)
def test_a_question_about_the_past_asks_about_a_day(question, day):
    expected = None if day is None else moment(2026, *day)
    asked = read(question, PeopleIndex(), now=SUNDAY).day
    assert (asked and asked.start) == expected
    assert read(question, PeopleIndex()).day is None


@pytest.mark.parametrize(
    ("question", "alone"),
    [
        ("what happened on Saturday?", True),
        ("what did you do yesterday?", True),
        ("what happened on 2 March 2026?", True),
        ("did I mention my sister yesterday?", False),
        ("what happened to the mill on 2026-03-02?", False),
        ("what happened in March?", False),
        ("what happened?", False),
    ],
)
def test_whether_only_a_day_is_asked_about(question, alone):
    assert read(question, PeopleIndex(), now=SUNDAY).only_day is alone
