"""The archive of a living agent: loaded beside everything else, in step with the store, a part for some."""

from __future__ import annotations

import asyncio
import math
import sqlite3
import struct
import weakref
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from noodlings.agent.archive import PAGE, SOON, AgentArchive, ArchiveState
from noodlings.errors import StoreError
from noodlings.ports import Changes
from noodlings.recall.filters import Filters
from noodlings.store.database import DATABASE_NAME
from noodlings.store.memory import MemoryStore
from noodlings.store.sql import SqlStore
from noodlings.values.memory import MemoryEntry
from tests.agent.archives import Make, commit, filled, found, said
from tests.agent.embedders import Still
from tests.store.records import AGENT


async def test_what_is_committed_is_found_at_once(store: MemoryStore, make_archive: Make) -> None:
    archive = make_archive()
    assert archive.loaded
    archive.kept(commit(store, said(1, "the red boat"), said(2, "rain again")))
    assert await found(archive, "boat") == [1]
    later = replace(said(2, "rain again"), response="It always rains on Tuesdays")
    store.commit(changes := Changes(AGENT, updated=(later,)))
    archive.kept(changes)
    assert await found(archive, "tuesdays") == [2]


async def test_what_is_forgotten_is_not_found_from_that_moment_on(
    store: MemoryStore, make_archive: Make
) -> None:
    archive = make_archive()
    archive.kept(commit(store, said(1, "the red boat", response="Boats leak"), said(2, "a red hat")))
    store.forget(AGENT, [1], by_user="admin", timestamp=1.0)
    archive.forget([1], [])
    assert await found(archive, "boat") == []
    assert await found(archive, "red") == [2]


async def test_a_response_that_was_taken_away_leaves_no_word(store: MemoryStore, make_archive: Make) -> None:
    archive = make_archive()
    archive.kept(commit(store, said(1, "a hat"), said(2, "well", response="your boat is red")))
    assert await found(archive, "boat") == [2]
    store.commit(Changes(AGENT, updated=(said(2, "well"),)))
    archive.forget([], [2, 99])
    assert await found(archive, "boat") == []
    assert await found(archive, "well") == [2]
    store.commit(changes := Changes(AGENT, updated=(said(2, "well", response="a hat"),)))
    archive.kept(changes)
    assert await found(archive, "hat") == [1, 2]


async def test_names_of_now_are_known_of_those_who_are_in_it(store: MemoryStore, embedding: Still) -> None:
    names = {"user_caity": "Wren of the Mill", "user_bob": "Bob"}
    archive = AgentArchive(AGENT, store, embedding, lambda: names)
    archive.kept(commit(store, said(1, "I met Bob"), said(2, "I met nobody", user_id="user_x")))
    hits = await archive.search("has Wren of the Mill met somebody?")
    assert [(hit.entry_id, hit.scores["speaker"]) for hit in hits] == [(1, 1.0), (2, 0.0)]
    assert archive.searcher.wording("who is Bob?") == "who is Bob?"  # who never spoke is talked about


# -- loading


@pytest.mark.parametrize("many", [1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE])
async def test_everything_stored_is_loaded_page_by_page(
    store: MemoryStore, make_archive: Make, many: int
) -> None:
    filled(store, many)
    archive = make_archive()
    assert not archive.loaded
    assert await found(archive, "line") == []
    await archive.whole()
    assert archive.state() == ArchiveState(many, True, "hashing-64", 0, many, 0, "")
    assert (await found(archive, f"{many}"))[0] == many


async def test_what_comes_while_it_loads_is_there_in_the_end_and_once(
    store: MemoryStore, make_archive: Make
) -> None:
    filled(store, 2 * PAGE)
    archive = make_archive()
    archive.load_some()
    archive.kept(commit(store, said(1_000, "a red boat")))
    store.commit(changes := Changes(AGENT, updated=(replace(said(1, "line 1"), response="an anchor"),)))
    archive.kept(changes)
    assert await found(archive, "anchor") == [1]
    await archive.whole()
    assert await found(archive, "boat") == [1_000]
    assert archive.state().entries == 2 * PAGE + 1


async def test_what_is_forgotten_while_it_loads_does_not_come_back(
    store: MemoryStore, make_archive: Make
) -> None:
    filled(store, 2 * PAGE)
    archive = make_archive()
    archive.load_some()
    gone = [1, 2 * PAGE]
    store.forget(AGENT, gone, by_user="admin", timestamp=1.0)
    archive.forget(gone, [])
    await archive.whole()
    assert archive.state().entries == 2 * PAGE - 2
    for number in gone:
        assert number not in await found(archive, f"line {number}")


async def test_loading_gives_way_to_everything_else(store: MemoryStore, make_archive: Make) -> None:
    filled(store, 4 * PAGE)
    archive = make_archive()
    archive.begin()
    archive.begin()
    turns = 0
    while not archive.loaded:
        assert archive.state().entries <= turns * PAGE
        await asyncio.sleep(0)
        turns += 1
    assert turns > 4


async def test_a_short_archive_is_waited_for_and_a_long_one_is_not(
    store: MemoryStore, embedding: Still
) -> None:
    filled(store, 2 * PAGE)
    short = AgentArchive(AGENT, store, embedding, dict, SOON)
    await short.soon()
    assert short.loaded
    long = AgentArchive(AGENT, store, embedding, dict, SOON + 1)
    await long.soon()
    assert not long.loaded


async def test_an_archive_that_cannot_be_read_is_searched_by_what_there_is(
    store: MemoryStore, make_archive: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    filled(store, 2 * PAGE)
    archive = make_archive()
    archive.load_some()

    def broken(*_: object) -> list[MemoryEntry]:
        raise StoreError("the disk is gone")

    monkeypatch.setattr(store, "columns", broken)
    with pytest.raises(StoreError):
        await archive.whole()
    archive.begin()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert "the archive of phi cannot be searched completely: the disk is gone" in caplog.text
    assert (await found(archive, "3"))[0] == 3


async def test_loading_that_failed_is_tried_again_and_says_why_until_then(
    store: MemoryStore, embedding: Still, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(store, 2 * PAGE)
    archive = AgentArchive(AGENT, store, embedding, dict, SOON + 1)

    def busy(*_: object) -> list[MemoryEntry]:
        raise StoreError("the disk is busy")

    with monkeypatch.context() as while_it_is:
        while_it_is.setattr(store, "columns", busy)
        await archive.within(5.0)
        assert (archive.loaded, archive.state().reason) == (False, "the disk is busy")
    await archive.within(5.0)
    assert (archive.loaded, archive.state().reason) == (True, "")
    assert (await found(archive, f"{2 * PAGE}"))[0] == 2 * PAGE


async def test_loading_ends_when_nobody_holds_the_archive(
    store: MemoryStore, make_archive: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(store, 4 * PAGE)
    archive = make_archive()
    archive.begin()
    await asyncio.sleep(0)
    loading, known = archive._loading, weakref.ref(archive)
    del archive
    assert known() is None
    monkeypatch.setattr(store, "columns", None)
    assert loading is not None
    await loading


async def test_closing_stops_loading(store: MemoryStore, make_archive: Make) -> None:
    filled(store, 4 * PAGE)
    archive = make_archive()
    archive.begin()
    await asyncio.sleep(0)
    archive.close()
    for _ in range(9):
        await asyncio.sleep(0)
    assert archive.state().entries == PAGE


# -- for somebody who may know a part only


async def test_what_one_user_told_is_searched_as_if_there_were_nothing_else(
    store: MemoryStore, make_archive: Make
) -> None:
    archive = make_archive()
    theirs = {"user_id": "user_bob", "timestamp": 11.0}
    archive.kept(
        commit(store, said(1, "well well", timestamp=10.0), said(2, "the password is mellon", **theirs))
    )
    assert sorted(await found(archive, "mellon")) == [1, 2]  # one for what stands beside it
    caity = Filters(user="user_caity")
    assert await archive.search("mellon", caity) == []
    assert [hit.entry_id for hit in await archive.search("well", caity)] == [1]


async def test_whether_meaning_counts_is_decided_by_what_is_asked_for(
    store: MemoryStore, make_archive: Make, embedding: Still
) -> None:
    archive = make_archive()
    archive.kept(commit(store, said(1, "the red boat")))
    embedding.finish()
    others = [said(number, "rain", user_id="user_bob") for number in range(2, 9)]
    archive.kept(commit(store, *others))
    assert await archive.vector("boat") is None
    assert await archive.vector("boat", Filters(user="user_caity")) is not None


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("user_text", b"x"),
        ("user_id", b"x"),
        ("response", b"x"),
        ("place", b"x"),
        ("timestamp", "soon"),
        ("override", "high"),
        ("affect", struct.pack("<5d", *[math.inf] * 5)),
        ("affect", bytes(80)),
    ],
)
def test_a_damaged_row_alone_is_not_found(
    tmp_path: Path, embedding: Still, caplog: pytest.LogCaptureFixture, column: str, value: object
) -> None:
    with closing(SqlStore(tmp_path)) as store:
        filled(store, 4)
        with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as other, other:
            other.execute(f"UPDATE entries SET {column} = ? WHERE id = 2", [value])
        archive = AgentArchive(AGENT, store, embedding, perceived=4)
        archive.load_some()
        hits = archive.searcher.search("line")
    assert archive.loaded
    assert sorted(hit.entry_id for hit in hits) == [1, 3, 4]
    assert f"entry 2 of phi is damaged: entries.{column} cannot be read" in caplog.text
