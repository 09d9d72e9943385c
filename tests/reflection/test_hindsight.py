"""Reasons of hindsight: from the archive alone, and none that gives something away."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import UserError
from noodlings.memory.saved import SavedEntry, read_record, record_of
from noodlings.reflection.hindsight import HindsightReader
from noodlings.values.audience import Audience, Tier
from noodlings.values.memory import MOST_SHIFTED, Hindsight
from noodlings.values.percept import Kind
from tests.memory.entries import an_entry

DAY = 86_400.0
BOTH = Audience(frozenset({"user_ann", "user_bob"}), confined=True)
ANN = Audience(frozenset({"user_ann"}), confined=True)
OPEN = Audience()
MILL = "the old mill burnt down at midnight"


def line(number, text, user="user_ann", importance=0.5, **changes):
    return an_entry(number, importance, user_text=text, user_id=user, timestamp=number * DAY, **changes)


def reasons(*told, of=0, newer=()):
    reader = HindsightReader(["phi"], {"ann": "user_ann", "bob": "user_bob"})
    for entry in told:
        reader.read(entry)
    return set(reader.reasons(told[of], newer))


def test_what_came_to_mind_for_answers_weighs_more_the_oftener():
    shifts = []
    for count in (0, 1, 3, 100):
        reader = HindsightReader([], {})
        shifts.append(reader.reasons(line(1, MILL, recall_count=count), ()).get(Hindsight.ANSWERED_WITH, 0.0))
    assert shifts == pytest.approx([0.0, 0.03, 0.06, 0.09])


def test_of_a_repetition_the_latest_stands_for_the_others():
    told = (line(1, MILL), line(2, MILL.upper() + "!"), line(3, "rain"), line(4, "Rain."))
    assert reasons(*told, of=0) == {Hindsight.REPEATED}
    assert reasons(*told, of=1) == reasons(*told, of=2) == set()


def test_what_others_told_too_weighs_more_unless_it_is_about_themselves():
    assert reasons(line(1, MILL), line(2, MILL, "user_bob")) == {Hindsight.TOLD_BY_OTHERS}
    mine = "my old mill burnt down at midnight"
    assert reasons(line(1, mine), line(2, mine, "user_bob")) == set()
    assert reasons(line(1, MILL), line(2, MILL, "phi")) == set()
    assert reasons(line(1, MILL), line(2, MILL, "user_bob", kind=Kind.EVENT)) == set()


def test_a_plan_is_over_when_something_happened_after_it():
    plan = line(1, "I will have my driving test tomorrow")
    assert reasons(plan) == set()
    assert reasons(plan, line(4, "rain")) == {Hindsight.OVER}


def test_what_was_asked_about_weighs_more():
    told = line(1, "I breed otters in the cellar")
    assert reasons(told, line(2, "does Ann still have otters?", "user_bob")) == {Hindsight.ASKED_ABOUT}
    assert reasons(told, line(2, "do you remember my otters?")) == {Hindsight.ASKED_ABOUT}
    assert reasons(told, line(2, "does Bob have otters?", "user_bob")) == set()
    assert reasons(told, line(2, "does Ann like rain?", "user_bob")) == set()


def test_what_no_longer_holds_weighs_less():
    assert reasons(line(1, MILL), newer=[OPEN]) == {Hindsight.SUPERSEDED}


def test_nothing_weighs_otherwise_because_of_what_not_everybody_may_know():
    for secret, known in ((ANN, set()), (BOTH, {Hindsight.TOLD_BY_OTHERS})):
        told, held = line(1, MILL), line(2, MILL, "user_bob")
        assert reasons(replace(told, audience=BOTH), replace(held, audience=secret)) == known
    assert reasons(line(1, MILL), newer=[ANN]) == set()


def test_what_is_sealed_has_no_reasons():
    sealed = replace(line(1, "", recall_count=5), audience=replace(ANN, tier=Tier.SEALED))
    assert reasons(sealed) == set()


@given(st.dictionaries(st.sampled_from(list(Hindsight)), st.floats(-1, 1)), st.floats(0, 1))
def test_a_weight_stays_near_the_importance(hindsight, importance):
    entry = line(1, MILL, importance=importance, hindsight=hindsight)
    assert 0.0 <= entry.weight <= 1.0
    assert abs(entry.weight - entry.importance) <= MOST_SHIFTED + 1e-9
    assert line(1, MILL, importance=importance).weight == importance


def test_reasons_are_saved_with_a_memory_of_a_host():
    entry = line(1, MILL, hindsight={Hindsight.REPEATED: -0.1}, affect=None)
    saved = SavedEntry(entry, working=True, episodic=False, row=None)
    assert read_record(json.loads(json.dumps(record_of(saved)))) == saved
    with pytest.raises(UserError, match="Hindsight"):
        read_record(record_of(saved) | {"hindsight": {"hearsay": 0.1}})
