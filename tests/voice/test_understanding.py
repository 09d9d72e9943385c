"""Lines are heard as the corpus says, and nothing breaks the ear."""

from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.values.affect import Affect
from noodlings.values.percept import Kind, Percept, in_confidence
from noodlings.values.reading import LineReading
from noodlings.values.wording import DialogueAct
from noodlings.voice.question import QuestionKind
from noodlings.voice.understanding import UnderstoodLine, understand
from tests.voice.utterances import PERSONAS

CORPUS = Path(__file__).with_name("corpus.tsv")


class Heard(NamedTuple):
    """A row of the corpus: a line, and what a decent listener hears."""

    line: str
    act: str
    question: str
    topic: str
    feeling: str


def corpus() -> list[Heard]:
    rows = CORPUS.read_text(encoding="utf-8").splitlines()[1:]
    return [Heard(*row.split("\t")) for row in rows]


def hear(line: str) -> Heard:
    heard = understand(Percept("user_caity", line, 0.0), PERSONAS["phi"])
    return Heard(line, heard.act, heard.question.name, heard.topic, heard.feeling or "")


def test_what_is_heard_as_a_secret_is_kept_as_one() -> None:
    secrets = [row.line for row in corpus() if row.act == "secret"]
    assert len(secrets) > 15
    assert [line for line in secrets if not in_confidence(Kind.SAY, line)] == []


@pytest.mark.slow
def test_every_line_of_the_corpus_is_heard_as_it_says() -> None:
    wrong = [
        f"{row.line!r} is {row[1:]}, but heard as {got[1:]}"
        for row in corpus()
        if (got := hear(row.line)) != row
    ]
    assert not wrong, "\n".join(wrong)


def read_as(line: str, act: DialogueAct, likely: float) -> DialogueAct:
    """How a line is heard that a model takes for this, with this probability."""
    acts = ((act, likely), (DialogueAct.STATEMENT, 1.0 - likely))
    percept = Percept("user_caity", line, 0.0, affect=Affect(-0.9, 0.8, 0.9, 0.0, 0.0))
    return understand(percept, PERSONAS["phi"], reading=LineReading(0.0, 0.0, acts)).act


@pytest.mark.parametrize("likely", [0.49, 0.51])
def test_what_no_rule_knows_is_what_a_model_takes_it_for_if_that_is_likely(likely: float) -> None:
    heard = read_as("wolves along the upper road since the thaw", DialogueAct.WARNING, likely)
    assert heard is (DialogueAct.WARNING if likely > 0.5 else DialogueAct.AFRAID)


def calmly(line: str, act: DialogueAct, likely: float) -> UnderstoodLine:
    """The same where nothing is felt."""
    acts = ((act, likely), (DialogueAct.STATEMENT, 1.0 - likely))
    percept = Percept("user_caity", line, 0.0)
    return understand(percept, PERSONAS["phi"], reading=LineReading(0.0, 0.0, acts))


def test_a_line_that_a_model_hears_ask_may_be_answered_from_memory() -> None:
    heard = calmly("curious where the ferryman sleeps", DialogueAct.QUESTION, 0.9)
    assert heard.question.may_be_known


def test_who_is_called_by_name_is_not_greeted_by_that() -> None:
    line = "Phi, the ferry is late again"
    assert read_as(line, DialogueAct.GREETING, 0.9) is read_as(line, DialogueAct.STATEMENT, 0.9)
    assert read_as("look what the tide washed in", DialogueAct.GREETING, 0.9) is DialogueAct.GREETING


def test_who_is_called_by_name_is_not_thanked_by_that() -> None:
    line = "Phi, my dog would have loved this"
    assert read_as(line, DialogueAct.THANKS, 0.9) is read_as(line, DialogueAct.STATEMENT, 0.9)


def test_of_what_it_was_taught_a_model_that_is_sure_knows_more_than_a_rule() -> None:
    line = "Have my table, we're just off."
    assert calmly(line, DialogueAct.OFFER, 0.6).act is DialogueAct.REQUEST
    assert calmly(line, DialogueAct.OFFER, 0.8).act is DialogueAct.OFFER
    praise = "You've a lovely hand with a frightened horse."
    assert calmly(praise, DialogueAct.PRAISE, 0.6).act is DialogueAct.AFRAID
    assert calmly(praise, DialogueAct.PRAISE, 0.8).act is DialogueAct.PRAISE
    told = "Bless you, said the priest, and then the roof came down."
    assert calmly(told, DialogueAct.STATEMENT, 0.8).act is DialogueAct.STATEMENT


def test_what_asks_in_form_alone_is_no_question() -> None:
    line = "They've moved the sugar. Why must they always move the sugar?"
    assert calmly(line, DialogueAct.GRUMBLE, 0.8).act is DialogueAct.QUESTION
    grumbled = calmly(line, DialogueAct.GRUMBLE, 0.95)
    assert grumbled.act is DialogueAct.GRUMBLE
    assert grumbled.question.may_be_known
    told = "Full house again, and so it was last night."
    assert calmly(told, DialogueAct.STATEMENT, 0.95).question is QuestionKind.NONE
    asked = "which hospital was that"
    assert calmly(asked, DialogueAct.SHORT, 0.95).act is DialogueAct.QUESTION


def test_who_greets_and_then_asks_gets_an_answer() -> None:
    assert (
        calmly("Good evening. Is the east road open?", DialogueAct.GREETING, 0.97).act is DialogueAct.QUESTION
    )
    assert calmly("Sorry. Where did the ferry go?", DialogueAct.APOLOGY, 0.97).act is DialogueAct.QUESTION
    for courtesy in ("Hail the mine! Anybody above ground?", "Hello. What would I do without you?"):
        assert calmly(courtesy, DialogueAct.GREETING, 0.97).act is DialogueAct.GREETING


def test_a_rule_of_grief_stands_against_a_model() -> None:
    assert read_as("my father died", DialogueAct.TEASING, 1.0) is DialogueAct.GRIEF
    assert read_as("I want to die", DialogueAct.GRUMBLE, 1.0) is DialogueAct.DESPAIR


def test_a_feeling_in_jest_gets_no_comfort() -> None:
    line = "I'm so sad that nobody saved me a biscuit"
    assert read_as(line, DialogueAct.GRUMBLE, 0.6) is DialogueAct.SAD
    assert read_as(line, DialogueAct.GRUMBLE, 0.8) is DialogueAct.GRUMBLE


def test_the_corpus_has_every_line_once() -> None:
    lines = [row.line for row in corpus()]
    assert len(lines) == len(set(lines)) > 1_000


@pytest.mark.parametrize(
    ("kind", "text", "act"),
    [
        (Kind.EMOTE, "waves", DialogueAct.EMOTE_WARM),
        (Kind.EMOTE, "sobs quietly", DialogueAct.EMOTE_SAD),
        (Kind.EMOTE, "is crying", DialogueAct.EMOTE_SAD),
        (Kind.EMOTE, "starts to dance", DialogueAct.EMOTE_WARM),
        (Kind.EMOTE, "kicks the table", DialogueAct.EMOTE_HARSH),
        (Kind.EMOTE, 'holds out a cup "tea?"', DialogueAct.EMOTE_GIFT),
        (Kind.EMOTE, "juggles", DialogueAct.EMOTE),
        (Kind.EMOTE, 'leans in. "my dog died"', DialogueAct.GRIEF),
        (Kind.ARRIVE, "arrives", DialogueAct.ARRIVE),
        (Kind.LEAVE, "leaves", DialogueAct.LEAVE),
        (Kind.EVENT, "the clock falls over", DialogueAct.EVENT),
    ],
)
def test_what_is_done_is_told_apart_from_what_is_said(kind: Kind, text: str, act: DialogueAct) -> None:
    assert understand(Percept("user_caity", text, 0.0, kind), PERSONAS["phi"]).act is act


def test_a_given_feeling_counts_where_the_words_are_plain() -> None:
    felt = Affect(valence=-0.7, fear=0.9)
    assert (
        understand(Percept("u", "the moon is red", 0.0, affect=felt), PERSONAS["phi"]).act
        is DialogueAct.AFRAID
    )


@pytest.mark.parametrize(
    ("line", "felt"),
    [
        ("he was such a good boy", Affect(valence=0.7, arousal=0.7)),
        ("I hate mushrooms", Affect(valence=-0.7, arousal=0.7)),
        ("I died again lol", Affect(valence=-0.6, sorrow=0.7)),
        ("what will it be tomorrow?", Affect(valence=-0.7, sorrow=0.9)),
    ],
)
def test_what_the_hearer_feels_is_not_all_the_speaker_tells(line: str, felt: Affect) -> None:
    heard = understand(Percept("u", line, 0.0, affect=felt), PERSONAS["phi"])
    assert heard.act in (DialogueAct.STATEMENT, DialogueAct.QUESTION)


def test_who_always_shouts_is_heard_as_anybody() -> None:
    heard = understand(Percept("servnak", "THE BOILER IS WARM", 0.0), PERSONAS["maren"])
    assert heard.topic == "the boiler"


def test_what_is_hard_is_heard_as_sad_though_no_feeling_stands_out() -> None:
    hard = Affect(valence=-0.8, arousal=0.5, fear=0.1, sorrow=0.1)
    assert understand(Percept("u", "I can't sleep", 0.0, affect=hard), PERSONAS["phi"]).act is DialogueAct.SAD


@pytest.mark.parametrize(
    ("line", "chosen", "said"),
    [
        ("me plus 7 goats", "7 goats", "7 goats"),
        ("the old grey donkey went", "the old grey donkey", ""),
        ("my dad's old boat went for scrap", "my dad's old boat", "your dad's old boat"),
        ("the dog ran to you", "ran to you", "ran to me"),
        ("i hate wire i hate teeth", "wire i hate teeth", ""),
        ("Blue fire. It came out blue", "fire. It came", ""),
        ("Phi, the boiler is warm", "Phi", ""),
        ("hm", "", ""),
    ],
)
def test_words_are_said_back_as_a_whole_phrase_turned_to_the_speaker(
    line: str, chosen: str, said: str
) -> None:
    reading = LineReading(0.0, 0.0, echo=chosen)
    assert understand(Percept("u", line, 0.0), PERSONAS["phi"], reading=reading).echo == said


@given(st.text(max_size=300), st.sampled_from(list(Kind)))
def test_nothing_that_can_be_typed_breaks_the_ear(text: str, kind: Kind) -> None:
    heard = understand(Percept("u", text, 0.0, kind), PERSONAS["phi"])
    assert isinstance(heard.act, DialogueAct)


def test_who_tells_a_long_story_asks_in_passing() -> None:
    told = (
        "we drove all night through the rain with the old goat in the back and both tyres nearly flat, " * 3
    )
    assert hear(f"{told} have you ever smelt a wet goat?").question == "NONE"
    assert hear("have you ever smelt a wet goat?").question == "YES_OR_NO"
    assert hear(f"{told} do you remember her name?").question == "MEMORY"
