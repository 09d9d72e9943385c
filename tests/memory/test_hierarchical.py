"""HierarchicalMemory: the interface that hosts know, and what it must never do."""

from __future__ import annotations

import inspect
import logging
import math
from typing import Any

import numpy as np
import pytest

from noodlings.errors import UserError
from noodlings.memory.change_journal import ChangeJournal
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.importance import DAY, INITIAL_STABILITY, importance
from noodlings.ports import Changes
from noodlings.values.affect import NEUTRAL
from noodlings.values.memory import ImportanceParts, ImportanceWeights, MemoryEntry
from tests.fakes import drained
from tests.memory.entries import ANXIOUS, JOYFUL, SORROWFUL, an_entry, ids, remembered, texts

ME = "user_caity"
SURPRISING = ImportanceWeights(surprise=1.0)


def add(memory: HierarchicalMemory, number: int, surprise: float = 0.0, **changes: Any) -> MemoryEntry:
    """The `number`th line, at second `number`."""
    affect = changes.pop("affect", NEUTRAL)
    return memory.add(number, number, ME, f"line {number}", affect, None, surprise, **changes)


def fresh(**settings: Any) -> HierarchicalMemory:
    """A memory to which things matter as much as they surprise, if nothing else is said."""
    return HierarchicalMemory(**{"weights": SURPRISING} | settings)


def filled(count: int, **settings: Any) -> HierarchicalMemory:
    memory = fresh(**{"surprise_threshold": 0.0} | settings)
    for number in range(1, count + 1):
        add(memory, number, 0.5)
    return memory


def test_the_interface_is_the_one_that_hosts_know() -> None:
    def parameters(method: str, count: int) -> list[tuple[str, Any]]:
        signature = inspect.signature(getattr(HierarchicalMemory, method))
        return [(p.name, p.default) for p in signature.parameters.values()][1 : count + 1]

    needed = inspect.Parameter.empty
    assert parameters("__init__", 3) == [
        ("working_capacity", 20),
        ("episodic_capacity", 200),
        ("surprise_threshold", 0.3),
    ]
    given = parameters("add", 9)
    assert [name for name, _ in given[:5]] == ["timestamp", "step", "user_id", "user_text", "affect"]
    assert [name for name, _ in given[5:7]] == ["phenomenal_state", "surprise"]
    assert given[7:] == [("response", None), ("identity_salience", 0.0)]
    assert parameters("retrieve_working", 9) == [("last_n", None)]
    assert parameters("retrieve_episodic", 3) == [("user_id", None), ("min_importance", 0.0), ("limit", 10)]
    assert parameters("retrieve_by_affect_similarity", 9) == [
        ("current_affect", needed),
        ("top_k", 5),
        ("min_similarity", 0.7),
    ]
    assert parameters("get_context_for_response", 9) == [
        ("user_id", needed),
        ("current_affect", needed),
        ("working_n", 5),
        ("episodic_n", 3),
        ("affect_similar_n", 2),
        ("total_size", None),
    ]


def test_a_new_memory_is_empty_and_says_how_large_it_may_grow() -> None:
    memory = HierarchicalMemory()
    stats = memory.get_stats()
    assert (stats["working_capacity"], stats["episodic_capacity"]) == (20, 200)
    assert (stats["working"], stats["episodic"], stats["consolidation_rate"]) == (0, 0, 0.0)
    assert memory.retrieve_working() == memory.retrieve_episodic() == []
    assert memory.retrieve_by_affect_similarity(ANXIOUS) == memory.get_context_for_response(ME, ANXIOUS) == []


def test_an_entry_holds_what_was_handed_over() -> None:
    memory = HierarchicalMemory()
    state = np.arange(40) / 40
    felt = [0.5, 0.6, 0.1, 0, 0]
    entry = memory.add(
        1763790605.123, 42, ME, "How are you?", felt, state, 0.45, "FINE!", 0.8, stage_cue="sighs"
    )
    (kept,) = memory.retrieve_working()
    assert kept.id == entry.id == 1
    assert (kept.timestamp, kept.step, kept.user_id, kept.user_text) == (
        1763790605.123,
        42,
        ME,
        "How are you?",
    )
    assert kept.affect.as_list() == [0.5, 0.6, 0.1, 0.0, 0.0]
    assert (kept.surprise, kept.response, kept.identity_salience) == (0.45, "FINE!", 0.8)
    assert kept.phenomenal_state == pytest.approx(state, abs=1e-7)
    assert kept.extra == {"stage_cue": "sighs"}
    assert kept.importance == entry.importance > kept.encoded_importance > 0.3


@pytest.mark.parametrize("form", [list, np.array, lambda numbers: np.array([numbers], np.float32), "mlx"])
def test_a_feeling_comes_in_any_form(form: Any) -> None:
    if form == "mlx":
        form = pytest.importorskip("mlx.core", reason="mlx has no build for this machine").array
    memory = HierarchicalMemory()
    feeling = form([-0.5, 0.75, 0.75, 0.0, 0.0])
    memory.add(1, 1, ME, "boo", feeling)
    assert texts(memory.retrieve_by_affect_similarity(feeling)) == ["boo"]
    assert texts(memory.get_context_for_response(ME, feeling)) == ["boo"]


def test_refused_percepts_leave_no_trace() -> None:
    memory = filled(3)
    before = memory.stats()
    for bad in ({"surprise": math.nan}, {"affect": [1, 2]}, {"identity_salience": 2.0}):
        with pytest.raises(UserError):
            add(memory, 4, **bad)
    assert memory.stats() == before
    assert add(memory, 4).id == 4


@pytest.mark.parametrize(
    "settings",
    [
        {"working_capacity": 0},
        {"episodic_capacity": 0},
        {"working_capacity": -1},
        {"surprise_threshold": 1.1},
        {"surprise_threshold": math.nan},
        {"metric": "manhattan"},
    ],
)
def test_impossible_settings_are_refused_by_name(settings: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=next(iter(settings))):
        HierarchicalMemory(**settings)


def test_capacities_are_kept_exactly() -> None:
    memory = filled(450)
    assert len(memory.retrieve_working()) == 20
    assert len(memory.retrieve_episodic(limit=None)) == 200
    smallest = filled(5, working_capacity=1, episodic_capacity=1)
    assert ids(smallest.retrieve_working()) == ids(smallest.retrieve_episodic()) == [5]


def test_the_latest_entries_are_working_memory_oldest_first() -> None:
    memory = filled(25)
    assert ids(memory.retrieve_working()) == list(range(6, 26))
    assert ids(memory.retrieve_working(3)) == [23, 24, 25]
    assert ids(memory.retrieve_working(99)) == list(range(6, 26))
    assert memory.retrieve_working(0) == []
    with pytest.raises(UserError, match="last_n"):
        memory.retrieve_working(-1)


def test_the_threshold_is_what_an_importance_must_pass() -> None:
    memory = fresh(surprise_threshold=0.5)
    at, above = add(memory, 1, 0.5), add(memory, 2, 0.51)
    assert (memory.is_episodic(at.id), memory.is_episodic(above.id)) == (False, True)
    assert memory.stats().consolidated == 1
    assert memory.stats().consolidation_rate == 0.5


def test_retrieve_episodic_filters_and_sorts() -> None:
    memory = fresh(surprise_threshold=0.0)
    for number, surprise in enumerate([0.1, 1.0, 0.5], 1):
        add(memory, number, surprise)
    memory.add(4, 4, "user_micha", "mine", NEUTRAL, None, 0.75)
    assert ids(memory.retrieve_episodic()) == [2, 4, 3, 1]
    assert ids(memory.retrieve_episodic(user_id=ME)) == [2, 3, 1]
    assert ids(memory.retrieve_episodic(min_importance=0.51)) == [2, 4]
    assert ids(memory.retrieve_episodic(limit=1)) == [2]
    assert ids(filled(30).retrieve_episodic()) == list(range(30, 20, -1))


def test_recall_by_feeling_keeps_its_limits() -> None:
    memory = fresh(surprise_threshold=0.0)
    for number in range(1, 8):
        add(memory, number, affect=ANXIOUS)
    add(memory, 8, affect=JOYFUL)
    assert ids(memory.retrieve_by_affect_similarity(ANXIOUS)) == [7, 6, 5, 4, 3]
    assert ids(memory.retrieve_by_affect_similarity(ANXIOUS, top_k=2)) == [7, 6]
    assert ids(memory.retrieve_by_affect_similarity(ANXIOUS, 20, 0.0)) == [7, 6, 5, 4, 3, 2, 1, 8]
    assert [found.score for found in memory.recall_by_affect(JOYFUL)] == pytest.approx([1.0])


def test_a_stored_importance_never_changes() -> None:
    memory = filled(5, surprise_threshold=0.0)
    grief = add(memory, 6, 1.0, affect=SORROWFUL)
    first = {entry.id: entry.importance for entry in memory.retrieve_episodic(limit=None)}
    for number in range(7, 507):
        add(memory, number)
    after = {entry.id: entry.importance for entry in memory.retrieve_episodic(limit=None)}
    assert after == first
    assert memory.find(grief.id).encoded_importance == grief.encoded_importance == grief.importance


def test_a_response_raises_an_importance_once_and_visibly() -> None:
    memory = fresh()
    entry = add(memory, 1, 0.5)
    answered = memory.complete(entry, "oh")
    assert answered.encoded_importance == entry.encoded_importance
    assert (
        answered.override == answered.importance == importance(ImportanceParts(0.5, answered=1.0), SURPRISING)
    )
    assert (answered.override_by, answered.response) == ("response", "oh")
    again = memory.complete(answered, "well")
    assert (again.importance, again.response) == (answered.importance, "well")
    assert memory.retrieve_working()[0].response == "well"


def test_a_response_may_make_an_entry_episodic() -> None:
    weights = ImportanceWeights(surprise=1.0, answered=0.5)
    memory = fresh(surprise_threshold=0.3, weights=weights)
    entry = add(memory, 1, 0.2)
    assert not memory.is_episodic(entry.id)
    memory.complete(entry, "oh")
    assert memory.is_episodic(entry.id)
    assert memory.stats().consolidated == 1


def test_a_response_does_not_touch_what_was_set_by_hand_nor_lower_anything() -> None:
    memory = fresh()
    by_hand = memory.set_importance(add(memory, 1), 0.05)
    answered = memory.complete(by_hand, "oh")
    assert (answered.importance, answered.override_by) == (0.05, "hand")
    unmoved = fresh(weights=ImportanceWeights(answered=0.0))
    assert unmoved.complete(add(unmoved, 1), "oh").override is None


def test_a_response_finds_an_entry_that_has_left_both_streams() -> None:
    memory = fresh(working_capacity=1, journal=(journal := ChangeJournal()))
    entry = add(memory, 1)
    add(memory, 2)
    drained(journal)
    assert memory.complete(entry, "oh").response == "oh"
    assert ids(drained(journal).updated) == [1]
    assert memory.find(1) is None


def test_a_hand_overrides_and_takes_back() -> None:
    memory = fresh()
    entry = add(memory, 1, 0.5)
    raised = memory.set_importance(entry, 0.95)
    assert (raised.importance, raised.override_by, raised.encoded_importance) == (
        0.95, "hand", entry.encoded_importance,
    )  # fmt: skip
    assert memory.is_episodic(1)
    assert ids(memory.retrieve_episodic(min_importance=0.95)) == [1]
    back = memory.set_importance(raised, None)
    assert (back.override, back.override_by, back.importance) == (None, "", entry.encoded_importance)
    for bad in (1.5, -0.1, math.nan, "much"):
        with pytest.raises(UserError, match="importance"):
            memory.set_importance(back, bad)


def test_a_pin_holds_and_lets_go() -> None:
    memory = fresh(episodic_capacity=3, surprise_threshold=0.0)
    pinned = memory.pin(add(memory, 1))
    for number in range(2, 50):
        add(memory, number, 1.0)
    assert memory.is_episodic(pinned.id)
    assert memory.stats().pinned == 1
    memory.pin(memory.find(pinned.id), False)
    add(memory, 50, 1.0)
    assert not memory.is_episodic(pinned.id)
    assert memory.stats().pinned == 0


def test_what_was_asked_to_be_remembered_stays_whatever_it_weighs() -> None:
    memory = fresh(episodic_capacity=3, weights=ImportanceWeights(remember=0.0))
    asked = add(memory, 1, remember=True)
    for number in range(2, 50):
        add(memory, number, 1.0, affect=SORROWFUL)
    assert memory.is_episodic(asked.id)


def test_a_pin_is_refused_when_all_room_is_held() -> None:
    memory = fresh(episodic_capacity=2, surprise_threshold=0.0)
    held = [memory.pin(add(memory, 1)), add(memory, 2, remember=True)]
    with pytest.raises(UserError, match="all 2 places"):
        memory.pin(add(memory, 3))
    assert memory.pin(memory.find(3), False).pinned is False
    assert memory.pin(held[0], False).pinned is False
    assert memory.pin(memory.find(3)).pinned
    assert memory.pin(memory.find(3)).pinned  # a second time is no more
    assert sorted(ids(memory.retrieve_episodic())) == [2, 3]


def test_taking_a_pin_back_undoes_what_it_did() -> None:
    memory = fresh(episodic_capacity=2, surprise_threshold=0.05)
    for number, surprise in ((1, 0.5), (2, 1.0)):
        add(memory, number, surprise)
    weak, displaced = add(memory, 3), memory.find(1)
    pinned = memory.pin(weak)
    assert sorted(ids(memory.retrieve_episodic())) == [2, 3]
    reverted = memory.revert(pinned, {"pinned": False}, was_episodic=False, displaced=displaced)
    assert not reverted.pinned
    assert sorted(ids(memory.retrieve_episodic())) == [1, 2]


def test_taking_back_a_weight_keeps_what_matters_anyway() -> None:
    memory = fresh(surprise_threshold=0.05)
    entry = add(memory, 1, 1.0)
    raised = memory.set_importance(entry, 0.9)
    reverted = memory.revert(raised, {"override": None, "override_by": ""}, was_episodic=False)
    assert reverted.importance == entry.importance
    assert memory.is_episodic(1)


def test_what_was_episodic_before_stays_so_however_little_it_matters() -> None:
    memory = fresh(surprise_threshold=0.5)
    memory.restore([], [an_entry(1, 0.1)], 1, 1, 1)
    raised = memory.set_importance(memory.find(1), 0.9)
    memory.revert(raised, {"override": None, "override_by": ""}, was_episodic=True)
    assert memory.is_episodic(1)


def test_taking_back_an_unpinning_is_refused_when_all_room_is_held_by_now() -> None:
    memory = fresh(episodic_capacity=1)
    first = memory.pin(memory.pin(add(memory, 1)), False)
    memory.pin(add(memory, 2))
    with pytest.raises(UserError, match="all 1 places"):
        memory.revert(first, {"pinned": True}, was_episodic=True)
    assert not memory.find(1).pinned


def test_looking_never_reinforces() -> None:
    memory = filled(30)
    before = memory.retrieve_episodic(limit=None)
    for _ in range(5):
        memory.retrieve_working()
        memory.retrieve_episodic()
        memory.recall_by_affect(JOYFUL)
        memory.context(ME, JOYFUL)
        memory.get_context_for_response(ME, JOYFUL, total_size=30)
        memory.find(3)
        memory.stats()
    after = memory.retrieve_episodic(limit=None)
    assert after == before
    assert all(entry.recall_count == 0 and entry.last_recalled is None for entry in after)


def test_a_true_recall_is_kept_and_slows_the_fading() -> None:
    memory = filled(2)
    memory.reinforce([1, 99], now=DAY)
    recalled, other = memory.find(1), memory.find(2)
    assert (recalled.recall_count, recalled.last_recalled) == (1, DAY)
    assert recalled.stability > INITIAL_STABILITY == other.stability
    assert recalled.encoded_importance == other.encoded_importance
    assert memory.strength(recalled, 30 * DAY) > memory.strength(other, 30 * DAY)
    memory.reinforce([1])
    assert (memory.find(1).recall_count, memory.find(1).last_recalled) == (2, memory.now)


def test_what_matters_and_had_to_leave_comes_back_when_it_is_truly_recalled() -> None:
    memory = fresh(working_capacity=1, episodic_capacity=2, surprise_threshold=0.0)
    told = memory.add(0.0, 1, ME, "the key is under the pot", NEUTRAL, None, 0.6)
    for number in (2, 3, 4):
        memory.add(200 * DAY, number, ME, f"something greater {number}", NEUTRAL, None, 0.7)
    assert memory.find(told.id) is None
    memory.reinforce([told], now=200 * DAY)
    assert memory.find(told.id) is None  # weaker than what is there
    memory.add(900 * DAY, 5, ME, "hello", NEUTRAL, None, 0.0)
    memory.reinforce([told], now=900 * DAY)
    back = memory.find(told.id)
    assert back is not None
    assert back.recall_count == 1
    assert len(memory.retrieve_episodic()) == 2


def test_a_trifle_does_not_come_back_however_often_it_is_recalled() -> None:
    memory = fresh(working_capacity=1, episodic_capacity=2, surprise_threshold=0.3)
    told = memory.add(0.0, 1, ME, "the door squeaks", NEUTRAL, None, 0.0)
    memory.add(1.0, 2, ME, "ok", NEUTRAL, None, 0.0)
    for day in range(1, 9):
        memory.reinforce([told], now=day * DAY)
    assert memory.find(told.id) is None


def test_a_second_recall_counts_from_the_first() -> None:
    memory = filled(1)
    memory.reinforce([1], now=100 * DAY)
    once = memory.find(1).stability
    memory.reinforce([1], now=100 * DAY + 60)
    assert memory.find(1).stability == pytest.approx(once, rel=1e-4)


def test_what_is_recalled_outlives_what_is_not() -> None:
    memory = fresh(episodic_capacity=2, surprise_threshold=0.0)
    add(memory, 1, 0.5)
    add(memory, 2, 0.5)
    memory.reinforce([1], now=300 * DAY)
    memory.add(301 * DAY, 3, ME, "later", NEUTRAL, None, 0.5)
    assert sorted(ids(memory.retrieve_episodic())) == [1, 3]


def test_world_time_is_the_latest_timestamp_seen() -> None:
    memory = fresh(surprise_threshold=0.0)
    assert memory.now == -math.inf
    add(memory, 50, 0.5)
    entry = add(memory, 20, 0.5)
    assert memory.now == 50.0
    assert memory.strength(entry) == memory.strength(entry, 50.0)
    assert memory.strength(entry, 30 * DAY) < memory.strength(entry) < memory.strength(entry, 0.0)
    assert fresh().strength(entry) == entry.importance


def test_what_is_forgotten_is_nowhere_and_does_not_come_back_with_its_response() -> None:
    journal = ChangeJournal()
    memory = fresh(surprise_threshold=0.0, journal=journal)
    entry, other = add(memory, 1, 1.0), add(memory, 2, 1.0)
    memory.forget(iter([entry.id, 99]))
    late = memory.complete(entry, "I am sorry about your dog")
    memory.pin(late)
    memory.set_working([late, other])
    assert memory.find(1) is None
    assert ids(memory.retrieve_working()) == ids(memory.retrieve_episodic()) == [2]
    assert drained(journal) == Changes("", added=(other,), episodic=(2,))
    assert add(memory, 3).id == 3


def test_a_restored_memory_goes_on_where_it_was() -> None:
    journal = ChangeJournal()
    memory = filled(9, journal=journal)
    working, episodic = memory.retrieve_working(), memory.retrieve_episodic(limit=None)
    twin = fresh(surprise_threshold=0.0, journal=(quiet := ChangeJournal()))
    twin.restore(iter(working), iter(episodic), perceived=70, consolidated=7, last_id=90)
    assert (twin.retrieve_working(), twin.retrieve_episodic(limit=None)) == (working, episodic)
    assert (twin.stats().perceived, twin.stats().consolidated, twin.stats().consolidation_rate) == (
        70,
        7,
        0.1,
    )
    assert twin.now == 9.0
    assert drained(quiet) == Changes("")
    assert add(twin, 91).id == 91


def test_a_memory_that_is_restored_empty_is_as_new() -> None:
    memory = filled(3)
    memory.restore([], [], 0, 0, 0)
    assert (memory.now, memory.retrieve_working(), memory.retrieve_episodic()) == (-math.inf, [], [])
    assert add(memory, 1).id == 1


def test_a_lowered_capacity_keeps_what_is_held() -> None:
    memory = fresh(episodic_capacity=2)
    held = [an_entry(1, 0.0, pinned=True), remembered(2, 0.0)]
    memory.restore([], [*held, an_entry(3, 0.9), an_entry(4, 0.8)], 4, 4, 4)
    assert sorted(ids(memory.retrieve_episodic())) == [1, 2]


def test_the_store_is_told_of_every_change() -> None:
    journal = ChangeJournal()
    memory = fresh(episodic_capacity=1, surprise_threshold=0.0, journal=journal)
    add(memory, 1, 0.5)
    changes = drained(journal)
    assert (ids(changes.added), changes.episodic) == ([1], (1,))
    add(memory, 2, 1.0, response="oh")
    changes = drained(journal)
    assert [entry.response for entry in changes.added] == ["oh"]
    assert (changes.updated, changes.episodic, changes.evicted) == ((), (2,), (1,))
    memory.reinforce([2], now=DAY)
    assert [entry.recall_count for entry in drained(journal).updated] == [1]


def test_statistics_count_everything() -> None:
    memory = fresh(surprise_threshold=0.15, symbol_capacity=7)
    for number, surprise in enumerate([0.0, 1.0, 0.9, 0.0], 1):
        add(memory, number, surprise)
    memory.pin(memory.find(2))
    stats = memory.stats()
    assert (stats.perceived, stats.working, stats.episodic, stats.consolidated) == (4, 4, 2, 2)
    assert (stats.consolidation_rate, stats.symbols, stats.symbol_capacity) == (0.5, 0, 7)
    assert stats.average_importance == pytest.approx(0.95)
    assert stats.pinned == 1
    assert stats.hierarchical


def test_the_way_of_a_memory_is_visible_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    memory = fresh()
    with caplog.at_level(logging.INFO):
        memory.add(1, 1, ME, "my dog died " * 9, SORROWFUL, identity_salience=0.5)
        memory.context(ME, SORROWFUL)
    words = "my dog died my dog died my dog died my dog died m…"
    weight = f"importance {memory.retrieve_working()[0].importance:.2f}"
    assert [record.getMessage() for record in caplog.records] == [
        f"added to working: {ME}: {words} ({weight}, salience 0.50)",
        f"consolidated to episodic: {ME}: {words} (total 1)",
        f"retrieved: {ME}: {words} ({weight}, recent)",
    ]
