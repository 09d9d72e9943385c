"""Addressed always answers; agents among themselves fall silent."""

import random

import pytest

from noodlings.agent.decision import COOL_DOWN, MAX_DEPTH, decide
from noodlings.values.percept import Kind, Percept
from tests.fakes import make_persona

PHI = make_persona("Phi")


def _percept(**changes):
    return Percept(**({"user_id": "caity", "text": "hello", "timestamp": 1_000.0} | changes))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("last", [None, 999.0])
def test_addressed_always_answers(seed, last):
    assert decide(_percept(addressed=True), PHI, 0.0, last, random.Random(seed)).speak
    assert decide(_percept(kind=Kind.WHISPER), PHI, 0.0, last, random.Random(seed)).speak


def test_its_own_words_and_thoughts_are_not_answered():
    for percept in (_percept(user_id="phi", addressed=True), _percept(kind=Kind.THOUGHT, addressed=True)):
        assert not decide(percept, PHI, 1.0, None, random.Random(0)).speak


def test_an_answer_to_an_answer_to_an_answer_is_not_given():
    assert decide(_percept(addressed=True, depth=MAX_DEPTH), PHI, 0.0, None, random.Random(0)).speak
    assert not decide(_percept(addressed=True, depth=MAX_DEPTH + 1), PHI, 0.0, None, random.Random(0)).speak


def test_talk_among_others_is_not_answered_unasked():
    assert not any(decide(_percept(depth=1), PHI, 1.0, None, random.Random(seed)).speak for seed in range(50))


def test_nobody_butts_in_right_after_speaking():
    spoke = [
        decide(_percept(), PHI, 1.0, 1_000.0 - COOL_DOWN + 0.1, random.Random(seed)).speak
        for seed in range(50)
    ]
    assert not any(spoke)
    spoke = [decide(_percept(), PHI, 1.0, 1_000.0 - COOL_DOWN, random.Random(s)).speak for s in range(50)]
    assert any(spoke)


def _rate(persona, surprise):
    return (
        sum(decide(_percept(), persona, surprise, None, random.Random(seed)).speak for seed in range(400))
        / 400
    )


def test_temperament_and_surprise_decide_otherwise():
    traits = dict(PHI.personality)
    shy, bold = (make_persona("Phi", personality=traits | {"extraversion": e}) for e in (0.0, 1.0))
    assert 0.0 < _rate(shy, 0.0) < _rate(bold, 0.0) < 1.0
    assert _rate(shy, 1.0) > _rate(shy, 0.0) + 0.1
