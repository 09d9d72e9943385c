"""A budget on a clock set by hand: what is refused, until when, and what a restart knows of it."""

import logging
from collections.abc import Callable
from typing import Any

import pytest

from noodlings.config import BudgetSettings
from noodlings.errors import LLMError, StoreError
from noodlings.llm.token_budget import DAY, HOUR, KEY, TokenBudget
from noodlings.store.memory import MemoryStore

NOON = 20_000.5 * DAY
"""12:00 UTC on 2024-10-04."""


def budget(world_store: MemoryStore | None = None, **limits: int) -> TokenBudget:
    return TokenBudget(BudgetSettings(**limits), world_store)


def refusal(spent: TokenBudget, user_id: str = "user_caity", now: float = NOON) -> str:
    with pytest.raises(LLMError) as refused:
        spent.admit(user_id, now)
    return str(refused.value)


@pytest.mark.parametrize(
    ("limit", "words", "renews", "next_one"),
    [
        ("calls_per_hour", "10 calls per hour", "2024-10-04 13:00 UTC", HOUR),
        ("tokens_per_hour", "10 tokens per hour", "2024-10-04 13:00 UTC", HOUR),
        ("calls_per_day", "10 calls per day", "2024-10-05 00:00 UTC", DAY / 2),
        ("tokens_per_day", "10 tokens per day", "2024-10-05 00:00 UTC", DAY / 2),
        ("calls_per_player_hour", "10 calls per hour and player", "2024-10-04 13:00 UTC", HOUR),
        ("tokens_per_player_hour", "10 tokens per hour and player", "2024-10-04 13:00 UTC", HOUR),
    ],
)
def test_what_is_used_up_is_refused_until_it_renews(limit, words, renews, next_one):
    spent = budget(**{limit: 10})
    spent.spend("user_caity", NOON, calls=9, tokens=9)
    spent.admit("user_caity", NOON)
    spent.spend("user_caity", NOON, calls=1, tokens=1)
    assert refusal(spent) == f"the budget of {words} is used up until {renews}"
    assert refusal(spent, now=NOON + next_one - 1)
    spent.admit("user_caity", NOON + next_one)


def test_a_player_spends_for_themselves_and_for_everybody():
    spent = budget(calls_per_player_hour=2, calls_per_hour=3)
    spent.spend("user_caity", NOON, calls=2)
    assert "hour and player" in refusal(spent)
    spent.admit("user_bob", NOON)
    spent.spend("user_bob", NOON, calls=1)
    assert "3 calls per hour is" in refusal(spent, "user_bob")


def test_nobody_has_no_budget_of_their_own():
    spent = budget(calls_per_player_hour=1)
    for _ in range(5):
        spent.admit("", NOON)
        spent.spend("", NOON, calls=1)
    spent.admit("user_caity", NOON)


def test_without_limits_nothing_is_refused_and_nothing_kept():
    world_store = MemoryStore()
    spent = budget(world_store)
    spent.spend("user_caity", NOON, calls=10**6, tokens=10**9)
    spent.admit("user_caity", NOON)
    assert world_store.world_get(KEY) is None


def test_a_restart_knows_what_was_spent():
    world_store, limits = MemoryStore(), {"calls_per_player_hour": 2, "tokens_per_day": 100}
    budget(world_store, **limits).spend("user_caity", NOON, calls=2, tokens=60)
    again = budget(world_store, **limits)
    assert "player" in refusal(again)
    again.spend("user_bob", NOON, calls=1, tokens=40)
    assert "tokens per day" in refusal(budget(world_store, **limits), "user_bob", NOON + HOUR)


def test_an_hour_that_is_over_leaves_no_player_behind():
    world_store = MemoryStore()
    spent = budget(world_store, calls_per_hour=100)
    spent.spend("user_caity", NOON, calls=1)
    spent.spend("user_bob", NOON + HOUR, calls=1)
    assert set(world_store.world_get(KEY)["players"]) == {"user_bob"}


def test_a_clock_that_was_far_ahead_locks_nobody_out():
    spent = budget(calls_per_day=1)
    spent.spend("", NOON + 1_000 * DAY, calls=1)
    spent.admit("", NOON)


@pytest.mark.parametrize("kept", [7, [], {"hour": 1}, {"hour": [1, 2], "day": [1, 2, 3], "players": {}}])
def test_what_cannot_be_read_is_counted_anew_and_told(kept, caplog):
    world_store = MemoryStore()
    world_store.world_set(KEY, kept)
    with caplog.at_level(logging.WARNING):
        budget(world_store, calls_per_hour=1).admit("", NOON)
    assert "cannot be read" in caplog.text


class FullShelf(MemoryStore):
    """Nothing more can be kept on it."""

    def world_update(self, key: str, change: Callable[[Any], Any]) -> Any:
        """Refuses."""
        raise StoreError("the disk is full")


def test_what_cannot_be_kept_still_counts(caplog):
    spent = budget(FullShelf(), calls_per_hour=1)
    with caplog.at_level(logging.WARNING):
        spent.spend("", NOON, calls=1)
    assert "the disk is full" in caplog.text
    assert "1 calls per hour" in refusal(spent)


def test_what_could_not_be_kept_is_kept_later():
    world_store = MemoryStore()
    spent = budget(world_store, tokens_per_day=100)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(world_store, "world_update", FullShelf().world_update)
        spent.spend("", NOON, tokens=50)
    spent.spend("", NOON, tokens=1)
    assert world_store.world_get(KEY)["day"][2] == 51


def test_two_processes_count_what_both_spend():
    world_store = MemoryStore()
    one, other = (budget(world_store, calls_per_hour=10) for _ in range(2))
    for number in range(5):
        (one, other)[number % 2].spend("", NOON, calls=2)
    assert "10 calls per hour" in refusal(one)
