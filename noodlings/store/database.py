"""The SQLite file: opened, checked, migrated, written in whole transactions, and closed.

A file that is damaged, emptied, foreign or newer than this program is refused with an explanation and left
unchanged. A new one is made aside and moved into place whole, so an empty one is never ours. Every error is a
`StoreError` without the contents of any row.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Literal

from sqlalchemy import Connection, StaticPool, create_engine, event
from sqlalchemy.exc import DBAPIError

from noodlings.errors import NotFound, StoreBusy, StoreError
from noodlings.files import atomic_write
from noodlings.store.lock import writer_lock
from noodlings.store.sql_database import SqlDatabase
from noodlings.store.tables import make_tables, migrate
from noodlings.store.transaction import Transaction
from noodlings.store.vault import KEPT_KEYS, Encryption, Vault

DATABASE_NAME = "noodlings.db"
LOGS = (f"{DATABASE_NAME}-wal", f"{DATABASE_NAME}-shm")
"""Files beside it while it is open, and after a kill; they belong to that one database."""
BUSY_SECONDS = 5.0
"""How long to wait while another program (a backup, a shell) locks the file."""

Durability = Literal["normal", "full"]
Files = tuple[tuple[int, int] | None, ...]
"""Device and number of each file, None where there is none."""

_ERASURE_DUE = 1

_UNDECODED = re.compile("Could not decode to UTF-8 column '([^']*)'")

log = logging.getLogger(__name__)


class Database(SqlDatabase):
    """The database of a data folder, with one connection that is held open. Safe to use from any thread.

    What it is made with, and what making it raises, see `noodlings.store.opening.open_database`.

    Args:
        folder: where `noodlings.db` is or, for a writer, will be made.
    """

    setting = "--data"

    def __init__(
        self,
        folder: Path,
        durability: Durability = "normal",
        read_only: bool = False,
        encryption: Encryption | None = None,
    ) -> None:
        self._encryption = encryption or Encryption()
        self._encryption.require_key()
        self.path = folder / DATABASE_NAME
        self.name = str(self.path)
        self._paths = [str(folder / name) for name in (DATABASE_NAME, *LOGS)]
        self.read_only = read_only
        self._begin = "BEGIN" if read_only else "BEGIN IMMEDIATE"
        self._durability = durability
        self._mutex = threading.Lock()
        self._closed = False
        with ExitStack() as resources, self._in_words():
            if read_only:
                require_file(folder)
            else:
                _make_folder(folder)
                resources.enter_context(writer_lock(folder))
                if not self.path.exists():
                    self._make_file()
            require_content(self.path)
            self._open()
            resources.callback(lambda: self._opened.close())
            if not read_only and self.vault.due:
                self.reseal()
            self._resources = resources.pop_all()

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """All of the block is written, or nothing of it. What is read in it is as of one moment.

        Raises:
            StoreError: the database refused, the disk failed, or the store is closed.
        """
        with self._mutex, self._in_words(), self._measured():
            self._require_open()
            self._driver.execute(self._begin)
            with self._driver:  # commits, or rolls back
                yield Transaction(self._driver, self.vault)

    def erase(self) -> bool:
        """Write the file again, so that it holds no byte of what was deleted. True when that is done.

        `secure_delete` is not enough: a row that SQLite moved to another page leaves a copy in the old one.
        """
        with self._mutex:
            return self._erase()

    def shrink(self) -> bool:
        """Write the file again without its free pages; False where somebody reads, so that it happens later.

        Raises:
            StoreError: there is no room for a second file, or the disk failed. Nothing was changed.
        """
        with self._mutex, self._in_words():
            self._require_open()
            return self._rewrite()

    def empty_log(self) -> bool:
        """Move the log into the file, so that it holds nothing that was replaced; False where somebody reads.

        It waits for nobody. What SQLite copied within the file is left for `erase`.
        """
        with self._mutex:
            if self._closed:
                return False
            try:
                self._driver.execute("PRAGMA busy_timeout = 0")
                return self._emptied_log()
            except sqlite3.Error as error:
                log.warning("the log beside %s cannot be emptied yet: %s", self.path, error)
                return False
            finally:
                self._driver.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")

    def mark_for_erasure(self, transaction: Transaction) -> None:
        transaction.pragma(f"user_version = {_ERASURE_DUE}")

    def close(self) -> None:
        """Close the file and release the lock. A second time it does nothing."""
        with self._mutex, self._in_words():
            self._closed = True
            self._resources.close()

    def _open(self) -> None:
        with ExitStack() as opened:
            self._driver = opened.enter_context(closing(self._connect(self.path)))
            self._prepare()
            self.vault = Vault(lambda: self._driver.execute(KEPT_KEYS).fetchall(), self._encryption)
            if not self.read_only and self.vault.behind:
                self._driver.execute(self._begin)
                with self._driver:
                    self.vault.renew(Transaction(self._driver, self.vault))
            self._driver.create_function("opened", 4, self._opened_text)
            self._files = self._found()
            self._log_size = 0
            self._opened = opened.pop_all()

    def _connect(self, path: Path) -> sqlite3.Connection:
        mode = "ro" if self.read_only else "rw"
        return sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )

    def _prepare(self) -> None:
        """Check before anything is written, then switch on what we rely on."""
        schema = self._schema()
        outdated = self.outdated(schema)
        self._driver.execute("PRAGMA foreign_keys = ON")
        if self.read_only:
            return
        self._driver.execute("PRAGMA journal_mode = WAL")
        self._driver.execute(f"PRAGMA synchronous = {self._durability}")
        self._driver.execute("PRAGMA secure_delete = ON")
        if outdated:
            with ddl_transaction(self._driver) as connection:
                migrate(connection, schema)
        if self._driver.execute("PRAGMA user_version").fetchone()[0] == _ERASURE_DUE:
            self._erase()

    def _opened_text(self, value: object, column: str, agent_id: str, entry_id: int) -> str:
        """A text of an entry, for statements that look into it; "" where it cannot be read."""
        try:
            return str(self.vault.text(value, "entries", column, agent_id, entry_id))
        except StoreError:
            return ""

    def _schema(self) -> str:
        """The revision of the file."""
        tables = self._driver.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        names = {name for (name,) in tables}
        if not names:
            raise _emptied(self.path)
        if "alembic_version" not in names:
            raise StoreError(f"{self.path} is not a noodlings database; use another data folder (--data)")
        row = self._driver.execute("SELECT version_num FROM alembic_version").fetchone()
        return str(row[0]) if row else ""

    def _make_file(self) -> None:
        """A new database, for its owner alone. Raises `StoreError` where there must have been one before."""
        if self.path.is_symlink():
            raise StoreError(
                f"{self.path} is a link to a file that is not there: is its disk mounted? To start afresh,"
                " delete the link"
            )
        if left := [name for name in LOGS if self.path.with_name(name).exists()]:
            raise StoreError(
                f"{self.path} is missing, but {left[0]} is beside it: put the file back, or a backup without"
                f" {' and '.join(left)}. To start afresh, move the remaining files away"
            )
        try:
            with atomic_write(self.path) as aside, closing(self._connect(aside)) as driver:
                driver.execute("PRAGMA journal_mode = MEMORY")  # what a kill leaves aside is of no use
                driver.execute("PRAGMA synchronous = OFF")  # `atomic_write` brings it to the disk
                with ddl_transaction(driver) as connection:
                    make_tables(connection)
        except OSError as error:
            raise StoreError(f"{self.path} cannot be created: {error}") from error

    def _erase(self) -> bool:
        try:
            done = self._rewrite()
            if done:
                self._driver.execute("PRAGMA user_version = 0")
        except sqlite3.Error as error:
            log.warning("forgotten data could not be erased from %s yet: %s", self.path, error)
            return False
        if not done:
            log.warning("forgotten data could not be erased from %s yet: it is being read", self.path)
        return done

    def _rewrite(self) -> bool:
        self._driver.execute("VACUUM")
        return self._emptied_log()

    def _emptied_log(self) -> bool:
        busy, _, _ = self._driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if not busy:
            self._log_size = 0
        return not busy

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self.path} was closed")
        try:
            stats = list(map(_stat, self._paths))
        except PermissionError:  # a program that gave up rights after it began still holds its files
            return
        found = tuple(map(_identity, stats))
        if found == self._files:
            self._require_whole_log(stats[1])
            return
        if any(now != then for now, then in zip(found, self._files, strict=True) if then is not None):
            self._open_anew(found)
        else:
            self._files = found  # as it was looked at: what is deleted meanwhile must be missed the next time

    @contextmanager
    def _measured(self) -> Iterator[None]:
        """Note how long the log is after the block, for `_require_whole_log`."""
        yield
        if not self.read_only:
            with suppress(PermissionError):  # as in `_require_open`
                self._log_size = _size(_stat(self._paths[1]))

    def _require_whole_log(self, log: os.stat_result | None) -> None:
        """Raise `StoreError` where somebody emptied the log: it only ever grows while we have it open.

        Whatever is written after that would be read as the whole log, and damage the database.
        """
        if not self.read_only and _size(log) < self._log_size:
            raise StoreError(
                f"the log beside {self.path} was emptied while noodlings had it open, so nothing more is"
                " written: stop noodlings and start it again. What was only in the log is lost"
            )

    def _open_anew(self, found: Files) -> None:
        """Continue where somebody deleted a file that we have open.

        A deleted log exists as long as we hold it open, so all of it goes into the database first. Nothing is
        written any more into a database that was deleted.
        """
        if not self.read_only:
            if found[0] != self._files[0]:
                raise StoreError(
                    f"{self.path} was deleted or replaced while noodlings had it open, so nothing more is"
                    " written: stop noodlings, put the file or a backup in its place, and start it again"
                )
            if not self._emptied_log():
                raise StoreBusy(
                    f"the log beside {self.path} was deleted, and its contents cannot be saved while another"
                    " program is reading: close that program and try again"
                )
            log.warning("the log beside %s was deleted; nothing is lost, and a new one was made", self.path)
        require_content(require_file(self.path.parent))
        self._opened.close()
        self._open()

    def _found(self) -> Files:
        """Which files there are now under the names of the database and its logs."""
        return tuple(_identity(_stat(path)) for path in self._paths)

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, sqlite3.Error) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            raise self._explain(cause) from (None if _UNDECODED.search(str(error)) else error)
        except OSError as error:
            raise StoreError(f"{self.path} cannot be reached: {error.strerror or error}") from error
        except UnicodeDecodeError:
            raise StoreError(f"{self.path} is damaged: it contains text that is not UTF-8") from None

    def _explain(self, error: BaseException | None) -> StoreError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte; the rest is detail
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return StoreError(
                f"{self.path} is damaged ({error}); it was left unchanged. Put a backup in its place,"
                f" or move it away to start afresh. {_in_notes(self.path)}"
            )
        if undecoded := _UNDECODED.search(str(error)):  # it goes on with the text
            return StoreError(
                f"{self.path} is damaged: column {undecoded[1]} contains text that is not UTF-8."
                f" {_in_notes(self.path)}"
            )
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return StoreBusy(f"{self.path} is in use by another program: {error}")
        if code == sqlite3.SQLITE_READONLY and self.read_only:
            return StoreError(f"{self.path} is open for reading only, so nothing can be saved")
        if code == sqlite3.SQLITE_FULL:
            return StoreError(f"the disk is full: {self.path} cannot be saved; free some space ({error})")
        return StoreError(f"{self.path}: {error}")


def require_file(folder: Path) -> Path:
    """The database of a data folder. Raises `NotFound` where there is none."""
    path = folder / DATABASE_NAME
    if not path.is_file():
        raise NotFound(f"there is no {DATABASE_NAME} in {folder} yet; check --data")
    return path


def require_content(path: Path) -> None:
    """Raise `StoreError` for a file without a byte in it: SQLite would take it for a new database."""
    if path.stat().st_size == 0:
        raise _emptied(path)


def _emptied(path: Path) -> StoreError:
    return StoreError(
        f"{path} is empty: its data is gone. Put a backup in its place, or delete it to start afresh."
        f" {_in_notes(path)}"
    )


def _in_notes(path: Path) -> str:
    """What can still be read while the database cannot."""
    return (
        f"Its notes can still be searched: noodlings notes search --data {shlex.quote(str(path.parent))} WORD"
    )


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # a Path takes thrice as long, and this is done for every transaction
    except FileNotFoundError:
        return None


def _identity(found: os.stat_result | None) -> tuple[int, int] | None:
    return None if found is None else (found.st_dev, found.st_ino)


def _size(found: os.stat_result | None) -> int:
    return 0 if found is None else found.st_size


@contextmanager
def ddl_transaction(driver: sqlite3.Connection) -> Iterator[Connection]:
    """SQLAlchemy over an open connection, in one transaction that begins explicitly, DDL included."""
    engine = create_engine("sqlite://", creator=lambda: driver, poolclass=StaticPool, hide_parameters=True)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    with engine.begin() as connection:
        yield connection


def _make_folder(folder: Path) -> None:
    """Make it for its owner alone, because whispers are kept there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the data folder {folder} cannot be created: {error}") from error
