"""What links are to a store, over every adapter."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import StoreError
from noodlings.ports import Changes
from noodlings.store.documents import LARGEST
from noodlings.values.memory import Link, LinkType
from tests.store.either import AnyStore, filled, ids
from tests.store.records import AGENT, an_entry, finite, unit

NUMBERS = count()


def a_link(source: int, target: int, strength: float = 0.5, type: LinkType = LinkType.RECALLED) -> Link:
    return Link(source, target, type, strength, 1_000.0 + source)


def linked(store: AnyStore, *links: Link) -> AnyStore:
    store.commit(Changes(AGENT, links=links))
    return store


links = st.builds(
    Link, source=st.just(1), target=st.just(2), type=st.sampled_from(LinkType), strength=unit, created=finite
)


@given(links)
def test_any_link_comes_back_as_it_was(lasting: AnyStore, link: Link) -> None:
    agent_id = f"agent {next(NUMBERS)}"
    lasting.commit(Changes(agent_id, added=(an_entry(1), an_entry(2)), links=(link,)))
    assert lasting.links_of(agent_id, [1]) == lasting.links_of(agent_id, [2]) == [link]


@given(st.lists(links, min_size=1, max_size=6), st.integers(0, 6))
def test_of_each_type_the_strongest_is_kept_in_whatever_order_they_come(
    lasting: AnyStore, made: list[Link], at_first: int
) -> None:
    agent_id = f"agent {next(NUMBERS)}"
    lasting.commit(Changes(agent_id, added=(an_entry(1), an_entry(2)), links=tuple(made[:at_first])))
    lasting.commit(Changes(agent_id, links=tuple(made[at_first:])))
    first = {link.type: link for link in reversed(made)}
    strongest = {sort: max(link.strength for link in made if link.type is sort) for sort in sorted(first)}
    assert lasting.links_of(agent_id, [1]) == [
        replace(first[sort], strength=strength) for sort, strength in strongest.items()
    ]


def test_a_link_that_goes_makes_room_for_a_weaker_one_and_no_other_goes_with_it(store: AnyStore) -> None:
    others = [a_link(2, 1), a_link(3, 1, type=LinkType.BY_HAND), a_link(3, 2)]
    linked(filled(store, 3), a_link(3, 1, 0.9), *others)
    store.commit(Changes(AGENT, unlinked=(a_link(3, 1, 0.9),), links=(a_link(3, 1, 0.2),)))
    assert a_link(3, 1, 0.2) in store.links_of(AGENT, [1])
    store.commit(Changes(AGENT, unlinked=(a_link(3, 1), a_link(1, 3))))
    assert store.links_of(AGENT, [1, 2, 3]) == others


def test_links_are_found_from_both_ends_and_each_once(store: AnyStore) -> None:
    made = [a_link(1, 2), a_link(2, 1), a_link(3, 1), a_link(3, 1, type=LinkType.BY_HAND), a_link(4, 5)]
    linked(filled(store, 5), *made)
    assert store.links_of(AGENT, [1]) == [made[0], made[1], made[3], made[2]]
    assert store.links_of(AGENT, [5, 1, 2, 4, 4]) == [made[0], made[1], made[3], made[2], made[4]]
    assert store.links_of(AGENT, []) == store.links_of(AGENT, [77, -1, 10**30]) == []
    assert store.links_of("servnak", [1]) == []


@pytest.mark.slow
def test_of_an_entry_with_many_links_only_the_strongest_are_read(store: AnyStore) -> None:
    hub = [a_link(number, 1, number / 3_000) for number in range(3, 2_000)]
    hub += [a_link(1, 2, 1.0), a_link(2, 1, 1.0), a_link(2, 1, 1.0, LinkType.BY_HAND), a_link(2, 5, 0.1)]
    linked(filled(store, 2_000), *hub)
    strongest = [a_link(1, 2, 1.0), a_link(2, 1, 1.0, LinkType.BY_HAND), a_link(2, 1, 1.0)]
    assert store.links_of(AGENT, [1], 1) == [a_link(2, 1, 1.0, LinkType.BY_HAND)]
    assert store.links_of(AGENT, [1], 3) == strongest
    assert store.links_of(AGENT, [1], 5) == [*strongest, *hub[1_995:1_997]]
    assert store.links_of(AGENT, [5, 1], 3) == [*strongest, a_link(2, 5, 0.1), hub[2]]
    assert store.links_of(AGENT, [1], 0) == []
    assert store.links_of(AGENT, [1], 9_999) == store.links_of(AGENT, [1])


def test_more_ids_than_fit_into_a_statement(store: AnyStore) -> None:
    chain = [a_link(number, number - 1) for number in range(2, 1_201)]
    linked(filled(store, 1_200), *chain)
    assert store.links_of(AGENT, range(1, 1_201)) == chain
    assert store.links_of(AGENT, range(1, 2_000, 2)) == chain


def test_a_turn_brings_its_links_with_it(store: AnyStore) -> None:
    filled(store, 1)
    store.commit(Changes(AGENT, added=(an_entry(2),), links=(a_link(2, 1),)))
    assert store.links_of(AGENT, [1]) == [a_link(2, 1)]


@pytest.mark.parametrize(
    "mistake",
    [
        a_link(2, 99),
        a_link(99, 2),
        a_link(-1, 2),
        a_link(2, LARGEST + 1),
        replace(a_link(2, 1), created=math.inf),
    ],
)
def test_a_link_with_a_mistake_in_it_takes_the_whole_turn_along(store: AnyStore, mistake: Link) -> None:
    filled(store, 2)
    with pytest.raises(StoreError):
        store.commit(Changes(AGENT, added=(an_entry(3),), links=(a_link(2, 1), mistake)))
    assert ids(store.archive(AGENT)) == [1, 2]
    assert store.links_of(AGENT, [1, 2]) == []


def test_what_is_forgotten_is_linked_no_more(store: AnyStore) -> None:
    linked(filled(store, 4), a_link(2, 1), a_link(3, 2), a_link(4, 3))
    store.forget(AGENT, [2], by_user="admin", timestamp=1.0)
    assert store.links_of(AGENT, [1, 2, 3, 4]) == [a_link(4, 3)]


def test_what_was_forgotten_meanwhile_is_not_linked_any_more(store: AnyStore) -> None:
    filled(store, 4)
    store.forget(AGENT, [2, 4], by_user="admin", timestamp=1.0)
    linked(store, a_link(3, 2), a_link(2, 1), a_link(4, 3), a_link(3, 1))
    assert store.links_of(AGENT, [1, 2, 3, 4]) == [a_link(3, 1)]


def test_agents_have_links_of_their_own(store: AnyStore) -> None:
    linked(filled(store, 2), a_link(2, 1))
    store.commit(Changes("servnak", added=(an_entry(1), an_entry(2)), links=(a_link(1, 2),)))
    store.forget("servnak", [1], by_user="admin", timestamp=1.0)
    assert store.links_of(AGENT, [1, 2]) == [a_link(2, 1)]
    assert store.links_of("servnak", [1, 2]) == []
