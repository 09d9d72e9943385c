"""The tables of the database, as SQLAlchemy Core metadata.

A new database is made from these, and an older one gets what it lacks; a test compares the two. Whoever adds
something here raises `SCHEMA`; what else changes goes into `_CHANGES`. Content stands only in `agents.state`,
`entries`, `traces`, `vectors`, `symbols`, `source_records` and `world`; `links` say which entries belong
together, and `events` that something was done, by whom and to how much, and never what it was about. Where
there is a key, words stand in these tables as sealed bytes, in SQLite whatever a column is declared as: see
`noodlings.store.vault`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
    create_mock_engine,
    inspect,
    text,
)
from sqlalchemy import Integer as AnyInteger
from sqlalchemy import Text as AnyText
from sqlalchemy.schema import CreateColumn

if TYPE_CHECKING:
    from sqlalchemy.schema import ExecutableDDLElement

SCHEMA = "0012"
"""The revision that these tables are. Four digits, rising, so that newer and older can be told apart."""

# On PostgreSQL integers have 64 bits as in SQLite, and texts are sorted by code point.
Integer = AnyInteger().with_variant(BigInteger(), "postgresql")
Text = AnyText().with_variant(AnyText(collation="C"), "postgresql")


def _only(rows: str, in_postgresql: str = "") -> dict[str, Any]:
    """The rows of an index that does not have all of them."""
    return {"sqlite_where": text(rows), "postgresql_where": text(in_postgresql or rows)}


metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
    }
)

agents = Table(
    "agents",
    metadata,
    Column("agent_id", Text, primary_key=True),
    Column("state", Text),
    # An id is never given twice, also not when the newest entry was forgotten.
    Column("forgotten_id", Integer, nullable=False),
    Column("forgotten_symbol_id", Integer, nullable=False, server_default=text("0")),
)

entries = Table(
    "entries",
    metadata,
    # Beside (agent_id, id), because an index over text refers to its rows by an integer that VACUUM keeps.
    Column("row_id", Integer, primary_key=True),
    Column("agent_id", Text, ForeignKey("agents.agent_id"), nullable=False),
    Column("id", Integer, nullable=False),
    Column("timestamp", Float, nullable=False),
    Column("step", Integer, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("user_text", Text, nullable=False),
    Column("affect", LargeBinary),
    Column("surprise", Float, nullable=False),
    Column("encoded_importance", Float, nullable=False),
    Column("parts", Text, nullable=False),
    Column("override", Float),
    Column("override_by", Text, nullable=False),
    Column("response", Text),
    Column("identity_salience", Float, nullable=False),
    Column("phenomenal_state", LargeBinary),
    Column("kind", Text, nullable=False),
    # Who witnessed it; `confined` says whether only they may learn of it.
    Column("audience", Text),
    Column("place", Text, nullable=False),
    Column("pinned", Boolean, nullable=False),
    Column("recall_count", Integer, nullable=False),
    Column("last_recalled", Float),
    Column("stability", Float, nullable=False),
    Column("extra", Text),
    Column("episodic", Boolean, nullable=False),
    Column("consolidated", Boolean, nullable=False),
    # NULL in rows from before it was noted; then it follows from the kind.
    Column("confined", Boolean),
    # Of what a source told; NULL for what was lived.
    Column("source", Text),
    Column("tier", Integer, nullable=False, server_default=text("0")),
    # Reasons, of a fixed set, and numbers.
    Column("hindsight", Text),
    # Two numbers; NULL where no model read it.
    Column("tells", Text),
    UniqueConstraint("agent_id", "id"),
)

# Loading an agent reads its few hundred members and counts, however long its archive is.
Index("ix_entries_episodic", entries.c.agent_id, entries.c.id, **_only("episodic = 1", "episodic"))
Index("ix_entries_consolidated", entries.c.agent_id, **_only("consolidated = 1", "consolidated"))
# What was lived, so that working memory is found past any number of records of a source.
Index("ix_entries_lived", entries.c.agent_id, entries.c.id, **_only("source IS NULL"))

# Which records of a source were taken in, so that each is taken in once.
source_records = Table(
    "source_records",
    metadata,
    Column("agent_id", Text, ForeignKey("agents.agent_id"), nullable=False),
    Column("source", Text, nullable=False),
    Column("record_id", Text, nullable=False),
    Column("digest", Text, nullable=False),
    # NULL of what waits, and of what was forgotten.
    Column("entry_id", Integer),
    Column("user_id", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    # The record itself, of what waits only.
    Column("record", Text),
    PrimaryKeyConstraint("agent_id", "source", "record_id"),
    sqlite_with_rowid=False,
)

Index("ix_source_records_entry", source_records.c.agent_id, source_records.c.entry_id)
Index(
    "ix_source_records_parked",
    source_records.c.agent_id,
    source_records.c.source,
    source_records.c.record_id,
    **_only("record IS NOT NULL"),
)

traces = Table(
    "traces",
    metadata,
    Column("agent_id", Text, primary_key=True),
    Column("entry_id", Integer, primary_key=True),
    # A document in rows from before it was packed, else "".
    Column("document", Text, nullable=False),
    Column("packed", LargeBinary),
    ForeignKeyConstraint(["agent_id", "entry_id"], ["entries.agent_id", "entries.id"], ondelete="CASCADE"),
)

links = Table(
    "links",
    metadata,
    Column("agent_id", Text, nullable=False),
    Column("source_id", Integer, nullable=False),
    Column("target_id", Integer, nullable=False),
    Column("type", Text, nullable=False),
    Column("strength", Float, nullable=False),
    Column("created", Float, nullable=False),
    # Where the words that show it stand in the two entries, and never the words.
    Column("quoted", Text),
    # Ids before the agent: SQLite takes an agent to have a handful of links, and would read all of them.
    PrimaryKeyConstraint("source_id", "agent_id", "target_id", "type"),
    *(
        ForeignKeyConstraint(
            ["agent_id", end],
            ["entries.agent_id", "entries.id"],
            name=f"fk_links_{end}",
            ondelete="CASCADE",
        )
        for end in ("source_id", "target_id")
    ),
    sqlite_with_rowid=False,
)

# With all that a link is, so that the thousands that lead to one memory are read from here alone.
Index(
    "ix_links_target",
    *(links.c[name] for name in ("target_id", "agent_id", "strength", "created", "quoted")),
)

vectors = Table(
    "vectors",
    metadata,
    Column("agent_id", Text, primary_key=True),
    Column("entry_id", Integer, primary_key=True),
    Column("model", Text, nullable=False),
    Column("vector", LargeBinary),
    # Of a vector that could not be made: how often that was tried, and why it failed last.
    Column("attempts", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    ForeignKeyConstraint(["agent_id", "entry_id"], ["entries.agent_id", "entries.id"], ondelete="CASCADE"),
)

symbols = Table(
    "symbols",
    metadata,
    Column("agent_id", Text, primary_key=True),
    Column("id", Integer, primary_key=True),
    Column("entry_id", Integer, nullable=False),
    Column("timestamp", Float, nullable=False),
    Column("literal_event", Text, nullable=False),
    Column("symbolic_encoding", Text, nullable=False),
    Column("affect", LargeBinary, nullable=False),
    Column("salience", Float, nullable=False),
    Column("surprise", Float, nullable=False),
    Column("made_by", Text, nullable=False),
    Column("circle", Text),
    # What left the subconscious stays, as all else that leaves a mind: turns refer to it, and forgetting has
    # to know what it was made of.
    Column("faded", Boolean, nullable=False),
    Column("tier", Integer, nullable=False, server_default=text("0")),
    ForeignKeyConstraint(["agent_id", "entry_id"], ["entries.agent_id", "entries.id"], ondelete="CASCADE"),
)

Index("ix_symbols_entry", symbols.c.agent_id, symbols.c.entry_id)
Index("ix_symbols_in_mind", symbols.c.agent_id, symbols.c.id, **_only("faded = 0", "NOT faded"))

keys = Table(
    "keys",
    metadata,
    # Data keys, each readable only with the user's key of this id. The highest number seals what is new.
    Column("number", Integer, primary_key=True),
    Column("key_id", Text, nullable=False),
    Column("wrapped", LargeBinary, nullable=False),
    # From which tier on all entries are known to be sealed with it; NULL until everything else is, too.
    Column("sealed_from", Integer),
)

events = Table(
    "events",
    metadata,
    Column("event_id", Integer, primary_key=True),
    Column("agent_id", Text, ForeignKey("agents.agent_id"), nullable=False),
    Column("timestamp", Float, nullable=False),
    Column("kind", Text, nullable=False),
    Column("by_user", Text, nullable=False),
    Column("count", Integer, nullable=False),
)

world = Table(
    "world",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

# Apart from the others: it says of which revision they are. The names are those that Alembic gave it.
_revision = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)

# What a revision changes beside tables, columns and indexes that are added, in SQL that both databases know.
_CHANGES = {
    # Places and sources are sealed, too: the next start looks through what was sealed before once more.
    "0009": "UPDATE keys SET sealed_from = NULL",
}


def make_tables(connection: Connection) -> None:
    """Give an empty database all tables."""
    for statement in _making(f"{connection.dialect.name}+{connection.dialect.driver}"):
        connection.exec_driver_sql(statement)
    connection.execute(_revision.insert().values(version_num=SCHEMA))


@cache
def _making(dialect: str) -> tuple[str, ...]:
    """The statements that make all tables, as they are written once: that takes longer than to run them."""
    made: list[str] = []

    def keep(statement: ExecutableDDLElement, *_: object, **__: object) -> None:
        made.append(str(statement.compile(dialect=engine.dialect)))

    engine = create_mock_engine(f"{dialect}://", keep)
    metadata.create_all(engine, checkfirst=False)
    _revision.create(engine, checkfirst=False)
    return tuple(made)


def migrate(connection: Connection, schema: str) -> None:
    """Add whatever the tables of an older revision lack, within the transaction that `connection` is in.

    A process that dies on the way leaves the database as it was.
    """
    older = inspect(connection)
    for table in metadata.sorted_tables:
        if not older.has_table(table.name):
            table.create(connection)
            continue
        columns = {column["name"] for column in older.get_columns(table.name)}
        for column in table.columns:
            if column.name not in columns:
                added = CreateColumn(column).compile(dialect=connection.dialect)
                connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {added}")
        indexes = {index["name"]: index["column_names"] for index in older.get_indexes(table.name)}
        for index in table.indexes:
            if indexes.get(index.name) != index.columns.keys():
                index.drop(connection, checkfirst=True)
                index.create(connection)
    for revision, change in _CHANGES.items():
        if revision > schema:
            connection.execute(text(change))
    connection.execute(_revision.update().values(version_num=SCHEMA))
