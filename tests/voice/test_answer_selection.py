"""The choice of the rules is reconsidered by what people marked in talks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.ports import Utterance
from noodlings.values.memory import Recalled, Why
from noodlings.values.percept import Kind
from noodlings.voice.answer_selection import (
    SILENT,
    TELLS,
    WEIGHTS,
    features_of_memories,
    features_of_question,
    reconsidered,
    select_answer,
)
from noodlings.voice.offline import OfflineVoice
from noodlings.voice.question import QuestionKind
from noodlings.voice.reply_content import understood_line
from noodlings.voice.reported_speech import ReportedSpeech
from noodlings.voice.words import load_yaml
from tests.voice.utterances import BOB, memory, utterance


def read(number: int, text: str, answers: float, alike: float = 0.5, **more: object) -> Recalled:
    """A memory that came to mind by its meaning and was read as an answer."""
    scores = {"semantic": alike, "answer": answers}
    return memory(number, text, why=(Why.SEMANTIC,), scores=scores, **more)  # type: ignore[arg-type]


def told(heard: Utterance) -> list[int]:
    """What is told where the rules chose nothing: the ids of the memories."""
    return [one.entry.id for one in reconsidered([], understood_line(heard), heard, about_itself=False)]


SISTERS = read(1, "I've got four sisters, can you imagine the noise growing up!", 0.96, 0.67)
VET = read(2, "his name's Callum, he's a vet, and he cried more than I did", 0.02, 0.1)


def test_what_surely_answers_is_told_though_the_rules_chose_nothing() -> None:
    heard = utterance("How many sisters have I got, were you listening?", SISTERS, VET)
    assert told(heard) == [1]
    assert "four sisters" in OfflineVoice().draft(heard).text
    assert told(utterance("How many sisters have I got, were you listening?", VET)) == []


def test_what_only_stands_near_is_not_told() -> None:
    place = read(1, "oh my goodness, what a gorgeous little place you have, do you live here?", 0.02, 0.3)
    chosen = ReportedSpeech(place.entry, "you said “what a gorgeous little place”", "")
    heard = utterance("Anyway! Is it always this sunny or did I get lucky?", place)
    assert select_answer(understood_line(heard), heard, about_itself=False).none > SILENT
    assert reconsidered([chosen], understood_line(heard), heard, about_itself=False) == []
    openly = utterance("anything I should know about the sunny side?", place)
    assert reconsidered([chosen], understood_line(openly), openly, about_itself=False) == [chosen]


def test_asked_how_it_is_now_what_was_told_before_is_not_told_instead() -> None:
    missing = read(1, "my cat Pepper has been missing since Friday", 0.8, 0.7)
    back = read(2, "Pepper is back, sitting on the doorstep", 0.3, 0.3)
    heard = utterance("is my cat still missing?", missing, back)
    chosen = ReportedSpeech(back.entry, "you said “Pepper is back”", "")
    assert reconsidered([chosen], understood_line(heard), heard, about_itself=False) == [chosen]


def test_what_the_rules_chose_stays_where_no_model_read_it() -> None:
    unread = memory(1, "Ann is allergic to walnuts", why=(Why.LEXICAL,), scores={"lexical": 0.5})
    idle = read(2, "nice weather we have", 0.01, 0.1)
    heard = utterance("what is Ann allergic to?", unread, idle)
    assert select_answer(understood_line(heard), heard, about_itself=False).none > SILENT
    assert "walnuts" in OfflineVoice().draft(heard).text
    alone = utterance("what is Ann allergic to?", unread)
    assert "walnuts" in OfflineVoice().draft(alone).text


def test_what_is_clearly_likelier_is_told_instead() -> None:
    stairs = read(1, "my nan's in hospital, she fell down the stairs", 0.3, 0.5)
    arm = read(2, "my nan broke her left arm", 0.95, 0.6)
    chosen = ReportedSpeech(stairs.entry, "you said “my nan's in hospital”", "")
    heard = utterance("what did my nan break?", stairs, arm)
    [instead] = reconsidered([chosen], understood_line(heard), heard, about_itself=False)
    assert instead.entry.id == 2
    right = ReportedSpeech(arm.entry, "you said “my nan broke her left arm”", "")
    assert reconsidered([right], understood_line(heard), heard, about_itself=False) == [right]


def test_two_lines_of_one_breath_stay_together() -> None:
    dog = read(1, "I got a dog from the shelter", 0.3)
    name = read(2, "his name is Rex", 0.9)
    both = [ReportedSpeech(dog.entry, "you got a dog", ""), ReportedSpeech(name.entry, "he is Rex", "")]
    heard = utterance("what is my dog called?", dog, name)
    assert reconsidered(both, understood_line(heard), heard, about_itself=False) == both


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("how many sisters have I got?", read(1, "how many sisters have I got", 0.96, 0.8)),
        ("how many sisters have I got?", read(1, "you told Maren I have four sisters", 0.96, 0.8)),
        ("where does my uncle live?", read(1, "my gran lives in the old mill", 0.96, 0.8)),
        ("where does Bob live?", read(1, "I live in the old mill", 0.96, 0.8)),
    ],
)
def test_what_asks_or_is_about_somebody_else_is_not_told_instead(question: str, line: Recalled) -> None:
    assert told(utterance(question, line)) == []


def test_what_was_done_is_not_quoted_as_if_it_had_been_said() -> None:
    acorns = read(1, "hides four acorns under the mat", 0.96, 0.7, kind=Kind.EMOTE)
    heard = utterance("where are the acorns?", replace(acorns, answer="under the mat"))
    assert "said “" not in OfflineVoice().draft(heard).text


@pytest.mark.parametrize(
    "question",
    ["what was the last thing I told you?", "what did I tell you yesterday?", "who told you that?"],
)
def test_what_is_asked_for_by_its_time_or_its_source_is_left_to_the_rules(question: str) -> None:
    surely = replace(SISTERS, scores={"semantic": 0.95, "answer": 0.99})
    heard = utterance(question, surely)
    assert select_answer(understood_line(heard), heard, about_itself=False).likely[0] >= TELLS
    assert told(heard) == []


def test_of_two_persons_the_one_who_is_named_told_it() -> None:
    mine = read(1, "I sold the boat last winter", 0.6)
    bobs = read(2, "I sold the boat to a man from Thornwick", 0.6, user=BOB)
    heard = utterance("what did Bob say about the boat?", mine, bobs)
    selected = select_answer(understood_line(heard), heard, about_itself=False)
    assert selected.memories[0].entry.id == 2


def test_each_weight_has_its_feature_and_each_feature_its_weight() -> None:
    heard = utterance("how many sisters have I got?", SISTERS)
    tables = load_yaml(WEIGHTS)
    assert list(tables["memory"]) == list(features_of_memories([SISTERS], heard)[0])
    assert list(tables["none"]) == list(
        features_of_question(understood_line(heard), heard, about_itself=False)
    )
    assert tables["kinds"].keys() >= {"memory", "unknown"}
    assert set(tables["kinds"]) <= {kind.name.lower() for kind in QuestionKind}


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(-1, 1), st.floats(0, 1)), max_size=12),
    st.sampled_from(["what do I do?", "where is it now?", "?", "how was it at first", "do you like dogs?"]),
)
def test_the_probabilities_are_those_of_one_choice(
    memories: list[tuple[float, float, float]], question: str
) -> None:
    found = [
        read(number, f"thing {number} is here", answers, alike, importance=importance)
        for number, (answers, alike, importance) in enumerate(memories, 1)
    ]
    heard = utterance(question, *found)
    selected = select_answer(understood_line(heard), heard, about_itself=False)
    assert sum(selected.likely) + selected.none == pytest.approx(1.0)
    assert list(selected.likely) == sorted(selected.likely, reverse=True)
    assert len(selected.memories) == len(selected.likely) == len(found)
    other_way = replace(heard, recalled=heard.recalled[::-1])
    again = select_answer(understood_line(other_way), other_way, about_itself=False)
    assert [one.entry.id for one in again.memories] == [one.entry.id for one in selected.memories]
