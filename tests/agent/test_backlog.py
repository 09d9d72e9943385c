"""What waits to be embedded: kept when it is, marked when it fails, made anew when it is damaged."""

from __future__ import annotations

import logging
import sqlite3
import weakref
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noodlings.agent.archive import PAGE, AgentArchive, ArchiveState
from noodlings.embed.queue import TOGETHER_REMOTE as AT_ONCE
from noodlings.embed.retry_queue import PATIENCE, pause
from noodlings.errors import StoreError
from noodlings.store.database import DATABASE_NAME
from noodlings.store.memory import MemoryStore
from noodlings.store.sql import SqlStore
from noodlings.values.memory import EntryVector
from tests.agent.archives import Make, commit, counts, filled, found, said, wake
from tests.agent.embedders import Flaky, Larger, Still, Time, Unmeasured
from tests.fakes import HashingEmbedder
from tests.store.records import AGENT


def test_what_comes_with_its_vector_waits_for_none(
    store: MemoryStore, make_archive: Make, embedder: Flaky
) -> None:
    archive = make_archive()
    vector = EntryVector(1, embedder.name, embedder.embed(["boat"])[0])
    archive.kept(commit(store, said(1, "boat"), vectors=(vector,)))
    assert counts(archive) == (1, 0, 0)


def test_a_vector_of_another_model_is_none(store: MemoryStore, make_archive: Make, embedder: Flaky) -> None:
    archive = make_archive()
    vector = EntryVector(1, "another", embedder.embed(["boat"])[0])
    archive.kept(commit(store, said(1, "boat"), vectors=(vector,)))
    assert counts(archive) == (0, 1, 0)


def rounded(text: str) -> Any:
    """The vector of a text as it is kept."""
    return EntryVector(1, "", HashingEmbedder().embed([text])[0]).vector


async def test_what_has_no_vector_is_embedded_kept_and_found_by_meaning(
    store: MemoryStore, make_archive: Make, embedding: Still
) -> None:
    many = AT_ONCE + 8
    archive = make_archive()
    archive.kept(commit(store, *(said(number, f"line {number}") for number in range(1, many + 1))))
    embedding.finish()
    assert counts(archive) == (many, 0, 0)
    kept = store.vectors(AGENT, "hashing-64", 0, many)
    assert sorted(kept) == list(range(1, many + 1))
    np.testing.assert_array_equal(kept[3].vector, rounded("line 3"))
    assert (await archive.search("line 3"))[0].scores["meaning"] > 0.0
    again = wake(make_archive())
    assert counts(again) == (many, 0, 0)
    assert again.index.likeness(2, 3) == archive.index.likeness(
        2, 3
    )  # to the last bit: a start changes no search


def test_nothing_is_embedded_before_everything_is_loaded(
    store: MemoryStore, make_archive: Make, embedding: Still
) -> None:
    filled(store, PAGE + 10)
    archive = make_archive()
    archive.load_some()
    assert embedding.embed_backlog() is None
    wake(archive)
    assert embedding.embed_backlog() == 0.0


def test_where_nothing_was_said_nothing_is_embedded(
    store: MemoryStore, make_archive: Make, embedding: Still, embedder: Flaky
) -> None:
    archive = make_archive()
    archive.kept(commit(store, said(1, "")))
    embedding.finish()
    assert embedder.asked == []
    assert counts(archive) == (0, 0, 0)


def test_what_failed_is_marked_tried_again_and_parked_in_the_end(
    store: MemoryStore,
    make_archive: Make,
    embedding: Still,
    embedder: Flaky,
    time: Time,
    caplog: pytest.LogCaptureFixture,
) -> None:
    archive = make_archive()
    embedder.refuses = lambda texts: "it cannot be reached"
    archive.kept(commit(store, said(1, "boat")))
    for attempts in range(1, PATIENCE + 1):
        embedding.finish()
        kept = store.vectors(AGENT, "hashing-64", 1, 1)[1]
        assert (kept.vector, kept.attempts, kept.reason) == (None, attempts, "it cannot be reached")
        assert len(embedder.asked) == attempts
        assert embedding.embed_backlog() == (pause(attempts) if attempts < PATIENCE else None)
        time.now += pause(attempts)
    assert counts(archive) == (0, 0, 1)
    assert archive.state().reason == "it cannot be reached"
    assert [record.levelname for record in caplog.records].count("WARNING") == 1

    embedder.refuses = lambda texts: ""
    again = wake(make_archive())
    assert counts(again) == (0, 1, 0)
    embedding.finish()
    assert counts(again) == (1, 0, 0)


async def test_words_find_it_meanwhile(
    store: MemoryStore, make_archive: Make, embedding: Still, embedder: Flaky
) -> None:
    archive = make_archive()
    embedder.refuses = lambda texts: "it cannot be reached"
    archive.kept(commit(store, said(1, "the red boat"), said(2, "rain")))
    embedding.finish()
    assert await found(archive, "boat") == [1]


def test_one_text_that_cannot_be_embedded_holds_up_no_other(
    store: MemoryStore, make_archive: Make, embedding: Still, embedder: Flaky, time: Time
) -> None:
    archive = make_archive()
    embedder.refuses = lambda texts: "poison" if "poison" in texts else ""
    lines = [said(number, "poison" if number == 5 else f"line {number}") for number in range(1, AT_ONCE)]
    archive.kept(commit(store, *lines))
    for _ in range(PATIENCE):
        embedding.finish()
        time.now += 3_600.0
    assert counts(archive) == (AT_ONCE - 2, 0, 1)
    assert store.vectors(AGENT, "hashing-64", 5, 5)[5].reason == "poison"


def test_another_model_embeds_everything_anew_and_nothing_is_mixed(
    store: MemoryStore, make_archive: Make, embedding: Still, time: Time
) -> None:
    filled(store, 5)
    wake(make_archive())
    embedding.finish()
    changed = Still(Larger(), monotonic=time)
    again = wake(make_archive(changed))
    assert again.state() == ArchiveState(5, True, "larger", 0, 5, 0, "")
    changed.finish()
    assert counts(again) == (5, 0, 0)
    assert store.vectors(AGENT, "hashing-64", 0, 9) == {}
    assert sorted(store.vectors(AGENT, "larger", 0, 9)) == [1, 2, 3, 4, 5]


async def test_an_endpoint_says_with_its_first_answer_how_long_its_vectors_are(
    store: MemoryStore, make_archive: Make, time: Time
) -> None:
    remote = Still(Unmeasured(), local=False, monotonic=time)
    archive = make_archive(remote)
    talk = [said(1, "the red boat"), said(2, "rain", timestamp=7_210.0)]
    archive.kept(commit(store, *talk))
    assert (await found(archive, "boat"))[0] == 1
    remote.finish()
    assert counts(archive) == (2, 0, 0)
    assert "meaning" in (await archive.search("boat"))[0].scores
    archive.kept(commit(store, said(3, "sun")))
    later = Still(Unmeasured(), local=False, monotonic=time)
    assert counts(wake(make_archive(later))) == (2, 1, 0)


def test_vectors_of_another_length_under_the_same_name_are_not_kept(
    store: MemoryStore,
    make_archive: Make,
    embedding: Still,
    embedder: Flaky,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    archive = make_archive()
    archive.kept(commit(store, said(1, "boat")))
    embedding.finish()
    archive.kept(commit(store, said(2, "rain")))
    monkeypatch.setattr(embedder, "embed", lambda texts: np.ones((len(texts), 1), np.float32))
    embedding.finish()
    assert counts(archive) == (1, 1, 0)
    assert archive.state().reason == "hashing-64 made vectors of 64 numbers, but now makes vectors of 1"
    assert store.vectors(AGENT, "hashing-64", 2, 2)[2].vector is None


def test_what_is_forgotten_while_it_is_embedded_gets_no_vector(
    store: MemoryStore, make_archive: Make, embedding: Still, embedder: Flaky
) -> None:
    archive = make_archive()
    archive.kept(commit(store, said(1, "boat"), said(2, "rain")))

    def forget(texts: object) -> str:
        store.forget(AGENT, [1], by_user="admin", timestamp=1.0)
        archive.forget([1], [])
        return ""

    embedder.refuses = forget
    embedding.finish()
    assert counts(archive) == (1, 0, 0)
    assert sorted(store.vectors(AGENT, "hashing-64", 0, 9)) == [2]


def test_a_store_that_fails_loses_no_entry(
    store: MemoryStore,
    make_archive: Make,
    embedding: Still,
    time: Time,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    archive = make_archive()
    archive.kept(commit(store, said(1, "boat")))

    def broken(*_: object) -> None:
        raise StoreError("the disk is full")

    for name in ("entries", "keep_vectors"):
        with monkeypatch.context() as patched:
            patched.setattr(store, name, broken)
            with pytest.raises(StoreError):
                embedding.embed_backlog()
        assert counts(archive) == (0, 1, 0)
        time.now += 10.0
    embedding.finish()
    assert counts(archive) == (1, 0, 0)


@pytest.mark.slow
def test_whoever_is_let_go_of_leaves_no_index_behind_while_the_endpoint_fails(
    store: MemoryStore,
    make_archive: Make,
    embedding: Still,
    embedder: Flaky,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.CRITICAL, "noodlings")  # else errors are kept here, and what they were raised in
    embedder.refuses = lambda texts: "the endpoint is away"
    filled(store, 3)
    archive = wake(make_archive())
    embedding.embed_backlog()
    assert archive.state().reason == "the endpoint is away"
    index = weakref.ref(archive.index)
    del archive
    assert index() is None
    asked = len(embedder.asked)
    assert embedding.embed_backlog() is None
    assert len(embedder.asked) == asked
    again = wake(make_archive())
    assert counts(again) == (0, 3, 0)


@pytest.mark.slow
def test_progress_is_told_in_the_log(
    store: MemoryStore, make_archive: Make, embedding: Still, caplog: pytest.LogCaptureFixture
) -> None:
    filled(store, 2_010)
    with caplog.at_level(logging.INFO, "noodlings.agent"):
        archive = wake(make_archive())
        embedding.finish()
    assert counts(archive) == (2_010, 0, 0)
    assert [record.getMessage() for record in caplog.records] == [
        "phi: 2010 memories can be searched",
        "phi: 2010 memories will be embedded by hashing-64",
        "phi: 1024 memories are embedded, 986 to go",
        "phi: 2010 memories are embedded, 0 to go",
    ]


def test_a_damaged_vector_is_reported_and_made_anew(
    tmp_path: Path, embedding: Still, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(SqlStore(tmp_path)) as store:
        filled(store, 3)
        before = wake(AgentArchive(AGENT, store, embedding, dict, 3))
        embedding.finish()
        assert counts(before) == (3, 0, 0)
        with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as other, other:
            other.execute("UPDATE vectors SET vector = zeroblob(256) WHERE entry_id = 2")
            other.execute("UPDATE vectors SET vector = x'0000803f' WHERE entry_id = 3")  # the number 1
        again = wake(AgentArchive(AGENT, store, embedding, dict, 3))
        assert "the vector of entry 2 of phi is damaged and will be made again" in caplog.text
        assert "the vector of entry 3 of phi is remade: wrong length" in caplog.text
        assert counts(again) == (1, 2, 0)
        embedding.finish()
        assert counts(again) == (3, 0, 0)
        kept = store.vectors(AGENT, "hashing-64", 1, 3)
        np.testing.assert_array_equal(kept[2].vector, rounded("line 2"))


async def test_a_question_goes_by_words_until_half_is_embedded(
    store: MemoryStore, make_archive: Make, embedding: Still, embedder: Flaky
) -> None:
    archive = make_archive()
    vectors = tuple(
        EntryVector(number, embedder.name, embedder.embed([f"line {number}"])[0]) for number in (1, 2)
    )
    entries = [said(number, f"line {number}") for number in range(1, 6)]
    archive.kept(commit(store, *entries, vectors=vectors))
    assert "meaning" not in (await archive.search("line"))[0].scores
    embedding.finish()
    assert "meaning" in (await archive.search("line"))[0].scores
