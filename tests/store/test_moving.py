"""Everything moves from a folder into a PostgreSQL database and back, or nothing does."""

from __future__ import annotations

import sqlite3
import tracemalloc
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noodlings.errors import NotFound, StoreBusy, StoreError, UserError
from noodlings.portable.export import export
from noodlings.ports import AgentState, Changes
from noodlings.store.cipher import UserKey
from noodlings.store.database import DATABASE_NAME
from noodlings.store.keys import UserKeys
from noodlings.store.moving import move
from noodlings.store.sql import SqlStore
from noodlings.store.transfer import snapshot
from noodlings.store.vault import Encryption
from noodlings.values.audience import Audience, Tier
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.memory import EntryVector, Link, LinkType, MemoryEntry
from tests.postgres import NewDatabase
from tests.store.records import AGENT, a_symbol, a_trace, an_entry

PLAIN = Encryption()
KEYED = Encryption(Tier.CONFINED, UserKeys(UserKey(bytes(32)).text))


def lived(number: int, text: str = "hello", **changes: Any) -> MemoryEntry:
    """An entry that can be exported."""
    return an_entry(number, text, stability=1.0, **changes)


def told(where: Path | str, encryption: Encryption) -> None:
    """Something of every kind, of two agents, with ids and names in which a wrong order would show."""
    with closing(SqlStore(where, encryption=encryption)) as store:
        secret = Audience(
            frozenset({AGENT}), confined=True, tier=Tier.SECRET if encryption is KEYED else Tier.CONFINED
        )
        entries = [
            lived(1, "Ünïcode 🐺"),
            replace(lived(2, "psst"), audience=secret),
            lived(3, extra={"a": 1}),
        ]
        store.commit(
            Changes(
                AGENT,
                added=(*entries, *(lived(number) for number in range(4, 1_200))),
                episodic=(1, 2),
                state=AgentState(AGENT, {"said": "zanzibar"}),
                taken=tuple(
                    IngestedRecord(source, number, "ab", None, "user_caity", 1, "later", {"x": number})
                    for source in ("talk:log", "Talk:é", "a")
                    for number in ("10", "9", "Ü")
                ),
            )
        )
        vector = EntryVector(1, "model", np.full(384, 384**-0.5, np.float32))
        link = Link(3, 1, LinkType.FOLLOWED, 0.5, 9.0)
        store.commit(
            Changes(AGENT, trace=a_trace(3, 1), symbols=(a_symbol(1, 1),), vectors=(vector,), links=(link,))
        )
        store.commit(Changes("Äl", added=(lived(1), lived(2))))
        store.forget("Äl", [2], by_user="admin", timestamp=5.0)
        store.world_set("rooms", {"who": "zanzibar"})


def everything(where: Path | str, encryption: Encryption) -> list[str]:
    """All lines of an export, and what none holds."""
    lines: list[str] = []
    with snapshot(where, encryption, sealed_words=True) as kept:
        export(kept, kept.agents(), lines.append)
        lines += map(repr, (list(kept.vectors(AGENT)), list(kept.taken(AGENT)), kept.done_by()))
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("encryption", [PLAIN, KEYED], ids=["plain", "encrypted"])
def test_all_of_it_is_there_and_back_again(
    tmp_path: Path, new_database: NewDatabase, encryption: Encryption
) -> None:
    first, url, last = tmp_path / "first", new_database(), tmp_path / "last"
    told(first, encryption)
    before = everything(first, encryption)
    steps: list[int] = []
    counts = move(first, url, encryption, steps.append)
    assert (counts["entries"], counts["source_records"], counts["world"]) == (1_200, 9, 1)
    assert counts["keys"] == (encryption is KEYED)
    assert steps == sorted(steps)
    assert steps[-1] == 100
    assert everything(url, encryption) == before == everything(first, encryption)
    assert move(url, last, encryption) == counts
    assert everything(last, encryption) == before
    with (
        closing(sqlite3.connect(first / DATABASE_NAME)) as one,
        closing(sqlite3.connect(last / DATABASE_NAME)) as other,
    ):
        for table in counts:
            rows = f"SELECT * FROM {table} ORDER BY 1, 2"
            assert one.execute(rows).fetchall() == other.execute(rows).fetchall()


@pytest.mark.slow
def test_what_was_moved_goes_on_where_it_was(tmp_path: Path, new_database: NewDatabase) -> None:
    told(tmp_path, PLAIN)
    url = new_database()
    move(tmp_path, url, PLAIN)
    with closing(SqlStore(url)) as store:
        record = store.load("Äl")
        assert record is not None
        assert record.last_id == 2  # which was forgotten
        store.commit(Changes("Äl", added=(lived(3),)))
        store.forget("Äl", [3], by_user="admin", timestamp=6.0)


@pytest.mark.slow
def test_an_encrypted_folder_needs_its_key(tmp_path: Path, new_database: NewDatabase) -> None:
    told(tmp_path, KEYED)
    url = new_database()
    with pytest.raises(StoreError, match="encrypted with key"):
        move(tmp_path, url, PLAIN)
    move(tmp_path, url, KEYED)
    with pytest.raises(StoreError, match="encrypted with key"):
        SqlStore(url, read_only=True)


@pytest.mark.slow
def test_what_is_not_empty_is_no_target(tmp_path: Path, new_database: NewDatabase) -> None:
    first, url = tmp_path / "first", new_database()
    told(first, PLAIN)
    told(tmp_path / "other", KEYED)
    move(first, url, PLAIN)
    before = everything(url, PLAIN)
    for target, why in (
        (url, "not empty"),
        (first, "already in use"),
        (tmp_path / "other", "encrypted with key"),
    ):
        with pytest.raises((UserError, StoreError), match=why):
            move(first, target, PLAIN)
    assert everything(url, PLAIN) == before


@pytest.mark.slow
def test_what_is_open_is_no_source(tmp_path: Path, new_database: NewDatabase) -> None:
    url, other = new_database(), new_database()
    told(tmp_path, PLAIN)
    told(url, PLAIN)
    for source in (tmp_path, url):
        with closing(SqlStore(source)), pytest.raises(StoreBusy):
            move(source, other, PLAIN)
    with pytest.raises(NotFound):
        move(tmp_path / "nothing", other, PLAIN)
    with pytest.raises(NotFound):
        SqlStore(other, read_only=True)


@pytest.mark.slow
def test_what_cannot_be_read_moves_nothing(tmp_path: Path, new_database: NewDatabase) -> None:
    told(tmp_path / "torn", PLAIN)
    url = new_database()
    with closing(sqlite3.connect(tmp_path / "torn" / DATABASE_NAME)) as database:
        database.execute("UPDATE entries SET user_text = CAST(x'ff' AS TEXT) WHERE id = 1100")
        database.commit()
    with pytest.raises(StoreError, match="UTF-8"):
        move(tmp_path / "torn", url, PLAIN)
    told(tmp_path / "whole", PLAIN)
    assert move(tmp_path / "whole", url, PLAIN)["entries"] == 1_200


@pytest.mark.slow
def test_a_text_that_postgresql_cannot_keep_moves_nothing(tmp_path: Path, new_database: NewDatabase) -> None:
    told(tmp_path, PLAIN)
    url = new_database()
    with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as database:
        database.execute("UPDATE entries SET user_text = ? WHERE id = 1100", ["secret\0word"])
        database.commit()
    with pytest.raises(StoreError, match="a value cannot be kept") as refused:
        move(tmp_path, url, PLAIN)
    assert "secret" not in str(refused.value)


@pytest.mark.slow
def test_a_row_that_comes_out_as_another_moves_nothing(tmp_path: Path, new_database: NewDatabase) -> None:
    psycopg = pytest.importorskip("psycopg")
    told(tmp_path, PLAIN)
    url = new_database()
    SqlStore(url).close()
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as admin:
        admin.execute(
            "CREATE FUNCTION other() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN NEW.strength := 0.25; RETURN NEW; END $$"
        )
        admin.execute("CREATE TRIGGER other BEFORE INSERT ON links FOR EACH ROW EXECUTE FUNCTION other()")
        with pytest.raises(StoreError, match="a row of links is another"):
            move(tmp_path, url, PLAIN)
        assert admin.execute("SELECT count(*) FROM entries").fetchall() == [(0,)]


@pytest.mark.slow
def test_however_much_it_is_little_of_it_is_in_memory(tmp_path: Path, new_database: NewDatabase) -> None:
    with closing(SqlStore(tmp_path)) as store:
        for start in range(1, 8_001, 2_000):
            store.commit(
                Changes(
                    AGENT,
                    added=tuple(lived(number, "word " * 300) for number in range(start, start + 2_000)),
                )
            )
    url = new_database()
    tracemalloc.start()
    try:
        move(tmp_path, url, PLAIN)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (tmp_path / DATABASE_NAME).stat().st_size > 12 << 20
    assert most < 6 << 20
