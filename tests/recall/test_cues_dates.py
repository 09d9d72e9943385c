from datetime import UTC, datetime

import pytest

from noodlings.recall.cues import DAY, MONTH, WEEK_AFTER, YEAR, NamedDate, named_dates, spans


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
