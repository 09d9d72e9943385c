"""Whole agents out of a folder as of one moment, and into one, whole or not at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from noodlings.errors import NotFound, StoreBusy, StoreError, UserError
from noodlings.ports import AgentState, Changes
from noodlings.store.database import DATABASE_NAME
from noodlings.store.sql import SqlStore
from noodlings.store.transfer import snapshot
from noodlings.values.memory import ArchivedAgent, ArchivedEntry, ArchivedSymbol, Link, LinkType
from noodlings.values.trace import Trace
from tests.store.records import AGENT, a_symbol, a_trace, an_entry

LINK = Link(3, 1, LinkType.FOLLOWED, 0.5, 9.0)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    """An agent with three memories: one episodic, one that was, two traces, a link and two symbols."""
    store = SqlStore(tmp_path)
    added = tuple(an_entry(number) for number in (1, 2, 3))
    store.commit(Changes(AGENT, added=added, episodic=(1, 2), state=AgentState(AGENT, {"step": 3})))
    store.commit(Changes(AGENT, evicted=(2,), trace=a_trace(1), links=(LINK,)))
    store.commit(Changes(AGENT, trace=a_trace(3, 1), symbols=(a_symbol(1, 1), a_symbol(2, 3)), faded=(1,)))
    yield store
    store.close()


def told(
    folder: Path,
) -> tuple[ArchivedAgent, list[ArchivedEntry], list[Trace], list[Link], list[ArchivedSymbol]]:
    with snapshot(folder) as kept:
        agent = kept.agent(AGENT)
        links, symbols = list(kept.links(AGENT)), list(kept.symbols(AGENT))
        return agent, list(kept.entries(AGENT)), list(kept.traces(AGENT)), links, symbols


def test_everything_of_an_agent_comes_out(store: SqlStore, tmp_path: Path) -> None:
    agent, entries, traces, links, symbols = told(tmp_path)
    assert agent == ArchivedAgent(AGENT, 3, {"step": 3}, 2)
    assert entries == [
        ArchivedEntry(an_entry(1), episodic=True, consolidated=True),
        ArchivedEntry(an_entry(2), episodic=False, consolidated=True),
        ArchivedEntry(an_entry(3), episodic=False, consolidated=False),
    ]
    assert traces == [a_trace(1), a_trace(3, 1)]
    assert links == [LINK]
    assert symbols == [ArchivedSymbol(a_symbol(1, 1), faded=True), ArchivedSymbol(a_symbol(2, 3))]


def test_a_number_that_was_forgotten_is_not_given_again(store: SqlStore, tmp_path: Path) -> None:
    store.forget(AGENT, [3], by_user="admin", timestamp=1.0)
    agent = told(tmp_path)[0]
    assert (agent.last_id, agent.last_symbol_id) == (3, 2)


def test_what_is_written_meanwhile_is_not_seen(store: SqlStore, tmp_path: Path) -> None:
    with snapshot(tmp_path) as kept:
        assert kept.agents() == [AGENT]
        store.commit(
            Changes(AGENT, added=(an_entry(4),), state=AgentState(AGENT, {"step": 4}), trace=a_trace(4))
        )
        store.commit(Changes("servnak", added=(an_entry(1),)))
        store.commit(Changes(AGENT, updated=(an_entry(1, response="later"),)))
        assert kept.agents() == [AGENT]
        assert kept.agent(AGENT) == ArchivedAgent(AGENT, 3, {"step": 3}, 2)
        assert [entry.entry for entry in kept.entries(AGENT)] == [an_entry(1), an_entry(2), an_entry(3)]
        assert len(list(kept.traces(AGENT))) == 2
    assert told(tmp_path)[0].last_id == 4


def test_what_cannot_be_read_is_left_out_and_counted(store: SqlStore, tmp_path: Path) -> None:
    store.close()
    connection = sqlite3.connect(tmp_path / DATABASE_NAME)
    connection.execute("UPDATE entries SET parts = 'x' WHERE id = 2")
    connection.execute("UPDATE traces SET document = '{}' WHERE entry_id = 1")
    connection.execute("UPDATE links SET strength = 7")
    connection.execute("UPDATE symbols SET affect = x'00' WHERE id = 2")
    connection.execute('UPDATE agents SET state = \'{"v": 1, "data": []}\'')
    connection.commit()
    connection.close()
    with snapshot(tmp_path) as kept:
        assert kept.agent(AGENT).state == {}
        assert [entry.entry.id for entry in kept.entries(AGENT)] == [1, 3]
        assert [trace.entry_id for trace in kept.traces(AGENT)] == [3]
        assert list(kept.links(AGENT)) == []
        assert [made.symbol.id for made in kept.symbols(AGENT)] == [1]
        assert kept.left_out == 5


def test_an_agent_that_was_taken_in_is_as_it_was(store: SqlStore, tmp_path: Path) -> None:
    agent, entries, traces, links, symbols = told(tmp_path)
    with closing(SqlStore(tmp_path / "other")) as into:
        assert into.agents() == []
        into.take_in(agent, [*entries, *traces, *links, *symbols])
        assert into.agents() == [AGENT]
    other = SqlStore(tmp_path / "other")
    assert other.load(AGENT) == store.load(AGENT)
    assert other.traces(AGENT, 9) == store.traces(AGENT, 9)
    assert other.links_of(AGENT, [1]) == [LINK]
    other.close()


def test_nobody_is_replaced(store: SqlStore, tmp_path: Path) -> None:
    store.close()
    with closing(SqlStore(tmp_path)) as into, pytest.raises(UserError, match="already there"):
        into.take_in(ArchivedAgent(AGENT, 9), [])
    assert told(tmp_path)[0].last_id == 3


def test_an_agent_comes_in_whole_or_not_at_all(tmp_path: Path) -> None:
    good = [ArchivedEntry(an_entry(1)), ArchivedEntry(an_entry(2))]

    def broken() -> Iterator[ArchivedEntry]:
        yield from good
        raise UserError("line 4: the file changed")

    bad = {
        "the file": broken(),
        "Unicode": [*good, ArchivedEntry(an_entry(3, "\ud800"))],
        "finite": [*good, ArchivedEntry(replace(an_entry(3), surprise=float("nan")))],
        "UNIQUE": [*good, good[0]],
        "FOREIGN KEY": [*good, a_trace(77)],
    }
    with closing(SqlStore(tmp_path)) as into:
        for words, records in bad.items():
            with pytest.raises((UserError, StoreError), match=words):
                into.take_in(ArchivedAgent(AGENT, 3), records)
            assert into.agents() == []
        into.take_in(ArchivedAgent(AGENT, 3), good)
    assert len(told(tmp_path)[1]) == 2


def test_a_folder_with_a_writer_takes_nobody_in(store: SqlStore, tmp_path: Path) -> None:
    with pytest.raises(StoreBusy), closing(SqlStore(tmp_path)):
        pass


def test_of_nothing_there_is_no_snapshot(tmp_path: Path) -> None:
    with pytest.raises(NotFound), snapshot(tmp_path / "nothing"):
        pass
    assert not (tmp_path / "nothing").exists()
