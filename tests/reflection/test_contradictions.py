"""What contradicts what the same person told, and what only seems to; with the words that show it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.reflection.contradictions import MOST, MOST_CLAIMS, MOST_LINES, LinesOfPerson, ReadLine

CONTRADICTIONS = [
    ("I live in Leeds.", "I moved to York last week."),
    ("we have a goat named Bill", "We don't have a goat any more."),
    ("I like the harbour.", "I can't stand the harbour."),
    ("Cabbage disgusts me.", "I love cabbage!"),
    ("I'm not scared of storms.", "Thunder again. I'm terrified of storms."),
    ("I'm 30.", "I turned 31 yesterday."),
    ("My favourite song is Ode to Rain.", "my favourite song is The Mill"),
    ("I have never been married.", "I'm married to a miller."),
    ("The choir meets on Monday.", "The choir meets on Thursday now."),
    ("The wedding is in June, we have booked the barn.", "The wedding fell through."),
    ("I smoke a pipe.", "I finally gave up my pipe."),
    ("I believe in fairies.", "Fairies? I don't believe in them."),
    ("I have no sisters or brothers.", "My sister is here."),
]
NEAR_MISSES = [
    ("I like tea.", "I don't like tea with salt in it."),
    ("I like the harbour.", "I don't like the harbour when it rains."),
    ("I was ill last week.", "I'm not ill."),
    ("I live in Leeds.", "I would love to live in York."),
    ("I live in Leeds.", "I live near the old mill."),
    ("My mother lives in Leeds.", "I moved to York."),
    ("I have a dog.", "I don't have a cat."),
    ("I like Ann.", "Bob doesn't like Ann."),
    ("I like boats.", "In my dream I hated boats."),
    ("I'm going to the fair.", "If it rains I'm not going to the fair."),
    ("I know Ann.", "I don't know."),
    ("I have a dog.", "Do I not have a dog?"),
    ("I can swim.", "I don't swim."),
    ("I used to live in Leeds.", "I don't live in Leeds."),
]


def found(*lines: str) -> list[tuple[int, str, str]]:
    """What the last line contradicts: the place of each earlier line, and the words of both."""
    told = LinesOfPerson()
    for number, line in enumerate(lines[:-1]):
        told.add(ReadLine.of(number, line))
    later = ReadLine.of(len(lines) - 1, lines[-1])
    return [
        (earlier, lines[-1][slice(*words)], lines[earlier][slice(*earlier_words)])
        for _, earlier, words, earlier_words in told.contradicted(later)
    ]


@pytest.mark.parametrize("pair", CONTRADICTIONS)
def test_what_cannot_both_hold_contradicts(pair):
    assert [place for place, *_ in found(*pair)] == [0]


@pytest.mark.parametrize("pair", NEAR_MISSES)
def test_what_can_both_hold_does_not(pair):
    assert found(*pair) == []


def test_the_sentences_that_show_it_are_pointed_out():
    earlier = "Good evening! I have a goat, you know.  It is raining."
    assert found(earlier, "*sighs* I don't have a goat any more. Oh well.") == [
        (0, "I don't have a goat any more.", "I have a goat, you know.")
    ]


def test_a_correction_contradicts_what_is_most_like_it():
    lines = ["The ferry to Skye leaves at noon from pier nine", "I brought bread", "Rain on Skye again"]
    assert [place for place, *_ in found(*lines, "Scratch that, the Skye ferry goes from pier two")] == [0]
    assert found(*lines, "Sorry, I am late") == []


def test_the_latest_of_many_come_first_and_the_oldest_lines_are_let_go():
    assert [place for place, *_ in found(*["I have a goat."] * 5, "I don't have a goat.")] == [4, 3, 2][:MOST]
    assert found("I have a goat.", *["Rain."] * MOST_LINES, "I don't have a goat.") == []


def test_of_a_line_that_claims_very_much_a_bounded_part_is_compared():
    claims = ReadLine.of(1, "".join(f"my w{number} ran, " for number in range(90))).claims
    assert len(claims) == MOST_CLAIMS


@given(st.lists(st.text(max_size=300), max_size=4))
def test_whatever_is_said_can_be_read(lines):
    for _, words, earlier in found(*lines, "I don't like it any more, actually."):
        assert words
        assert earlier


@pytest.mark.parametrize("words", ["i not ", "because ", "a, so ", "don't have ", "my "])
def test_a_line_made_to_be_slow_is_read_at_once(words):
    began = time.process_time()
    found("I have a goat.", 4_000 * words)
    assert time.process_time() - began < 0.1
