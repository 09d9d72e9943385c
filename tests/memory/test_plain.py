"""PlainMemory: the list of before, first in first out past 500, with the last 10 in context."""

from __future__ import annotations

import pytest

from noodlings.errors import UserError
from noodlings.memory.change_journal import ChangeJournal
from noodlings.memory.context import ContextBudget
from noodlings.memory.plain import PlainMemory
from noodlings.ports import Changes
from noodlings.values.affect import NEUTRAL
from noodlings.values.memory import Why
from noodlings.values.percept import Kind
from tests.fakes import drained
from tests.memory.entries import SORROWFUL, an_entry, ids

ME = "user_caity"


def filled(count: int, journal: ChangeJournal | None = None) -> PlainMemory:
    memory = PlainMemory(journal=journal)
    for number in range(1, count + 1):
        memory.add(number, number, ME, f"line {number}", NEUTRAL)
    return memory


@pytest.mark.slow
def test_the_first_in_leaves_first_past_five_hundred() -> None:
    assert ids(filled(500).retrieve_working()) == list(range(1, 501))
    assert ids(filled(503).retrieve_working()) == list(range(4, 504))
    assert filled(503).find(3) is None


def test_whatever_it_matters_nothing_is_kept_for_it() -> None:
    memory = PlainMemory()
    dog = memory.add(0, 0, ME, "My dog died yesterday", SORROWFUL, surprise=1.0)
    assert dog.importance > 0.5
    for number in range(1, 501):
        memory.add(number, number, ME, "ok", NEUTRAL)
    assert memory.find(dog.id) is None
    assert memory.retrieve_episodic() == memory.recall_by_affect(SORROWFUL) == []
    assert not memory.is_episodic(dog.id)


def test_the_last_ten_come_to_mind_whatever_the_slots_say() -> None:
    memory = filled(30)
    context = memory.context(ME, SORROWFUL, ContextBudget(2, 2, 2, total=3))
    assert [found.entry.id for found in context] == list(range(21, 31))
    assert {found.why for found in context} == {(Why.RECENT,)}
    assert (context[-1].score, context[-2].score) == (1.0, 0.5)
    without = memory.context(ME, None, without=(30, 25))
    assert [found.entry.id for found in without] == [19, 20, 21, 22, 23, 24, 26, 27, 28, 29]
    assert len(memory.context(ME, None, ContextBudget(max_tokens=20))) == 2


def test_it_keeps_secrets_too() -> None:
    memory = filled(3)
    memory.add(4, 4, ME, "I stole the lamp", NEUTRAL, kind=Kind.WHISPER)
    for present, told in ((frozenset({ME}), True), (frozenset({"user_micha"}), False)):
        assert (4 in [found.entry.id for found in memory.context(ME, None, present=present)]) is told


def test_the_last_of_the_list() -> None:
    memory = filled(5)
    assert ids(memory.retrieve_working(2)) == [4, 5]
    assert ids(memory.retrieve_working(9)) == [1, 2, 3, 4, 5]
    assert memory.retrieve_working(0) == []
    with pytest.raises(UserError, match="last_n"):
        memory.retrieve_working(-1)


def test_a_response_is_put_beside_its_entry() -> None:
    memory = filled(2, journal := ChangeJournal())
    entry = memory.find(1)
    assert memory.complete(entry, "oh").importance == entry.importance
    assert memory.find(1).response == "oh"
    assert [added.response for added in drained(journal).added] == ["oh", None]
    memory.reinforce([1])
    assert memory.find(1).recall_count == 0


def test_what_a_list_cannot_do_it_says() -> None:
    memory = filled(1)
    entry = memory.find(1)
    for attempt in (
        lambda: memory.pin(entry),
        lambda: memory.set_importance(entry, 0.5),
        lambda: memory.revert(entry, {}, was_episodic=False),
    ):
        with pytest.raises(UserError, match="use_hierarchical"):
            attempt()


def test_what_is_forgotten_is_gone() -> None:
    memory = filled(2, journal := ChangeJournal())
    entry = memory.find(1)
    memory.forget([1, 9])
    memory.complete(entry, "oh")
    assert ids(memory.retrieve_working()) == [2]
    assert drained(journal) == Changes("", added=(memory.find(2),))


def test_a_restored_list_goes_on() -> None:
    memory = filled(3)
    memory.restore(
        [an_entry(number) for number in range(600, 0, -1)],
        [an_entry(601)],
        perceived=700,
        consolidated=1,
        last_id=700,
    )
    assert ids(memory.retrieve_working()) == list(range(101, 601))
    assert memory.add(900, 1, ME, "next", NEUTRAL).id == 701
    stats = memory.stats()
    assert (stats.hierarchical, stats.perceived, stats.working, stats.working_capacity) == (
        False,
        701,
        500,
        500,
    )
    assert (stats.episodic, stats.consolidated, stats.consolidation_rate) == (0, 0, 0.0)
