"""Whose words they are: lines turned from one mouth to another."""

import pytest

from noodlings.llm.reflect import is_clause, lower_first, to_past, turn


@pytest.mark.parametrize(
    ("line", "to_speaker", "to_others"),
    [
        ("my dog died", "your dog died", "their dog died"),
        ("I am afraid of you", "you are afraid of me", "they are afraid of me"),
        ("you are my friend", "I am your friend", "I am their friend"),
        ("and I love you", "and you love me", "and they love me"),
        ("I was late; my cat was", "you were late; your cat was", "they were late; their cat was"),
        ("I’m leaving; you’re kind", "you're leaving; I'm kind", "they're leaving; I'm kind"),
        ("I never told you", "you never told me", "they never told me"),
        ("I told you already", "you told me already", "they told me already"),
        ("I think you should go", "you think I should go", "they think I should go"),
        ("I told you about my garden", "you told me about your garden", "they told me about their garden"),
        ("im tired and ive lost it", "you're tired and you've lost it", "they're tired and they've lost it"),
        ("the cat sat on the mat", "the cat sat on the mat", "the cat sat on the mat"),
    ],
)  # fmt: skip
def test_a_line_is_turned_to_its_speaker_and_to_others(line: str, to_speaker: str, to_others: str) -> None:
    assert turn(line, to_speaker=True) == to_speaker
    assert turn(line, to_speaker=False) == to_others


def test_the_present_becomes_the_past() -> None:
    assert to_past("you're afraid and your exam is here") == "you were afraid and your exam was here"


@pytest.mark.parametrize("line", ["my dog died", "i love storms", "the bridge is down", "it rained"])
def test_a_statement_is_a_clause(line: str) -> None:
    assert is_clause(line.split())


@pytest.mark.parametrize("line", ["my dog", "what a day", "biscuit was his name", "because of you", "hello"])
def test_what_is_no_plain_statement_is_no_clause(line: str) -> None:
    assert not is_clause(line.split())


@pytest.mark.parametrize(
    ("line", "inside"), [("My dog", "my dog"), ("I am", "I am"), ("I'm", "I'm"), ("", "")]
)
def test_a_clause_goes_on_in_lower_case_but_i_stays(line: str, inside: str) -> None:
    assert lower_first(line) == inside
