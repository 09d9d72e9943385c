"""A migration makes exactly the tables that the code knows, whole or not at all, of every older revision."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, NullPool, create_engine, event, inspect

from noodlings.ports import Changes
from noodlings.store.cipher import UserKey
from noodlings.store.database import DATABASE_NAME
from noodlings.store.keys import UserKeys
from noodlings.store.sql import SqlStore
from noodlings.store.tables import SCHEMA, make_tables, migrate
from noodlings.store.vault import Encryption
from noodlings.values.audience import Audience, Tier
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.percept import Kind
from tests.store.records import AGENT, BEFORE_SOURCES, BEFORE_TIERS, a_symbol, a_trace, an_entry

REVISIONS = Path(__file__).with_name("revisions.sql")


def an_engine(path: Path) -> Engine:
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool, connect_args={"isolation_level": None})
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    return engine


def shape(connection: Connection) -> dict[str, Any]:
    """Everything about every table that matters to what may be stored in it."""
    inspector = inspect(connection)
    return {
        table: {
            "columns": [
                (column["name"], str(column["type"]), column["nullable"])
                for column in inspector.get_columns(table)
            ],
            "primary key": inspector.get_pk_constraint(table),
            "foreign keys": inspector.get_foreign_keys(table),
            "unique": inspector.get_unique_constraints(table),
            "indexes": [
                (index["name"], index["column_names"], str(index["dialect_options"].get("sqlite_where")))
                for index in inspector.get_indexes(table)
            ],
        }
        for table in inspector.get_table_names()
    }


def statements(connection: Connection) -> dict[str, list[str]]:
    """Of everything that was made, the clauses that made it; an added column stands elsewhere among them."""
    made = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {name: sorted(" ".join(sql.rstrip(")").split()).split(", ")) for name, sql in made}


def of_revision(connection: Connection, revision: int) -> None:
    """Make the tables that an older noodlings had, and keep something in them."""
    for part in REVISIONS.read_text("utf-8").split("\n-- ")[1 : 1 + revision]:
        for statement in part.partition("\n")[2].split(";"):
            connection.exec_driver_sql(statement)
    connection.exec_driver_sql(f"INSERT INTO alembic_version VALUES ('{revision:04d}')")
    connection.exec_driver_sql("INSERT INTO agents (agent_id, forgotten_id) VALUES ('phi', 7)")


@pytest.mark.parametrize("revision", range(1, int(SCHEMA)))
def test_a_new_database_and_one_of_any_older_revision_become_the_same(tmp_path: Path, revision: int) -> None:
    with (
        an_engine(tmp_path / "migrated.db").begin() as migrated,
        an_engine(tmp_path / "made.db").begin() as made,
    ):
        of_revision(migrated, revision)
        migrate(migrated, f"{revision:04d}")
        make_tables(made)
        assert shape(migrated) == shape(made)
        assert statements(migrated) == statements(made)
        assert "episodic = 1" in str(shape(migrated)["entries"]["indexes"])
        stamps = [one.exec_driver_sql("SELECT * FROM alembic_version").all() for one in (migrated, made)]
        assert stamps == [[(SCHEMA,)], [(SCHEMA,)]]
        kept = migrated.exec_driver_sql("SELECT agent_id, forgotten_id, forgotten_symbol_id FROM agents")
        assert kept.all() == [("phi", 7, 0)]


def test_a_migration_that_is_cut_off_leaves_everything_as_it_was(tmp_path: Path) -> None:
    with an_engine(tmp_path / "cut.db").begin() as connection:
        of_revision(connection, 1)
    with an_engine(tmp_path / "cut.db").connect() as connection:
        before = statements(connection)
        connection.rollback()
        transaction = connection.begin()
        migrate(connection, "0001")
        assert "symbols" in inspect(connection).get_table_names()
        transaction.rollback()
        assert statements(connection) == before
        assert connection.exec_driver_sql("SELECT * FROM alembic_version").all() == [("0001",)]


def test_a_new_database_is_of_the_newest_schema(tmp_path: Path) -> None:
    SqlStore(tmp_path).close()
    connection = sqlite3.connect(tmp_path / DATABASE_NAME)
    assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(SCHEMA,)]
    connection.close()


def test_what_was_stored_before_it_had_an_audience_keeps_the_visibility_it_had(tmp_path: Path) -> None:
    kinds = (Kind.SAY, Kind.WHISPER, Kind.THOUGHT)
    store = SqlStore(tmp_path)
    store.commit(Changes(AGENT, added=tuple(an_entry(n, kind=kind) for n, kind in enumerate(kinds, 1))))
    store.close()
    connection = sqlite3.connect(tmp_path / DATABASE_NAME)
    connection.execute('UPDATE entries SET audience = \'{"v":1,"data":["phi"]}\'')
    connection.executescript(BEFORE_SOURCES)
    connection.execute("ALTER TABLE entries DROP COLUMN confined")
    connection.execute("ALTER TABLE traces DROP COLUMN packed")
    connection.execute("UPDATE alembic_version SET version_num = '0004'")
    connection.commit()
    connection.close()

    store = SqlStore(tmp_path)
    entries = store.entries(AGENT, [1, 2, 3])
    store.close()
    assert entries[1].audience == Audience(frozenset({"phi"}))
    for number in (2, 3):
        assert entries[number].audience == Audience(frozenset({"phi", "user_caity"}), confined=True)


def test_a_database_from_before_there_were_symbols_keeps_all_it_has_and_takes_symbols(tmp_path: Path) -> None:
    store = SqlStore(tmp_path)
    store.commit(Changes(AGENT, added=(an_entry(1),)))
    store.close()
    connection = sqlite3.connect(tmp_path / DATABASE_NAME)
    connection.executescript(BEFORE_SOURCES)
    connection.execute("DROP TABLE symbols")
    connection.execute("ALTER TABLE agents DROP COLUMN forgotten_symbol_id")
    connection.execute("ALTER TABLE entries DROP COLUMN confined")
    connection.execute("ALTER TABLE traces DROP COLUMN packed")
    connection.execute("UPDATE alembic_version SET version_num = '0003'")
    connection.commit()
    connection.close()

    store = SqlStore(tmp_path)
    store.commit(Changes(AGENT, symbols=(a_symbol(1, 1),)))
    record = store.load(AGENT)
    store.close()
    assert record is not None
    assert (record.working, record.symbols) == ((an_entry(1),), (a_symbol(1, 1),))


def test_a_database_from_before_there_were_sources_keeps_all_it_has_and_takes_records(tmp_path: Path) -> None:
    store = SqlStore(tmp_path)
    store.commit(Changes(AGENT, added=(an_entry(1), an_entry(2)), trace=a_trace(2, 1)))
    before = (store.load(AGENT), store.traces(AGENT))
    store.close()
    connection = sqlite3.connect(tmp_path / DATABASE_NAME)
    connection.executescript(BEFORE_SOURCES)
    connection.commit()
    connection.close()

    store = SqlStore(tmp_path)
    assert (store.load(AGENT), store.traces(AGENT)) == before
    record = IngestedRecord("talk:log", "1", "ab", 3)
    store.commit(Changes(AGENT, added=(an_entry(3, source="talk:log"),), taken=(record,)))
    kept = store.load(AGENT)
    assert kept is not None
    assert [entry.id for entry in kept.working] == [1, 2]
    assert store.taken(AGENT, "talk:log", ["1"]) == {"1": record}
    store.close()


def test_a_database_from_before_there_were_tiers_keeps_all_it_has_and_takes_secrets(tmp_path: Path) -> None:
    private = an_entry(2, "psst", kind=Kind.WHISPER)
    with closing(SqlStore(tmp_path)) as store:
        store.commit(Changes(AGENT, added=(an_entry(1), private), trace=a_trace(2, 1)))
        before = (store.load(AGENT), store.traces(AGENT))
    with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as connection:
        connection.executescript(BEFORE_TIERS)
    with closing(SqlStore(tmp_path, encryption=Encryption(keys=UserKeys(UserKey(bytes(32)).text)))) as store:
        assert (store.load(AGENT), store.traces(AGENT)) == before
        secret = replace(an_entry(3), audience=Audience(frozenset({AGENT}), tier=Tier.SECRET))
        store.commit(Changes(AGENT, added=(secret,)))
        kept = store.entries(AGENT, [1, 2, 3])
    assert [kept[number].tier for number in (1, 2, 3)] == [Tier.OPEN, Tier.CONFINED, Tier.SECRET]
