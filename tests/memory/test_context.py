"""Hybrid context: 5 + 3 + 2 and any other mix, no doubles, oldest to newest, within its budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import UserError
from noodlings.memory.context import ContextBudget, assemble, entry_tokens, merge
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.memory import Recalled, Why
from noodlings.values.percept import Kind
from tests.memory.entries import ANXIOUS, BORED, JOYFUL, SORROWFUL, WORRIED, an_entry

ME = "user_caity"


def memory_of(count: int, affect: Affect = JOYFUL, **capacities: Any) -> HierarchicalMemory:
    """All that one user said; every seventh line, 6, 13, 20 …, is the most important."""
    memory = HierarchicalMemory(surprise_threshold=0.0, **capacities)
    for number in range(1, count + 1):
        memory.add(number, number, ME, f"line {number}", affect, surprise=number % 7 / 10)
    return memory


def ids(context: Sequence[Recalled]) -> list[int]:
    return [found.entry.id for found in context]


def whys(context: Sequence[Recalled]) -> dict[int, tuple[Why, ...]]:
    return {found.entry.id: found.why for found in context}


def recalled(number: int, why: Why, score: float = 0.5, text: str = "") -> Recalled:
    return Recalled(an_entry(number, user_text=text), (why,), score, {why.value: score})


def test_five_recent_three_important_two_alike() -> None:
    memory = memory_of(60)
    for number, affect in ((61, ANXIOUS), (62, WORRIED), (63, SORROWFUL)):
        memory.add(number, number, "user_micha", f"line {number}", affect)
    for number in range(64, 84):
        memory.add(number, number, ME, "ok", NEUTRAL)
    context = memory.context(ME, ANXIOUS)
    assert whys(context) == {
        **dict.fromkeys((41, 48, 55), (Why.IMPORTANT,)),
        **dict.fromkeys((61, 62), (Why.AFFECT,)),
        **dict.fromkeys((79, 80, 81, 82, 83), (Why.RECENT,)),
    }
    assert ids(context) == [41, 48, 55, 61, 62, 79, 80, 81, 82, 83]


def test_important_entries_are_those_of_whoever_is_answered() -> None:
    memory = memory_of(30)
    memory.add(31, 31, "user_micha", "my house burns", SORROWFUL, surprise=1.0)
    for number in range(32, 60):
        memory.add(number, number, ME, "ok", NEUTRAL)
    assert 31 not in ids(memory.context(ME, None))
    assert 31 in ids(memory.context("user_micha", None))
    assert 31 in ids(memory.context(None, None))


def test_affect_slots_stay_empty_rather_than_filled_with_what_does_not_fit() -> None:
    memory = memory_of(60)
    for feeling in (ANXIOUS, SORROWFUL, BORED, NEUTRAL, None, []):
        assert len(memory.context(ME, feeling)) == 8
    assert len(memory.context(ME, JOYFUL)) == 10


def test_how_alike_a_feeling_must_be_can_be_said() -> None:
    memory = memory_of(60, affect=WORRIED)
    exact = memory.context(ME, ANXIOUS, min_similarity=0.999)
    assert len(exact) == 8
    assert len(memory.context(ME, ANXIOUS, min_similarity=0.7)) == 10


def test_without_a_feeling_missing_ones_do_not_count_as_alike() -> None:
    memory = HierarchicalMemory(surprise_threshold=0.0)
    for number in range(30):
        memory.add(number, number, ME, "hm", None, surprise=0.5)
    assert len(memory.context(ME, ANXIOUS)) == 8


def test_the_scores_say_how_strongly_each_reason_speaks() -> None:
    memory = memory_of(40)
    context = {found.entry.id: found for found in memory.context(ME, JOYFUL)}
    assert [context[entry].scores for entry in (40, 39, 36)] == [
        {"recent": 1.0},
        {"recent": 0.5},
        {"recent": 0.2},
    ]
    for found in context.values():
        if found.why[0] is Why.IMPORTANT:
            assert found.score == found.scores["important"] == found.entry.importance
        if found.why[0] is Why.AFFECT:
            assert found.score == found.scores["affect"] == pytest.approx(1.0)


@pytest.mark.parametrize("count", [0, 1, 2, 4, 7, 9])
def test_a_young_memory_gives_what_it_has(count: int) -> None:
    memory = memory_of(count)
    assert ids(memory.context(ME, JOYFUL)) == list(range(1, count + 1))
    assert len(memory.get_context_for_response(ME, JOYFUL, total_size=10)) == count


sizes = st.integers(0, 6)


@given(st.integers(0, 30), sizes, sizes, sizes, st.none() | st.integers(0, 40), st.sampled_from([3, 8, 20]))
def test_any_mix_has_no_doubles_is_oldest_to_newest_and_keeps_its_size(
    count: int, working: int, episodic: int, alike: int, total: int | None, capacity: int
) -> None:
    memory = memory_of(count, working_capacity=capacity, episodic_capacity=10)
    context = memory.get_context_for_response(ME, JOYFUL, working, episodic, alike, total)
    numbers = [entry.id for entry in context]
    assert numbers == sorted(set(numbers))
    in_mind = {entry.id for entry in (*memory.retrieve_working(), *memory.retrieve_episodic(limit=None))}
    if total is None:
        assert len(numbers) <= working + episodic + alike
        assert len(numbers) >= min(working, count, capacity)
    else:
        assert len(numbers) == min(total, len(in_mind))
    if working and (total is None or total):
        assert numbers[-1:] == ([count] if count else [])


def test_a_total_beyond_the_slots_is_filled_with_the_latest() -> None:
    memory = memory_of(60, working_capacity=4)
    assert [entry.id for entry in memory.get_context_for_response(ME, None, 2, 0, 0, total_size=4)] == [
        57, 58, 59, 60,
    ]  # fmt: skip
    for total in (5, 7):
        further = memory.context(ME, None, ContextBudget(2, 0, 0, total=total))
        assert ids(further) == list(range(61 - total, 61))
        assert [found.score for found in further] == [1.0 / back for back in range(total, 0, -1)]


def test_what_is_in_no_slot_for_the_recent_may_come_as_important() -> None:
    memory = memory_of(20)
    sixth = memory.pin(memory.set_importance(memory.find(15), 1.0))
    assert whys(memory.context(ME, None))[sixth.id] == (Why.IMPORTANT,)
    filled_up = memory.context(ME, None, ContextBudget(5, 3, 2, total=20))
    assert whys(filled_up)[sixth.id] == (Why.IMPORTANT, Why.RECENT)
    fifth = memory.set_importance(memory.find(16), 1.0)
    assert whys(memory.context(ME, None))[fifth.id] == (Why.RECENT,)


def test_a_total_below_the_slots_keeps_the_latest_one_and_what_was_chosen() -> None:
    memory = memory_of(60)
    important = whys(memory.context(ME, None, ContextBudget(0, 3, 0)))
    kept = whys(memory.context(ME, None, ContextBudget(5, 3, 0, total=4)))
    assert len(kept) == 4
    assert set(important) < set(kept)
    assert max(kept) == 60


def test_tokens_are_a_limit_and_smaller_entries_may_still_fit() -> None:
    latest = [recalled(9, Why.RECENT, text="x" * 40), recalled(8, Why.RECENT, text="x" * 400)]
    latest += [recalled(7, Why.RECENT, text="x" * 4)]
    assert [entry_tokens(found.entry) for found in latest] == [16, 106, 7]
    assert ids(assemble(latest, (), ContextBudget(3, max_tokens=23))) == [7, 9]
    assert ids(assemble(latest, (), ContextBudget(3, max_tokens=22))) == [9]
    assert ids(assemble(latest, (), ContextBudget(3, max_tokens=129))) == [7, 8, 9]
    assert ids(assemble(latest, (), ContextBudget(3, max_tokens=0))) == []


def test_without_a_total_the_slots_decide() -> None:
    latest = [recalled(number, Why.RECENT) for number in (9, 8, 7)]
    assert ids(assemble(latest, (), ContextBudget(2))) == [8, 9]


def test_an_answer_costs_tokens_too() -> None:
    assert entry_tokens(an_entry(1, user_text="abcd", response="abcde")) == 6 + 3


def test_when_there_is_too_much_the_older_of_the_recent_go_first_then_the_last_of_the_chosen() -> None:
    latest = [recalled(number, Why.RECENT) for number in (9, 8, 7)]
    chosen = [[recalled(2, Why.IMPORTANT), recalled(4, Why.IMPORTANT)], [recalled(3, Why.AFFECT)]]
    sizes = {total: ids(assemble(latest, chosen, ContextBudget(3, total=total))) for total in range(7)}
    assert sizes == {
        0: [],
        1: [9],
        2: [2, 9],
        3: [2, 4, 9],
        4: [2, 3, 4, 9],
        5: [2, 3, 4, 8, 9],
        6: [2, 3, 4, 7, 8, 9],
    }


def test_an_entry_with_two_reasons_is_there_once_with_both() -> None:
    merged = merge([[recalled(1, Why.RECENT, 1.0)], [recalled(1, Why.LEXICAL, 0.3), recalled(2, Why.LINKED)]])
    assert (merged[1].why, merged[1].score) == ((Why.RECENT, Why.LEXICAL), 1.0)
    assert merged[1].scores == {"recent": 1.0, "lexical": 0.3}
    again = merge([merged.values(), [recalled(1, Why.RECENT, 0.2)]])
    assert (again[1].why, again[1].scores["recent"]) == ((Why.RECENT, Why.LEXICAL), 1.0)


def test_an_entry_that_is_recent_too_keeps_what_was_found_out_about_it() -> None:
    known = replace(recalled(1, Why.SEMANTIC, 0.6), sources=(4,), superseded_by=7)
    known = replace(known, phrases=(("in the mill", 0.9),), answer="the mill")
    merged = merge([[recalled(1, Why.RECENT, 1.0)], [known], [recalled(1, Why.AFFECT, 0.8)]])[1]
    assert (merged.sources, merged.supersedes, merged.superseded_by) == ((4,), (), 7)
    assert (merged.phrases, merged.answer) == (known.phrases, known.answer)


def test_what_is_brought_by_other_means_is_in_beside_the_slots() -> None:
    memory = memory_of(60)
    brought = [Recalled(memory.find(3) or an_entry(3), (Why.LEXICAL,), 0.9, {"lexical": 0.9})]
    also = memory.context(ME, JOYFUL, also=brought)
    assert len(also) == 11
    assert whys(also)[3] == (Why.LEXICAL,)
    assert 3 not in ids(memory.context(ME, JOYFUL, also=brought, without=[3]))
    both = [Recalled(memory.find(60), (Why.LEXICAL,), 0.9, {"lexical": 0.9})]
    assert whys(memory.context(ME, JOYFUL, also=both))[60] == (Why.RECENT, Why.LEXICAL)


def test_what_is_left_out_is_in_no_group() -> None:
    memory = memory_of(60)
    everything = ids(memory.context(ME, JOYFUL))
    for left_out in everything:
        again = ids(memory.context(ME, JOYFUL, without=(left_out,)))
        assert left_out not in again
        assert len(again) == 10
    assert 60 not in ids(memory.context(ME, JOYFUL, ContextBudget(2, 0, 0, total=50), without=(60,)))


SECRET = {"affect": SORROWFUL, "surprise": 1.0, "kind": Kind.WHISPER, "audience": ["user_bo"]}


@pytest.mark.parametrize(
    ("present", "told"),
    [
        ({ME}, True),
        ({ME, "user_bo"}, True),
        ({"user_bo"}, True),
        (set(), False),
        ({ME, "user_micha"}, False),
        ({"user_micha"}, False),
    ],
)
def test_a_secret_comes_to_mind_only_when_nobody_present_lacks_it(present: set[str], told: bool) -> None:
    memory = memory_of(30)
    memory.add(31, 31, ME, "I stole the lamp", **SECRET)
    (secret,) = (entry for entry in memory.retrieve_working() if entry.kind is Kind.WHISPER)
    brought = [Recalled(secret, (Why.LEXICAL,), 0.9, {"lexical": 0.9})]
    # As recent, then as important and as alike in feeling, then brought from elsewhere, then as filling.
    assert (31 in ids(memory.context(ME, None, present=frozenset(present)))) is told
    for number in range(32, 60):
        memory.add(number, number, ME, "ok", NEUTRAL)
    assert (31 in ids(memory.context(ME, None, present=frozenset(present)))) is told
    assert (
        31 in ids(memory.context(ME, SORROWFUL, ContextBudget(5, 0, 2), present=frozenset(present)))
    ) is told
    quiet = ContextBudget(5, 0, 0)
    assert (31 in ids(memory.context(ME, None, quiet, also=brought, present=frozenset(present)))) is told
    everything = ContextBudget(5, 0, 0, total=60)
    assert (31 in ids(memory.context(ME, None, everything, present=frozenset(present)))) is told


def test_a_secret_is_not_brought_before_the_one_who_is_answered() -> None:
    memory = memory_of(3)
    memory.add(4, 4, ME, "I stole the lamp", **SECRET)
    assert "I stole the lamp" in [entry.user_text for entry in memory.get_context_for_response(ME, None)]
    for user in ("user_micha", "user_bo"):
        told = [entry.user_text for entry in memory.get_context_for_response(user, None, total_size=10)]
        assert ("I stole the lamp" in told) is (user == "user_bo")
    assert len(memory.get_context_for_response(None, None)) == 4


@pytest.mark.parametrize("sizes", [(-1,), (5, -1), (5, 3, -1), (5, 3, 2, -1), (5, 3, 2, None, -1)])
def test_less_than_nothing_is_refused(sizes: tuple[int, ...]) -> None:
    with pytest.raises(UserError, match="at least 0"):
        ContextBudget(*sizes)
