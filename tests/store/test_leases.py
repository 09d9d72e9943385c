"""Agents of several workers: whose they are, who may write, and what happens to those of a dead worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("psycopg")

import psycopg

from noodlings.errors import AgentElsewhere, StoreBusy
from noodlings.ports import ROOMS, AgentState, Changes
from noodlings.store import leases as module
from noodlings.store.leases import Leases
from noodlings.store.sql import SqlStore
from noodlings.values.memory import EntryVector
from tests.postgres import NewDatabase
from tests.store.records import AGENT, an_entry


@pytest.fixture
def url(new_database: NewDatabase) -> str:
    return new_database()


@contextmanager
def worker(url: str) -> Iterator[tuple[SqlStore, Leases]]:
    with closing(SqlStore(url, shared=True)) as store:
        assert store.sharing is not None
        yield store, store.sharing.leases


def beaten(leases: Leases, others: Leases) -> None:
    """Let a worker look twice at another that stands still in between."""
    leases._beat()
    looked, waited = leases._beats[others.worker]
    leases._beats[others.worker] = looked, waited - module.LEASE_SECONDS - 0.1
    leases._beat()


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker says by itself that it is alive."""
    monkeypatch.setattr(module, "BEAT_SECONDS", 1_000.0)


def test_an_agent_belongs_to_whoever_came_first(url: str) -> None:
    with worker(url) as (_, ours), worker(url) as (_, theirs):
        assert ours.claim(AGENT)
        assert not theirs.claim(AGENT)
        assert theirs.claim("callie")
        assert not ours.claim("callie")
        assert ours.claim(AGENT)
        assert (ours.claims[AGENT], theirs.claims[AGENT]) == (1, 0)


def test_of_many_who_want_an_agent_at_once_one_gets_it(url: str) -> None:
    with worker(url) as (_, a), worker(url) as (_, b), worker(url) as (_, c):
        for number in range(20):
            with ThreadPoolExecutor() as threads:
                got = list(threads.map(lambda leases, one=f"agent_{number}": leases.claim(one), (a, b, c)))
            assert sorted(got) == [False, False, True]


def test_only_its_owner_writes_to_an_agent(url: str) -> None:
    with worker(url) as (store, _), worker(url) as (other, theirs):
        store.commit(Changes(AGENT, added=(an_entry(1),)))
        refusals: list[Callable[[], object]] = [
            lambda: other.commit(Changes(AGENT, added=(an_entry(2),))),
            lambda: other.forget(AGENT, [1], by_user="user_caity", timestamp=1.0),
            lambda: other.make_nameless(AGENT, ["user_caity"]),
        ]
        for refusal in refusals:
            with pytest.raises(AgentElsewhere, match=f"{AGENT} is busy at another worker; try again"):
                refusal()
        assert other.entries(AGENT, [1, 2]) == {1: an_entry(1)}
        assert not theirs.holds(AGENT)


def test_who_does_not_own_an_agent_keeps_no_vectors_of_it(url: str) -> None:
    with worker(url) as (store, _), worker(url) as (other, _):
        store.commit(Changes(AGENT, added=(an_entry(1),)))
        vector = EntryVector(1, "mini", np.array([0.6, 0.8], np.float32))
        other.keep_vectors(AGENT, [vector])
        assert store.vectors(AGENT, vector.model, 1, 1) == {}
        store.keep_vectors(AGENT, [vector])
        assert list(other.vectors(AGENT, vector.model, 1, 1)) == [1]


@pytest.mark.usefixtures("still")
def test_a_worker_that_was_only_slow_cannot_write_any_more(url: str) -> None:
    with worker(url) as (slow, before), worker(url) as (store, after):
        slow.commit(Changes(AGENT, added=(an_entry(1),)))
        assert not after.claim(AGENT)
        beaten(after, before)
        assert after.claim(AGENT)
        store.commit(Changes(AGENT, added=(an_entry(2),)))
        before._beat()  # it goes on
        with pytest.raises(AgentElsewhere):
            slow.commit(Changes(AGENT, added=(replace(an_entry(2), user_text="lost"),)))
        assert not before.holds(AGENT)
        assert not before.claim(AGENT)
        assert store.entries(AGENT, [2])[2] == an_entry(2)


@pytest.mark.usefixtures("still")
def test_a_worker_that_was_slow_takes_back_what_nobody_has_taken(url: str) -> None:
    with worker(url) as (slow, before), worker(url) as (_, after):
        slow.commit(Changes(AGENT, added=(an_entry(1),)))
        beaten(after, before)
        before._beat()
        assert not before.holds(AGENT)
        with pytest.raises(AgentElsewhere):  # until it is loaded anew
            slow.commit(Changes(AGENT, added=(an_entry(2),)))
        assert slow.outdated(AGENT)
        slow.will_load(AGENT)
        slow.commit(Changes(AGENT, added=(an_entry(2),)))
        assert not after.claim(AGENT)


@pytest.mark.usefixtures("still")
def test_whoever_wrote_alone_meanwhile_is_not_written_over(url: str) -> None:
    with worker(url) as (store, _), psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as admin:
        store.commit(Changes(AGENT, state=AgentState(AGENT, {"mood": 1}), added=(an_entry(1),)))
        admin.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND application_name LIKE 'noodlings%'"
        )
        with closing(SqlStore(url)) as alone:
            alone.commit(Changes(AGENT, state=AgentState(AGENT, {"mood": 2}), added=(an_entry(2),)))
        with pytest.raises(AgentElsewhere):
            store.commit(Changes(AGENT, state=AgentState(AGENT, {"mood": 3})))
        record = store.load(AGENT)
        assert record is not None
        assert record.state.data == {"mood": 2}


def test_reading_an_agent_for_something_else_does_not_make_it_fresh(url: str) -> None:
    with worker(url) as (store, ours), worker(url) as (other, theirs):
        store.will_load(AGENT)
        other.commit(Changes(AGENT, added=(an_entry(1),)))
        store.load(AGENT)
        assert store.outdated(AGENT)
        theirs.give(AGENT, ours.worker)
        with pytest.raises(AgentElsewhere):
            store.commit(Changes(AGENT, added=(an_entry(2),)))


@pytest.mark.usefixtures("still")
def test_who_was_away_itself_strikes_nobody_out(url: str) -> None:
    with worker(url) as (_, ours), worker(url) as (_, theirs):
        theirs.claim(AGENT)
        ours._beat()
        count, since = ours._beats[theirs.worker]
        ours._beats[theirs.worker] = count, since - module.LEASE_SECONDS - 0.1
        ours._looked -= module.LEASE_SECONDS + 0.1
        ours._beat()
        assert not ours.claim(AGENT)


def test_an_agent_that_came_back_changed_is_loaded_before_it_is_written(url: str) -> None:
    with worker(url) as (store, ours), worker(url) as (other, theirs):
        store.commit(Changes(AGENT, state=AgentState(AGENT, {"mood": 1}), added=(an_entry(1),)))
        store.will_load(AGENT)
        assert not store.outdated(AGENT)
        ours.give(AGENT, theirs.worker)
        assert theirs.claim(AGENT)
        other.load(AGENT)
        other.commit(Changes(AGENT, state=AgentState(AGENT, {"mood": 2}), added=(an_entry(2),)))
        assert store.outdated(AGENT)
        theirs.give(AGENT, ours.worker)
        assert ours.claim(AGENT)
        assert ours.claims[AGENT] == 2
        with pytest.raises(AgentElsewhere):
            store.commit(Changes(AGENT, state=AgentState(AGENT, {"mood": 3})))
        store.will_load(AGENT)
        record = store.load(AGENT)
        assert record is not None
        assert (record.state.data, record.last_id) == ({"mood": 2}, 2)
        store.commit(Changes(AGENT, state=AgentState(AGENT, {"mood": 3})))


def test_what_is_only_read_here_is_known_to_be_outdated(url: str) -> None:
    with worker(url) as (store, _), worker(url) as (other, _):
        store.commit(Changes(AGENT, added=(an_entry(1),)))
        other.will_load(AGENT)
        assert not other.outdated(AGENT)
        store.commit(Changes(AGENT, added=(an_entry(2),)))
        assert other.outdated(AGENT)
        other.will_load(AGENT)
        assert not other.outdated(AGENT)


def test_what_a_worker_leaves_is_free_at_once(url: str) -> None:
    with worker(url) as (_, ours):
        with worker(url) as (_, theirs):
            assert theirs.claim(AGENT)
            assert not ours.claim(AGENT)
        assert ours.claim(AGENT)


def test_the_state_of_the_rooms_is_set_by_their_owner(url: str) -> None:
    with worker(url) as (store, _), worker(url) as (other, _):
        store.world_set("places", {"rooms": {}}, ROOMS)
        with pytest.raises(AgentElsewhere):
            other.world_set("places", {"rooms": {"phi": "library"}}, ROOMS)
        assert other.world_get("places") == {"rooms": {}}
        other.world_set("anything", 1)


def test_of_what_several_change_nothing_is_lost(url: str) -> None:
    with worker(url) as (a, _), worker(url) as (b, _):

        def count(store: SqlStore) -> None:
            for _ in range(25):
                store.world_update("count", lambda value: (value or 0) + 1)

        with ThreadPoolExecutor() as threads:
            list(threads.map(count, (a, b)))
        assert a.world_get("count") == 50


def test_workers_keep_out_whoever_would_write_alone(url: str) -> None:
    with worker(url), pytest.raises(StoreBusy, match="only one may write"):
        SqlStore(url)
