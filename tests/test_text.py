"""Whatever comes in from outside leaves `clean` as one harmless, printable line."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.text import clean, shorten

ANYTHING = st.text(st.characters(exclude_categories=()))


@given(ANYTHING)
def test_clean_leaves_nothing_that_controls_a_terminal(text):
    cleaned = clean(text)
    assert all(unicodedata.category(character) not in ("Cc", "Cs") for character in cleaned)
    assert cleaned == cleaned.strip()
    assert "  " not in cleaned
    cleaned.encode("utf-8")


@given(ANYTHING)
def test_clean_is_idempotent(text):
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ("hello\x00 there", "hello there"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "red"),
        ("one\ntwo\r\n three", "one two three"),
        ("\u202egnp.exe", "gnp.exe"),
        ("[bold]not markup[/bold]", "[bold]not markup[/bold]"),
        ("👩‍🚀 waves", "👩‍🚀 waves"),
        ("\ud800", "?"),
        ("   ", ""),
    ],
)
def test_clean_takes_out_what_is_hostile_and_leaves_the_rest(given, left):
    assert clean(given) == left


@given(ANYTHING, st.integers(1, 100))
def test_shorten_is_never_longer_than_asked(text, width):
    assert len(shorten(text, width)) <= width


def test_shorten_shows_that_something_was_cut():
    assert shorten("a long sentence", 8) == "a long…"
    assert shorten("short", 8) == "short"
