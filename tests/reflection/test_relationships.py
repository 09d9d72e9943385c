"""What an agent makes of somebody: bounded, monotone, and by lines alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.reflection.relationships import DAY, HALF_LIFE, MOST, relationship
from noodlings.values.audience import OPEN
from noodlings.values.percept import Kind
from noodlings.values.relationship import BOUND, Manner, Relationship, Stance, manner_to, stance_of

NOW = 20_000 * DAY
KIND, UNKIND, GRIEF = (0.8, 0.6, 0.0, 0.0, 0.0), (-0.8, 0.7, 0.0, 0.0, 0.0), (-0.8, 0.5, 0.0, 0.8, 0.0)
Line = tuple[float, tuple[float, ...], float]
"""Days ago, affect, importance."""

unit = st.floats(0.0, 1.0)
lines = st.lists(
    st.tuples(st.floats(0.0, 400.0), st.tuples(st.floats(-1.0, 1.0), unit, unit, unit, unit), unit),
    max_size=12,
)


def made_of(
    told: list[Line], ids: list[int] | None = None, stance: Stance = Stance.AT_HEARERS
) -> Relationship:
    ages, affects, importances = zip(*told, strict=True) if told else ((), (), ())
    numbers = np.arange(1, len(told) + 1) if ids is None else np.array(ids, np.int64)
    moments = NOW - DAY * np.array(ages)
    felt = np.array(affects).reshape(-1, 5)
    stances = np.full(len(told), stance)
    return relationship("ann", NOW, OPEN, numbers, moments, felt, np.array(importances), stances)


def days(count: int, affect: tuple[float, ...], each: int = 2, importance: float = 0.35) -> list[Line]:
    return [(float(day), affect, importance) for day in range(count) for _ in range(each)]


stances = st.sampled_from(Stance)


@given(lines, stances)
def test_everything_is_within_its_bounds(told: list[Line], stance: Stance) -> None:
    found = made_of(told, stance=stance)
    assert stance is Stance.AT_HEARERS or found.unpleasant == 0
    assert -1.0 < found.warmth < 1.0
    assert 0.0 <= found.familiarity <= 1.0
    assert -BOUND <= found.pull <= BOUND
    assert found.pleasant + found.unpleasant <= found.lines == len(told)
    assert len(found.evidence) <= MOST
    assert list(found.evidence) == sorted(set(found.evidence))
    assert not found.lines or found.met <= found.last <= NOW


@given(lines.filter(bool), stances, st.data())
def test_a_pleasanter_line_never_makes_it_colder(
    told: list[Line], stance: Stance, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(told) - 1))
    age, (valence, *others), importance = told[at]
    better = data.draw(st.floats(valence, 1.0))
    other = [*told[:at], (age, (better, *others), importance), *told[at + 1 :]]
    assert made_of(other, stance=stance).warmth >= made_of(told, stance=stance).warmth - 1e-9


@given(lines, st.randoms())
def test_the_order_of_lines_does_not_matter(told: list[Line], random) -> None:
    order = list(range(len(told)))
    random.shuffle(order)
    one, other = made_of(told), made_of([told[at] for at in order], [at + 1 for at in order])
    assert other.warmth == pytest.approx(one.warmth, abs=1e-12)
    assert other.familiarity == pytest.approx(one.familiarity)
    assert other == replace(one, warmth=other.warmth, familiarity=other.familiarity)


def test_nobody_is_a_stranger_for_long() -> None:
    assert made_of([]) == Relationship("ann")
    assert made_of([]).words == "a stranger to them"
    once = made_of(days(1, KIND))
    assert (once.manner, once.words) == (Manner.PLAIN, "hardly acquainted with them")
    assert made_of(days(10, (0.0, 0.5, 0.0, 0.0, 0.0))).words == "used to them"


def test_who_is_thanked_for_long_is_fond_and_who_is_insulted_wary() -> None:
    friend = made_of(days(12, KIND))
    assert (friend.manner, friend.words, friend.pleasant, friend.unpleasant) == (
        Manner.WARM, "fond of them", 24, 0,
    )  # fmt: skip
    foe = made_of(days(5, UNKIND))
    assert (foe.manner, foe.words, foe.pleasant, foe.unpleasant) == (Manner.RESERVED, "wary of them", 0, 10)
    assert made_of(days(3, KIND)).words == "glad of their company"


def test_one_insult_makes_no_foe_and_one_good_day_no_friend() -> None:
    assert made_of(days(1, UNKIND, each=1)).manner is Manner.PLAIN
    assert made_of(days(1, KIND, each=20)).manner is Manner.PLAIN


def test_who_tells_of_a_grief_or_a_fear_is_not_unkind() -> None:
    for felt in (GRIEF, (-0.8, 0.9, 0.9, 0.0, 0.0)):
        found = made_of(days(10, felt, importance=0.9))
        assert (found.warmth, found.unpleasant, found.evidence) == (0.0, 0, ())


def test_anger_at_others_is_held_against_nobody_and_a_trouble_of_ones_own_is_told_in_trust() -> None:
    assert made_of(days(5, UNKIND), stance=Stance.ELSEWHERE) == made_of(days(5, (0.0,) * 5))
    assert made_of(days(5, UNKIND), stance=Stance.OF_ONESELF).warmth == 0.0
    trust = made_of(days(5, GRIEF), stance=Stance.OF_ONESELF)
    assert (trust.pleasant, trust.unpleasant) == (10, 0)
    assert 0.0 < trust.warmth < made_of(days(5, KIND)).warmth


@pytest.mark.parametrize(
    ("text", "stance"),
    [
        ("you are an idiot", Stance.AT_HEARERS),
        ("servnak, you stole my boots!", Stance.AT_HEARERS),
        ("your cooking is disgusting", Stance.AT_HEARERS),
        ("nobody likes u", Stance.AT_HEARERS),
        ("servnak, stupid robot!", Stance.AT_HEARERS),
        ("Liar!", Stance.AT_HEARERS),
        ("oh shut up", Stance.AT_HEARERS),
        ("good evening! i'm Oda, i keep a little mush called Saltmarsh", Stance.OF_ONESELF),
        ("my co-wizard Teun left and took the backups", Stance.OF_ONESELF),
        ("i'm so angry at Teun, he betrayed all of us", Stance.OF_ONESELF),
        ("you wouldn't believe what my landlord did, he's a crook", Stance.OF_ONESELF),
        ("I'll tell you something nobody else knows: I was in prison", Stance.OF_ONESELF),
        ("my boss told me to shut up", Stance.OF_ONESELF),
        ("could you help me? they hate me at work", Stance.OF_ONESELF),
        ("the landlord is a crook", Stance.ELSEWHERE),
        ("damn lag again", Stance.ELSEWHERE),
        ("bad luck", Stance.ELSEWHERE),
    ],
)
def test_how_a_line_stands_to_its_hearers(text: str, stance: Stance) -> None:
    assert stance_of(Kind.SAY, text) is stance


def test_a_deed_is_done_to_who_is_there() -> None:
    assert stance_of(Kind.EMOTE, "kicks the robot") is Stance.AT_HEARERS
    assert stance_of(Kind.EMOTE, "mourns her") is Stance.AT_HEARERS  # its sorrow moves nothing
    assert stance_of(Kind.EMOTE, "kicks my own bucket") is Stance.OF_ONESELF


def test_what_is_long_ago_counts_less() -> None:
    week = days(5, UNKIND)
    later = [(age + 3 * HALF_LIFE / DAY, *rest) for age, *rest in week]
    assert made_of(week).warmth < made_of(later).warmth < 0.0
    assert made_of(later).manner is Manner.PLAIN


def test_the_evidence_is_what_weighs_most_and_unknown_feelings_are_none() -> None:
    told = [*days(2, KIND, importance=0.1), (0.0, UNKIND, 0.9), (0.0, (np.nan,) * 5, 0.9)]
    found = made_of(told)
    assert found.evidence[-1] == 5
    assert (found.lines, found.unpleasant) == (6, 1)
    assert np.isfinite(found.warmth)


def test_whoever_is_not_among_them_is_met_plainly() -> None:
    assert manner_to("bob", [Relationship("ann", 3, warmth=-0.9)]) is Manner.PLAIN
    assert manner_to("ann", [Relationship("ann", 3, warmth=-0.9)]) is Manner.RESERVED
