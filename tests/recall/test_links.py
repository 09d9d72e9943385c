"""Links are followed both ways, the strongest first, no further than asked, and never past what is hidden."""

from __future__ import annotations

from collections import Counter
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import UserError
from noodlings.ports import Changes
from noodlings.recall import links
from noodlings.recall.links import FADE, FAN_OUT, READ, Exploration, explore
from noodlings.store.memory import MemoryStore
from noodlings.values.memory import Link, LinkType
from tests.recall.archives import make_entry

AGENT = "phi"
MANY = 10_000


class CountingStore(MemoryStore):
    """Counts what it is asked, and how many entries it gave away."""

    def __init__(self):
        super().__init__()
        self.asked = Counter()

    def links_of(self, agent_id, ids, strongest=None):
        self.asked["links_of"] += 1
        links = super().links_of(agent_id, ids, strongest)
        self.asked["links"] += len(links)
        return links

    def entries(self, agent_id, ids):
        self.asked["entries"] += 1
        self.asked["read"] += len(ids)
        return super().entries(agent_id, ids)


def linked(*links, entries=10, users=None):
    """A store with the entries 1…n and links given as (source, target, strength)."""
    store = CountingStore()
    added = tuple(make_entry(n, f"line {n}", (users or {}).get(n, "user_ann")) for n in range(1, entries + 1))
    edges = tuple(
        Link(source, target, LinkType.RECALLED, strength, 0.0) for source, target, strength in links
    )
    store.commit(Changes(AGENT, added=added, links=edges))
    return store


def everything(entry):
    return True


def ids(exploration):
    return [one.entry.id for one in exploration.reached]


def test_links_lead_both_ways_nearer_ones_first():
    store = linked((2, 1, 0.5), (3, 1, 0.9), (1, 4, 0.7), (5, 3, 0.1), (4, 6, 1.0))
    one, two = explore(store, AGENT, {1: 1.0}, 1, everything), explore(store, AGENT, {1: 1.0}, 2, everything)
    assert ids(one) == [3, 4, 2]
    assert ids(two) == [3, 4, 2, 6, 5]
    assert [one.depth for one in two.reached] == [1, 1, 1, 2, 2]
    assert [one.via for one in two.reached] == [1, 1, 1, 4, 3]
    assert ids(explore(store, AGENT, {1: 1.0}, 0, everything)) == []
    assert ids(explore(store, AGENT, {}, 3, everything)) == []


def test_a_score_fades_with_every_step_and_with_weak_links():
    store = linked((2, 1, 0.5), (3, 2, 1.0))
    scores = [one.score for one in explore(store, AGENT, {1: 0.5}, 3, everything).reached]
    assert scores == pytest.approx([0.5 * 0.5 * FADE, 0.5 * 0.5 * FADE * FADE])


def test_what_several_lead_to_comes_once_by_the_best_way():
    store = linked((3, 1, 0.5), (3, 2, 0.9), (2, 4, 1.0), (1, 4, 1.0))
    found = explore(store, AGENT, {1: 1.0, 2: 0.9}, 1, everything).reached
    assert [(one.entry.id, one.via) for one in found] == [(4, 1), (3, 2)]


def test_of_two_links_between_the_same_two_the_stronger_counts():
    store = linked((2, 1, 0.4))
    store.commit(Changes(AGENT, links=(Link(1, 2, LinkType.BY_HAND, 1.0, 0.0),)))
    (only,) = explore(store, AGENT, {1: 1.0}, 3, everything).reached
    assert (only.link.type, only.score) == (LinkType.BY_HAND, FADE)


def test_a_circle_is_walked_once():
    store = linked((2, 1, 1.0), (3, 2, 1.0), (1, 3, 1.0), (4, 3, 1.0))
    assert ids(explore(store, AGENT, {1: 1.0}, 3, everything)) == [2, 3, 4]


def test_only_the_strongest_links_of_each_are_followed(monkeypatch):
    store = linked(*((n, 1, n / 100) for n in range(2, 21)), (30, 20, 0.1), entries=30)
    assert ids(explore(store, AGENT, {1: 1.0}, 1, everything)) == [20, 19, 18, 17]
    monkeypatch.setattr(links, "FAN_OUT", 1)
    assert ids(explore(store, AGENT, {1: 1.0}, 2, everything)) == [20, 30]


def test_what_may_not_be_seen_takes_no_place_and_is_not_walked_through():
    store = linked(
        *((n, 1, n / 100) for n in range(2, 31)),
        (31, 30, 1.0),
        entries=31,
        users=dict.fromkeys(range(11, 31), "user_bob"),
    )
    found = explore(store, AGENT, {1: 1.0}, 3, lambda entry: entry.user_id == "user_ann")
    assert ids(found) == [10, 9, 8, 7]  # 31 is Ann's too, but only Bob's 30 leads there
    assert found.refused == 20


def test_an_end_that_is_gone_is_no_way():
    class Stale(MemoryStore):
        def links_of(self, agent_id, ids, strongest=None):
            return [Link(1, 2, LinkType.RECALLED, 1.0, 0.0), *super().links_of(agent_id, ids, strongest)]

    store = Stale()
    store.commit(Changes(AGENT, added=(make_entry(1, "x"),)))
    assert explore(store, AGENT, {1: 1.0}, 2, everything) == Exploration((), 1)


def test_each_step_is_one_query_for_links_and_one_for_entries():
    store = linked(
        *((n, n - 1, 0.9) for n in range(2, 101)), *((n, n // 2, 0.5) for n in range(4, 101)), entries=100
    )
    explore(store, AGENT, dict.fromkeys(range(40, 60), 1.0), 3, everything)
    assert store.asked["links_of"] == store.asked["entries"] == 3


@pytest.mark.slow
def test_a_memory_that_was_recalled_ten_thousand_times_is_not_read_with_all_that_recalled_it():
    store = linked(*((n, 1, n / MANY) for n in range(2, MANY + 1)), entries=MANY)
    assert ids(explore(store, AGENT, {1: 1.0}, 1, everything)) == [MANY - n for n in range(FAN_OUT)]
    assert store.asked == {"links_of": 1, "links": READ, "entries": 1, "read": 2 * FAN_OUT}
    store.asked.clear()
    assert ids(explore(store, AGENT, {1: 1.0}, 1, lambda entry: entry.id < 5)) == [4, 3, 2]
    assert store.asked["entries"] < 10


@pytest.mark.parametrize("depth", [-1, 4])
def test_no_further_than_three_steps(depth):
    with pytest.raises(UserError, match="between 0 and 3"):
        explore(linked(), AGENT, {1: 1.0}, depth, everything)


ENDS = st.lists(st.integers(1, 8), min_size=2, max_size=2, unique=True)
EDGES = st.lists(
    st.builds(
        lambda ends, type, strength: Link(*ends, type, strength, 0.0),
        ENDS,
        st.sampled_from(LinkType),
        st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    ),
    max_size=24,
    unique_by=lambda link: (link.source, link.target, link.type),
)


class Shuffled:
    """The same links and entries, in another order."""

    def __init__(self, store, chance):
        self.store, self.chance = store, chance

    def links_of(self, agent_id, ids, strongest=None):
        links = self.store.links_of(agent_id, ids, strongest)
        self.chance.shuffle(links)
        return links

    def entries(self, agent_id, ids):
        found = list(self.store.entries(agent_id, ids).items())
        self.chance.shuffle(found)
        return dict(found)


@pytest.mark.slow
@given(
    EDGES,
    st.lists(st.integers(1, 8), min_size=1, max_size=3, unique=True),
    st.integers(0, 3),
    st.frozensets(st.integers(1, 8)),
    st.randoms(use_true_random=False),
)
def test_exactly_what_is_near_enough_is_reached_in_one_order(edges, starts, depth, hidden, chance):
    store = MemoryStore()
    store.commit(Changes(AGENT, added=tuple(make_entry(n, "x") for n in range(1, 9)), links=tuple(edges)))
    seen = dict.fromkeys(starts, 1.0)

    def may_see(entry):
        return entry.id not in hidden

    with patch.object(links, "FAN_OUT", 8):
        found = explore(store, AGENT, seen, depth, may_see)
    reached, frontier = set(), set(starts)
    for _ in range(depth):  # the definition, the slow way
        pairs = {pair for link in edges for pair in ((link.source, link.target), (link.target, link.source))}
        frontier = {there for here, there in pairs if here in frontier} - hidden - reached - set(starts)
        reached |= frontier
    assert set(ids(found)) == reached
    assert len(ids(found)) == len(reached)
    assert all(0.0 <= one.score <= 1.0 for one in found.reached)
    for fan_out in (1, 2, 8):
        with patch.object(links, "FAN_OUT", fan_out):
            again = explore(Shuffled(store, chance), AGENT, seen, depth, may_see)
            backwards = dict(reversed(seen.items()))
            assert again == explore(store, AGENT, backwards, depth, may_see)
