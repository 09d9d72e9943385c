import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.affect.mood import HALF_LIFE_SECONDS, PUSH, Mood, baseline_of
from noodlings.errors import UserError
from noodlings.values.affect import AXES, NEUTRAL, Affect
from noodlings.values.persona import TRAITS
from tests.fakes import make_persona

INSULT = Affect(-0.7, 0.75, 0.1, 0.1, 0.0)

affects = st.builds(
    Affect, st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)
)
moods = st.builds(Mood, affects, st.floats(0, 1e9), affects, st.floats(0, 1))


def with_traits(**traits):
    return make_persona("Somebody", personality=dict.fromkeys(TRAITS, 0.5) | traits)


@given(moods, st.integers(0, 20))
def test_what_is_beyond_the_baseline_halves_with_every_half_life(mood, halvings):
    later = mood.at_time(mood.at + halvings * HALF_LIFE_SECONDS).array()
    gap = mood.current.array() - mood.baseline.array()
    np.testing.assert_allclose(later - mood.baseline.array(), gap * 0.5**halvings, atol=1e-6)


@given(moods, st.floats(0, 1e6), st.floats(0, 1e6))
def test_it_does_not_matter_how_often_one_looks(mood, first, second):
    looked = replace(mood, current=mood.at_time(mood.at + first), at=mood.at + first)
    direct, again = (m.at_time(mood.at + first + second).array() for m in (mood, looked))
    np.testing.assert_allclose(direct, again, atol=1e-5)


@given(moods)
def test_a_mood_is_what_it_was_when_it_was_pushed_and_before(mood):
    assert mood.at_time(mood.at) == mood.at_time(mood.at - 1e6) == mood.current


@given(moods, affects, st.floats(0, 1e9))
def test_one_event_moves_no_axis_further_than_the_push(mood, affect, now):
    before, after = mood.at_time(now).array(), mood.pushed(affect, now).current.array()
    length = np.array([2.0, 1.0, 1.0, 1.0, 1.0])
    assert (np.abs(after - before) <= PUSH * length + 1e-12).all()


@given(moods, st.floats(0, 1e9))
def test_nothing_felt_nothing_moved(mood, now):
    assert mood.pushed(NEUTRAL, now).current == mood.at_time(now)


def test_one_insult_does_not_flip_a_cheerful_character_and_several_do():
    mood = Mood(Affect(0.4, 0.55, 0, 0, 0), 0.0, Affect(0.4, 0.55, 0, 0, 0))
    once = mood.pushed(INSULT, 0.0)
    assert 0.0 < once.current.valence < 0.4
    for second in range(5):
        mood = mood.pushed(INSULT, float(second))
    assert mood.current.valence < -0.2
    assert mood.at_time(6 * HALF_LIFE_SECONDS).valence > 0.38


def test_a_feeling_pulls_towards_itself_and_pushes_beyond_itself():
    low = Mood(Affect(-0.8, 0.5, 0, 0.6, 0), 0.0, NEUTRAL)
    milder_grief = Affect(-0.3, 0.5, 0, 0.3, 0)
    pushed = low.pushed(milder_grief, 0.0).current
    assert pushed.valence < low.current.valence
    assert pushed.sorrow > low.current.sorrow
    pulled = low.pushed(Affect(0.5, 0.6, 0, 0, 0), 0.0).current
    assert pulled.valence > low.current.valence
    assert pulled.sorrow < low.current.sorrow


def test_a_stronger_feeling_moves_more():
    mood = Mood(NEUTRAL, 0.0, NEUTRAL)
    moved = [mood.pushed(Affect(valence=v), 0.0).current.valence for v in (-0.2, -0.5, -1.0)]
    assert moved == sorted(moved, reverse=True)
    assert moved[0] < 0.0


@pytest.mark.parametrize(
    ("trait", "axis", "rises"),
    [
        ("neuroticism", "valence", False),
        ("neuroticism", "arousal", True),
        ("neuroticism", "fear", True),
        ("agreeableness", "valence", True),
        ("extraversion", "valence", True),
        ("openness", "arousal", True),
        # Through dominance alone, and against pleasure: who has little of it is anxious.
        ("conscientiousness", "fear", False),
        ("extraversion", "fear", False),
    ],
)
def test_a_trait_shifts_the_baseline_its_way(trait, axis, rises):
    low, high = (getattr(baseline_of(with_traits(**{trait: value})), axis) for value in (0.0, 1.0))
    assert high > low if rises else high < low


def test_an_average_person_returns_to_the_baseline_of_the_recipe():
    persona = make_persona("Somebody", baseline=Affect(0.2, 0.6, 0.1, 0.0, 0.3))
    assert baseline_of(persona) == persona.baseline
    assert Mood.of(persona, 5.0).at_time(1e6) == persona.baseline


@given(st.tuples(*[st.floats(0, 1)] * 5), affects)
def test_every_personality_has_a_baseline_near_its_recipe(traits, baseline):
    persona = make_persona("Somebody", personality=dict(zip(TRAITS, traits, strict=True)), baseline=baseline)
    shift = np.abs(baseline_of(persona).array() - baseline.array())
    assert shift.max() <= 0.31


@given(moods, affects, affects)
def test_a_corrected_push_is_the_push_it_should_have_been(mood, felt, truly):
    was, instead = mood.pushed(felt, mood.at), mood.pushed(truly, mood.at)
    corrected = was.corrected(was, instead)
    np.testing.assert_allclose(corrected.current.array(), instead.current.array(), atol=1e-12)
    assert corrected.at == mood.at


@given(moods, affects, affects, st.integers(0, 10))
def test_of_a_late_correction_as_much_is_left_as_of_the_push(mood, felt, truly, halvings):
    was, instead = mood.pushed(felt, mood.at), mood.pushed(truly, mood.at)
    later = mood.at + halvings * HALF_LIFE_SECONDS
    looked = replace(was, current=was.at_time(later), at=later)
    corrected = looked.corrected(was, instead)
    np.testing.assert_allclose(corrected.current.array(), instead.at_time(later).array(), atol=1e-5)
    assert corrected.at == later


@given(moods, affects)
def test_a_restart_changes_nothing(mood, affect):
    again = Mood.from_dict(json.loads(json.dumps(mood.as_dict())), mood.baseline, mood.moodiness)
    assert again == mood
    assert again.pushed(affect, mood.at + 7.7) == mood.pushed(affect, mood.at + 7.7)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"version": 2, "current": [0, 0.5, 0, 0, 0], "at": 0.0},
        {"version": 1, "current": [0, 0.5, 0], "at": 0.0},
        {"version": 1, "current": [0, math.nan, 0, 0, 0], "at": 0.0},
        {"version": 1, "current": [0, 0.5, 0, 0, 0], "at": "noon"},
        {"version": 1, "current": [0, 0.5, 0, 0, 0], "at": math.inf},
    ],
)
def test_a_damaged_mood_is_refused(data):
    with pytest.raises(UserError):
        Mood.from_dict(data, NEUTRAL, 1.0)


def test_a_time_that_is_none_is_refused():
    with pytest.raises(UserError, match="time"):
        Mood(NEUTRAL, 0.0, NEUTRAL).at_time(math.nan)
    assert len(AXES) == 5
