"""What lines tell about people, and what must not be taken for it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.reflection.facts import (
    DOUBTED,
    LONGEST,
    MATTERS,
    MATTERS_ANYHOW,
    MOST,
    SURE,
    Fact,
    Relative,
    facts,
)
from noodlings.text import clean
from noodlings.values.fact import FactKind, Tells
from noodlings.values.memory import ImportanceParts, MemoryEntry
from noodlings.values.percept import Kind
from tests.memory.entries import an_entry

NAMES = {"marta": "user_marta", "jonas": "user_jonas", "edda": "edda"}
SOON = 0.25
"""Seconds of the processor within which any line is read, on a machine of any kind."""


def said(text: str, number: int = 1, **changes: object) -> MemoryEntry:
    """Something that Marta said."""
    return an_entry(number, **({"user_id": "user_marta", "user_text": clean(text)} | changes))


def told(text: str, *before: str) -> set[tuple[str, str]]:
    """Of whom it tells what, briefly."""
    earlier = [said(line, number) for number, line in enumerate(before)]
    found = facts(said(text, 9), NAMES, earlier)
    return {(fact.of.removeprefix("user_"), fact.kind.value) for fact in found}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My sister Ruth keeps bees", {("marta", "kin")}),
        ("my sister ruth's moving in with me on friday", {("marta", "kin"), ("marta's Ruth", "plan")}),
        ("I'm a nurse at the county hospital.", {("marta", "trade")}),
        ("cant, got my insulin to sort out first", {("marta", "health")}),
        ("do you think my brother Amir would like that?", {("marta", "kin")}),
        ("Jonas hates spiders and he is moving out soon", {("jonas", "dislikes"), ("jonas", "plan")}),
        ("im vegetarian btw", {("marta", "belief")}),
        ("Evening. I play the cello, badly.", {("marta", "skill")}),
        ("I'll bring you the book on friday", {("marta", "promise")}),
        ("My grandmother died last night.", {("marta's grandmother", "event")}),
        ("turning 40 on saturday ugh", {("marta", "age")}),
        ("I never learned to swim", {("marta", "skill")}),
        ("we live in Graz now", {("marta", "home")}),
        ("I am terrified of moths", {("marta", "fear")}),
        ("I am allergic to nuts", {("marta", "health")}),
        ("Jonas and I fell out", {("marta", "between")}),
        ("I love marzipan", {("marta", "likes")}),
        ("Tomorrow we move to Porto", {("marta", "plan")}),
    ],
)  # fmt: skip
def test_what_is_said_plainly_is_found(text: str, expected: set[tuple[str, str]]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize("text", ["does my husband like flying?", "what is my cat called?"])
def test_whoever_is_only_asked_about_may_not_be_there(text: str) -> None:
    assert told(text) == set()


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("if I live in Graz", "I live in Graz"),
        ("my rogue is allergic to gold, I am allergic to gold", "I am allergic to gold"),
        ("I'd hate a beer", "I hate beer"),
        ("I live in a barn?", "I live in a barn"),
        ("I'm not a nurse", "I'm a nurse"),
        ("that's not my cat", "that's my cat"),
        ('he shouted, "I am a nurse"', "he shouted, I am a nurse"),
        ("*I am afraid of spiders*", "I am afraid of spiders"),
        ("people say that I live in Graz", "I live in Graz"),
        ("in the book I live in a tower", "I live in a tower"),
        ("imagine, I was married", "I got married"),
        ("I don't have asthma", "I have asthma"),
        ("I have no allergies", "I have allergies"),
        ("I never lived in Leeds", "I lived in Leeds"),
        ("I haven't got diabetes", "I've got diabetes"),
        ("I heard my mum is pregnant", "I am pregnant"),
        ("I am sick of this rain", "I am sick"),
        ("I think you live in Graz", "I live in Graz"),
    ],
)
def test_what_is_not_so_is_no_fact(text: str, without: str) -> None:
    assert told(text) == set()
    assert told(without) != set()


@pytest.mark.parametrize("text", ["", "good morning", "It's raining again", "he lives in Graz", "they rang"])
def test_of_nobody_nothing_is_told(text: str) -> None:
    assert told(text) == set()


def worth(text: str, significance: float = 0.7, **changes: object) -> list[tuple[str, str]]:
    """Of whom a line that is worth keeping tells what, briefly."""
    parts = ImportanceParts(significance=significance)
    found = facts(said(text, parts=parts, **changes), NAMES)
    return [(fact.of.removeprefix("user_"), fact.kind.value) for fact in found]


@pytest.mark.parametrize(
    ("text", "of"),
    [
        ("Margarine I can not forgive.", "marta"),
        ("got the keys today at last", "marta"),
        ("Jonas keeps to his room these days", "jonas"),
        ("my brother Tom has given up the ship", None),  # that she has one is a fact with its own kind
        ("my mother has given up the ship", "marta's mother"),
        ("Jonas my candles are all gone", "marta"),
        ("Jonas has the key and I am glad of it", "jonas"),
        ("the shutters, I understand, are Jonas's", None),
        ("He has gone over to the other side", None),
        ("A landlord owns a calendar and no clock", None),
        ("Do I look like a saint to you?", None),
        ("If I had wings I would be gone", None),
        ("'I have buried two husbands,' said the portrait", None),
        ("*I hang up my apron for good*", None),
    ],
)
def test_what_is_worth_keeping_is_told_by_whom_or_of_whom_it_is(text: str, of: str | None) -> None:
    assert [kind for kind in worth(text) if kind[1] == "told"] == ([(of, "told")] if of else [])


def test_what_is_not_worth_keeping_or_has_a_kind_is_not_told_beside() -> None:
    line = "Margarine I can not forgive."
    assert worth(line, MATTERS) == [("marta", "told")]
    assert worth(line, MATTERS - 0.01) == []
    late = "The sea took my Alasdair."
    assert worth(late, MATTERS_ANYHOW) == [("marta", "told")]
    assert worth(late, MATTERS_ANYHOW - 0.01) == []
    assert worth("I am allergic to margarine, which I can not forgive") == [("marta", "health")]
    assert worth(line, kind=Kind.EMOTE) == []


def read(text: str, of_speaker: float, of_other: float = 0.0) -> list[tuple[str, str]]:
    """Of whom a line that a model read tells what, briefly."""
    return worth(text, 0.0, tells=Tells(of_speaker, of_other))


def test_what_a_model_is_sure_of_is_told_though_no_pattern_knows_it() -> None:
    line = "the ground floor please, stairs and I have parted company"
    assert read(line, SURE) == [("marta", "told")]
    assert read(line, SURE - 0.01) == []
    assert read("Jonas keeps to his room these days", 0.1, SURE) == [("jonas", "told")]
    assert read("Jonas keeps to his room these days", 0.1, SURE - 0.01) == []
    both = "Jonas has sold my best spade to the knacker"
    assert read(both, SURE, SURE) == [("marta", "told"), ("jonas", "told")]


@pytest.mark.parametrize(
    "text",
    [
        "Jonas waved and Edda went home",
        "Jonas waved. The old miller two doors down has been a drunk for years.",
        "the old miller has been a drunk for years",
    ],
)
def test_where_another_may_be_meant_nobody_is_told_of(text: str) -> None:
    assert read(text, 0.0, 1.0) == []


@pytest.mark.parametrize(
    "text",
    [
        "what if my husband left me and I lost the house?",
        "have I told you my husband left me?",
        "in the story I am a widow with three sons and a bad hip",
        '"My husband died at sea and I have raised three sons alone," the play begins.',
        "I wish I were a nurse with a house by the sea.",
        "*I hang up my apron for good*",
    ],
)
def test_what_is_imagined_asked_or_played_is_not_told_however_sure_a_model_is(text: str) -> None:
    assert read(text, 1.0, 1.0) == []


def test_what_a_model_doubts_is_left_out_though_a_pattern_knows_it() -> None:
    nurse = "I'm a nurse at the county hospital."
    assert read(nurse, 1.0) == [("marta", "trade")]
    assert read(nurse, DOUBTED) == [("marta", "trade")]
    assert read(nurse, DOUBTED - 0.01) == []
    assert read("Jonas hates spiders", 1.0) == [("jonas", "dislikes"), ("marta", "told")]


def test_who_somebody_is_stays_known_where_a_model_doubts_that_anything_is_told() -> None:
    (fact,) = facts(said("ask my sister Ruth about that", tells=Tells(0.0, 0.0)), NAMES)
    assert fact.relative == Relative("user_marta's Ruth", "user_marta's sister", "Ruth")


def test_of_lines_on_a_card_those_come_first_that_a_model_is_surest_of() -> None:
    (sure,) = facts(said("margarine I can not forgive", tells=Tells(0.9, 0.0)), NAMES)
    assert sure.worth == 0.9
    parts = ImportanceParts(significance=0.7)
    (unread,) = facts(said("margarine I can not forgive", parts=parts), NAMES)
    assert unread.worth == 0.7


def test_words_that_are_withheld_tell_nothing() -> None:
    assert read("", 1.0, 1.0) == []


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("I am never leaving the house", "plan"),
        ("I will have your cloak hemmed by Thursday", "plan"),
        ("they named me for the storm I was born in", "home"),
        ("I was born the year the bridge fell", "event"),
        ("Saturday I drive up to Oulu", "trade"),
        ("my landlord rang. I love him", "likes"),
        ("I owe them a fair whack", "promise"),
        ("Chidi is thirty and bought himself a motorbike", "has"),
    ],
)
def test_what_sounds_like_a_kind_and_is_none(text: str, without: str) -> None:
    assert without not in {kind for _, kind in told(text)}


def test_she_is_the_one_woman_who_was_mentioned() -> None:
    assert told("she's a nurse in Leeds") == set()
    assert told("she's a nurse in Leeds", "my sister Ruth rang") == {("marta's Ruth", "trade")}
    assert told("she's a nurse in Leeds", "my sister rang") == {("marta's sister", "trade")}
    assert told("I met my sister Ruth today. She's a nurse in Leeds") == {
        ("marta", "kin"), ("marta's Ruth", "trade"),
    }  # fmt: skip
    assert told("he's a nurse in Leeds", "my sister Ruth rang") == set()
    assert told("she's a nurse in Leeds", "my sister Ruth rang my aunt Ada") == set()
    assert told("she's a nurse in Leeds", "my sister Ruth rang Jonas") == set()  # who may be a woman


def test_who_is_called_is_not_told_of() -> None:
    assert told("Jonas, I am a nurse") == {("marta", "trade")}


@pytest.mark.parametrize(
    ("text", "of"),
    [
        ("my sister is a nurse in Leeds", "marta's sister"),
        ("my sister's husband is a plumber", ""),
        ("my older sister is a nurse", "marta's older sister"),
        ("my step dad is a plumber", "marta's step dad"),
        ("my sister Emily is a nurse", "marta's Emily"),
        ("my sister Łucja is a nurse", "marta's Łucja"),
        ("my brother Will is a nurse", "marta's Will"),
        ("Jonas's sister is a nurse", ""),
    ],
)
def test_somebody_elses_trade_is_theirs(text: str, of: str) -> None:
    trades = {who for who, kind in told(text) if kind == "trade"}
    assert trades == ({of} if of else set())


def test_a_fact_keeps_its_words_and_its_evidence() -> None:
    (fact,) = facts(said("Evening! I am afraid of (small) “geese”, though. Bye", 4, timestamp=40.0), NAMES)
    expected = Fact(
        "user_marta", FactKind.FEAR, "I am afraid of (small) “geese”, though.", 4, "user_marta", 40.0
    )
    assert fact == expected
    (long,) = facts(said(f"I am afraid of geese, {'and of much beside ' * 40}"), NAMES)
    assert long.words.startswith("I am afraid of geese, and of")
    assert LONGEST - 20 < len(long.words) <= LONGEST


def test_kin_with_a_name_is_known_by_both() -> None:
    (fact,) = facts(said("my sister Ruth rang"), NAMES)
    assert fact.relative == Relative("user_marta's Ruth", "user_marta's sister", "Ruth")
    (fact,) = facts(said("my sister rang"), NAMES)
    assert fact.relative == Relative("user_marta's sister", "user_marta's sister")


@pytest.mark.parametrize("kind", [Kind.EMOTE, Kind.ARRIVE, Kind.THOUGHT, Kind.EVENT])
def test_only_what_is_said_tells(kind: Kind) -> None:
    assert facts(said("I am a nurse", kind=kind), NAMES) == []


HOSTILE = [
    *(
        "i have exam is ",
        "i exam is mon ",
        "i have my exam is monda ",
        "i have exam ",
        "my sister ",
        "my back ",
    ),
    *(
        "my older younger ",
        "my sister Ruth's ",
        "and ",
        "- ",
        "a.b",
        "...",
        "“",
        "*",
        "(",
        "[",
        "i will ",
        "i'd ",
    ),
    *("i am ", ", i am a ", "you know ", "call me ", "on the 1 ", "in May "),
]


@pytest.fixture(scope="module")
def _patterns() -> None:
    """They are read once, which takes longer than any line."""
    facts(said("hello"), NAMES)


@pytest.mark.usefixtures("_patterns")
@pytest.mark.parametrize("part", HOSTILE)
def test_no_line_takes_long(part: str) -> None:
    for text in (part * (4_000 // len(part)), f"i have {part * (4_000 // len(part))}"[:4_000]):
        entry = said(text)
        began = time.process_time()
        assert len(facts(entry, NAMES)) <= MOST
        assert time.process_time() - began < SOON


_WORDS = ["I", "my", "sister", "Ruth", "she's", "a nurse", "in May", "if", "and", "Jonas", "is 40", "5.5"]
_MARKS = list("()“”*.?,")


@given(st.text(max_size=300) | st.lists(st.sampled_from(_WORDS + _MARKS), max_size=30).map(" ".join))
def test_anything_can_be_read_and_the_words_were_said(text: str) -> None:
    entry = said(text)
    for fact in facts(entry, NAMES, [said("my brother Amir called", 0)]):
        assert fact.of
        assert (fact.relative is not None) == (fact.kind is FactKind.KIN)
        assert fact.words.removesuffix("…") in " ".join(entry.user_text.split())
        assert 0 < len(fact.words) <= LONGEST
