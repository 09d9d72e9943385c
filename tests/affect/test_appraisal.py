"""Text → affect: the project's own sentences, which were not used for fitting, and the rules it keeps."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noodlings.affect.appraisal import Appraisal, Appraiser
from noodlings.affect.feeling import family
from noodlings.embed.minilm import MiniLM
from noodlings.lab.evaluate.affect import auc
from noodlings.ports import Understood
from noodlings.values.affect import AXES, Affect
from tests.thorough import examples

HERE = Path(__file__).parent
appraiser = Appraiser()


def rows(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


def by_layers(minilm: MiniLM, text: str) -> Appraisal:
    """As a percept is appraised where the model is installed."""
    return appraiser.appraise(text, understood=minilm.read([text])[0])


def by_vector(minilm: MiniLM, text: str) -> Appraisal:
    """As one is where the vector alone is known."""
    return appraiser.appraise(text, understood=Understood(minilm.embed([text])[0]))


def every_way(minilm: MiniLM, text: str) -> list[Affect]:
    """By the words alone, with the vector, and with the layers."""
    ways = (appraiser.appraise(text), by_vector(minilm, text), by_layers(minilm, text))
    return [way.affect for way in ways]


@pytest.fixture(scope="module")
def of_label(minilm: MiniLM) -> dict[str, list[Affect]]:
    """The affects of our own test sentences, by words and layers, under their labels."""
    found = defaultdict(list)
    for row in rows("sentences.csv"):
        found[row["label"]].append(by_layers(minilm, row["text"]).affect)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("axis", "label"), [("fear", "fear"), ("sorrow", "sadness"), ("boredom", "boredom")])
def test_a_feeling_tells_its_own_sentences_from_all_others(
    of_label: dict[str, list[Affect]], axis: str, label: str
) -> None:
    scores = [
        (getattr(affect, axis), name == label) for name, affects in of_label.items() for affect in affects
    ]
    values, own = map(np.array, zip(*scores, strict=True))
    separation = auc(values, own)
    assert separation is not None
    assert separation >= 0.85


@pytest.mark.slow
def test_the_means_lie_where_their_labels_say(of_label: dict[str, list[Affect]]) -> None:
    means = {label: dict(zip(AXES, np.mean([a.array() for a in affects], axis=0), strict=True))
             for label, affects in of_label.items()}  # fmt: skip
    assert all(
        means[label]["valence"] < -0.15 for label in ("sadness", "fear", "anger", "disgust", "boredom")
    )
    assert means["joy"]["valence"] > 0.3
    assert all(means[label]["arousal"] > 0.6 for label in ("fear", "anger", "joy"))
    assert all(means[label]["arousal"] < 0.5 for label in ("calm", "boredom", "sadness"))


def test_neutral_and_denied_sentences_stay_near_rest(of_label: dict[str, list[Affect]]) -> None:
    for label in ("neutral", "denied"):
        assert np.mean([affect.intensity for affect in of_label[label]]) < 0.2


@pytest.mark.slow
def test_griefs_without_a_sad_word_are_griefs_and_trivia_are_not(minilm: MiniLM) -> None:
    intensity: dict[str, list[float]] = defaultdict(list)
    sorrow: dict[str, list[float]] = defaultdict(list)
    for row in rows("griefs_and_trivia.csv"):
        affect = by_layers(minilm, row["text"]).affect
        intensity[row["kind"]].append(affect.intensity)
        sorrow[row["kind"]].append(affect.sorrow)
    assert np.mean(sorrow["grief"]) > 0.5 > 0.1 > np.mean(sorrow["trivia"])
    assert np.median(intensity["grief"]) > 0.7 > 0.2 > np.median(intensity["trivia"])
    griefs, trivia = (np.array(intensity[kind]) for kind in ("grief", "trivia"))
    ranked = auc(np.concatenate([griefs, trivia]), np.arange(len(griefs) + len(trivia)) < len(griefs))
    assert ranked is not None
    assert ranked >= 0.95


def test_a_death_is_a_grief_by_words_and_by_meaning(minilm: MiniLM) -> None:
    text = "My dog died yesterday"
    for affect in every_way(minilm, text):
        assert affect.valence < -0.6
        assert affect.sorrow > 0.6
        assert affect.intensity > 0.8


@pytest.mark.parametrize(
    "text", ["I'm not sad at all", "She was never lonely", "There's nothing to be afraid of"]
)
def test_negation_holds(minilm: MiniLM, text: str) -> None:
    for affect in every_way(minilm, text):
        assert max(affect.sorrow, affect.fear) < 0.15
        assert affect.valence > -0.15


@pytest.mark.parametrize(
    ("text", "axis"),
    [
        ("I am not afraid, but terrified", "fear"),
        ("I'm not scared, I'm terrified of the dark", "fear"),
        ("I am not sad, I am heartbroken", "sorrow"),
    ],
)
def test_a_feeling_that_is_denied_for_a_stronger_one_is_felt(minilm: MiniLM, text: str, axis: str) -> None:
    for affect in every_way(minilm, text):
        assert getattr(affect, axis) > 0.4
        assert affect.valence < 0.0


def test_a_cheerful_word_does_not_cover_quiet_sadness(minilm: MiniLM) -> None:
    text = "It's fine, really. The house is just so quiet since she's gone."
    affect = by_layers(minilm, text).affect
    assert affect.sorrow > 0.3
    assert affect.valence < -0.2


@pytest.mark.parametrize(
    "text", ["My mother-in-law laughed at me in front of everyone", "They laughed at my drawing",
             "He made fun of my hat", "She was making a mockery of us"],
)  # fmt: skip
def test_nobody_who_is_laughed_at_is_merry(minilm: MiniLM, text: str) -> None:
    for affect in every_way(minilm, text):
        assert affect.valence < 0.0


@pytest.mark.parametrize("text", ["Everybody laughed at my joke", "The children laughed all afternoon"])
def test_who_laughs_at_a_joke_is_merry(minilm: MiniLM, text: str) -> None:
    for affect in every_way(minilm, text):
        assert affect.valence > 0.1


def test_a_grave_illness_is_feared_and_grieved_and_nobody_is_angry(minilm: MiniLM) -> None:
    text = "the doctor says it is cancer"
    for affect in every_way(minilm, text):
        assert affect.valence < -0.5
        assert affect.fear + affect.sorrow > 0.7
        assert family(affect) in ("fear", "sorrow")


def test_the_words_of_doctors_mean_what_they_mean_to_patients(minilm: MiniLM) -> None:
    for text, sign in (
        ("the biopsy came back positive", -1),
        ("my test came back negative, I'm healthy!", 1),
    ):
        for affect in every_way(minilm, text):
            assert sign * affect.valence > 0.05


def test_what_came_before_does_not_count() -> None:
    first = appraiser.appraise("We lost the house.")
    for _ in range(5):
        appraiser.appraise("I AM SO HAPPY!!!")
    assert appraiser.appraise("We lost the house.") == first


@pytest.mark.parametrize("louder", ["The gate is open!", "THE GATE IS OPEN"])
def test_shouting_and_exclamation_count_a_little(minilm: MiniLM, louder: str) -> None:
    plain = "The gate is open"
    for quiet, loud in zip(every_way(minilm, plain), every_way(minilm, louder), strict=True):
        assert quiet.arousal < loud.arousal < quiet.arousal + 0.4


def test_a_loud_text_never_runs_into_the_end_of_the_scale() -> None:
    affect = appraiser.appraise("RUN! THE MONSTER IS ATTACKING! FIGHT!!!", addressed=True).affect
    assert 0.8 < affect.arousal < 1


def test_a_face_counts() -> None:
    assert appraiser.appraise("I am back 😢").affect.sorrow > appraiser.appraise("I am back").affect.sorrow


def test_being_addressed_wakes_a_little() -> None:
    aside, addressed = (appraiser.appraise("Servnak, look", addressed=to).affect for to in (False, True))
    assert aside.arousal < addressed.arousal < aside.arousal + 0.1
    assert addressed.valence == aside.valence


def test_it_says_what_it_went_by(minilm: MiniLM) -> None:
    text = "The ferry leaves at noon."
    assert appraiser.appraise(text).by == "words"
    assert by_vector(minilm, text).by == "words+vector"
    assert by_layers(minilm, text).by == "words+layers"


def test_layers_of_another_model_are_not_used(minilm: MiniLM) -> None:
    text = "The ferry leaves at noon."
    [read] = minilm.read([text])
    assert read.layers is not None
    other = Understood(read.vector, read.layers[1:])
    assert appraiser.appraise(text, understood=other) == by_vector(minilm, text)
    other = Understood(np.ones(64, dtype=np.float32) / 8, read.layers)
    assert appraiser.appraise(text, understood=other) == appraiser.appraise(text)


def test_a_vector_of_another_model_is_not_used() -> None:
    text = "The ferry leaves at noon."
    other = Understood(np.ones(64, dtype=np.float32) / 8)
    assert appraiser.appraise(text, understood=other) == appraiser.appraise(text)


@settings(max_examples=examples(50))
@given(st.text(max_size=300))
def test_any_text_is_appraised(text: str) -> None:
    appraisal = appraiser.appraise(text)
    assert isinstance(appraisal, Appraisal)
