"""Phrases: choices, slots, and refusals that say what is wrong."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import UserError
from noodlings.values.wording import calm, parse


def everything(source: str, **slots: str) -> set[str]:
    phrase = parse(source)
    return {phrase.expand(random.Random(seed), slots) for seed in range(60)}


def test_a_choice_gives_each_of_its_alternatives() -> None:
    assert everything("(Hello|Good day), {name}.", name="Caity") == {"Hello, Caity.", "Good day, Caity."}


def test_choices_nest_and_may_be_empty() -> None:
    assert everything("Oh(| (my|dear)). Well.") == {"Oh. Well.", "Oh my. Well.", "Oh dear. Well."}


def test_brackets_without_a_bar_are_brackets() -> None:
    assert everything("It is (nearly) done.") == {"It is (nearly) done."}


def test_a_slot_with_a_capital_begins_a_sentence() -> None:
    assert everything("{Memory}. I mean it, {memory}.", memory="you left") == {
        "You left. I mean it, you left."
    }


def test_the_slots_of_a_phrase_are_known() -> None:
    assert parse("(Hello|Good day to you), {Name}. (|Sit down by the fire.)").slots == {"name"}


@pytest.mark.parametrize(
    "source",
    [
        "(Hello|Good day), {name}. (|Sit down.)",
        "(Quite so.|Just so.)",
        "Stay (a|a little) while longer.",
        "{name}!",
    ],
)
def test_a_phrase_is_known_again_in_every_line_made_of_it(source: str) -> None:
    phrase = parse(source)
    assert all(phrase.is_in(calm(line)) for line in everything(source, name="Caity")) or not phrase.marks
    assert not phrase.is_in("something else altogether")


@pytest.mark.parametrize("source", ["(a|b", "a|b", "a)", "{not a name}", "a } b", "{"])
def test_what_cannot_be_read_is_refused(source: str) -> None:
    with pytest.raises(UserError, match=r"bracket|slot|never closed|opening"):
        parse(source)


@given(st.text(alphabet="ab (|){}.", max_size=40))
def test_whatever_is_read_expands_and_whatever_is_not_is_a_user_error(source: str) -> None:
    try:
        phrase = parse(source)
    except UserError:
        return
    made = phrase.expand(random.Random(0), dict.fromkeys(phrase.slots, "x"))
    assert made == made.strip()
    assert "|" not in made
