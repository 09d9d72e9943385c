"""What is known of somebody, put together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from noodlings.reflection.facts import Fact, facts
from noodlings.reflection.person_cards import MOST, MOST_TOLD, PersonCard, person_cards
from noodlings.values.fact import FactKind
from noodlings.values.memory import ImportanceParts
from tests.memory.entries import an_entry


def known(*lines: str) -> dict[str, PersonCard]:
    """Cards by whom they are of, when Marta said these lines."""
    names, told = {"marta": "user_marta"}, list[Fact]()
    for number, line in enumerate(lines):
        entry = an_entry(number, user_id="user_marta", user_text=line)
        told += facts(replace(entry, parts=ImportanceParts(significance=0.7)), names)
        names |= {one.relative.name.casefold(): one.relative.key for one in told if one.relative}
    return {card.of: card for card in person_cards(told, {})}


def words(card: PersonCard) -> list[str]:
    return [one.fullest.words for one in card.facts]


def test_what_is_told_again_appears_once_with_all_its_evidence() -> None:
    card = known("I am allergic to nuts", "hello", "mind you, I am allergic to nuts", "I am allergic to nuts")
    (one,) = card["user_marta"].facts
    assert (one.evidence, one.fullest.words) == ((0, 2, 3), "mind you, I am allergic to nuts")


@pytest.mark.parametrize(
    "lines",
    [
        ("I am badly allergic to nuts", "I am badly allergic to eggs"),
        ("I really love dogs", "I really love cats"),
        ("I love marzipan", "I love it"),
        ("my brother Tom rang", "my brother Ed rang"),
    ],
)
def test_what_only_sounds_alike_is_two_facts(lines: tuple[str, str]) -> None:
    assert sorted(words(known(*lines)["user_marta"])) == sorted(lines)


def test_of_where_somebody_lives_the_latest_holds() -> None:
    card = known("I live in Leeds", "I live alone", "I love marzipan", "we moved to Porto")["user_marta"]
    assert sorted(words(card)) == sorted(["we moved to Porto", "I love marzipan", "I live alone"])
    (old,) = card.superseded
    assert old.superseded_by is not None
    assert (old.fullest.words, old.superseded_by.words) == ("I live in Leeds", "we moved to Porto")


def test_of_an_age_the_latest_holds_beside_a_birthday() -> None:
    card = known("I am 34", "my birthday is in June", "I turned 35")["user_marta"]
    assert sorted(words(card)) == sorted(["I turned 35", "my birthday is in June"])


def test_a_line_that_says_so_corrects_what_it_is_about() -> None:
    lines = (
        "I start at the bakery on Monday",
        "I leave for Rye tomorrow",
        "scratch that, I start on Tuesday at the bakery",
    )
    card = known(*lines)["user_marta"]
    assert [one.fullest.words for one in card.superseded] == [lines[0]]
    other = known("my sister Ruth is a nurse", "actually, my sister Ruth plays the fiddle")
    assert [one.fullest.kind.value for one in other["user_marta's Ruth"].facts] == ["trade", "skill"]


def test_kin_is_one_person_by_either_name() -> None:
    found = known("my sister is a nurse", "my sister Ruth lives in Leeds", "Ruth is afraid of moths")
    card = found["user_marta's Ruth"]
    assert card.relations == ("user_marta's sister",)
    assert [one.fullest.kind.value for one in card.facts] == ["trade", "home", "fear"]
    two = known("my sister Ruth rang", "my sister Ada rang", "my sister is a nurse")
    assert "user_marta's sister" in two  # which of the two nobody said


def test_of_very_many_facts_the_latest_stay() -> None:
    told = [
        Fact(
            "user_marta", FactKind.LIKES, f"I love thing{number} and more{number}", number, "user_marta", 0.0
        )
        for number in range(2 * MOST)
    ]
    (card,) = person_cards(told, {})
    assert [one.evidence[0] for one in card.facts] == list(range(2 * MOST - 1, MOST - 1, -1))


@pytest.mark.parametrize(
    ("earlier", "correction"),
    [
        (
            "We hoist the sails to Oulu in the night of the 14th",
            "wait, no sails on the 14th, Oulu has to do without us",
        ),
        (
            "I start at the bakery on Monday",
            "I told you wrong, we bake nothing on Monday at that bakery of ours",
        ),
    ],
)
def test_a_correction_in_other_words_replaces_what_is_most_like_it(earlier: str, correction: str) -> None:
    card = known(earlier, "Oulu is on our mind, and a cake on Monday", correction)["user_marta"]
    (old,) = card.superseded
    assert old.superseded_by is not None
    assert (old.fullest.words, old.superseded_by.words) == (earlier, correction)
    assert correction in words(card)


@pytest.mark.parametrize(
    "lines",
    [
        ("my mother has given up the ship", "actually, my mother paints all day"),  # only her name in common
        ("We hoist the sails to Oulu", "wait, our cat has eaten the curtains"),
        (
            "we have tarred the boat by the harbour",
            "our sails hang by the harbour and the boat sleeps",
        ),  # corrects nothing
    ],
)
def test_what_corrects_nothing_that_is_known_replaces_nothing(lines: tuple[str, str]) -> None:
    cards = known(*lines).values()
    assert sorted(one for card in cards for one in words(card)) == sorted(lines)


def test_of_very_many_lines_those_most_worth_keeping_stay_the_latest_first() -> None:
    told = [
        Fact(
            "user_marta", FactKind.TOLD, f"the ship{number} of my aunt{number}", number, "user_marta", 0.0,
            worth=1.0 if number % 3 == 0 else 0.5,
        )
        for number in range(3 * MOST_TOLD)
    ]  # fmt: skip
    (card,) = person_cards(told, {})
    assert [one.evidence[0] for one in card.facts] == list(range(3 * MOST_TOLD - 3, -1, -3))
