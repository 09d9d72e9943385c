"""Leafing through memories: every order, narrowed, page by page, and nothing told of what others shared."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noodlings.errors import UserError
from noodlings.inspect.browse import Page
from noodlings.inspect.inspector import Inspector
from noodlings.inspect.views import EntriesView
from noodlings.ports import Changes
from noodlings.store.memory import MemoryStore
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import STORED, MemoryEntry, Order
from noodlings.values.percept import Kind
from tests.fakes import FakeAgent, FakeSociety
from tests.memory.entries import JOYFUL, SORROWFUL, an_entry
from tests.thorough import examples

VIEWER = Caller("user_eve", "eve", Role.VIEWER)
ANN = Caller("user_ann", "ann")
NOW = 1_000_000.0
ENTRIES = (
    an_entry(1, timestamp=NOW - 50, user_id="user_ann", user_text="A wolf", affect=SORROWFUL, response="Oh."),
    an_entry(2, timestamp=NOW - 40, user_id="user_bob", user_text="a bell, no wolf", affect=JOYFUL),
    an_entry(3, timestamp=NOW - 30, user_id="user_ann", user_text="Snow", affect=JOYFUL),
    an_entry(4, timestamp=NOW - 20, user_id="user_ann", user_text="wolf?", kind=Kind.THOUGHT),
)


@pytest.fixture
def inspector() -> Inspector:
    """Of Phi, who has all four entries in episodic memory as well as in the archive."""
    return an_inspector(*ENTRIES)


def an_inspector(*entries: MemoryEntry, store: MemoryStore | None = None) -> Inspector:
    store = store or MemoryStore()
    store.commit(Changes("phi", added=entries))
    society = FakeSociety(people={"user_ann": "Ann", "user_bob": "Bob"}, store=store)  # type: ignore[arg-type]
    society.add(FakeAgent()).memory.restore((), entries, len(entries), len(entries), len(entries))
    society.clock.set(NOW)
    return Inspector(society)  # type: ignore[arg-type]


async def browse(inspector: Inspector, caller: Caller = VIEWER, **how: object) -> EntriesView:
    return await inspector.browse(caller, "phi", Page(**how))  # type: ignore[arg-type]


def ids(view: EntriesView) -> list[int]:
    return [entry.id for entry in view.entries]


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("order", STORED)
async def test_falling_is_rising_turned_round(inspector: Inspector, order: Order, everything: bool) -> None:
    rising = await browse(inspector, order=order, falling=False, everything=everything)
    falling = await browse(inspector, order=order, everything=everything)
    assert sorted(ids(rising)) == [1, 2, 3, 4]
    assert ids(falling) == ids(rising)[::-1]


async def test_orders_of_what_is_in_mind(inspector: Inspector) -> None:
    assert ids(await browse(inspector, order="when", falling=False)) == [1, 2, 3, 4]
    assert ids(await browse(inspector, order="text", falling=False)) == [2, 1, 3, 4]
    feelings = [entry.feeling for entry in (await browse(inspector, order="feeling")).entries]
    assert feelings == sorted(feelings, reverse=True)
    strengths = [entry.strength for entry in (await browse(inspector, order="strength")).entries]
    assert strengths == sorted(strengths, reverse=True)


@pytest.mark.parametrize("order", [Order.STRENGTH, Order.FEELING])
async def test_what_is_computed_when_asked_sorts_only_what_is_in_mind(
    inspector: Inspector, order: Order
) -> None:
    with pytest.raises(UserError, match="known only in mind"):
        await browse(inspector, order=order, everything=True)


async def test_an_order_that_there_is_not_is_refused(inspector: Inspector) -> None:
    with pytest.raises(UserError, match="not by 'colour'"):
        await browse(inspector, order="colour")


@pytest.mark.parametrize("everything", [False, True])
async def test_words_narrow_it(inspector: Inspector, everything: bool) -> None:
    async def found(words: str) -> list[int]:
        return ids(await browse(inspector, order="when", containing=words, everything=everything))

    assert await found("WOLF") == [4, 2, 1]
    assert await found(" oh. ") == [1]
    assert await found("bob") == [2]
    assert await found("\x1b[31msnow") == [3]
    assert await found("[bold]") == []


@pytest.mark.parametrize("everything", [False, True])
async def test_pages_follow_one_another(inspector: Inspector, everything: bool) -> None:
    pages = [
        await browse(inspector, order="when", limit=3, offset=offset, everything=everything)
        for offset in (0, 3, 6)
    ]
    assert [ids(page) for page in pages] == [[4, 3, 2], [1], []]
    assert {page.total for page in pages} == {4}


@pytest.mark.parametrize("everything", [False, True])
async def test_a_player_leafs_through_what_is_theirs(inspector: Inspector, everything: bool) -> None:
    view = await browse(inspector, ANN, order="when", everything=everything)
    assert ids(view) == [3, 1]


@pytest.mark.parametrize("everything", [False, True])
async def test_no_figure_tells_a_player_what_others_said(inspector: Inspector, everything: bool) -> None:
    alone = an_inspector(*(entry for entry in ENTRIES if entry.user_id == "user_ann"))
    for words in ("wolf", "bell", "snow", "nothing"):
        here = await browse(inspector, ANN, containing=words, everything=everything)
        there = await browse(alone, ANN, containing=words, everything=everything)
        assert (ids(here), here.total) == (ids(there), there.total)
        assert here.hidden == (await browse(inspector, ANN, everything=everything)).hidden


async def test_an_order_that_is_kept_follows_what_is_changed_by_hand() -> None:
    store = MemoryStore()
    inspector = an_inspector(*ENTRIES, store=store)

    async def by_importance() -> list[int]:
        return ids(await browse(inspector, everything=True))

    assert (await by_importance())[0] != 1
    store.commit(Changes("phi", updated=(replace(ENTRIES[0], override=1.0, override_by="hand"),)))
    assert (await by_importance())[0] == 1
    store.commit(Changes("phi", updated=(replace(ENTRIES[0], override=0.0, override_by="hand"),)))
    assert (await by_importance())[-1] == 1


async def test_an_order_that_is_kept_follows_what_is_forgotten_and_answered() -> None:
    store = MemoryStore()
    inspector = an_inspector(*ENTRIES, store=store)

    async def found(words: str) -> EntriesView:
        return await browse(inspector, order="when", containing=words, everything=True)

    assert (await found("wolf")).total == 3
    store.forget("phi", [2], by_user="user_eve", timestamp=NOW)
    view = await found("wolf")
    assert (ids(view), view.total) == ([4, 1], 2)
    assert (await found("it melts")).total == 0
    store.commit(Changes("phi", updated=(replace(ENTRIES[2], response="It melts."),)))
    assert ids(await found("it melts")) == [3]


@pytest.mark.parametrize("few", [0, 2, 10_000])
@pytest.mark.parametrize("caller", [VIEWER, ANN])
@settings(max_examples=examples(100, 10))
@given(typed=st.lists(st.sampled_from(["", "w", "wo", "wol", "wolf", "o", "no", "now", "snow", "b", "bel"])))
@pytest.mark.slow
def test_each_letter_finds_what_it_would_have_found_alone(caller: Caller, few: int, typed: list[str]) -> None:
    async def found(inspector: Inspector, words: str) -> tuple[list[int], int]:
        view = await browse(inspector, caller, order="text", containing=words, everything=True)
        return ids(view), view.total

    async def typing() -> None:
        leafing = an_inspector(*ENTRIES)
        for words in typed:
            assert await found(leafing, words) == await found(an_inspector(*ENTRIES), words)

    with patch("noodlings.inspect.browse.FEW", few):
        asyncio.run(typing())
