"""A memory that a transistor read and told counts as put into words; one that was merely read does not."""

from dataclasses import replace

import pytest

from noodlings.inspect.turns import worded
from noodlings.values.trace import RecalledTrace
from tests.inspect.test_why import ADMIN, ANN, BOB, a_trace, an_inspector, made
from tests.memory.entries import an_entry

GRANDMOTHER = "I miss my grandmother"
ANSWER = "mew. it is like when you told me you miss your grandmother."
ENTRIES = [
    an_entry(1, user_id="user_ann", user_text=GRANDMOTHER),
    an_entry(2, user_id="user_ann", user_text="my dog died"),
    an_entry(3, user_id="user_ann", user_text="it is so sad"),
]
READ = made("memory", "mew.", ANSWER, entries=(1, 2))


def used(inspector, caller=ADMIN):
    return {one.id: one.used for one in inspector.last_retrieval(caller, "phi").recalled}


def test_what_a_transistor_told_was_put_into_words():
    recalled = tuple(RecalledTrace(number, ("affect",), 0.9) for number in (1, 2))
    inspector = an_inspector(ENTRIES, [a_trace(3, recalled=recalled, modulations=(READ,), response=ANSWER)])
    assert used(inspector) == {1: True, 2: False}
    assert [one.used for one in inspector.why(ADMIN, "phi").recalled] == [True, False]


def test_what_only_the_transistor_brought_stands_there_too():
    recalled = (RecalledTrace(2, ("affect",), 0.9),)
    trace = a_trace(3, recalled=recalled, modulations=(READ,), response=ANSWER)
    inspector = an_inspector(ENTRIES, [trace])
    first = inspector.last_retrieval(ANN, "phi").recalled[0]
    assert (first.id, first.why, first.score, first.used) == (1, ("memory",), 1.0, True)
    others = [replace(ENTRIES[0], user_id="user_bob"), *ENTRIES[1:]]
    view = an_inspector(others, [trace]).last_retrieval(ANN, "phi")
    assert ([one.id for one in view.recalled], view.hidden) == ([2], 0)
    assert an_inspector(others, [trace]).last_retrieval(BOB, "phi").turn is None


@pytest.mark.parametrize(
    ("changes", "modulation"),
    [
        ({"response": None}, READ),
        ({"response": "mew."}, READ),  # what it added was taken back
        ({"response": ANSWER}, made("memory", ANSWER, f"{ANSWER} oh.", entries=(1,))),
        ({"response": "you told me so."}, made("memory", "mew.", "you told me so.", entries=(1,))),
    ],
)
def test_what_was_merely_read_was_not(changes, modulation):
    held = {entry.id: entry for entry in ENTRIES}
    assert worded(a_trace(3, modulations=(modulation,), **changes), held) == {}


def test_of_a_model_only_words_that_it_did_not_answer_to():
    fused = replace(READ, how="fused", before="", after="")
    trace = a_trace(3, thought="mew.", modulations=(fused,), response=ANSWER)
    assert worded(trace, {entry.id: entry for entry in ENTRIES}) == {1: fused}
    echoed = an_entry(3, user_text="do you miss your grandmother?")
    assert worded(trace, {1: ENTRIES[0], 3: echoed}) == {}
    assert worded(trace, {3: ENTRIES[2]}) == {}  # forgotten since
