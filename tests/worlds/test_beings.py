"""What characters are called by those who talk to them, and who is meant."""

from __future__ import annotations

import pytest

from noodlings.errors import NotFound
from noodlings.worlds.beings import Being, find_being, require_free
from tests.fakes import make_persona


def character(name: str) -> Being:
    persona = make_persona(name)
    return Being(persona.id, persona.name, persona)


TOM, FINCH, YOUNG_TOM = map(character, ("Old Tom", "Barnaby Finch", "Young Tom"))


@pytest.mark.parametrize("text", ["tom, hello", "hello Tom!", "old tom, hello", "is TOM there?"])
def test_a_character_is_named_by_a_word_of_its_name(text: str) -> None:
    assert TOM.named_in(text)
    assert not FINCH.named_in(text)


@pytest.mark.parametrize("text", ["how old are you?", "tomorrow", "the old mill"])
def test_not_every_word_of_a_name_is_one(text: str) -> None:
    assert not TOM.named_in(text)


@pytest.mark.parametrize("wanted", ["tom", "old tom", "Old", "barnaby", "Finch", "barnaby finch"])
def test_whoever_is_looked_for_is_found_by_one_word(wanted: str) -> None:
    assert find_being(wanted, [TOM, FINCH]) is (TOM if "o" in wanted.casefold() else FINCH)


def test_two_may_share_a_word_of_their_names_and_nobody_is_found_by_it() -> None:
    require_free([TOM], YOUNG_TOM.id, YOUNG_TOM.names)
    with pytest.raises(NotFound):
        find_being("tom", [TOM, YOUNG_TOM])
    assert find_being("young tom", [TOM, YOUNG_TOM]) is YOUNG_TOM


def test_a_name_of_its_own_goes_before_a_word_of_anothers() -> None:
    plain = character("Tom")
    assert find_being("tom", [TOM, plain]) is plain
