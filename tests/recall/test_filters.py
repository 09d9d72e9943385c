import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import UserError
from noodlings.ports import EntryColumns
from noodlings.recall.filters import FilterIndex, Filters, tags_of
from noodlings.values.affect import Affect
from noodlings.values.percept import Kind
from tests.fakes import witnessed
from tests.recall.archives import make_entry

FEELINGS = (None, Affect(), Affect(0.9, 0.8), Affect(-0.7, 0.4, sorrow=0.9), Affect(-0.6, 0.9, fear=0.9))
TAGS = st.frozensets(st.sampled_from(["pets", "mill"]))
USERS = st.sampled_from(["user_ann", "user_bob"])
KINDS = st.sampled_from([Kind.SAY, Kind.WHISPER, Kind.THOUGHT])
MOMENTS = st.integers(0, 5).map(float)

ENTRIES = st.lists(
    st.tuples(USERS, MOMENTS, KINDS, TAGS, st.sampled_from([0.1, 0.5, 0.9]), st.sampled_from(FEELINGS)),
    max_size=15,
)
FILTERS = st.builds(
    Filters,
    user=st.none() | USERS | st.just("user_nobody"),
    since=st.none() | st.sampled_from([0.0, 1.0, 2.0]),
    until=st.none() | st.sampled_from([2.0, 3.0, 5.0]),
    kinds=st.frozensets(KINDS, max_size=2),
    tags=TAGS,
    min_importance=st.sampled_from([0.0, 0.5, 1.0]),
    feeling=st.none() | st.sampled_from(["joy", "sorrow", "afraid", "neutral", "unknown"]),
    among=st.none() | st.frozensets(st.integers(0, 20)),
    without=st.frozensets(st.integers(0, 20), max_size=3),
    present=st.frozensets(st.sampled_from(["user_ann", "user_bob", "user_eve"])),
)


@given(ENTRIES, FILTERS, st.booleans(), st.data())
def test_the_index_finds_what_the_filters_admit(rows, filters, in_order, data):
    if in_order:
        rows = sorted(rows, key=lambda row: row[1])
    entries = [
        make_entry(
            number, "x", user, timestamp=moment, kind=kind, encoded_importance=importance, affect=affect,
            extra={"tags": sorted(tags)},
        )
        for number, (user, moment, kind, tags, importance, affect) in enumerate(rows)
    ]  # fmt: skip
    index = FilterIndex()
    for entry in entries:
        index.extend(EntryColumns.of([entry]))
    gone = data.draw(st.frozensets(st.sampled_from(range(len(rows))))) if rows else frozenset()
    index.remove(gone)
    expected = [entry.id for entry in entries if entry.id not in gone and filters.admits(entry)]
    found = index.rows(filters)
    if found is None:
        found = np.flatnonzero(index.alive.rows)
    assert found.tolist() == expected


@pytest.mark.parametrize(
    "filters",
    [
        {"user": "user_bob"},
        {"since": 101.0},
        {"until": 99.0},
        {"kinds": frozenset({Kind.SAY, Kind.EMOTE})},
        {"tags": frozenset({"pets", "mill"})},
        {"min_importance": 0.6},
        {"feeling": "joy"},
        {"among": frozenset({0, 2})},
        {"without": frozenset({1})},
        {"present": frozenset({"user_ann", "user_eve"})},
    ],
)
def test_each_filter_alone_keeps_an_entry_out(filters):
    entry = make_entry(
        1, "x", timestamp=100.0, kind=Kind.WHISPER, audience=frozenset({"user_bob"}), affect=FEELINGS[3],
        extra={"tags": ["pets"]},
    )  # fmt: skip
    assert not Filters(**filters).admits(entry)
    assert Filters(
        "user_ann", 100.0, 100.0, frozenset({Kind.WHISPER}), frozenset({"pets"}), 0.5, "sorrow",
        frozenset({1}), frozenset({"user_ann", "user_bob"}),
    ).admits(entry)  # fmt: skip


@pytest.mark.parametrize("moments", [(1.0, 2.0, 2.0, 3.0), (2.0, 3.0, 1.0, 2.0)])
@pytest.mark.parametrize("user", [None, "user_ann"])
def test_both_ends_of_a_span_are_within_it(moments, user):
    index = FilterIndex()
    for number, moment in enumerate(moments):
        index.extend(EntryColumns.of([make_entry(number, "x", timestamp=moment)]))
    for since, until in ((2.0, 2.0), (2.0, None), (None, 2.0)):
        found = index.rows(Filters(user=user, since=since, until=until))
        low, high = since or 0.0, until or 9.0
        assert found.tolist() == [row for row, moment in enumerate(moments) if low <= moment <= high]


def test_a_memory_may_become_a_secret_and_a_secret_be_forgotten():
    index, eve = FilterIndex(), Filters(present=frozenset({"user_eve"}))
    for number in range(3):
        index.extend(EntryColumns.of([make_entry(number, "x")]))
    assert index.hidden(eve).tolist() == []
    index.update(1, witnessed(make_entry(1, "x", kind=Kind.WHISPER)))
    assert index.hidden(eve).tolist() == [1]
    assert index.rows(eve).tolist() == [0, 2]
    assert index.hidden(Filters(present=frozenset({"user_ann"}))).tolist() == []


def test_importance_and_tags_may_change_later():
    index = FilterIndex()
    index.extend(EntryColumns.of([make_entry(0, "x")]))
    index.extend(EntryColumns.of([make_entry(1, "y")]))
    index.update(0, make_entry(0, "x", override=0.9, extra={"tags": ["mill"]}))
    assert index.rows(Filters(min_importance=0.9, tags=frozenset({"mill"}))).tolist() == [0]


@pytest.mark.parametrize("tags", ["pets", None, 3, [1, None]])
def test_tags_that_are_no_list_of_words_are_none(tags):
    assert tags_of(make_entry(0, "x", extra={"tags": tags})) == frozenset()


@pytest.mark.parametrize(
    "bad",
    [
        {"since": float("nan")},
        {"until": float("inf")},
        {"since": 2.0, "until": 1.0},
        {"min_importance": 1.1},
        {"min_importance": float("nan")},
        {"feeling": "hungry"},
    ],
)
def test_filters_that_make_no_sense_are_refused(bad):
    with pytest.raises(UserError):
        Filters(**bad)


def test_filters_that_leave_everything_cost_nothing() -> None:
    index = FilterIndex()
    for number in range(3):
        index.extend(EntryColumns.of([make_entry(number, "x")]))
    index.remove([1])
    everybody = Filters(present=frozenset({"user_bob"}), since=0.0)
    assert index.rows(everybody) is None
    index.extend(EntryColumns.of([make_entry(3, "a secret", kind=Kind.WHISPER)]))
    rows = index.rows(everybody)
    assert rows is not None
    assert rows.tolist() == [0, 2]
