"""Time words of then, told later; and how long ago things were."""

import pytest

from noodlings.voice.reported_speech import told_later
from noodlings.voice.words import DAY, ago


@pytest.mark.parametrize(
    ("then", "later"),
    [
        ("your dog died yesterday", "your dog died"),
        ("yesterday, your dog died", "your dog died"),
        ("your dog died yesterday and you cried", "your dog died and you cried"),
        ("it was yesterday", "it was the day before"),
        ("you lost your job two weeks ago", "you lost your job"),
        ("your exam is tomorrow", "your exam was the next day"),
        ("you're leaving next week", "you were leaving the week after"),
        ("you are sad today", "you were sad"),
        ("you will go to the sea in three days", "you would go to the sea three days later"),
        ("you haven't slept in two days", "you haven't slept in two days"),
        ("you like storms", "you like storms"),
    ],
)
def test_three_days_later_the_words_still_tell_the_truth(then: str, later: str) -> None:
    assert told_later(then, 3 * DAY) == later


def test_on_the_same_day_tomorrow_is_still_tomorrow() -> None:
    assert told_later("your exam is tomorrow", 600) == "your exam is tomorrow"


def test_on_the_same_day_last_week_is_still_last_week() -> None:
    assert told_later("you moved here last week", 600, keep_past=True) == "you moved here last week"


def test_who_asks_when_is_told_from_then() -> None:
    assert told_later("your dog died yesterday", 3 * DAY, keep_past=True) == "your dog died the day before"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, ""),
        (60, ""),
        (600, "a little while ago"),
        (3_600, "an hour ago"),
        (4 * 3_600, "a few hours ago"),
        (DAY, "a day ago"),
        (3 * DAY, "three days ago"),
        (8 * DAY, "a week ago"),
        (65 * DAY, "two months ago"),
        (400 * DAY, "a year ago"),
        (9_000 * DAY, "24 years ago"),
    ],
)
def test_ages_are_told_as_people_tell_them(seconds: float, words: str) -> None:
    assert ago(seconds) == words
