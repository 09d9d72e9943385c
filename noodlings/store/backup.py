"""Backup: a copy of the database as it is at one moment, also while somebody writes to it.

The copy is made aside, checked, and moved into place whole, so there is never half of one. It can be used as
the database of a data folder like any other.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from noodlings.errors import StoreError, UserError
from noodlings.files import atomic_write
from noodlings.store.database import BUSY_SECONDS, DATABASE_NAME, LOGS, require_content, require_file
from noodlings.store.lock import writer_lock


def back_up(folder: Path, destination: Path, beside: Sequence[str] = (), force: bool = False) -> int:
    """Copy the database of a data folder, and what belongs to it, into another folder.

    Args:
        folder: the data folder; somebody may be writing to it.
        destination: the folder of the copy; made when it is missing.
        beside: names of files and folders in the data folder that are copied too, where they exist.
        force: replace a database that is there.

    Returns:
        Bytes of the copied database.

    Raises:
        NotFound: there is no database in `folder`.
        UserError: the destination will not do, or holds a database already.
        StoreBusy: noodlings runs in the destination.
        StoreError: the database cannot be read, is no database of noodlings, or the copy cannot be written.
    """
    source, target = require_file(folder), destination / DATABASE_NAME
    require_content(source)
    _require_destination(folder, destination, [DATABASE_NAME, *beside], force)
    with _in_words(destination):
        destination.mkdir(mode=0o700, parents=True, exist_ok=True)
        with writer_lock(destination), atomic_write(target) as aside:
            _copy(source, aside)
            for name in beside:
                if (folder / name).is_dir():
                    shutil.copytree(
                        folder / name, destination / name, dirs_exist_ok=True, ignore=_linked_folders
                    )
                elif (folder / name).is_file():
                    shutil.copy2(folder / name, destination / name)
            for log in LOGS:  # they belong to the database that goes, and would be played into the new one
                (destination / log).unlink(missing_ok=True)
        return target.stat().st_size


def _require_destination(folder: Path, destination: Path, names: Sequence[str], force: bool) -> None:
    if destination.exists() and not destination.is_dir():
        raise UserError(f"{destination} is a file; name a folder, as the copy is a whole data folder")
    within = [place for place in (destination, *destination.resolve().parents) if place.is_dir()]
    if any(place.samefile(folder) for place in within):
        raise UserError(
            f"{destination} is the data folder or inside it, where a backup would be lost with it;"
            " name a folder elsewhere"
        )
    there = [name for name in names if (destination / name).exists()]
    if there and not force:
        raise UserError(
            f"{destination} already contains {there[0]}; name another folder, or use --force to replace it"
        )


def _copy(source: Path, aside: Path) -> None:
    """One step of SQLite's backup reads one moment, and holds up no writer."""
    with (
        closing(
            sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)
        ) as kept,
        closing(sqlite3.connect(aside, isolation_level=None)) as copy,
    ):
        kept.backup(copy)
        # One file without a log beside it, which can be read from a disk that cannot be written.
        copy.execute("PRAGMA journal_mode = DELETE")
        (sound,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        if sound != "ok":
            raise StoreError(f"{source} is damaged ({sound}), so it cannot be backed up")
        if not copy.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone():
            raise StoreError(f"{source} is not a noodlings database")


def _linked_folders(folder: str, names: list[str]) -> list[str]:
    """Links to folders: a link to the root of a disk would copy all of it."""
    return [name for name in names if (Path(folder) / name).is_symlink() and (Path(folder) / name).is_dir()]


@contextmanager
def _in_words(destination: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"the backup failed: {error}") from error
    except UnicodeDecodeError:
        raise StoreError("the backup failed: the database contains text that is not UTF-8") from None
    except OSError as error:
        raise StoreError(
            f"the backup in {destination} cannot be written: {error.strerror or error}"
        ) from error
