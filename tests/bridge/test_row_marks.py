"""Marks: whatever a host writes of its rows brings back what the memory knew of them."""

from __future__ import annotations

import copy
import gc
import json
import logging
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noodlings.bridge.host_rows import Row
from noodlings.bridge.list_wrapper import MemoryListWrapper
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.saved import MARK_KEY as KEY
from tests.bridge.hosts import unmarked
from tests.memory.entries import SORROWFUL, texts
from tests.thorough import examples

GRIEF = SORROWFUL.as_list()


def line(number: int, **more: Any) -> Row:
    return {"user": "caity", "text": f"line {number}", "timestamp": 1000.0 + number, "affect": []} | more


def grave(number: int) -> Row:
    return line(number, text=f"grief {number}", affect=GRIEF, surprise=0.9)


def told(count: int, every: int, shown: int = 500) -> MemoryListWrapper:
    """So many rows, of which each so-manieth matters."""
    return MemoryListWrapper(
        (line(number) if number % every else grave(number) for number in range(count)), shown=shown
    )


def reloaded(rows: list[Row]) -> MemoryListWrapper:
    """What another process makes of what a host wrote."""
    return MemoryListWrapper(json.loads(json.dumps([dict(row) for row in rows])))


def episodic(context: MemoryListWrapper) -> set[str]:
    return {*texts(context.hm.episodic_memory)}


def test_rows_that_do_not_matter_carry_nothing() -> None:
    context = MemoryListWrapper([line(number) for number in range(30)])
    assert not any(KEY in row for row in context)


def test_what_the_list_lost_comes_back_with_its_rows() -> None:
    context = told(400, every=10, shown=50)
    assert (len(context), len(episodic(context))) == (50, 40)
    again = reloaded(context)
    assert episodic(again) == episodic(context)
    assert unmarked(again) == unmarked(context)
    assert again.hm.stats().perceived == context.hm.stats().perceived == 400
    assert again.hm.stats().consolidated == context.hm.stats().consolidated == 40


@pytest.mark.parametrize(
    "part",
    [
        lambda rows: rows[-20:],
        lambda rows: rows[-50:],
        lambda rows: [row for row in rows if "grief" in row["text"]],
        lambda rows: [{**row} for row in reversed([*reversed(rows)])],
        lambda rows: copy.deepcopy(rows[:]),
    ],
    ids=["the last twenty", "the last fifty", "what matters", "copies", "deep copies"],
)
def test_a_part_that_a_host_writes_is_enough(part: Callable[[list[Row]], list[Row]]) -> None:
    context = told(300, every=7)
    assert episodic(reloaded(part(context))) == episodic(context)


def test_a_part_without_the_newest_that_matters_brings_back_its_own() -> None:
    context = told(300, every=7)
    early = context[:100]
    assert episodic(reloaded(early)) == {row["text"] for row in early if "grief" in row["text"]}


def test_pins_answers_and_weights_come_back() -> None:
    context = MemoryListWrapper([line(number) for number in range(40)])
    hm = context.hm
    first, second, third = (hm.working_memory[place] for place in (0, 1, 2))
    hm.pin(first)
    hm.complete(second, "So it is.")
    hm.set_importance(third, 0.9)
    hm.reinforce([third.id], 5_000.0)
    for number in range(40, 80):  # all three leave working memory
        context.append(line(number))
    again = reloaded(context)
    found = {entry.user_text: entry for entry in again.hm.episodic_memory}
    assert found[first.user_text].pinned
    assert (found[third.user_text].importance, found[third.user_text].recall_count) == (0.9, 1)
    answered = next(row for row in again if row["text"] == second.user_text)
    again.assign([answered])
    (entry,) = again.hm.working_memory
    assert (entry.response, entry.override_by) == ("So it is.", "response")


def test_what_is_unpinned_or_evicted_is_so_after_a_reload() -> None:
    context = MemoryListWrapper(HierarchicalMemory(working_capacity=2, episodic_capacity=3))
    context.extend([grave(number) for number in range(6)])
    held = context.hm.pin(context.hm.episodic_memory[-1])
    context.hm.pin(held, False)
    again = MemoryListWrapper(HierarchicalMemory(working_capacity=2, episodic_capacity=3))
    again.assign(json.loads(json.dumps(context)))
    assert texts(again.hm.episodic_memory) == texts(context.hm.episodic_memory)
    assert not any(entry.pinned for entry in again.hm.episodic_memory)


@pytest.mark.slow
def test_three_reloads_with_a_full_memory_change_nothing() -> None:
    context = told(900, every=3)
    assert len(episodic(context)) == 200
    before = episodic(context)
    for _ in range(3):
        context = reloaded(context)
        assert episodic(context) == before


def test_the_same_process_loads_its_own_rows_and_gains_nothing() -> None:
    context = told(60, every=5, shown=20)
    stats = context.hm.stats()
    context.assign(json.loads(json.dumps(context)))
    assert context.hm.stats() == stats


def test_what_was_forgotten_does_not_come_back_with_older_rows() -> None:
    context = told(60, every=5, shown=20)
    saved = json.dumps(context)
    lost = context.hm.episodic_memory[-1]
    context.hm.forget([lost.id])
    context.assign(json.loads(saved))
    assert lost.user_text not in episodic(context)
    assert not any(lost.user_text in json.dumps(row) for row in context if row["text"] != lost.user_text)


# -- one dict in the lists of two agents


def test_a_dict_that_two_lists_show_tells_each_only_its_own() -> None:
    one, other = MemoryListWrapper(), MemoryListWrapper()
    one.append(line(0, text="psst, only you", affect=GRIEF, surprise=0.9))
    for number in range(1, 30):
        shared = grave(number) if number == 29 else line(number)
        one.append(shared)
        other.append(shared)
    assert one[-1]["text"] == other[-1]["text"]
    assert "psst" in json.dumps(one)
    assert "psst" not in json.dumps(other)
    assert episodic(reloaded(other)) == episodic(other) == {"grief 29"}
    for number in range(30, 40):
        other.append(one[number - 10])
    assert "psst" not in json.dumps(other)


@pytest.mark.slow
def test_a_dict_belongs_to_nobody_when_its_list_is_gone() -> None:
    first = MemoryListWrapper([line(1)])
    twin = copy.deepcopy(first)
    row = first[0]
    assert MemoryListWrapper([row])[0] is not row
    assert MemoryListWrapper([twin[0]])[0] is not twin[0]
    del first, twin
    gc.collect()
    assert MemoryListWrapper([row])[0] is row


# -- marks from anywhere


@pytest.mark.parametrize(
    "mark",
    [None, 5, "x", [], {}, {"entry": None}, {"entry": {"id": "x"}}, {"entry": [], "others": 3},
     {"entry": {}, "others": [None, 1, {"id": -1}], "perceived": -4, "consolidated": "many"}],
)  # fmt: skip
def test_a_mark_that_cannot_be_read_is_as_if_it_were_not_there(mark: Any) -> None:
    context = MemoryListWrapper([line(1, **{KEY: mark}), grave(2)])
    assert unmarked(context) == unmarked([line(1), grave(2)])
    assert (context.hm.stats().perceived, episodic(context)) == (2, {"grief 2"})


def test_a_mark_of_another_row_is_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    context = MemoryListWrapper([grave(1)])
    (row,) = json.loads(json.dumps(context))
    row["text"] = "hello"
    with caplog.at_level(logging.WARNING):
        again = MemoryListWrapper([row])
    assert texts(again.hm.working_memory) == ["hello"]
    assert again.hm.working_memory[0].importance == context.hm.working_memory[0].importance
    spoilt = json.loads(json.dumps(context))
    spoilt[0][KEY]["entry"]["stability"] = -1
    with caplog.at_level(logging.WARNING):
        MemoryListWrapper(spoilt)
    assert "passed over" in caplog.text


def test_a_host_may_use_the_key_for_something_of_its_own() -> None:
    rows = [grave(1) | {KEY: "mine"}, grave(2) | {KEY: {"version": 3}}]
    context = MemoryListWrapper(rows)
    assert [row[KEY] for row in context] == ["mine", {"version": 3}]
    assert episodic(reloaded(context)) == {"grief 1", "grief 2"}


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(st.sampled_from(["grave", "plain", "cut", "reload", "think", "clear"]), max_size=40),
    st.integers(1, 12),
)
def test_no_reload_loses_what_was_episodic(steps: list[str], shown: int) -> None:
    def make(rows: list[Row] = []) -> MemoryListWrapper:  # noqa: B006 -- it is not changed
        made = MemoryListWrapper(HierarchicalMemory(working_capacity=min(shown, 3)), shown=shown)
        made.assign(rows)
        return made

    context = make()
    for number, step in enumerate(steps):
        if step in ("grave", "plain"):
            context.append(grave(number) if step == "grave" else line(number))
        elif step == "think":
            context.append(line(number, is_rumination=True, user="agent_phi"))
        elif step == "cut":
            context.assign(context[-2:])
        elif step == "clear":
            context.assign([])
        elif context:
            before, rows = episodic(context), unmarked(context)
            context = make(json.loads(json.dumps([dict(row) for row in context])))
            assert (episodic(context), unmarked(context)) == (before, rows)


# -- lists of several characters, and hosts that load in ways of their own


def secretive() -> MemoryListWrapper:
    """The list of somebody who knows a secret that the list shows no longer."""
    context = MemoryListWrapper([grave(0) | {"text": "SECRET"}])
    context.clear()
    context.append(grave(1))
    return context


def test_a_row_that_one_list_marked_brings_another_nothing_but_its_words() -> None:
    one = secretive()
    (row,) = one
    for heard in (row, dict(row), {**row, "heard_from": "a"}, json.loads(json.dumps(row))):
        fresh, other = MemoryListWrapper(), MemoryListWrapper([grave(7)])
        for listener in (fresh, other):
            listener.append(heard)
            assert "SECRET" not in json.dumps(listener)
            assert "SECRET" not in episodic(listener)
    assert "SECRET" in json.dumps(one)
    other.extend([dict(row), line(3)])
    assert "SECRET" not in json.dumps(other)


def test_a_row_that_was_popped_leaves_its_memory_behind() -> None:
    one, other = secretive(), MemoryListWrapper()
    one.hm.complete(one.hm.working_memory[0], "only you may know")
    other.append(one.pop())
    assert [entry.response for entry in other.hm.working_memory] == [None]
    assert "SECRET" not in json.dumps(other)


def test_a_row_that_refers_to_another_takes_nothing_of_its_memory_along() -> None:
    one, other = secretive(), MemoryListWrapper()
    other.append(grave(5) | {"reply_to": one[-1]})
    assert "SECRET" not in json.dumps([row["noodlings"] for row in other])
    before = None
    context = MemoryListWrapper()
    for number in range(12):
        before = grave(number) | {"reply_to": before}
        context.append(before)
    assert len(json.dumps(context)) < 100_000


@pytest.mark.parametrize("again", ["clear and extend", "load in place", "rotate", "the old save"])
def test_rows_that_a_host_puts_back_are_not_new(again: str) -> None:
    context = told(40, every=8)
    before, saved, rows = episodic(context), json.dumps(context), [*context]
    for _ in range(3):
        if again == "clear and extend":
            context.clear()
            context.extend(rows)
        elif again == "load in place":
            context.clear()
            context.extend(json.loads(saved))
        elif again == "rotate":
            context.append(context.pop(0))
        else:
            context.append(line(99))
            context.assign(json.loads(saved))
        assert episodic(context) == before
        assert len(context.hm.episodic_memory) == len(before)


def test_what_was_forgotten_comes_back_by_no_door() -> None:
    context = MemoryListWrapper([grave(1), grave(2)])
    saved, rows = json.dumps(context), [*context]
    context.hm.forget([1])
    assert episodic(context) == {"grief 2"}
    for back in (rows, json.loads(saved)):
        context.assign([])
        context.assign(back)
        assert episodic(context) == {"grief 2"}
    for row in json.loads(saved):
        context.append(row)
    assert "grief 1" not in episodic(context)


def test_reloads_do_not_make_a_file_grow() -> None:
    context = told(60, every=3, shown=10)
    sizes = []
    for _ in range(5):
        context = MemoryListWrapper(shown=10)
        context.assign(json.loads(json.dumps(told(60, every=3, shown=10))))
        for number in range(100, 130):  # those with a mark leave the list
            context.append(line(number))
        context = reloaded(context)
        sizes.append(len(json.dumps(context)))
    assert max(sizes) - min(sizes) < 100


def test_two_saves_can_be_merged_and_ids_of_another_process_mean_nothing_here() -> None:
    one, other = (MemoryListWrapper([grave(number), line(number + 50)]) for number in (1, 2))
    merged = MemoryListWrapper([line(0, text="session start")])
    merged.hm.forget([1])
    merged.assign(json.loads(json.dumps(one)) + json.loads(json.dumps(other)))
    assert episodic(merged) == {"grief 1", "grief 2"}


@pytest.mark.slow
def test_a_first_line_that_every_session_has_hides_no_mark() -> None:
    start = {"user": "system", "text": "session start", "affect": GRIEF, "surprise": 0.9}
    context = MemoryListWrapper([grave(1), dict(start)], shown=20)
    for number in range(30):
        context.append(line(number))
    saved = json.dumps(context)
    del context
    gc.collect()  # what follows happens in another process
    again = MemoryListWrapper([dict(start)])
    again.assign(json.loads(saved))
    assert "grief 1" in episodic(again)


class Host:
    context: Any = MemoryListWrapper.attribute(use_hierarchical=True)


def test_a_host_that_is_pickled_or_takes_over_its_own_state_has_its_memory() -> None:
    host = Host()
    host.context.append(grave(1))
    host.context = []
    host.context.append(line(2))
    for state in (pickle.loads(pickle.dumps(vars(host))), json.loads(json.dumps(vars(host)))):
        again = Host()
        vars(again).update(state)
        assert episodic(again.context) == {"grief 1"}
    old = Host()
    vars(old).update({"context": [grave(3)]})
    assert episodic(old.context) == {"grief 3"}


def test_nothing_may_be_assigned_and_the_attribute_may_go() -> None:
    host = Host()
    host.context.append(line(1))
    host.context = None
    assert host.context == []
    del host.context
    assert (host.context, host.context.hm.stats().perceived) == ([], 0)


def test_what_a_store_brings_takes_the_place_of_what_stood_there() -> None:
    saved = HierarchicalMemory()
    for number in range(3):
        saved.add(float(number), number, "caity", f"past {number}", None)
    context = MemoryListWrapper([line(0, text="session start")])
    context.hm.take_up(saved.saved())
    assert (
        [row["text"] for row in context] == texts(context.hm.working_memory) == ["past 0", "past 1", "past 2"]
    )


def test_two_threads_that_share_their_dicts_share_no_memories() -> None:
    lists = [MemoryListWrapper(), MemoryListWrapper()]
    lists[0].append(grave(0) | {"text": "SECRET"})
    shared = [grave(number) if number % 5 == 0 else line(number) for number in range(1, 300)]

    def hear(context: MemoryListWrapper) -> None:
        for row in shared:
            context.append(row)
            context.assign(context[-20:])

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(hear, lists))
    assert "SECRET" in json.dumps(lists[0])
    assert "SECRET" not in json.dumps(lists[1])


def test_a_deep_copy_writes_all_that_it_knows() -> None:
    context = told(80, every=5, shown=30)
    twin = copy.deepcopy(context)
    assert episodic(reloaded(twin)) == episodic(context)
    twin.append(line(99))
    twin.assign(twin[-20:])
    assert episodic(reloaded(twin)) == episodic(context)
    assert twin[-1] is not context[-1]


def test_a_mark_of_no_list_is_of_none() -> None:
    memory = told(4, 2)
    memory[0] = line(9) | {KEY: {"of": [[]], "id": 1}}
    assert memory[0]["text"] == "line 9"


def test_a_record_with_a_number_that_no_float_holds_is_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    rows = unmarked(told(4, 2))
    rows[1]["phenomenal_state"] = [10**400] * 40
    memory = MemoryListWrapper(rows)
    assert len(memory) == 4
