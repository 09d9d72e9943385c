"""Whose words they are: lines turned from one mouth to another."""

import pytest

from noodlings.voice.pronouns import in_first_person, lower_first, to_past, turn


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


@pytest.mark.parametrize(
    ("present", "past"),
    [
        ("you're afraid and your exam is here", "you were afraid and your exam was here"),
        ("the doctor says it is cancer", "the doctor said it was cancer"),
        ("they miss him", "they missed him"),
        ("you used to hate it but then you love it", "you used to hate it but then you loved it"),
        ("you never go as it makes you feel small", "you never went as it made you feel small"),
        ("they bet I can't find them", "they bet I couldn't find them"),
        ("you don't know what to do", "you didn't know what to do"),
        ("your dog barks and she sings", "your dog barked and she sang"),
        ("you love long walks", "you loved long walks"),
        ("you told me a story", "you told me a story"),
        ("your dog would have loved this", "your dog would have loved this"),
        ("you couldn't really have known", "you couldn't really have known"),
        ("you have to have a dog", "you had to have a dog"),
    ],
)  # fmt: skip
def test_the_present_becomes_the_past(present: str, past: str) -> None:
    assert to_past(present) == past


@pytest.mark.parametrize(
    ("line", "inside"), [("My dog", "my dog"), ("I am", "I am"), ("I'm", "I'm"), ("", "")]
)
def test_a_clause_goes_on_in_lower_case_but_i_stays(line: str, inside: str) -> None:
    assert lower_first(line) == inside


@pytest.mark.parametrize(
    ("told", "pronoun", "said"),
    [
        ("Forty-one years she kept her light", "she", "Forty-one years I kept my light"),
        ("Her eyes rest on whoever she looks at", "she", "My eyes rest on whoever I look at"),
        ("They love her, and she's glad of her cats", "she", "They love me, and I'm glad of my cats"),
        ("He always feeds cats, cleans nets and sings", "he", "I always feed cats, clean nets and sing"),
        ("He trembles at thunder and has a wife", "he", "I tremble at thunder and have a wife"),
        ("He keeps lamps, ledgers, and gulls", "he", "I keep lamps, ledgers, and gulls"),
        ("He was born at sea; his wife misses him", "he", "I was born at sea; my wife misses me"),
        ("It sleeps in its drawer and looks at you", "it", "I sleep in my drawer and look at you"),
        ("Gus keeps Gus's lamp, and he sings", "he", "I keep my lamp, and I sing"),
        ("The brass shines until it throws the light back", "it", ""),
        ("A broad old man, who counts the ships", "it", "A broad old man, who counts the ships"),
    ],
)  # fmt: skip
def test_what_is_told_of_somebody_they_say_of_themselves(told: str, pronoun: str, said: str) -> None:
    assert in_first_person(told, pronoun, "Gus") == said


def test_who_is_addressed_in_each_clause_says_i() -> None:
    said = turn("You never explain; you measure it, and you listen to what people tell you", to_speaker=True)
    assert said == "I never explain; I measure it, and I listen to what people tell me"
