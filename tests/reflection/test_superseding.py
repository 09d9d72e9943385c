"""A correction comes before what it corrects, and both are marked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.reflection.superseding import corrects, marked, superseded
from noodlings.values.memory import MemoryEntry, Recalled, Why
from tests.memory.entries import an_entry


def said(number: int, text: str, user: str = "user_caity") -> MemoryEntry:
    return an_entry(number, user_text=text, user_id=user)


def all_alike(_: int, __: int) -> float:
    return 0.6


@pytest.mark.parametrize(
    "text",
    [
        "actually it's on Thursday",
        "I read the letter wrong, we leave at six",
        "scratch that, bring the red one",
        "the meeting has been moved to the barn",
        "turns out she is allergic to nuts, not to bees",
        "we no longer live at the mill",
        "he’s called Otto now",
        "no, the other gate",
        "hold on, it is the left one",
        "I lied, my mother is fine",
        "on second thought I would rather have the soup",
        "they've put the hanging off to Friday",
        "Surgery's pushed. Twenty-third now.",
        "they come in June, not in May, because of the passport",
        "the choir meets on Mondays now",
        "the date's gone to the twenty-first",
    ],
)
def test_a_correction_says_that_it_is_one(text: str) -> None:
    assert corrects(text)


@pytest.mark.parametrize(
    "text",
    [
        "we leave at six",
        "the actual cake was better",
        "I moved the chair",
        "the update server is down?",
        "now",
        "",
        "I put the kettle back on",
        "she moved the chair to the window",
        "we set off at noon",
        "not the first one, the red one",
        "give me a second now",
        "we move to Porto next week",
        "she's gone to Leeds and comes back on Friday",
    ],
)
def test_other_lines_correct_nothing(text: str) -> None:
    assert superseded([said(1, "we leave at seven"), said(2, text)], all_alike) in (
        {},
        {1: 2} if corrects(text) and "?" not in text else {},
    )
    assert not corrects(text) or "?" in text


def test_it_corrects_the_earlier_line_that_is_most_like_it() -> None:
    entries = [said(1, "we leave at six"), said(2, "I had toast"), said(3, "actually we leave at seven")]
    alike = {(3, 1): 0.8, (3, 2): 0.1}
    assert superseded(entries, lambda one, other: alike[one, other]) == {1: 3}
    assert superseded(entries[::-1], lambda one, other: alike[one, other]) == {1: 3}


def test_what_is_far_or_was_only_asked_is_not_corrected() -> None:
    later = said(3, "actually we leave at seven")
    assert superseded([said(1, "I had toast"), later], lambda *_: 0.1) == {}
    assert superseded([said(1, "when do we leave?"), later], all_alike) == {}
    assert superseded([later, said(4, "we leave at six")], all_alike) == {}


def test_what_somebody_is_now_does_not_undo_what_happened_to_them() -> None:
    now = said(2, "she is in hospital now")
    assert superseded([said(1, "my mother fell down the stairs and broke her hip"), now], all_alike) == {}
    assert superseded([said(1, "my mother lives with us"), now], all_alike) == {1: 2}
    assert superseded([said(1, "the meeting was at four"), said(2, "it's at five now")], all_alike) == {1: 2}


def test_another_time_ends_only_what_has_one() -> None:
    moved = said(3, "so the match got moved to Sunday, the pitch is flooded")
    picked, match = said(1, "I got picked as keeper for the match!"), said(2, "first match is on Thursday")
    alike = {(3, 1): 0.7, (3, 2): 0.5}
    assert superseded([picked, match, moved], lambda one, other: alike[one, other]) == {2: 3}
    assert superseded([picked, moved], all_alike) == {}


@given(
    numbers=st.lists(st.integers(1, 5), min_size=1, max_size=9),
    texts=st.lists(st.sampled_from(["actually at seven", "we leave at six", "not on Friday"]), min_size=5),
)
def test_nothing_corrects_itself_or_what_came_after_it(numbers: list[int], texts: list[str]) -> None:
    """Also where the same line came up twice, by two ways."""
    entries = [said(number, texts[number - 1]) for number in numbers]
    found = superseded(entries, lambda one, other: 1.0 if one == other else 0.6)
    assert all(old < new for old, new in found.items())
    assert found == superseded(entries[::-1], lambda one, other: 1.0 if one == other else 0.6)


def test_somebody_else_corrects_only_what_is_much_the_same() -> None:
    entries = [said(1, "they leave at six", "user_ben"), said(2, "actually they leave at seven")]
    assert superseded(entries, lambda *_: 0.35) == {}
    assert superseded(entries, lambda *_: 0.6) == {1: 2}


def test_words_do_where_no_meaning_is_known() -> None:
    entries = [said(1, "my train leaves at six"), said(2, "wait, my train leaves at seven")]
    assert superseded(entries, lambda *_: None) == {1: 2}
    assert superseded([said(1, "I had toast"), entries[1]], lambda *_: None) == {}


def test_both_are_marked() -> None:
    old, new = (Recalled(said(number, "x"), (Why.SEMANTIC,), 0.5) for number in (1, 2))
    first, second = marked([old, new], {1: 2})
    assert (first.supersedes, first.superseded_by) == ((), 2)
    assert (second.supersedes, second.superseded_by) == ((1,), None)
