"""A PostgreSQL database: the same tables and statements as in the SQLite file.

One process writes, over one connection. Where that broke, the next call opens it anew, and what was not
committed is not there. Every error is a `StoreError` without a password or the contents of any row.

Sealed bytes stand in a text column as a character that begins no text of ours, and base64 behind it.
"""

from __future__ import annotations

import os
import platform
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from copy import copy
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

import psycopg
from psycopg import errors
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format, TransactionStatus
from psycopg.sql import SQL, Identifier
from sqlalchemy import MetaData, NullPool, create_engine, func, make_url, select
from sqlalchemy.dialects.postgresql import psycopg as psycopg_dialect
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.schema import CreateTable

from noodlings.errors import NotFound, StoreBusy, StoreError, UserError
from noodlings.store.rows import Row
from noodlings.store.sql_database import SqlDatabase
from noodlings.store.tables import make_tables, migrate
from noodlings.store.transaction import Statement, Transaction, named
from noodlings.store.vault import KEPT_KEYS, Encryption, KeptKeys, Vault

if TYPE_CHECKING:
    from noodlings.store.sharing import Sharing

Driver = psycopg.Connection[Any]

AGAIN_SECONDS = 1.0
"""How long after a server could not be reached everything is refused before it is tried again; longer where
that took long to find out, because a world stands still meanwhile."""
ANSWER_SECONDS = 12.0
"""How long a world stands still with a server that accepts what is sent and does not answer."""
THINKING_SECONDS = 30
"""How long what is forgotten may be looked for in turns; longer than any other transaction may be idle."""
_PATIENCE: dict[str, Any] = {
    "connect_timeout": 2,
    # A server whose machine is gone is noticed within ten seconds, and not within hours.
    "keepalives_idle": 4,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
_SESSION = (
    # A process that stands still in the midst of a transaction holds up others for no longer than this.
    "SET idle_in_transaction_session_timeout = '{idle}';"
    "SET lock_timeout = '5s'; SET statement_timeout = '{statement}';"
    # The server notices a client whose machine is gone.
    "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"
)
_ONE_WRITER, _ONE_MAKER = 0x6E6F6F64, 0x6E6F6F65
"""Numbers of the locks that the one writer holds, and under which tables are made or migrated."""
# Whoever makes a newer key waits for those who write with the older, and later ones see the newer.
_WRITE = "BEGIN; LOCK TABLE keys IN ROW SHARE MODE; SELECT coalesce(max(number), 0) FROM keys"
_RENEW = _WRITE.replace("ROW SHARE", "EXCLUSIVE")
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT NULL"
_MARK = "\x03"
"""Begins sealed bytes in a text, and is their first byte."""
_DIALECT: Any = psycopg_dialect.dialect()  # type: ignore[no-untyped-call]
_CURSORS = count()


class _Text(Loader):
    """Reads a text; sealed bytes where it begins with the mark."""

    format = Format.BINARY

    def load(self, data: Buffer) -> str | bytes:
        value = bytes(data)
        if value[:1] == _MARK.encode():
            with suppress(ValueError):
                return value[:1] + b64decode(value[1:], validate=True)
        return value.decode()


class _Connection(psycopg.Connection[Any]):
    """Gives up on a server that does not answer, where `patience` says after how many seconds."""

    patience: float | None = None

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        try:
            return super().wait(gen, interval, self.patience if timeout is None else timeout)
        except psycopg.OperationalError:
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:  # nothing came within that time
                self.pgconn.finish()
            raise


class PostgresTransaction(Transaction):
    """An open transaction in PostgreSQL; `PostgresDatabase` gives it. Raises `psycopg.Error`."""

    _dialect: ClassVar = _DIALECT
    _how: ClassVar = {"binary": True}  # it is read faster

    def in_one_go(self) -> AbstractContextManager[object]:
        """As in `Transaction`; they are all on their way to the server before the first answer comes."""
        pipeline: AbstractContextManager[object] = self._driver.pipeline()
        return pipeline

    def take_time(self) -> None:
        """As in `Transaction`; the server takes this process for one that is stopped only later."""
        self._driver.execute(f"SET LOCAL idle_in_transaction_session_timeout = '{THINKING_SECONDS}s'")

    def each(self, statement: Statement, parameters: Row) -> Iterator[Row]:
        """As in `Transaction`; a thousand at a time are fetched, so that any number can be read."""
        with self._driver.cursor(name=f"each{next(_CURSORS)}") as found:
            found.itersize = 1_000
            yield from named(self._execute(statement, parameters, found))

    def _bound(self, values: Row, texts: tuple[str, ...]) -> Row:
        bound = {}
        for name in texts:
            value = values.get(name)
            if isinstance(value, bytes):
                bound[name] = _MARK + b64encode(value[1:]).decode()
            elif name.startswith("of_") and value and "\0" in value:
                bound[name] = _MARK  # what no text is either, as the server refuses to compare with a NUL
        return values | bound


class PostgresDatabase(SqlDatabase):
    """A database on a server. The writer makes the tables, or brings them up to date.

    What it is made with, and what making it raises, see `noodlings.store.opening.open_database`.

    Args:
        url: `postgresql+psycopg://user:password@host/database`, with settings of libpq behind a question
            mark.
        name: what it is called in messages.
    """

    setting = "store.url"
    opens_sealed = False

    def __init__(
        self,
        url: str,
        name: str,
        read_only: bool = False,
        encryption: Encryption | None = None,
        shared: bool = False,
    ) -> None:
        encryption = encryption or Encryption()
        encryption.require_key()
        self._url = make_url(url)
        try:
            _, self._address = _DIALECT.create_connect_args(self._url)
        except ArgumentError as error:
            raise UserError(f"store.url: {error}") from None
        self.name = name
        self.read_only = read_only
        self._shared = shared
        self._mutex = threading.RLock()
        self._closed = False
        self._driver: Driver | None = None
        self._away = ("", 0.0)  # in words, and until when it is not tried again
        with ExitStack() as undo, self._in_words():
            undo.callback(self.close)
            self._connected()
            self.vault = Vault(self._kept_keys, encryption)
            if not read_only and self.vault.behind:
                self.renew_keys()
            if not read_only and self.vault.due:
                self.reseal()
            undo.pop_all()

    def sharing(self) -> Sharing:
        """As in `SqlDatabase`; for a database that is shared."""
        from noodlings.store.sharing import Sharing

        return Sharing(self)

    def apart(self) -> PostgresDatabase:
        """The same database over a connection of its own, to be closed by itself."""
        other = copy(self)
        other._mutex, other._driver = threading.RLock(), None
        return other

    def notifications(self, channel: str, seconds: float) -> Generator[str | None, None, None]:
        """What is told on a channel of this schema, as it comes, and None at first and whenever nothing came
        for so long. It never ends.

        Raises:
            StoreError: the connection, which is its own, broke.
        """
        with self._in_words(), closing(self._opened()) as driver:
            # The name of a schema may be as long as that of a channel.
            ((schema,),) = driver.execute("SELECT md5(current_schema())").fetchall()
            driver.execute(SQL("LISTEN {}").format(Identifier(channel + schema)))
            while True:
                yield None
                for told in driver.notifies(timeout=seconds):
                    yield told.payload

    def add_tables(self, tables: MetaData) -> None:
        """Make those of these tables that are missing. Raises `StoreError`."""
        with self._in_words(), closing(self._opened()) as driver:
            driver.execute(f"SELECT pg_advisory_lock({_ONE_MAKER})")
            for table in tables.sorted_tables:
                driver.execute(str(CreateTable(table, if_not_exists=True).compile(dialect=_DIALECT)))

    def transaction(self) -> AbstractContextManager[Transaction]:
        """All of the block is written, or nothing of it. What others commit meanwhile is seen in it.

        Raises:
            StoreBusy: the database cannot be reached, or somebody else holds what is to be written. Where
                that happened at the very end, nobody knows whether it was written: read what is there.
            StoreError: the database refused, or it is closed.
        """
        return self._begun(_READ if self.read_only else _WRITE)

    def renewal(self) -> AbstractContextManager[Transaction]:
        return self._begun(_READ if self.read_only else _RENEW)

    def snapshot(self) -> AbstractContextManager[Transaction]:
        return self._begun(_READ)

    def mark_for_erasure(self, transaction: Transaction) -> None:
        """Nothing has to be remembered: the server gives up the room of what was deleted by itself."""

    def erase(self) -> bool:
        """False: the bytes stay on the disk of the server until it uses their room again: docs/scale.md."""
        return False

    def empty_log(self) -> bool:
        return True

    def close(self) -> None:
        with self._mutex:
            self._closed = True
            if self._driver is not None:
                self._driver.close()

    @contextmanager
    def _begun(self, begin: str) -> Iterator[Transaction]:
        with self._mutex, self._in_words():
            driver, newest = self._begin(begin)
            try:
                if newest is not None and newest != self.vault.newest:
                    self.vault.load()
                yield PostgresTransaction(driver, self.vault)
            except BaseException:
                if not driver.closed:
                    driver.rollback()
                raise
            driver.commit()

    def _begin(self, words: str) -> tuple[Driver, int | None]:
        """The connection in a new transaction, and the number of the newest key, where that is asked for."""
        driver = self._connected()
        try:
            begun = driver.execute(words)
        except psycopg.Error:
            if not driver.closed:
                driver.rollback()
                raise
            driver = self._connected()  # it broke since it was used last, and nothing is lost
            begun = driver.execute(words)
        while begun.nextset():
            pass
        return driver, _value(begun)

    def _connected(self) -> Driver:
        """The connection, opened anew where it broke."""
        if self._closed:
            raise StoreError(f"{self.name} was closed")
        if self._driver is None or self._driver.closed:
            words, until = self._away
            tried = time.monotonic()
            if tried < until:
                raise StoreBusy(words)
            try:
                self._driver = self._opened()
            except (psycopg.OperationalError, StoreBusy) as error:
                words = str(error) if isinstance(error, StoreBusy) else str(self._explain(error))
                now = time.monotonic()
                self._away = (words, now + max(AGAIN_SECONDS, 4 * (now - tried)))
                raise
        return self._driver

    def _opened(self) -> Driver:
        """A connection to a database with our tables, which only we write to."""
        ours = {"application_name": f"noodlings, process {os.getpid()} on {platform.node()}"}
        driver = _Connection.connect(**ours | _PATIENCE | self._address, autocommit=True)
        with ExitStack() as undo:
            undo.callback(driver.close)
            for name in ("text", "varchar"):
                driver.adapters.register_loader(name, _Text)
            if not self.read_only:
                driver.patience = ANSWER_SECONDS
                self._lock(driver)
            idle, statement = ("10min", "10min") if self.read_only else ("5s", "10s")
            driver.execute(_SESSION.format(idle=idle, statement=statement))
            schema = self._schema(driver)
            if not schema and self.read_only:
                raise NotFound(f"{self.name} has no tables of noodlings yet; check store.url")
            if not schema or self.outdated(schema):
                self._make_or_migrate(driver)
            if not self.read_only and not self._shared:
                self._end_leases(driver)
            undo.pop_all()
        return driver

    def _end_leases(self, driver: Driver) -> None:
        """Let no worker that was cut off go on with what it knows when it comes back."""
        ((workers,),) = driver.execute("SELECT to_regclass('leases') IS NOT NULL").fetchall()
        if workers:
            driver.execute("UPDATE leases SET worker = '', token = token + 1, version = version + 1")

    def _lock(self, driver: Driver) -> None:
        """Be the one writer of these tables for as long as the connection lasts, or one that shares them."""
        driver.execute("SET lock_timeout = '2s'")  # what a killed process held is let go of within that
        try:
            lock = SQL("pg_advisory_lock_shared" if self._shared else "pg_advisory_lock")
            driver.execute(SQL("SELECT {}(%s, hashtext(current_schema()::text))").format(lock), [_ONE_WRITER])
        except errors.LockNotAvailable:
            raise StoreBusy(
                f"another noodlings is running with {self.name}, and only one may write: stop it first"
                " (pg_stat_activity says which it is)"
            ) from None

    def _schema(self, driver: Driver) -> str:
        """The revision of the tables; "" where there is no table at all."""
        found = driver.execute("SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()")
        names = {name for (name,) in found}
        if names and "alembic_version" not in names:
            raise StoreError(
                f"{self.name} has tables, and they are not those of noodlings; give it a database of its own"
            )
        return _value(driver.execute("SELECT version_num FROM alembic_version")) or "none" if names else ""

    def _make_or_migrate(self, driver: Driver) -> None:
        engine = create_engine(self._url, poolclass=NullPool, hide_parameters=True, connect_args=_PATIENCE)
        with engine.begin() as connection:
            connection.execute(select(func.pg_advisory_xact_lock(_ONE_MAKER)))
            schema = self._schema(driver)  # somebody else may have done it
            if not schema:
                make_tables(connection)
            elif self.outdated(schema):
                migrate(connection, schema)

    def _kept_keys(self) -> KeptKeys:
        with self._mutex, self._in_words():
            return self._connected().execute(KEPT_KEYS).fetchall()

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, psycopg.Error) as error:  # details of it may quote what is kept
            raise self._explain(error.orig if isinstance(error, DBAPIError) else error) from None

    def _explain(self, error: BaseException | None) -> StoreError:
        state = getattr(error, "sqlstate", None) or ""
        words = (
            getattr(getattr(error, "diag", None), "message_primary", None) or str(error).partition("\n")[0]
        )
        lost = isinstance(error, psycopg.OperationalError) and not state
        if lost or state.startswith(("08", "57P", "25P03")):
            return StoreBusy(f"{self.name} cannot be reached: {words}")
        if isinstance(error, (errors.LockNotAvailable, errors.DeadlockDetected, errors.QueryCanceled)):
            return StoreBusy(f"{self.name} is in use by another program: {words}")
        if isinstance(error, errors.ReadOnlySqlTransaction) and self.read_only:
            return StoreError(f"{self.name} is open for reading only, so nothing can be saved")
        if isinstance(error, psycopg.DataError):  # it quotes the value
            words = f"a value cannot be kept ({type(error).__name__})"
        return StoreError(f"{self.name}: {words}")


def _value(found: psycopg.Cursor[Any]) -> Any:
    """The first column of the first row; None where there is none."""
    row = found.fetchone()
    return None if row is None else row[0]
