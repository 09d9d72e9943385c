"""Encryption of the database: what is sealed, by which key, what a wrong one is told, and how keys change."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import StoreError, UserError
from noodlings.ports import AgentState, Changes
from noodlings.store.cipher import DataKey, Unopened, UserKey, place, sealed_with
from noodlings.store.database import DATABASE_NAME, Database
from noodlings.store.keys import UserKeys
from noodlings.store.sql import SqlStore
from noodlings.store.transfer import snapshot
from noodlings.store.vault import Encryption
from noodlings.values.audience import Audience, Tier
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.memory import EntryVector, MemoryEntry, Order
from tests.at_rest import found
from tests.store.records import AGENT, BEFORE_NIGHTS, a_symbol, a_trace, an_entry, same

OLD, NEW = UserKey(bytes(32)), UserKey(bytes(range(32)))
ALL = Encryption(Tier.OPEN, UserKeys(OLD.text))
NONE = Encryption(Tier.SECRET, UserKeys(OLD.text))


def a_vector(entry_id: int) -> EntryVector:
    return EntryVector(entry_id, "model", np.full(384, 384**-0.5, np.float32))


def entry_of(number: int, text: str, tier: Tier = Tier.OPEN, response: str | None = None) -> MemoryEntry:
    entry = replace(an_entry(number, text), response=response, extra={"data": {"note": text}})
    return replace(entry, audience=Audience(frozenset({"user_caity", AGENT}), tier=tier))


def keep(folder: Path, encryption: Encryption | None, *entries: MemoryEntry) -> None:
    with closing(SqlStore(folder, encryption=encryption)) as store:
        store.commit(Changes(AGENT, added=tuple(entries), state=AgentState(AGENT, {"said": "zanzibar"})))
        store.commit(
            Changes(
                AGENT,
                trace=replace(a_trace(entries[0].id), thought="thinking of zanzibar"),
                vectors=(a_vector(entries[0].id),),
                symbols=(replace(a_symbol(1, entries[0].id), literal_event="zanzibar"),),
            )
        )
        store.world_set("rooms", {"who": "zanzibar"})


def texts(folder: Path, encryption: Encryption | None) -> list[str]:
    with closing(SqlStore(folder, read_only=True, encryption=encryption)) as store:
        return [entry.user_text for entry in store.archive(AGENT, limit=2_000)]


@given(st.binary(max_size=200), st.integers(1, 2**24 - 1), st.integers(0, 500), st.integers(1, 255))
def test_a_sealed_value_opens_unchanged_at_its_place_and_nowhere_else(value, number, at, flip):
    key = DataKey.new(number)
    here = place("entries", "user_text", AGENT, 7)
    sealed = key.seal(value, here)
    assert sealed_with(sealed) == number
    assert key.open(sealed, here) == value
    assert key.seal(value, here) != sealed
    with pytest.raises(Unopened):
        key.open(sealed, place("entries", "user_text", AGENT, 8))
    broken = bytearray(sealed)
    broken[4 + at % (len(sealed) - 4)] ^= flip
    with pytest.raises(Unopened):
        key.open(bytes(broken), here)


def test_a_vector_is_never_taken_for_a_sealed_one_nor_the_other_way():
    halves = b"\x02" + bytes(2 * 384)
    assert len(DataKey.new(1).seal(halves, b"")) % 2 == 1


@pytest.mark.parametrize("text", ["", "x", "A" * 44, UserKey(bytes(32)).text[:-2]])
def test_what_is_no_key_is_refused_without_quoting_it(text):
    with pytest.raises(UserError, match="32 bytes in base64") as refused:
        UserKey.read(text)
    assert not text or text not in str(refused.value)


def test_everything_is_sealed_and_read_back(tmp_path):
    entries = [entry_of(1, "zanzibar", response="zanzibar?"), entry_of(2, "quagga")]
    keep(tmp_path, ALL, *entries)
    assert found(tmp_path, ["zanzibar", "quagga"]) == {}
    with closing(SqlStore(tmp_path, encryption=ALL)) as store:
        record = store.load(AGENT)
        assert record is not None
        assert all(map(same, record.working, entries))
        assert record.state.data == {"said": "zanzibar"}
        assert record.symbols[0].literal_event == "zanzibar"
        assert store.traces(AGENT)[0].thought == "thinking of zanzibar"
        assert store.world_get("rooms") == {"who": "zanzibar"}
        columns = store.columns(AGENT, a_vector(1).model)
        assert list(columns.texts) == ["zanzibar", "quagga"]
        assert columns.embedded == [True, False]


def test_nobody_makes_a_fingerprint_without_the_key(tmp_path):
    made = []
    for name, encryption in (("a", ALL), ("b", NONE), ("c", None)):
        with closing(SqlStore(tmp_path / name, encryption=encryption)) as store:
            made.append(store.fingerprint("zanzibar"))
    assert len({*made}) == 3  # each database has a data key of its own
    with closing(SqlStore(tmp_path / "a", encryption=ALL)) as store:
        assert store.fingerprint("zanzibar") == made[0]


def test_below_its_tier_only_what_is_made_of_several_is_sealed(tmp_path):
    keep(tmp_path, NONE, entry_of(1, "okapi"), entry_of(2, "quagga", Tier.SECRET))
    assert found(tmp_path, ["zanzibar", "quagga", "okapi"]).keys() == {"okapi"}
    private = Encryption(Tier.CONFINED, UserKeys(OLD.text))
    with closing(SqlStore(tmp_path, encryption=private)) as store:
        store.commit(Changes(AGENT, added=(entry_of(3, "pangolin", Tier.CONFINED),)))
    assert found(tmp_path, ["quagga", "okapi", "pangolin"]).keys() == {"okapi"}


def test_a_secret_without_a_key_is_refused_and_nothing_of_it_kept(tmp_path):
    with closing(SqlStore(tmp_path)) as store:
        assert not store.keeps_secrets
        with pytest.raises(StoreError, match="without a key"):
            store.commit(Changes(AGENT, added=(entry_of(1, "quagga", Tier.SECRET),)))
        assert store.archive(AGENT) == []
    assert found(tmp_path, ["quagga"]) == {}


@pytest.mark.parametrize("given", [None, Encryption(Tier.OPEN, UserKeys(NEW.text))])
@pytest.mark.parametrize("read_only", [True, False])
def test_a_wrong_or_missing_key_is_refused_in_words_and_changes_nothing(tmp_path, given, read_only):
    keep(tmp_path, ALL, entry_of(1, "zanzibar"))
    before = (tmp_path / DATABASE_NAME).read_bytes()
    with pytest.raises(StoreError, match=f"encrypted with key {OLD.id}"):
        SqlStore(tmp_path, read_only=read_only, encryption=given)
    assert (tmp_path / DATABASE_NAME).read_bytes() == before
    assert texts(tmp_path, ALL) == ["zanzibar"]


def test_encryption_without_a_key_makes_no_database(tmp_path):
    with pytest.raises(UserError, match="noodlings key new FILE"):
        SqlStore(tmp_path, encryption=Encryption(Tier.OPEN))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("table", "column", "key"), [("entries", "user_text", "id"), ("traces", "packed", "entry_id")]
)
def test_a_value_that_was_moved_to_another_row_is_damaged_there(tmp_path, caplog, table, column, key):
    keep(tmp_path, ALL, entry_of(1, "zanzibar"), entry_of(2, "quagga"))
    with closing(SqlStore(tmp_path, encryption=ALL)) as store:
        store.commit(Changes(AGENT, trace=a_trace(2)))
    with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as database, database:
        (moved,) = database.execute(f"SELECT {column} FROM {table} WHERE {key} = 1").fetchone()
        database.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = 2", (moved,))
    with closing(SqlStore(tmp_path, encryption=ALL)) as store:
        kept = [one.id for one in store.archive(AGENT)], [one.entry_id for one in store.traces(AGENT, 9)]
    assert kept == ([1], [2, 1]) if table == "entries" else ([1, 2], [1])
    assert f"{table}.{column} cannot be read" in caplog.text


def test_an_entry_whose_answer_is_secret_is_sealed_as_a_whole(tmp_path):
    open_entry = entry_of(1, "okapi")
    with closing(SqlStore(tmp_path, encryption=NONE)) as store:
        store.commit(Changes(AGENT, added=(open_entry,)))
        answered = replace(entry_of(1, "okapi", Tier.SECRET), response="quagga")
        store.commit(Changes(AGENT, updated=(answered,)))
        assert same(store.entries(AGENT, [1])[1], answered)
    with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as database:
        row = database.execute("SELECT user_text, response, extra FROM entries").fetchone()
    assert {type(value) for value in row} == {bytes}


def test_search_looks_into_sealed_texts_and_not_into_what_is_sealed_for_all(tmp_path):
    keep(
        tmp_path,
        ALL,
        entry_of(1, "zebra and quagga"),
        entry_of(2, "an okapi", response="Quagga!"),
        entry_of(3, "quagga", Tier.SEALED),
    )
    with closing(SqlStore(tmp_path, encryption=ALL)) as store:
        assert store.in_order(AGENT, Order.WHEN, False, containing="quagga") == [1, 2]
        assert store.in_order(AGENT, Order.TEXT, False) == [3, 2, 1]
        assert store.entries(AGENT, [3])[3].user_text == ""
        assert list(store.columns(AGENT, "").texts)[2] == ""
    with snapshot(tmp_path, ALL, sealed_words=True) as kept:
        assert [one.entry.user_text for one in kept.entries(AGENT)][2] == "quagga"


def test_forgetting_reaches_sealed_rows(tmp_path):
    keep(tmp_path, ALL, entry_of(1, "zanzibar"), entry_of(2, "tell me", response="it was zanzibar"))
    with closing(SqlStore(tmp_path, encryption=ALL)) as store:
        store.commit(
            Changes(AGENT, trace=replace(a_trace(2), thought="zanzibar", response="it was zanzibar"))
        )
        forgotten = store.forget(AGENT, [1], by_user="user_caity", timestamp=0.0)
        assert forgotten.count == 1
        assert [entry.id for entry in store.archive(AGENT)] == [2]


@pytest.mark.slow
def test_turning_it_on_leaves_no_plain_byte(tmp_path):
    keep(tmp_path, None, *(entry_of(number, f"zanzibar {number}") for number in range(1, 700)))
    assert found(tmp_path, ["zanzibar"])
    SqlStore(tmp_path, encryption=ALL).close()
    assert found(tmp_path, ["zanzibar"]) == {}
    assert texts(tmp_path, ALL)[:2] == ["zanzibar 1", "zanzibar 2"]


def test_a_tighter_setting_seals_what_was_below_it_even_after_a_looser_one(tmp_path):
    keep(tmp_path, ALL, entry_of(1, "zanzibar"))
    with closing(SqlStore(tmp_path, encryption=NONE)) as store:
        store.commit(Changes(AGENT, added=(entry_of(2, "okapi"),)))
    assert found(tmp_path, ["okapi"])
    SqlStore(tmp_path, encryption=ALL).close()
    assert found(tmp_path, ["okapi", "zanzibar"]) == {}
    assert texts(tmp_path, ALL) == ["zanzibar", "okapi"]


RECORD = IngestedRecord("document:Letter of zanzibar.md", "okapi", "ab", 1)


def keep_named(folder: Path, encryption: Encryption | None) -> None:
    """An entry of a source, with the place where it happened, its record, and one that waits."""
    entry = replace(entry_of(1, "hello"), place="the zanzibar ward", source=RECORD.source)
    waits = replace(RECORD, id="quagga", entry_id=None, record={"text": "hm"})
    with closing(SqlStore(folder, encryption=encryption)) as store:
        store.commit(Changes(AGENT, added=(entry,), taken=(RECORD, waits)))


def assert_named(store: SqlStore) -> None:
    (entry,) = store.archive(AGENT)
    assert (entry.place, entry.source) == ("the zanzibar ward", RECORD.source)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "archive", None)  # search reads no rows one by one, sealed or not
        columns = store.columns(AGENT, "model")
    assert (columns.places[0], columns.ingested) == (entry.place, [True])
    assert store.taken(AGENT, RECORD.source, [RECORD.id, "new"]) == {RECORD.id: RECORD}
    assert store.held(AGENT, RECORD.source) == [RECORD.id]
    assert [one.id for one in store.parked(AGENT)] == ["quagga"]


@pytest.mark.parametrize("before", [ALL, None])
def test_places_and_names_of_sources_are_sealed_and_found(tmp_path, before):
    keep_named(tmp_path, before)
    with closing(SqlStore(tmp_path, encryption=ALL)) as store:
        assert_named(store)
        store.commit(Changes(AGENT, taken=(RECORD,)))
        assert_named(store)
    assert found(tmp_path, ["zanzibar", "okapi", "quagga"]) == {}


def test_what_an_older_version_left_plain_beside_a_key_is_sealed(tmp_path):
    keep_named(tmp_path, ALL)
    with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as database, database:
        database.execute("UPDATE entries SET place = 'the zanzibar ward', source = ?", (RECORD.source,))
        database.execute("DELETE FROM source_records WHERE record IS NULL")
        row = (AGENT, RECORD.source, RECORD.id, RECORD.digest, 1, "", 0, "", None)
        database.execute("INSERT INTO source_records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        database.executescript(BEFORE_NIGHTS)
        database.execute("UPDATE alembic_version SET version_num = '0008'")
    with closing(SqlStore(tmp_path, encryption=ALL)) as store:
        assert_named(store)
    assert found(tmp_path, ["zanzibar", "okapi"]) == {}


def keys_of(folder: Path) -> list[tuple[int, str]]:
    with closing(sqlite3.connect(folder / DATABASE_NAME)) as database:
        return database.execute("SELECT number, key_id FROM keys").fetchall()


def test_a_new_key_takes_the_place_of_the_old_one(tmp_path):
    keep(tmp_path, ALL, *(entry_of(number, f"zanzibar {number}") for number in range(1, 500)))
    both = Encryption(Tier.OPEN, UserKeys(f"{NEW.text} {OLD.text}"))
    SqlStore(tmp_path, encryption=both).close()
    assert keys_of(tmp_path) == [(2, NEW.id)]
    assert len(texts(tmp_path, Encryption(Tier.OPEN, UserKeys(NEW.text)))) == 499
    with pytest.raises(StoreError, match=f"encrypted with key {NEW.id}"):
        SqlStore(tmp_path, encryption=ALL)


@pytest.mark.slow
def test_a_change_of_keys_that_was_stopped_goes_on_and_needs_the_new_key_alone(tmp_path):
    keep(tmp_path, ALL, *(entry_of(number, f"zanzibar {number}") for number in range(1, 900)))
    file = tmp_path.with_suffix(".key")
    file.write_text(OLD.text)
    database = Database(tmp_path, encryption=Encryption(Tier.OPEN, UserKeys(file=str(file))))
    file.write_text(f"{NEW.text}\n{OLD.text}\n")
    assert database.renew_keys()
    asked = iter([False, False, True])
    database.reseal(lambda: next(asked))
    database.close()
    assert [key_id for _, key_id in keys_of(tmp_path)] == [NEW.id, NEW.id]
    only = Encryption(Tier.OPEN, UserKeys(NEW.text))
    assert len(texts(tmp_path, only)) == 899
    SqlStore(tmp_path, encryption=only).close()
    assert keys_of(tmp_path) == [(2, NEW.id)]
    assert len(texts(tmp_path, only)) == 899


@pytest.mark.slow
def test_the_key_changes_while_everything_is_in_use(tmp_path):
    folder, file = tmp_path / "data", tmp_path / "key"
    file.write_text(OLD.text)
    encryption = Encryption(Tier.OPEN, UserKeys(file=str(file)))
    keep(folder, encryption, *(entry_of(number, f"zanzibar {number}") for number in range(1, 900)))
    with closing(SqlStore(folder, encryption=encryption)) as store:
        store.commit(Changes(AGENT, taken=(RECORD,)))
        encryption.keys.write((NEW, OLD))
        for number in range(900, 1000):
            store.commit(Changes(AGENT, added=(entry_of(number, f"zanzibar {number}"),)))
            assert store.taken(AGENT, RECORD.source, [RECORD.id]) == {RECORD.id: RECORD}
        (resealing,) = [one for one in threading.enumerate() if one.name == "noodlings-keys"] or [None]
        if resealing is not None:
            resealing.join()
        assert len(store.archive(AGENT, limit=2_000)) == 999
    assert keys_of(folder) == [(2, NEW.id)]
    assert len(texts(folder, Encryption(Tier.OPEN, UserKeys(NEW.text)))) == 999


@pytest.mark.parametrize("pipe", [False, True])
def test_a_key_file_that_is_broken_while_in_use_changes_nothing(tmp_path, caplog, pipe):
    folder, file = tmp_path / "data", tmp_path / "key"
    file.write_text(OLD.text)
    with closing(SqlStore(folder, encryption=Encryption(Tier.OPEN, UserKeys(file=str(file))))) as store:
        if pipe:
            file.unlink()
            os.mkfifo(file)
        else:
            file.write_text("no key")
        store.commit(Changes(AGENT, added=(entry_of(1, "zanzibar"),)))
        assert len(store.archive(AGENT)) == 1
    assert "everything goes on with the one before" in caplog.text
    assert texts(folder, ALL) == ["zanzibar"]


def test_who_only_reads_follows_a_change_of_keys(tmp_path):
    folder, file = tmp_path / "data", tmp_path / "key"
    file.write_text(OLD.text)
    encryption = Encryption(Tier.OPEN, UserKeys(file=str(file)))
    keep(folder, encryption, entry_of(1, "zanzibar"))
    with closing(SqlStore(folder, read_only=True, encryption=encryption)) as reader:
        encryption.keys.write((NEW, OLD))
        SqlStore(folder, encryption=encryption).close()
        assert [entry.user_text for entry in reader.archive(AGENT)] == ["zanzibar"]
        assert list(reader.columns(AGENT, "model").texts) == ["zanzibar"]


def test_what_was_sealed_from_the_start_needs_no_erasing_when_it_changes(tmp_path: Path) -> None:
    entry = replace(entry_of(1, "zanzibar", Tier.SECRET), place="")
    with closing(SqlStore(tmp_path, encryption=NONE)) as store:
        store.commit(Changes(AGENT, added=(entry,)))
        store.commit(Changes(AGENT, updated=(replace(entry, response="quagga"),)))
    with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as driver:
        assert driver.execute("PRAGMA user_version").fetchone() == (0,)
