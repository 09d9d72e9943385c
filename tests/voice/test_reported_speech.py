"""Memories put into words: only what was said, in the right person and tense."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.values.percept import Kind
from noodlings.voice.reported_speech import LONGEST_QUOTE, report
from tests.voice.utterances import BOB, CAITY, memory, utterance

TOLD = [
    ("My dog died yesterday", "you told me your dog died", "Caity told me their dog died"),
    ("Phi, my dog died. I'm so sad!", "you told me your dog died", "Caity told me their dog died"),
    ("please remember that my cat is old", "you told me your cat is old", "Caity told me their cat is old"),
    ("give me the key, Phi", "you asked me to give you the key", "Caity asked me to give them the key"),
    ("I love you", "you told me you love me", "Caity told me they love me"),
    ("I WILL STAND HERE. *RINGS*", "you told me you will stand here", "Caity told me they will stand here"),
    ("my knee hurts", "you told me your knee hurts", "Caity told me their knee hurts"),
    (
        "My sister Anna lives in Leeds",
        "you told me your sister Anna lives in Leeds",
        "Caity told me their sister Anna lives in Leeds",
    ),
    ("Pepper is black", "you told me Pepper is black", "Caity told me Pepper is black"),
    ("a bed", "you said “a bed”", "Caity said “a bed”"),
    (
        "I told you my boss shouts at me",
        "you told me your boss shouts at you",
        "Caity told me their boss shouts at them",
    ),
    (
        "it was hard, but I'm doing ok",
        "you told me it was hard, but you're doing ok",
        "Caity told me it was hard, but they're doing ok",
    ),
    ("Maria, hope you sleep", "you said “Maria, hope you sleep”", "Caity said “Maria, hope you sleep”"),
    ("That's great. I fell. It is late.", "you told me you fell", "Caity told me they fell"),
    (
        "I wish I had said goodbye",
        "you told me you wish you had said goodbye",
        "Caity told me they wish they had said goodbye",
    ),
    ("I have a cold, bye", "you told me you have a cold", "Caity told me they have a cold"),
    ("It weighs 2.5 stone", "you told me it weighs 2.5 stone", "Caity told me it weighs 2.5 stone"),
    ("Rum. Only dark rum.", "you said “Rum. Only dark rum”", "Caity said “Rum. Only dark rum”"),
    ("The house by the sea", "you said “The house by the sea”", "Caity said “The house by the sea”"),
    ("sind Sie müde", "you said “sind Sie müde”", "Caity said “sind Sie müde”"),
    ("I think we should go", "you said “I think we should go”", "Caity said “I think we should go”"),
]
DONE = [
    ("hugs phi", "you hugged me", "Caity hugged me"),
    ("waves her hand", "you waved your hand", "Caity waved their hand"),
    ("kicks you", "you kicked me", "Caity kicked me"),
    ("holds your hand", "you held my hand", "Caity held my hand"),
    ("is crying", "you were crying", "Caity was crying"),
    ("gives Phi a lamp", "you gave me a lamp", "Caity gave me a lamp"),
]
CASES = [(text, Kind.SAY, *clauses) for text, *clauses in TOLD]
CASES += [
    (
        "my husband left me",
        Kind.WHISPER,
        "you told me your husband left you",
        "Caity told me their husband left them",
    )
]
CASES += [(text, Kind.EMOTE, *clauses) for text, *clauses in DONE]


@pytest.mark.parametrize(("text", "kind", "to_speaker", "to_others"), CASES)
def test_a_memory_is_told_to_its_speaker_and_to_others(
    text: str, kind: Kind, to_speaker: str, to_others: str
) -> None:
    entry = memory(1, text, kind=kind).entry
    for user, clause in ((CAITY, to_speaker), (BOB, to_others)):
        made = report(entry, utterance("hm", who="phi", user=user), frozenset())
        assert made is not None
        assert made.clause == clause
        assert made.dated == f"three days ago {clause}"


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("maren, my dog died", "you told Maren your dog died"),
        ("Maren, I love you", "you said “I love you” to Maren"),
        ("maren, do you like me?", "you asked Maren “do you like me?”"),
        ("well, my dog died", "you told me your dog died"),
    ],
)
def test_what_was_said_to_somebody_else_is_told_as_that(text: str, clause: str) -> None:
    asked = utterance("hm", who="phi")
    asked = replace(asked, names=asked.names | {"maren": "Maren"})
    made = report(memory(1, text).entry, asked, frozenset())
    assert made is not None
    assert made.clause == clause


def test_a_scrap_does_not_stand_for_a_long_line() -> None:
    line = "Odile rang! The feast is on the ninth, up in the barn, and I bring forty lanterns and a ladder."
    made = report(memory(1, line).entry, utterance("hm", who="phi", user=CAITY), frozenset({"odil"}))
    assert made is not None
    assert made.clause == f"you said “{line.rstrip('.')}”"


def test_of_a_long_line_the_sentence_is_told_that_was_asked_for() -> None:
    entry = memory(1, "Hello Phi. It rains. My mother is ill because she fell. I had soup.").entry
    made = report(entry, utterance("hm", who="phi"), frozenset({"mother"}))
    assert made is not None
    assert made.clause == "you told me your mother is ill because she fell"


@pytest.mark.parametrize(
    "text",
    [
        "😀",
        "hi again",
        "hello old friend",
        "thank you",
        "good night",
        "I have to go now, bye",
        "ok then",
        "gg",
    ],
)
def test_what_tells_nothing_is_not_told(text: str) -> None:
    assert report(memory(1, text).entry, utterance("hm"), frozenset()) is None


@given(st.text(max_size=600))
def test_whatever_was_said_is_told_as_one_short_clause_or_not_at_all(text: str) -> None:
    made = report(memory(1, text).entry, utterance("hm"), frozenset())
    assert made is None or (made.clause.startswith("you ") and len(made.clause) <= 160 + LONGEST_QUOTE)


def test_what_is_told_to_thee_is_quoted() -> None:
    made = report(memory(1, "I tell thee they searched my boots").entry, utterance("hm"), frozenset())
    assert made is not None
    assert made.clause == "you said “I tell thee they searched my boots”"
