"""Addressed always answers; agents among themselves fall silent."""

import random

import pytest

from noodlings.agent.decision import MAX_DEPTH, decide
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.percept import Kind, Percept
from noodlings.values.persona import COOL_DOWN
from tests.fakes import make_persona

PHI = make_persona("Phi")


def _decided(percept, surprise, last_spoke, *, seed, persona=PHI, affect=NEUTRAL):
    return decide(percept, persona, affect, surprise, last_spoke, random.Random(seed))


def _percept(**changes):
    return Percept(**({"user_id": "caity", "text": "hello", "timestamp": 1_000.0} | changes))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("last", [None, 999.0])
def test_addressed_always_answers(seed, last):
    assert _decided(_percept(addressed=True), 0.0, last, seed=seed).speak
    assert _decided(_percept(kind=Kind.WHISPER), 0.0, last, seed=seed).speak


def test_its_own_words_and_thoughts_are_not_answered():
    for percept in (_percept(user_id="phi", addressed=True), _percept(kind=Kind.THOUGHT, addressed=True)):
        assert not _decided(percept, 1.0, None, seed=0).speak


def test_an_answer_to_an_answer_to_an_answer_is_not_given():
    assert _decided(_percept(addressed=True, depth=MAX_DEPTH), 0.0, None, seed=0).speak
    assert not _decided(_percept(addressed=True, depth=MAX_DEPTH + 1), 0.0, None, seed=0).speak


def test_talk_among_others_is_not_answered_unasked():
    assert not any(_decided(_percept(depth=1), 1.0, None, seed=seed).speak for seed in range(50))


def test_nobody_butts_in_right_after_speaking():
    spoke = [_decided(_percept(), 1.0, 1_000.0 - COOL_DOWN + 0.1, seed=seed).speak for seed in range(50)]
    assert not any(spoke)
    spoke = [_decided(_percept(), 1.0, 1_000.0 - COOL_DOWN, seed=s).speak for s in range(50)]
    assert any(spoke)


def _rate(persona, surprise):
    return (
        sum(_decided(_percept(), surprise, None, seed=seed, persona=persona).speak for seed in range(400))
        / 400
    )


def test_temperament_and_surprise_decide_otherwise():
    traits = dict(PHI.personality)
    shy, bold = (make_persona("Phi", personality=traits | {"extraversion": e}) for e in (0.0, 1.0))
    assert 0.0 < _rate(shy, 0.0) < _rate(bold, 0.0) < 1.0
    assert _rate(shy, 1.0) > _rate(shy, 0.0) + 0.1


def test_what_is_urgent_is_answered_more_often():
    """Fear, and anything felt strongly; a mild feeling changes nothing."""

    def rate(affect):
        return sum(_decided(_percept(), 0.0, None, affect=affect, seed=seed).speak for seed in range(400))

    calm = rate(NEUTRAL)
    assert rate(Affect(0.2, 0.5)) == calm
    assert rate(Affect(-0.5, 0.8, 0.9)) > calm + 80
    assert rate(Affect(-0.9, 0.6, 0.0, 0.9)) > calm + 80


def test_what_it_bids_for_the_floor_does_not_hang_on_luck_where_a_liking_may_decide():
    bids = {
        decide(_percept(), PHI, NEUTRAL, 0.0, None, random.Random(seed), 0.0, lambda: 0.08).eagerness
        for seed in range(60)
    }
    assert len(bids) == 1
