"""Two streams: everything passes through one, what matters stays in the other, and both are told of it."""

from __future__ import annotations

from noodlings.memory.change_journal import ChangeJournal
from noodlings.memory.episodic import EpisodicMemory, TwoStreams
from noodlings.memory.importance import DAY
from noodlings.memory.likeness import METRICS
from noodlings.memory.stream import Stream
from noodlings.ports import Changes
from tests.fakes import drained
from tests.memory.entries import an_entry, ids, remembered

NOW = 100.0


def two_streams(
    working: int = 3, episodic: int = 2, threshold: float = 0.3, journal: ChangeJournal | None = None
) -> TwoStreams:
    metric = METRICS["centred"]
    return TwoStreams(Stream(working, metric), EpisodicMemory(episodic, metric, threshold), journal)


def in_working(streams: TwoStreams) -> list[int]:
    return ids(streams.working.entries(streams.working.newest()))


def in_episodic(streams: TwoStreams) -> list[int]:
    return ids(streams.episodic.entries(streams.episodic.newest()))


def test_the_oldest_leaves_working_and_what_matters_stays_in_episodic() -> None:
    streams = two_streams()
    for number, importance in enumerate([0.9, 0.1, 0.1, 0.1, 0.4]):
        streams.take_in(an_entry(number, importance), NOW)
    assert in_working(streams) == [2, 3, 4]
    assert in_episodic(streams) == [0, 4]
    assert streams.consolidated == 2


def test_the_store_is_told_who_came_and_who_left() -> None:
    journal = ChangeJournal()
    streams = two_streams(journal=journal)
    for number, importance in enumerate([0.5, 0.6, 0.7]):
        streams.take_in(an_entry(number, importance), NOW)
    assert drained(journal) == Changes("", episodic=(1, 2), evicted=(0,))
    streams.take_in(an_entry(3, 0.4), NOW)
    assert drained(journal) == Changes("")
    streams.leave(1)
    assert drained(journal) == Changes("", evicted=(1,))


def test_a_newcomer_that_is_refused_is_not_counted() -> None:
    streams = two_streams(episodic=1)
    streams.take_in(remembered(1), NOW)
    streams.take_in(an_entry(2, 0.9), NOW)
    assert in_episodic(streams) == [1]
    assert streams.consolidated == 1


def test_a_revised_entry_is_new_in_both_and_comes_in_when_it_matters_by_now() -> None:
    streams = two_streams()
    streams.take_in(an_entry(1, 0.9), NOW)
    streams.take_in(an_entry(2, 0.2), NOW)
    streams.revise(an_entry(1, 0.9, response="oh"), NOW)
    streams.revise(an_entry(2, 0.2, override=0.5), NOW)
    assert in_episodic(streams) == [1, 2]
    assert streams.working.get(1).response == streams.episodic.get(1).response == "oh"
    assert streams.consolidated == 2


def test_an_entry_that_left_both_may_come_back_when_it_is_revised() -> None:
    streams = two_streams(working=1)
    streams.take_in(an_entry(1, 0.2), NOW)
    streams.take_in(an_entry(2, 0.2), NOW)
    assert 1 not in streams.working
    assert 1 not in streams.episodic
    streams.revise(an_entry(1, 0.2, pinned=True), NOW)
    assert in_episodic(streams) == [1]
    assert in_working(streams) == [2]


def test_what_mirrors_the_streams_hears_of_every_change_and_of_nothing_else() -> None:
    streams = two_streams()
    heard: list[set[int] | None] = []
    streams.on_change = lambda ids: heard.append(None if ids is None else {*ids})
    changes = [
        (lambda: streams.take_in(an_entry(1, 0.9), NOW), [{1}, {1}]),
        (lambda: streams.take_in(an_entry(2, 0.1), NOW), [{2}]),
        (lambda: streams.revise(an_entry(2, 0.1, response="oh"), NOW), [{2}]),
        (lambda: streams.revise(an_entry(9, 0.1), NOW), []),
        (lambda: streams.leave(1), [{1}]),
        (lambda: streams.set_working([]), [None]),
        (lambda: streams.forget([2, 7]), [{2, 7}]),
    ]
    for change, told in changes:
        heard.clear()
        change()
        assert heard == told


def test_forgetting_reaches_both() -> None:
    streams = two_streams()
    for number in (1, 2):
        streams.take_in(an_entry(number, 0.9), NOW)
    streams.forget([1, 77])
    assert (in_working(streams), in_episodic(streams)) == ([2], [2])


def test_working_holds_the_last_that_fit() -> None:
    streams = two_streams(working=2)
    streams.set_working([an_entry(number) for number in (1, 2, 3)])
    assert in_working(streams) == [2, 3]


def test_a_restored_memory_is_as_it_was() -> None:
    streams = two_streams()
    streams.take_in(an_entry(9, 0.9), NOW)
    streams.restore(iter([an_entry(4), an_entry(3)]), iter([an_entry(1, 0.8), an_entry(3)]), 17, NOW)
    assert (in_working(streams), in_episodic(streams), streams.consolidated) == ([3, 4], [1, 3], 17)


def test_when_a_capacity_was_lowered_the_held_and_the_strongest_stay() -> None:
    year = 365 * DAY
    faded, fresh = an_entry(1, 0.5), an_entry(2, 0.45, timestamp=year)
    streams = two_streams(working=1, episodic=3)
    streams.restore(
        [an_entry(5), an_entry(6)],
        [faded, fresh, an_entry(3, 0.05, pinned=True), remembered(4, 0.01), an_entry(5, 0.2)],
        5,
        year,
    )
    assert in_episodic(streams) == [2, 3, 4]
    assert in_working(streams) == [6]
