"""What is a statement, and what only looks like one."""

import pytest

from noodlings.voice.statement import begins_with_name, is_clause
from noodlings.voice.words import tokens

STATEMENTS = [
    "James is here", "so I left", "oh just even so I left", f"{'not ' * 2_000}I left",
    "my dog died", "i love storms", "the bridge is down", "it rained", "my knee hurts", "she raised me",
    "my sister Anna lives in Leeds", "Pepper is black", "Anna lives in Leeds", "the children sing at night",
    "my daughter plays the violin", "the girl who lives next door left", "the book I read was good",
    "my old house burned down", "nobody likes me", "a red kite fell on my roof", "they always laugh",
    "I'm tired", "my red shed leaks and is old", "this is my stop", "the man I loved died", "we met in Paris",
    "everyone expects me to be strong", "my cat has a bed", "my boss shouts at me", "yesterday we met",
    "the book I've read was good", "this is it", "those were the days",
]  # fmt: skip
NONE = [
    "Sounds like rain", "just look at my list", "just started learning",
    "my dog", "what a day", "biscuit was his name", "because of you", "hello", "a bed", "a red bed",
    "a new bed for the spare room", "the shed", "the book I read", "my wicked hundred weeds", "the seed",
    "the man I've known",
    "the man I loved", "a bed made of wood", "a man called Bob", "the house by the sea", "nothing much",
    "this naked bed", "no need", "my work at the bakery", "a walk by the sea", "the keys to my house",
    "not " * 2_000,
]  # fmt: skip


@pytest.mark.parametrize("line", STATEMENTS)
def test_a_statement_says_something_of_somebody(line: str) -> None:
    assert is_clause(tokens(line), begins_with_name(line))


@pytest.mark.parametrize("line", NONE)
def test_what_is_no_plain_statement_is_no_clause(line: str) -> None:
    assert not is_clause(tokens(line), begins_with_name(line))
