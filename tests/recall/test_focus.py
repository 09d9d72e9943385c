"""How far an agent goes back for one question, and that nobody is told what is not theirs to know."""

from __future__ import annotations

import asyncio
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import UserError
from noodlings.ports import Changes
from noodlings.recall.filters import Filters
from noodlings.recall.focus import BEST, FLOOR, LEVELS, FocusLevel, level_of, reconstruct_context
from noodlings.recall.links import FADE
from noodlings.recall.narrative import Narrator, token_count
from noodlings.recall.search import Hit
from noodlings.store.memory import MemoryStore
from noodlings.values.memory import Link, LinkType, Why
from noodlings.values.percept import Kind
from tests.recall.archives import archive_of, make_entry

AGENT = "phi"
NOW = 1_000_000.0
HOUR = 3_600.0


class Remembered:
    """Entries in an archive that is searched by words, and in a store with their links."""

    def __init__(self, entries, links=()):
        self.searcher = archive_of(*entries)
        self.store = MemoryStore()
        self.store.commit(Changes(AGENT, added=tuple(entries), links=tuple(links)))
        self.asked = []

    async def search(self, query, filters, limit):
        self.asked.append((query, filters, limit))
        return self.searcher.search(query, filters, limit)

    def focus(self, query, level=3, user=None, now=NOW, search=None, **filters):
        context = reconstruct_context(
            query,
            user,
            level,
            search=search or self.search,
            memory=self.store,
            narrator=Narrator(AGENT, {AGENT: "Phi"}, now),
            filters=Filters(**filters),
        )
        return asyncio.run(context)


def entry(number, text, hours=0.5, user="user_ann", **changes):
    return make_entry(number, text, user, timestamp=NOW - hours * HOUR, **changes)


def link(source, target, strength=1.0, type=LinkType.RECALLED):
    return Link(source, target, type, strength, NOW)


def ids(context):
    return [brought.recalled.entry.id for brought in context.memories]


def test_the_levels_are_what_they_are():
    assert [(level.limit, level.hours, level.depth) for level in LEVELS] == [
        (2, 1, 0), (5, 4, 1), (8, 12, 1), (10, 24, 2), (15, 72, 3), (20, 168, 3),
    ]  # fmt: skip


@pytest.mark.parametrize("number", [-1, 6, 99])
def test_there_are_no_others(number):
    with pytest.raises(UserError, match="use 0 to 5"):
        level_of(number)


@pytest.mark.parametrize(("number", "level"), list(enumerate(LEVELS)))
def test_a_level_bounds_how_many_how_far_back_and_how_many_steps(number: int, level: FocusLevel):
    near = [entry(n, f"the boat {n}") for n in range(1, 31)]
    old = [entry(n, f"the boat {n}", hours=level.hours + 0.01) for n in range(31, 41)]
    chain = [entry(n, "rain") for n in range(41, 46)]
    steps = [link(1, 41), *(link(n, n + 1) for n in range(41, 45))]
    memory = Remembered([*near, *old, *chain], steps)
    context = memory.focus("boat", number)
    assert memory.asked == [("boat", Filters(since=NOW - level.hours * HOUR), level.limit)]
    assert ids(context)[: level.limit] == list(range(1, level.limit + 1))
    assert sorted(ids(context)[level.limit :]) == list(range(41, 41 + level.depth))
    assert (context.searched, context.linked) == (level.limit, level.depth)
    assert context.level == level


def test_hours_are_counted_in_world_time():
    memory = Remembered([entry(1, "the boat"), entry(2, "the boat", hours=30)])
    assert ids(memory.focus("boat")) == [1]
    assert ids(memory.focus("boat", now=NOW - 20 * HOUR)) == [1, 2]
    assert ids(memory.focus("boat", now=NOW + 25 * HOUR)) == []


def test_links_of_the_best_five_are_followed_and_what_they_bring_is_told_with_where_it_came_from():
    boats = [entry(n, f"boat number {n}") for n in range(1, 8)]
    others = [entry(n, "rain", place="library") for n in range(11, 18)]
    memory = Remembered([*boats, *others], [link(n + 10, n, 0.5) for n in range(1, 8)])
    context = memory.focus("boat")
    brought = {one.recalled.entry.id: one for one in context.memories}
    best = {hit.entry_id: hit.score for hit in memory.searcher.search("boat")[:BEST]}
    assert set(brought) == set(range(1, 8)) | {n + 10 for n in best}
    for number, score in best.items():
        found = brought[number + 10]
        assert not found.searched
        assert found.recalled.why == (Why.LINKED,)
        assert found.recalled.score == pytest.approx(score * 0.5 * FADE)
        assert found.reached is not None
        assert (found.reached.via, found.reached.link) == (number, link(number + 10, number, 0.5))
    assert all(brought[number].searched and brought[number].reached is None for number in range(1, 8))


def test_what_search_and_links_both_found_comes_once_with_both_reasons():
    memory = Remembered(
        [entry(1, "boat boat"), entry(2, "the boat"), *(entry(n, f"boat {n}") for n in range(3, 9))]
    )
    memory.store.commit(Changes(AGENT, links=(link(1, 8),)))
    context = memory.focus("boat", 2)
    assert len(ids(context)) == len(set(ids(context))) == 8
    both = next(one for one in context.memories if one.recalled.entry.id == 8)
    assert both.searched
    assert both.recalled.why == (Why.LEXICAL, Why.LINKED)
    hit = next(hit for hit in memory.searcher.search("boat") if hit.entry_id == 8)
    assert both.recalled.score == hit.score
    assert both.recalled.scores == hit.scores | {"linked": both.reached.score}
    assert (context.searched, context.linked) == (8, 0)


def test_what_has_too_little_to_do_with_it_is_left_out_whichever_way_it_comes():
    scores = {1: 0.6, 2: FLOOR, 3: FLOOR - 0.001, **dict.fromkeys(range(4, 13), 0.08)}

    async def search(query, filters, limit):
        return [Hit(n, score, (Why.SEMANTIC,), {"meaning": 0.2}) for n, score in scores.items()]

    entries = [entry(n, "x") for n in range(1, 17)]
    links = [link(14, 1, 0.9), link(15, 1, 0.2), link(16, 2, 0.1, LinkType.BY_HAND), link(13, 3, 1.0)]
    context = Remembered(entries, links).focus("boat", 1, search=search)
    assert ids(context) == [1, 14, 2, 16]


def test_by_words_alone_a_third_is_enough_and_what_the_lines_around_it_alone_speak_for_is_left_out():
    third = FLOOR / 3

    async def search(query, filters, limit):
        return [
            Hit(1, third, (Why.LEXICAL,), {"words": 0.1}),
            Hit(2, 0.5, (Why.NEXT_TO,), {"words": 0.0}, only_near=True),
            Hit(3, third - 0.001, (Why.LEXICAL,), {"words": 0.1}),
        ]

    context = Remembered([entry(n, "x") for n in (1, 2, 3)]).focus("boat", search=search)
    assert ids(context) == [1]


def test_the_best_comes_first_whether_searched_or_linked():
    async def search(query, filters, limit):
        return [Hit(1, 0.9, (Why.LEXICAL,)), Hit(2, 0.4, (Why.LEXICAL,))]

    memory = Remembered([entry(n, "x") for n in (1, 2, 3)], [link(3, 1, 0.9)])
    context = memory.focus("boat", search=search)
    assert ids(context) == [1, 3, 2]
    scores = [one.recalled.score for one in context.memories]
    assert scores == sorted(scores, reverse=True)


def test_links_bring_at_most_as_many_as_the_search_may():
    boat = [entry(1, "boat"), entry(2, "rain")]
    far = [entry(n, "rain") for n in range(3, 90)]
    tree = [link(n, (n + 2) // 4 if n > 2 else 1) for n in range(2, 90)]
    assert Remembered([*boat, *far], tree).focus("boat", 4).linked == 15


def test_an_index_that_lags_behind_brings_back_nothing():
    kept, hidden = entry(1, "the boat"), entry(2, "the boat", user="user_bob")
    memory = Remembered([kept, hidden, entry(3, "the boat")])
    memory.store.forget(AGENT, [3], by_user="admin", timestamp=NOW)

    async def stale(query, filters, limit):
        return memory.searcher.search(query)

    assert ids(memory.focus("boat", user="user_ann", search=stale)) == [1]


def test_the_text_tells_all_of_them_in_the_order_of_time_and_says_what_it_costs():
    memory = Remembered(
        [entry(1, "a boat"), entry(2, "the boat is red", 2), entry(3, "rain", 3)], [link(3, 1)]
    )
    context = memory.focus("red boat")
    assert context.text == "\n".join(
        [
            '- 3 h ago ann said: "rain"',
            '- 2 h ago ann said: "the boat is red"',
            '- 30 min ago ann said: "a boat"',
        ]
    )
    assert context.tokens == token_count(context.text)


def test_nothing_found_is_an_empty_context():
    context = Remembered([entry(1, "rain")]).focus("boat")
    assert (context.memories, context.text, context.tokens) == ((), "", 0)


def test_a_question_without_words_is_refused():
    with pytest.raises(UserError, match="query is empty"):
        Remembered([entry(1, "rain")]).focus("  ")


# -- who may be told

USERS = ("user_ann", "user_bob", "user_eve")
PEOPLE = st.sampled_from(USERS)
ROWS = st.lists(
    st.tuples(
        PEOPLE,
        st.sampled_from([Kind.SAY, Kind.WHISPER, Kind.THOUGHT, Kind.EMOTE]),
        st.frozensets(PEOPLE, max_size=2),
        st.sampled_from(["boat", "rain", "boat rain"]),
        st.sampled_from([0.5, 3.0, 50.0, 500.0]),
    ),
    min_size=1,
    max_size=14,
)


@pytest.mark.slow
@given(
    ROWS,
    st.data(),
    st.integers(0, 5),
    PEOPLE | st.none(),
    st.frozensets(PEOPLE, max_size=2),
    st.sampled_from(["boat", "rain", "secret0"]),
)
def test_neither_search_nor_links_nor_words_tell_anybody_what_is_not_theirs(
    rows, data, level, user, present, query
):
    entries = [
        entry(n, f"{text} secret{n}", hours, who, kind=kind, audience=audience, response=f"answer{n}")
        for n, (who, kind, audience, text, hours) in enumerate(rows)
    ]
    numbers = st.integers(0, len(rows) - 1)
    pairs = data.draw(
        st.lists(st.tuples(numbers, numbers).filter(lambda pair: pair[0] != pair[1]), max_size=30)
    )
    memory = Remembered(entries, [link(source, target) for source, target in pairs])
    context = memory.focus(query, level, user, present=present)
    theirs = {
        one.id
        for one in entries
        if user in (None, one.user_id)
        and one.timestamp >= NOW - context.level.hours * HOUR
        and (one.kind in (Kind.SAY, Kind.EMOTE) or present <= one.audience.witnesses)
    }
    assert set(ids(context)) <= theirs
    assert len(ids(context)) == len(set(ids(context))) <= 2 * LEVELS[level].limit
    ends = {end for one in context.memories if one.reached for end in (one.reached.via, one.reached.entry.id)}
    assert ends <= set(ids(context)) | theirs
    told = {int(number) for number in re.findall(r"(?:secret|answer)(\d+)", context.text)}
    assert told == set(ids(context))


def test_a_secret_is_told_only_before_those_who_share_it():
    secret = entry(1, "the key is under the boat", kind=Kind.WHISPER, audience=frozenset({AGENT, "user_bob"}))
    thought = entry(2, "the boat will sink", user=AGENT, kind=Kind.THOUGHT)
    memory = Remembered([secret, thought, entry(3, "the red boat")], [link(1, 3), link(3, 2)])
    for present, expected in (
        ({"user_ann"}, [1, 3]),
        ({"user_ann", "user_bob"}, [1, 3]),
        ({"user_bob", "user_eve"}, [3]),
        ({AGENT}, [1, 2, 3]),
        ((), [3]),
    ):
        for query in ("boat", "red"):
            context = memory.focus(query, present=frozenset(present))
            assert sorted(ids(context)) == expected
            assert ("sink" in context.text) is (2 in expected)


def test_other_filters_hold_for_links_too():
    memory = Remembered(
        [entry(1, "boat", kind=Kind.EMOTE), entry(2, "boat"), entry(3, "x")], [link(1, 2), link(2, 3)]
    )
    assert ids(memory.focus("boat", kinds=frozenset({Kind.SAY}))) == [2, 3]
